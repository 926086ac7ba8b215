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
    ] {
        assert!(inspect(script, &place()).is_opaque, "{script}");
    }
    for script in ["ls", "rm x", "ls | grep x"] {
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
