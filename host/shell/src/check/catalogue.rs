//! Every check with its name, a sentence for people, and scripts that it does and does not
//! fire on.

use super::Check;

/// One check of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub check: Check,
    /// As programs know it.
    pub name: &'static str,
    /// What it is about.
    pub sentence: &'static str,
    /// Scripts on which it fires.
    pub hits: &'static [&'static str],
    /// Scripts that look alike and are none.
    pub misses: &'static [&'static str],
}

const fn entry(
    check: Check,
    name: &'static str,
    sentence: &'static str,
    hits: &'static [&'static str],
    misses: &'static [&'static str],
) -> Entry {
    Entry {
        check,
        name,
        sentence,
        hits,
        misses,
    }
}

/// All checks, by number.
pub const CATALOGUE: &[Entry] = &[
    entry(
        Check::IncompleteCommands,
        "INCOMPLETE_COMMANDS",
        "A piece of a command: what runs depends on what it is put together with.",
        &[
            "-rf ./build",
            "echo 'open",
            "ls \\",
            "(ls",
            "&& ls",
            "ls |",
            "if true; then ls",
            ">> f",
            "",
        ],
        &["ls -l", "echo 'closed'", "(ls)"],
    ),
    entry(
        Check::JqSystemFunction,
        "JQ_SYSTEM_FUNCTION",
        "A jq program that calls a function for running commands.",
        &[
            "jq 'system(\"x\")' f",
            "jq '.a | system (\"x\")' f",
            "jq 'def f: system(\"x\"); f' f",
        ],
        &["jq '.system' f", "jq '\"system(x)\"' f", "jq . f"],
    ),
    entry(
        Check::JqFileArguments,
        "JQ_FILE_ARGUMENTS",
        "jq reads a program or data from a file, or shows variables of the environment.",
        &[
            "jq -f x.jq f",
            "jq -nrf x.jq",
            "jq --from-file x.jq f",
            "jq --slurpfile a b . f",
            "jq -n '$ENV.KEY'",
            "jq -n 'env.KEY'",
        ],
        &["jq -r .a f", "jq '.env' f", "jq --arg a b . f"],
    ),
    entry(
        Check::ObfuscatedFlags,
        "OBFUSCATED_FLAGS",
        "A flag is spelled with quotes or escapes, as if it were not to be seen.",
        &[
            "find . \"-delete\"",
            "find . -dele''te",
            "git log \"--output=x\"",
            "rg -\"-pre\" x .",
            "ls \\-l",
        ],
        &["cut -d',' -f1 x", "git log --format='%h'", "grep -- '-x' f"],
    ),
    entry(
        Check::ShellMetacharacters,
        "SHELL_METACHARACTERS",
        "Operators put a command that may change something behind another one.",
        &[
            "ls;touch x",
            "false||touch x",
            "ls |& tee x",
            "ls & touch x",
            "ls && touch x",
        ],
        &["ls; pwd", "ls || true", "ls | wc -l", "echo 'a; b'"],
    ),
    entry(
        Check::DangerousVariables,
        "DANGEROUS_VARIABLES",
        "A variable decides which command runs or where data goes.",
        &[
            "cat f > $OUT",
            "cat x | $SHELL",
            "$SHELL -c x",
            "cat x | \"$0\"",
        ],
        &["grep x$ f", "echo '$x'"],
    ),
    entry(
        Check::Newlines,
        "NEWLINES",
        "A line end puts a command that may change something below another one.",
        &["ls\ntouch x", "ls # list\ntouch x", "find . -na\\\nme x"],
        &["ls\npwd", "ls | wc -l\npwd", "ls \\\n  -l", "ls; touch x"],
    ),
    entry(
        Check::CommandSubstitution,
        "DANGEROUS_PATTERNS_COMMAND_SUBSTITUTION",
        "Something is replaced by what a command or the shell makes of it.",
        &[
            "echo $(x)",
            "echo `x`",
            "echo \"$(x)\"",
            "echo ${x}",
            "echo $[1+1]",
            "cat <(x)",
            "ls > >(x)",
            "cat =(x)",
            "=ls",
            "ls ~[x]",
            "ls *(e:x:)",
            "ls *(+x)",
            "ls <#x#>",
        ],
        &["echo '$(x)'", "echo \"\\$(x)\"", "echo '`x`'", "ls ~"],
    ),
    entry(
        Check::InputRedirection,
        "DANGEROUS_PATTERNS_INPUT_REDIRECTION",
        "Input comes from outside the project, from the network, or is a text in the script.",
        &[
            "cat </dev/tcp/127.0.0.1/9",
            "wc -l < ~/.ssh/id_rsa",
            "wc < /etc/passwd",
            "cat << E\nx\nE",
            "cat <<< x",
        ],
        &["wc -l < README.md", "echo '<'"],
    ),
    entry(
        Check::OutputRedirection,
        "DANGEROUS_PATTERNS_OUTPUT_REDIRECTION",
        "Output goes to a file.",
        &[
            "ls > f",
            "ls >> f",
            "ls 3>f",
            "ls &> f",
            "ls >| f",
            "ls 2>&1 >f",
            "ls >/dev/null2",
            "(ls) > f",
            "ls >&f",
        ],
        &[
            "ls > /dev/null",
            "ls 2>&1",
            "ls 2>/dev/null",
            "ls >&2",
            "echo '>'",
        ],
    ),
    entry(
        Check::IfsInjection,
        "IFS_INJECTION",
        "The variable that decides where words end is used or set.",
        &["sort$IFS-o${IFS}x", "IFS=, ls", "IFS=,;a=touch,x;$a"],
        &["echo 'IFS'", "ls IFSX.txt"],
    ),
    entry(
        Check::GitCommitSubstitution,
        "GIT_COMMIT_SUBSTITUTION",
        "A commit message is made by a command.",
        &[
            "git commit -m \"$(x)\"",
            "git commit -m \"`x`\"",
            "git commit -m a -m \"$(x)\"",
        ],
        &["git commit -m 'a $(x)'", "git log", "echo $(x)"],
    ),
    entry(
        Check::ProcEnvironAccess,
        "PROC_ENVIRON_ACCESS",
        "The variables of a process are read: keys often lie there.",
        &[
            "cat /proc/self/environ",
            "cat /proc/$PPID/environ",
            "tr x y < /proc/self/environ",
            "head /proc/self/env*",
            "cat /dev/fd/../environ",
        ],
        &["cat src/environ", "ls environ"],
    ),
    entry(
        Check::MalformedTokenInjection,
        "MALFORMED_TOKEN_INJECTION",
        "Braces or brackets do not match, so that readers may disagree where a word ends.",
        &["echo {a", "echo a}", "echo '{\"k\": 1}' {\"k\";touch x"],
        &["git show HEAD@{1}", "echo '{'", "find . -exec ls {} +"],
    ),
    entry(
        Check::BackslashEscapedWhitespace,
        "BACKSLASH_ESCAPED_WHITESPACE",
        "A blank behind a backslash makes another word of a command's name.",
        &["cat\\ x", "ls\\\t-la"],
        &["cat my\\ file", "cat 'my file'"],
    ),
    entry(
        Check::BraceExpansion,
        "BRACE_EXPANSION",
        "Braces make several words of one, flags among them.",
        &[
            "sort {-ox,f}",
            "echo {1..9}",
            "{touch,x}",
            "git diff {@'{'0},--output=x}",
        ],
        &[
            "git stash show stash@{0}",
            "echo '{a,b}'",
            "find . -exec ls {} +",
        ],
    ),
    entry(
        Check::ControlCharacters,
        "CONTROL_CHARACTERS",
        "Characters that terminals obey instead of showing.",
        &[
            "ls\0",
            "ls\r",
            "ls\u{1b}[2K",
            "ls\u{b}x",
            "ls\u{7f}",
            "ls\u{85}",
        ],
        &["ls\t-l", "ls"],
    ),
    entry(
        Check::UnicodeWhitespace,
        "UNICODE_WHITESPACE",
        "Characters that look like blanks or like others, or that are not seen at all.",
        &[
            "ls\u{a0}-l",
            "ls\u{2029}x",
            "\u{feff}ls",
            "ls \u{202e}x",
            "ls\u{200b}",
            "\u{441}at f",
        ],
        &["echo grüße", "ls 文件", "grep 'é' f"],
    ),
    entry(
        Check::MidWordHash,
        "MID_WORD_HASH",
        "A `#` inside a word is a letter to bash and a comment to careless readers.",
        &["echo a#b", "ls x#;touch y", "ls $PWD#x"],
        &["echo 'a#b'", "ls # comment"],
    ),
    entry(
        Check::ZshDangerousCommands,
        "ZSH_DANGEROUS_COMMANDS",
        "Commands and forms of zsh that work around every check of programs.",
        &[
            "zmodload zsh/zpty",
            "emulate -c x",
            "sysopen -w f",
            "sysread",
            "syswrite x",
            "sysseek 0",
            "zpty p x",
            "ztcp h 1",
            "zsocket f",
            "zf_rm f",
            "zf_mv a b",
            "zf_ln a b",
            "zf_chmod 7 f",
            "zcompile f",
            "autoload x",
            "=touch x",
            "cat =(x)",
            "{ ls } always { touch x }",
            "ls >! f",
            "ls &>| f",
            "echo ${(e)x}",
            "TRAPEXIT() { touch x }",
        ],
        &["ls zsh", "echo zmodload"],
    ),
    entry(
        Check::BackslashEscapedOperators,
        "BACKSLASH_ESCAPED_OPERATORS",
        "An operator behind a backslash is a letter, and careless readers split there.",
        &["cat f \\&\\& g", "echo \\|", "echo a\\;b", "echo \\>"],
        &[
            "find . -exec ls {} \\;",
            "find . \\( -name a \\)",
            "echo '\\;'",
        ],
    ),
    entry(
        Check::CommentQuoteDesync,
        "COMMENT_QUOTE_DESYNC",
        "Quotes in a comment open nothing, but careless readers go on as if they did.",
        &["ls # it's\ntouch x # '", "ls # \"", "ls #$(\ntouch x #)"],
        &["ls # a comment", "echo \"# 'x'\""],
    ),
    entry(
        Check::QuotedNewline,
        "QUOTED_NEWLINE",
        "A line end in quotes followed by `#`: careless readers take the rest for a comment.",
        &["mv ./f '<\n>#' x ./d", "echo 'a\n# b'", "echo \"a\n#b\" $x"],
        &["echo 'a\nb'", "echo '# a'"],
    ),
    entry(
        Check::TooLong,
        "TOO_LONG",
        "Longer than anybody reads before approving it.",
        &[],
        &["ls"],
    ),
    entry(
        Check::TooComplex,
        "TOO_COMPLEX",
        "Syntax beyond plain commands: loops, conditions, functions, variables.",
        &[
            "for i in a; do ls; done",
            "if ls; then pwd; fi",
            "f() { ls; }",
            "[[ -f x ]]",
            "echo $x",
        ],
        &["(ls; pwd)", "{ ls; }", "! ls"],
    ),
    entry(
        Check::ReadingsDiffer,
        "READINGS_DIFFER",
        "Two independent ways to read the script come to different commands.",
        &[],
        &["ls -l 'a b'"],
    ),
    entry(
        Check::TooManyCommands,
        "TOO_MANY_COMMANDS",
        "More commands than anybody reads before approving them.",
        &[],
        &["ls; ls; ls"],
    ),
    entry(
        Check::UnknownCommand,
        "UNKNOWN_COMMAND",
        "A command that is not known to only read.",
        &["touch x", "./x.sh", "curl x", "/proc/self/root/usr/bin/ls"],
        &["ls", "/bin/ls"],
    ),
    entry(
        Check::UnknownArgument,
        "UNKNOWN_ARGUMENT",
        "A flag or word that is not known to keep a command from changing something.",
        &[
            "sort -o x f",
            "sort --out=x f",
            "rg --pre x .",
            "xxd f x",
            "uniq a b",
            "date -s 1",
        ],
        &["sort -u f", "rg -n x"],
    ),
    entry(
        Check::OutsidePath,
        "OUTSIDE_PATH",
        "A path outside the project's folders, or one that cannot be told.",
        &[
            "cat /etc/passwd",
            "cat ../x",
            "cat ~/x",
            "cd / && ls",
            "cat ~root/x",
            "ls .*",
            "cd sub && git status",
            "cd",
        ],
        &["cat src/x", "cd src && ls", "cat ./a/../b"],
    ),
    entry(
        Check::UnsafeAssignment,
        "UNSAFE_ASSIGNMENT",
        "A variable that may change what a command does.",
        &[
            "LD_PRELOAD=x ls",
            "PATH=. ls",
            "GIT_PAGER=x git log",
            "FOO=1 ls",
            "PROMPT_COMMAND=x",
        ],
        &["LANG=C ls", "NODE_ENV=test ls", "TZ=UTC date"],
    ),
    entry(
        Check::DangerousRemoval,
        "DANGEROUS_REMOVAL",
        "Removes the root, a home, the project, or something whose name is not known before.",
        &[
            "rm -rf /",
            "rm -rf ~",
            "rm -rf \"$X\"",
            "rm -rf .",
            "sudo rm -rf /etc",
        ],
        &["rm -rf build", "rm x"],
    ),
    entry(
        Check::RunsCode,
        "RUNS_CODE",
        "Runs a text or file that is not looked into.",
        &[],
        &["ls"],
    ),
    entry(
        Check::UnsafeProgram,
        "UNSAFE_PROGRAM",
        "A program for another tool, such as sed or awk, that may write or run something.",
        &[
            "sed 's/a/b/w x' f",
            "sed -n 'w x' f",
            "awk '{print > \"x\"}' f",
            "awk 'BEGIN{system(\"x\")}'",
        ],
        &["sed -n 1p f", "sed 's/a/b/g' f", "awk '{print $1}' f"],
    ),
    entry(
        Check::Endless,
        "ENDLESS",
        "Does not end by itself, or floods.",
        &[],
        &["ls"],
    ),
];

impl Check {
    /// Its place in the catalogue.
    pub fn entry(self) -> Option<&'static Entry> {
        CATALOGUE.iter().find(|entry| entry.check == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, inspect};

    #[test]
    fn every_check_hits_and_misses_as_it_says() {
        let place = Place::new("/home/dev/project").with_home("/home/dev");
        let mut wrong = Vec::new();
        for entry in CATALOGUE {
            for (scripts, wanted) in [(entry.hits, true), (entry.misses, false)] {
                for script in scripts {
                    let report = inspect(script, &place);
                    let checks: Vec<_> = report.findings.iter().map(|f| f.check.number()).collect();
                    if report.has(entry.check) != wanted || (wanted && report.read_only()) {
                        wrong.push(format!("{}: {script:?} {checks:?}", entry.name));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_no_short_case_shows() {
        let place = Place::new("/p");
        let long = format!("echo {}", "x".repeat(20_000));
        assert!(inspect(&long, &place).has(Check::TooLong));
        let many = vec!["true"; 51].join(";");
        assert!(inspect(&many, &place).has(Check::TooManyCommands));
        // Whatever the commands are: what is not looked into is not vouched for.
        for filler in ["LANG=C", "(true)", "[ -f x ]", "! true"] {
            let hidden = format!("{}touch x", format!("{filler};").repeat(60));
            let report = inspect(&hidden, &place);
            assert!(report.has(Check::TooManyCommands), "{filler}");
            assert!(!report.read_only(), "{filler}");
        }
        let many = format!("for i in a; do {} done", "true; ".repeat(60));
        assert!(inspect(&many, &place).has(Check::TooManyCommands));
        let enough = vec!["true"; 50].join(";");
        assert!(inspect(&enough, &place).read_only());
    }

    #[test]
    fn numbers_are_in_order_and_the_shared_ones_complete() {
        let numbers: Vec<u16> = CATALOGUE.iter().map(|entry| entry.check.number()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(numbers[..23], (1..=23).collect::<Vec<_>>());
    }
}
