//! Scripts out of grammar-like pieces, aimed at the borders where a reader errs.
//!
//! Most pieces are such that a script of a few of them is still read; the rare ones are what
//! must be refused. If a rare one is read after all, bash tells what it really means.

use super::random::Random;

/// Letters of words that mean nothing to bash, or nothing where they stand.
const PLAIN: &[&str] = &[
    "a",
    "b",
    "ls",
    "cat",
    "x1",
    "file.txt",
    "-n",
    "-",
    "--",
    "--flag=v",
    "-rf",
    ".",
    "..",
    "./x",
    "../y",
    "/",
    "/usr/bin/ls",
    "a/b",
    "@",
    "%",
    "+",
    ":",
    "^",
    "=",
    ",",
    "a=b",
    "--x=",
    "_",
    "0",
    "1",
    "2",
    "12",
    "é",
    "日本",
    "😀",
    "]",
    "a]",
    "%s",
    "a:b",
    "user@host",
    "HEAD^",
    "HEAD~2",
    "a~",
    "x=y=z",
    "-1",
    "+2",
    "if",
    "then",
    "fi",
    "do",
    "done",
    "in",
    "for",
    "case",
    "esac",
    "time",
    "function",
    "select",
    "coproc",
    "!",
    "a!",
    "!a",
    "echo",
    "printf",
    "test",
    "true",
    "exit",
    "eval",
    "command",
    "builtin",
    "export",
    "declare",
    "local",
    "set",
    "exec",
    "source",
    "alias",
];
/// Patterns and homes: marked by the readings, left alone by bash in an empty folder.
const MARKED: &[&str] = &[
    "*", "?", "*.rs", "[a]", "[ab]*", "a*b", "[", "~", "~/a", "~x", "**", "a?",
];
/// What may stand after `$` without being expanded, and braces that stay.
const BORDER: &[&str] = &[
    "$", "a$", "$.", "$/", "$%", "{}", "a{}", "{a}", "@{1}", "x{1}y",
];
/// Escaped characters.
const ESCAPED: &[&str] = &[
    "\\a", "\\ ", "\\'", "\\\"", "\\\\", "\\$", "\\`", "\\*", "\\~", "\\#", "\\{", "\\(", "\\)",
    "\\!", "\\=", "\\é", "\\-", "\\[", "\\?", "\\,", "\\}", "\\^",
];
/// What should be refused.
const RARE: &[&str] = &[
    "$x", "${x}", "$(ls)", "`ls`", "$'a\\n'", "$\"a\"", "{a,b}", "{1..3}", "{a", "a}", "#", "a#b",
    "\\;", "\\|", "\\&", "\\>", "\\\n", "=ls", "~[x]", "a=~", "a:~", "$((1))", "$[1]", "@(a)",
    "!(a)", "a(b)", "\\\t", "\u{a0}", "\r", "<(ls)", "$1", "$?", "$@", "$$", "[[", "]]", "{", "}",
    "((", "))", ";;", "&", "|&", "<<E", "<<<a", "{v}>f", "~+", "~-", "a+=b", "a[0]=b", "a=(b)",
    "\\", "'", "\"", "\u{b}", "\u{200b}", "\u{2028}",
];
const INSIDE_SINGLE: &[&str] = &[
    "a", " ", "b c", "\"", "\\", "$x", "`", "$(a)", "#", ";", "|", "&&", "*", "~", "\n", "{a,b}",
    "é", "!", ">", "\\n", "", "\t", "(", ")",
];
const INSIDE_DOUBLE: &[&str] = &[
    "a", " ", "b c", "'", "\\\\", "\\\"", "\\$", "\\`", "\\a", "\\n", "\\'", "#", ";", "|", "&&",
    "*", "~", "\n", "{a,b}", "é", "!", ">", "$", "$ ", "$.", "", "\t", "(", ")", "\\ ", "\\*",
    "\\!", "%",
];
const NAMES: &[&str] = &[
    "ls", "cat", "grep", "echo", "git", "a", "b", "c1", "x-y", "x.y", "x_y", "./a", "/bin/ls", "[",
    "test", "true", ":", ".", "printf", "cd", "é", "time", "a+b", "a:b", "@a", "%a", "+", "-a",
    ",", "^",
];
const REDIRECTIONS: &[&str] = &[
    ">/dev/null",
    "> /dev/null",
    "2>/dev/null",
    "2> /dev/null",
    ">>/dev/null",
    "&>/dev/null",
    "2>&1",
    ">&2",
    "1>&2",
    "</dev/null",
    "< /dev/null",
    "0</dev/null",
    ">f",
    "> f",
    "2>f",
    ">>f",
    "&>f",
    "&>>f",
    ">|f",
    "3>f",
    ">&f",
    "2>&-",
    "<&-",
    ">&-",
    "> 'f g'",
    ">\"f\"",
    ">f\\ g",
    ">f2",
    "10>f",
];
const RARE_REDIRECTIONS: &[&str] = &[
    "<f",
    "<>f",
    "<<<f",
    ">",
    "2>",
    ">&",
    ">&x1",
    "<&x",
    ">*",
    ">~/f",
    ">$f",
    ">&1-",
    "2>&1>f",
    "3>&2 4>&3",
    ">f>g",
    "2 >f",
    "a2>f",
    "\\2>f",
    "'2'>f",
    ">&'1'",
    ">&1a",
    ">& 1",
    "&> f",
    "& >f",
    ">!f",
    ">#f",
    "> #f",
    ">(f)",
    "0x1>f",
    "99>f",
    "2>&\"1\"",
    "<&'-'",
    ">-",
    ">&--",
    "|>f",
    "01>f",
];

/// Scripts that were once read otherwise than bash reads them. They come first.
pub const FOUND: &[&str] = &[
    "%a b",
    "\"%(\" a",
    "a | ! b",
    "a >&1-",
    "a >& '$(b)'",
    "a >& \"~\"",
    "a 2>&b",
    "a>2>b",
    "a 2>\t2> /dev/null # c\nb",
    "a {v}>f\nb",
    "a ~''",
    "a ~:",
    "a[b c]=d e",
    "time done\ntime ! a",
    "time a[in \\\nthen",
    "time -p\"\" a",
    "a | b |\n  c \"\\n*|\"d \\\n e\"\\\"$ )\"\"é%$\" f\n\ng\t\"\\*\\!\" \"\\`\"'' &>/dev/null",
];

/// One script.
pub fn script(random: &mut Random) -> String {
    let mut out = String::new();
    if random.once_in(30) {
        out.push_str(random.pick(&[
            "# a comment\n",
            "\n",
            "  ",
            "\t",
            "#\n",
            "# it's\n",
            "#!x\n",
        ]));
    }
    list(random, &mut out, 0);
    if random.once_in(8) {
        out.push_str(random.pick(&[
            " ;", ";", "\n", " # end", " #", "\n\n", " ", "\n# x\n", "\\\n", " \\\n", "#",
        ]));
    }
    out
}

fn list(random: &mut Random, out: &mut String, depth: usize) {
    let commands = 1 + random.below(3) * random.below(2) + random.below(2);
    for at in 0..commands {
        if at > 0 {
            join(random, out);
        }
        if depth < 3 && random.once_in(12) {
            group(random, out, depth);
        } else {
            command(random, out);
        }
    }
}

fn join(random: &mut Random, out: &mut String) {
    let joins = [
        " && ",
        " || ",
        " | ",
        "; ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        " ;",
        " &&\n",
        " |\n  ",
        " ||\n",
        " \\\n && ",
        " && \\\n",
        " | \\\n  ",
        "\n\n",
        "; \n",
        "\t|\t",
        " # c\n",
    ];
    let rare = [
        " & ", ";;", " |& ", "& &", "&&&", "|||", "|\n|", " ; ; ", "\n;", "\n&& ", "&\n", "\n| ",
    ];
    let chosen = if random.once_in(50) {
        random.pick(&rare)
    } else {
        random.pick(&joins)
    };
    out.push_str(chosen);
}

fn group(random: &mut Random, out: &mut String, depth: usize) {
    if random.once_in(8) {
        out.push_str("! ");
    }
    let round = random.once_in(2);
    out.push_str(match (round, random.below(4)) {
        (true, 0) => "( ",
        (true, 1) => "(\n",
        (true, _) => "(",
        (false, 0) => "{\n",
        (false, _) => "{ ",
    });
    list(random, out, depth + 1);
    out.push_str(match (round, random.below(5)) {
        (true, 0) => " )",
        (true, 1) => "\n)",
        (true, 2) => ";)",
        (true, _) => ")",
        (false, 0) => "\n}",
        (false, 1) => ";}",
        (false, 2) if random.once_in(6) => " }",
        (false, _) => "; }",
    });
    if random.once_in(4) {
        out.push(' ');
        redirection(random, out);
    }
}

fn command(random: &mut Random, out: &mut String) {
    if random.once_in(20) {
        out.push_str(random.pick(&[
            "! ", "! ! ", "time ", "time -p ", "!\t", "time ! ", "! time ", "time -- ",
        ]));
    }
    while random.once_in(9) {
        assignment(random, out);
        out.push_str(random.pick(&[" ", "  ", "\t"]));
    }
    if random.once_in(25) {
        redirection(random, out);
        out.push(' ');
    }
    if random.once_in(8) {
        word(random, out);
    } else {
        out.push_str(random.pick(NAMES));
    }
    for _ in 0..random.below(4) {
        out.push_str(random.pick(&[" ", " ", " ", "  ", "\t", " \\\n ", " \\\n"]));
        if random.once_in(7) {
            redirection(random, out);
        } else {
            word(random, out);
        }
    }
    if random.once_in(8) {
        // Without a blank a number before it may belong to it.
        out.push_str(random.pick(&[" ", " ", ""]));
        redirection(random, out);
    }
}

fn assignment(random: &mut Random, out: &mut String) {
    out.push_str(random.pick(&[
        "A=", "A=", "_b1=", "LC_ALL=", "A+=", "A[0]=", "1A=", "A-B=", "é=", "A =", "'A'=", "A\\=",
    ]));
    if !random.once_in(4) {
        word(random, out);
    }
}

fn redirection(random: &mut Random, out: &mut String) {
    let rare = random.once_in(12);
    out.push_str(random.pick(if rare {
        RARE_REDIRECTIONS
    } else {
        REDIRECTIONS
    }));
}

/// Up to three parts without a blank between them.
pub fn word(random: &mut Random, out: &mut String) {
    for _ in 0..1 + random.below(3) * random.below(2) {
        match random.below(40) {
            0..=15 => out.push_str(random.pick(PLAIN)),
            16..=18 => out.push_str(random.pick(MARKED)),
            19..=20 => out.push_str(random.pick(BORDER)),
            21..=25 => out.push_str(random.pick(ESCAPED)),
            26 => out.push_str(random.pick(RARE)),
            27..=33 => quoted(random, out, '\'', INSIDE_SINGLE),
            _ => quoted(random, out, '"', INSIDE_DOUBLE),
        }
    }
}

fn quoted(random: &mut Random, out: &mut String, quote: char, inside: &[&str]) {
    out.push(quote);
    for _ in 0..random.below(4) {
        out.push_str(random.pick(inside));
    }
    out.push(quote);
}
