use super::*;

/// The words of every command, commands separated by their joins.
fn spelled(script: &str) -> String {
    match read(script) {
        Err(finding) => format!("!{}", finding.check.number()),
        Ok(reading) => reading
            .commands
            .iter()
            .map(|command| {
                let join = match command.join {
                    Join::Then => "",
                    Join::Line => "/",
                    Join::And => "&&",
                    Join::Or => "||",
                    Join::Pipe => "|",
                };
                let assigned = command
                    .assignments
                    .iter()
                    .map(|assignment| format!("{}:={}", assignment.name, assignment.value));
                let words = command.words.iter().map(|word| format!("<{}>", word.text));
                let redirected = command
                    .redirections
                    .iter()
                    .map(|r| format!("{:?}({:?},{})", r.operator, r.descriptor, r.target.text));
                let parts: Vec<String> = assigned.chain(words).chain(redirected).collect();
                format!("{join}{}{}", "+".repeat(command.depth), parts.join(""))
            })
            .collect::<Vec<_>>()
            .join(" "),
    }
}

#[test]
fn plain_scripts_are_split_as_bash_does() {
    for (script, wanted) in [
        ("ls -la", "<ls><-la>"),
        ("ls 'a b' \"c d\" e\\ f", "<ls><a b><c d><e f>"),
        ("echo a\"b\"'c'", "<echo><abc>"),
        ("echo ''", "<echo><>"),
        ("echo \"\\\"\\\\\\$\\`\\n\"", "<echo><\"\\$`\\n>"),
        ("a && b || c | d; e", "<a> &&<b> ||<c> |<d> <e>"),
        ("a\nb\n\n  c;\nd", "<a> /<b> /<c> <d>"),
        ("a &&\n b", "<a> &&<b>"),
        ("a | b\nc", "<a> |<b> /<c>"),
        ("a &&\n\n b\n\nc", "<a> &&<b> /<c>"),
        ("(a\nb)\nc", "+<a> /+<b> /<c>"),
        ("! a\nb", "<a> /<b>"),
        ("a | \\\n  b", "<a> |<b>"),
        ("a ;", "<a>"),
        ("(a; b) && { c; d; }", "+<a> +<b> &&+<c> +<d>"),
        ("! a", "<a>"),
        ("A=1 B= c", "A:=1B:=<c>"),
        ("A=1", "A:=1"),
        ("a A=1", "<a><A=1>"),
        (
            "a 2>&1 >/dev/null",
            "<a>DuplicateOutput(Some(2),1)Write(None,/dev/null)",
        ),
        ("a <f 3>g", "<a>Read(None,f)Write(Some(3),g)"),
        ("a &>f", "<a>WriteBoth(None,f)"),
        ("a >&f", "<a>WriteBoth(None,f)"),
        ("a 2>&-", "<a>DuplicateOutput(Some(2),-)"),
        ("a22>f", "<a22>Write(None,f)"),
        ("(a) >f", "+<a>Write(None,f)"),
        ("# hello\nls # x", "<ls>"),
        ("ls #", "<ls>"),
        ("grep x$ f", "<grep><x$><f>"),
        ("echo \"$\"", "<echo><$>"),
        ("git show HEAD@{1} {}", "<git><show><HEAD@{1}><{}>"),
        ("git log @{u}..HEAD a{},b", "<git><log><@{u}..HEAD><a{},b>"),
        (
            "find . \\( -name a \\) -exec ls {} \\;",
            "<find><.><(><-name><a><)><-exec><ls><{}><;>",
        ),
        ("[ -f x ]", "<[><-f><x><]>"),
        ("echo a^b %c @d +e :f", "<echo><a^b><%c><@d><+e><:f>"),
    ] {
        assert_eq!(spelled(script), wanted, "{script}");
    }
}

#[test]
fn everything_else_is_refused_by_its_check() {
    for (script, check) in [
        ("", 1),
        ("   ", 1),
        ("# x", 1),
        ("ls &&", 1),
        ("&& ls", 1),
        ("| ls", 1),
        ("; ls", 1),
        ("'ls", 1),
        ("\"ls", 1),
        ("ls \\", 1),
        ("(ls", 1),
        ("ls)", 1),
        ("{ ls; ", 1),
        ("> f", 1),
        ("ls >", 1),
        ("()", 1),
        ("ls | | cat", 1),
        ("ls & cat", 5),
        ("ls &", 5),
        ("ls |& cat", 5),
        ("$x", 6),
        ("$SHELL -c x", 6),
        ("l\\\ns", 7),
        ("ls\\\n-la", 7),
        ("echo \"a\\\nb\"", 7),
        ("echo $(x)", 8),
        ("echo `x`", 8),
        ("echo \"$(x)\"", 8),
        ("echo \"`x`\"", 8),
        ("echo ${x}", 8),
        ("echo $[1]", 8),
        ("cat <(x)", 8),
        ("cat >(x)", 8),
        ("cat =(x)", 8),
        ("=ls", 8),
        ("echo ~[x]", 8),
        ("ls <#x", 8),
        ("cat << E", 9),
        ("cat <<< x", 9),
        ("a$IFS-b", 11),
        ("a${IFS}b", 11),
        ("echo {a", 14),
        ("echo a}", 14),
        ("cat\\ x", 15),
        ("ls\\\t-la", 15),
        ("echo {a,b}", 16),
        ("echo {1..3}", 16),
        ("echo a{b,c}d", 16),
        ("echo {a{},b}", 16),
        ("echo {{},b}", 16),
        ("echo a#b", 19),
        ("ls x#", 19),
        ("cat f \\&\\& g", 21),
        ("echo \\;x", 21),
        ("echo x\\|", 21),
        ("echo \\>", 21),
        ("ls # it's", 22),
        ("ls # \"", 22),
        ("ls # a >(b)", 22),
        ("ls # $x", 22),
        ("ls #$(\nx #)", 22),
        ("echo 'a\n#b'", 23),
        ("echo \"a\n #b\"", 23),
        ("if x; then y; fi", 102),
        ("for i in a; do b; done", 102),
        ("while x; do y; done", 102),
        ("case x in y) z;; esac", 102),
        ("f() { x; }", 102),
        ("function f { x; }", 102),
        ("[[ -f x && -f y ]]", 102),
        ("((1))", 102),
        ("echo $x", 102),
        ("echo \"$x\"", 102),
        ("echo $'x'", 102),
        ("echo $\"x\"", 102),
        ("a=(1 2)", 8),
        ("a+=1", 102),
        ("a[1]=2", 102),
        ("ls @(a|b)", 102),
        ("a=~/x ls", 102),
        ("ls a=~/x", 102),
        ("(ls) x", 102),
        ("x;; y", 102),
        ("{a}", 0),
        ("echo $1", 102),
        ("echo $#", 102),
        ("echo $?", 102),
        ("echo $$", 102),
        ("echo $@", 102),
        ("! ! ls", 0),
        ("coproc ls", 102),
        ("cat <&x", 102),
        // Found by comparing with bash.
        ("%a", 102),
        ("'%a'", 102),
        ("a | ! b", 102),
        ("time", 102),
        ("time ! a", 102),
        ("time A=1 b", 102),
        ("time done", 102),
        ("a[b c]=d e", 102),
        ("a[b c", 102),
        ("!'' a", 102),
        ("a 2''>f", 102),
        ("a >&-b", 102),
        ("a >& -b", 102),
        ("a <&-b", 102),
        ("a 2>& --", 102),
        ("a >&1-", 102),
        ("a >2>f", 102),
        ("a 2>&f", 102),
        ("a 1>&f", 102),
        ("a >&'$(b)'", 102),
        ("a >&\"~\"", 102),
        ("a {v}>f", 102),
        ("a ~''", 102),
        ("a ~:", 102),
        ("a ~b:/c", 102),
        ("a ~\"b\"/c", 102),
        ("time a", 102),
        ("time -p a", 102),
        ("a ~/'b'", 0),
        ("a >&f", 0),
    ] {
        let found = match read(script) {
            Err(finding) => finding.check.number(),
            Ok(_) => 0,
        };
        assert_eq!(found, check, "{script}");
    }
}

#[test]
fn words_carry_what_bash_would_do_with_them() {
    for (script, glob, tilde, plain) in [
        ("x *.rs", true, false, 4),
        ("x '*.rs'", false, false, 0),
        ("x \\*", false, false, 0),
        ("x a?", true, false, 2),
        ("x [ab]", true, false, 4),
        ("x ~/a", false, true, 3),
        ("x '~/a'", false, false, 0),
        ("x a~", false, false, 2),
        ("x --a='b'", false, false, 4),
        ("x -d','", false, false, 2),
        ("x a'b'*", true, false, 1),
    ] {
        let reading = read(script).unwrap();
        let word = &reading.commands[0].words[1];
        assert_eq!(
            (word.glob, word.tilde, word.plain),
            (glob, tilde, plain),
            "{script}"
        );
    }
}

/// Only digits that stand bare in front of an operator are the number of a descriptor.
#[test]
fn quoted_digits_in_front_of_a_redirection_are_a_word() {
    for (script, words) in [
        ("cat '2'<x", &["cat", "2"][..]),
        ("cat \"2\"<x", &["cat", "2"]),
        ("cat \"\"<x", &["cat", ""]),
        ("cat \\2<x", &["cat", "2"]),
        ("cat 2<x", &["cat"]),
        ("cat a2<x", &["cat", "a2"]),
    ] {
        let report = crate::inspect(script, &crate::Place::new("/p"));
        let found: Vec<&[String]> = report.commands.iter().map(|one| &*one.words).collect();
        assert_eq!(found, [words], "{script}");
    }
}
