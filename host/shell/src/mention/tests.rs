use super::{DEEPEST, MOST_SCRIPTS};
use crate::{Check, Place, inspect};

fn place() -> Place {
    Place::new("/home/dev/project").with_home("/home/dev")
}

#[test]
fn a_command_is_heard_wherever_it_hides() {
    for script in [
        "curl x",
        "ls & curl x",
        "ls\ncurl x",
        "LD_PRELOAD=x curl x",
        "timeout 5 curl x",
        "timeout -v 5 curl x",
        "env -v curl x",
        "stdbuf -oL curl x",
        "builtin command curl x",
        "eval 'curl x'",
        "xargs curl < urls",
        "find . -exec curl x \\;",
        "bash -c \"curl x\"",
        "bash -ec 'ls; curl x'",
        "sh -c 'bash -c \"curl x\"'",
        "bash <<< 'curl x'",
        "bash <<EOF\ncurl x\nEOF",
        "echo 'curl x' | sh",
        "\"curl\" x",
        "\\curl x",
        "$'curl' x",
        "$'\\x63url' x",
        "$'\\143url' x",
        "c''url x",
        "for i in 1; do curl x; done",
        "while curl x; do break; done",
        "if curl x; then ls; fi",
        "case x in x) curl x;; esac",
        "cu${y}rl x",
        "ls # it's\ncurl x # '",
        "git -c alias.x='!curl y' x",
        "script -c 'curl x' /dev/null",
        "echo $(curl x)",
        "echo `curl x`",
        "diff <(curl x) f",
        "env -S 'curl x'",
        "env A=1 B=2 curl x",
        "/usr/bin/curl x",
        "sudo -u me curl x",
        "nice -n 5 nohup curl x",
        "f() { curl x; }; f",
        "(curl x)",
        "{ curl x; }",
        "! curl x",
        "time curl x",
        "coproc curl x",
        "trap 'curl x' EXIT",
        "ssh host curl x",
        "su -c 'curl x'",
        "watch 'curl x'",
        "=curl x",
        "cat f | while read l; do curl $l; done",
        "echo \"$(echo \"$(curl x)\")\"",
        "cu\\\nrl x",
        "coproc A { curl x; }",
        "env -iS'curl x'",
        "script -c'curl x'",
        "split --filter='curl x' f",
        "sort --compress-prog=curl f",
        "linux64 curl x",
        "setarch x86_64 curl x",
        "uv run --with a curl x",
        "bundle exec curl x",
        "direnv exec . curl x",
        "mise x -- curl x",
        "conda run -n base curl x",
        "nix develop -c curl x",
        "nix-shell --run 'curl x'",
        "dotenv curl x",
        "vagrant ssh -c 'curl x'",
        "adb shell curl x",
        "docker exec web sh -c 'curl x'",
        "kubectl exec pod -- curl x",
        "systemd-run --user curl x",
        "bwrap --ro-bind / / curl x",
        "capsh -- -c 'curl x'",
        "toybox curl x",
        "echo \"`echo \\`curl x\\``\"",
    ] {
        let report = inspect(script, &place());
        let heard = report
            .mentions
            .iter()
            .any(|mention| mention.words.first().is_some_and(|name| name == "curl"));
        assert!(heard, "{script}: {:?}", report.mentions);
        assert!(!report.read_only(), "{script}");
    }
}

#[test]
fn text_is_not_a_command() {
    for script in [
        "echo 'curl x'",
        "echo 'a; curl x'",
        "grep -rn \"curl \" src",
        "curlx y",
    ] {
        let report = inspect(script, &place());
        let heard = report
            .mentions
            .iter()
            .any(|mention| mention.words.first().is_some_and(|name| name == "curl"));
        assert!(!heard, "{script}: {:?}", report.mentions);
    }
}

#[test]
fn flags_before_a_sub_command_do_not_hide_it() {
    for script in [
        "git push",
        "git -C . push",
        "git --git-dir=.git push",
        "git 'push'",
        "/usr/bin/git push",
        "git -c a=b --no-pager push origin",
        "git -C . -c a=b push",
    ] {
        let report = inspect(script, &place());
        let heard = report
            .mentions
            .iter()
            .any(|mention| mention.words.starts_with(&["git".into(), "push".into()]));
        assert!(heard, "{script}: {:?}", report.mentions);
    }
}

#[test]
fn what_cannot_be_named_is_opaque() {
    for script in [
        "$CMD x",
        "cat x | ${SHELL}",
        "/usr/bin/cur? x",
        "python3 -c 'x'",
        "bash x.sh",
        "cat x | sh",
        "./s",
        "bin/s",
        "unheard-of x",
        "hash -p /usr/bin/curl ls; ls",
        "enable -f ./x.so ls",
        "alias ls=x",
        "f() { ls; }; f",
        "PATH=. ls",
        "LD_PRELOAD=./x.so ls",
        "export GIT_PAGER=x",
        "tar cf a.tar *",
        "sort --comp=x f",
        "echo ${x:-`y`}",
        "x='a[$(y)]'; echo $((x))",
        "cp x /usr/local/bin/ls; ls",
        "echo x >> .git/config; git status",
    ] {
        assert!(inspect(script, &place()).is_opaque, "{script}");
    }
    for script in [
        "ls",
        "rm x",
        "ls | grep x",
        "git status && mkdir x",
        "for f in *.rs; do wc -l $f; done",
        "sed -i 's/a/b/' f",
        "find . -name x | xargs wc -l",
        "timeout 5 sort -u a",
        "bash -c 'ls; mkdir x'",
        "/usr/bin/ls",
    ] {
        assert!(!inspect(script, &place()).is_opaque, "{script}");
    }
}

#[test]
fn some_removals_always_ask() {
    for script in [
        "rm -rf /",
        "rm -rf ~",
        "rm -fr /",
        "rm -r -f /",
        "rm -rf -- /",
        "rm -rf //",
        "rm -rf /*",
        "rm -rf \"$HOME\"",
        "rm -rf $HOME/",
        "rm -rf ${HOME}",
        "/bin/rm -rf /",
        "ls && rm -rf ~",
        "rm -rf build ~/",
        "rm -rf /etc",
        "rm -rf ~/*",
        "rm -rf .",
        "rm -rf ..",
        "rm -rf ../..",
        "rm -rf ./*",
        "rm -rf *",
        "rm -rf $X/y",
        "sudo rm -rf /",
        "bash -c 'rm -rf /'",
        "rm -rf /./",
        "rm -rf /./etc",
        "rm -rf //etc",
        "rm -rf /usr/..",
        "rm -rf a/..",
        "find / -delete",
        "find ~ -exec rm {} +",
        "rm -rf ~root",
        "rm -rf \"$X\"/y",
        "env rm -rf /",
        "rm -rf $(pwd)",
        "rmdir /",
        "rm -rf /home/*",
    ] {
        assert!(
            inspect(script, &place()).has(Check::DangerousRemoval),
            "{script}"
        );
    }
    for script in [
        "rm -rf build",
        "rm x",
        "rm -rf ./target",
        "rm -rf src/*.o",
        "rm -rf ~/.cache/x",
        "rm -rf /tmp/x/y",
        "echo rm -rf /",
        "find . -name x -delete -print",
        "rm -rf ../other/build",
    ] {
        let report = inspect(script, &place());
        let always = report.has(Check::DangerousRemoval);
        // `find .` with `-delete` removes the folder itself.
        assert_eq!(always, script.starts_with("find ."), "{script}");
    }
}

#[test]
fn what_is_too_much_to_listen_to_is_opaque() {
    let nested = |depth: usize| {
        (0..depth).fold("ls".to_owned(), |script, _| {
            format!("bash -c '{}'", script.replace('\'', "'\\''"))
        })
    };
    for (script, wanted) in [
        (vec!["bash -c ls"; MOST_SCRIPTS].join("; "), false),
        (vec!["bash -c ls"; MOST_SCRIPTS + 1].join("; "), true),
        (nested(2), false),
        (nested(DEEPEST + 1), true),
        ("eval ".repeat(DEEPEST - 1) + "ls", false),
        ("eval ".repeat(DEEPEST) + "ls", true),
        ("nice ".repeat(DEEPEST - 1) + "ls", false),
        ("nice ".repeat(DEEPEST) + "ls", true),
        ("find a -exec ".repeat(DEEPEST - 1) + "ls", false),
        ("find a -exec ".repeat(DEEPEST) + "ls", true),
        // Five texts, each with one `eval` less, of ten thousand bytes together.
        (
            format!("{}ls {}", "eval ".repeat(5), "a".repeat(1987)),
            false,
        ),
        (
            format!("{}ls {}", "eval ".repeat(5), "a".repeat(1988)),
            true,
        ),
        // Words of one command are counted three times: with the flag in front, and without.
        (format!("ls -a{}; ls a b", " a".repeat(3998)), false),
        (format!("ls -a{}; ls a b c", " a".repeat(3998)), true),
        // Two parts for each `!`, six for the rest.
        (format!("[[ {}a = b ]]", "! ".repeat(997)), false),
        (format!("[[ {}a = b ]]", "! ".repeat(998)), true),
        (vec!["ls a b c d"; 600].join(";"), false),
        (vec!["ls a b c d"; 20_000].join(";"), true),
    ] {
        let start: String = script.chars().take(60).collect();
        let report = inspect(&script, &place());
        assert_eq!(report.is_opaque, wanted, "{} bytes: {start}", script.len());
    }
}

#[test]
fn a_command_in_the_deepest_text_is_mentioned() {
    for (depth, heard) in [(DEEPEST, true), (DEEPEST + 1, false)] {
        let report = inspect(&("eval ".repeat(depth) + "curl x"), &place());
        let mentions = report.mentions.iter();
        let curl = mentions.filter(|mention| mention.words[0] == "curl");
        assert_eq!(curl.count() > 0, heard, "{depth}");
        assert!(report.is_opaque, "{depth}");
    }
}
