//! A command that bash runs was heard, or the script is called opaque: otherwise a rule that
//! forbids the command would not hold.
//!
//! Scripts are put together from ways to hide a command, one inside the other, and changed here
//! and there. A real bash says whether the command runs. What starts it is bash alone: there are no
//! wrappers and runners in the empty root; those are in the case tables.

use std::io::{Read, Write};

use toolbay_shell::Place;

use super::mutate;
use super::namespace::Namespace;
use super::random::Random;

/// The command that a rule forbids. `hits.sh` knows it too.
const FORBIDDEN: &str = "zz";
/// Scripts that are run before the next ones are made.
const BATCH: usize = 1_000;

/// The command, as it may be spelt.
const SPELT: &[&str] = &[
    "zz",
    "zz x",
    "z\\z x",
    "z''z x",
    "\"z\"z x",
    "'zz' x",
    "$'zz' x",
    "$'\\x7az' x",
    "$'\\172z' x",
    "$'z\\u007a'",
    "z\\\nz x",
    "${n}zz x",
    "z${n}z x",
    "${n:-zz} x",
    "{zz,x}",
    "a=1 zz x",
    "> f zz x",
    "command zz",
    "builtin command zz",
    "exec zz",
    "! zz",
    "zz;",
    "zz &",
];

/// Where it may hide. `@` is the script inside.
const HIDING: &[&str] = &[
    // Joined, grouped, looped
    ":; @",
    ": && @",
    "false || @",
    ": | @",
    ": |& @",
    ": &\n@",
    "{ @; }",
    "( @ )",
    "! @",
    "time @",
    "time -p @",
    "coproc @",
    "coproc A { @; }",
    "if :; then @; fi",
    "if @; then :; fi",
    "while @; do break; done",
    "until @; do break; done",
    "for i in a; do @; done",
    "for ((;;)); do @; break; done",
    "case a in a) @;; esac",
    "case a in (b) :;; (*) @;; esac",
    "case a in a) ;;& *) @;; esac",
    "f() { @; }; f",
    "function f { @; }; f",
    "f() ( @ ); f",
    "select i in a; do @; break; done <<< 1",
    // Substituted
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "echo \"`@`\"",
    "echo $(echo $(@))",
    "echo `echo \\`@\\``",
    "echo `echo \"\\$(@)\"`",
    "x=$(@)",
    "x=1 y=$(@) :",
    "a=(1 $(@))",
    "a=([$(@)]=1)",
    "a[$(@)]=1",
    "a+=($(@))",
    "echo ${y:-$(@)}",
    "echo \"${y:-$(@)}\"",
    "echo \"${y:-'$(@)'}\"",
    "echo ${y-`@`}",
    "echo ${y:=$(@)}",
    "y=1; echo ${y:+$(@)}",
    "y=1; echo ${y/1/$(@)}",
    "y=1; echo ${y#$(@)}",
    "y=1; echo ${y:$(@)}",
    "echo $((1 + $(@)))",
    "echo $[1 + $(@)]",
    "(( $(@) ))",
    "(( a[$(@)] ))",
    "let \"$(@)\"",
    "let 'a[$(@)]=1'",
    "[[ $(@) ]]",
    "[[ a == $(@) ]]",
    "[[ -v a[$(@)] ]]",
    "[[ 'a[$(@)]' -eq 1 ]]",
    "[ \"$(@)\" ]",
    "test -v 'a[$(@)]'",
    "b=-v; test \"$b\" 'a[$(@)]'",
    ": <<< $(@)",
    ": <<< \"$(@)\"",
    ": <<E\n$(@)\nE",
    ": <<E\n${y:-'$(@)'}\nE",
    ": <<E\n`@`\nE",
    ": <<'E'\nx\nE\n@",
    ": <<E\\\nF\nx\nEF\n@",
    ": <<\"E\" ; @\nx\nE",
    ": <<-E\n\tx\n\tE\n@",
    ": > $(@)",
    ": < <(@)",
    ": > >(@)",
    "exec 5< <(@); wait",
    "{ :; } <<< $(@)",
    "for i in $(@); do :; done",
    "for i in \"$(@)\"; do :; done",
    "case $(@) in *) ;; esac",
    "case a in $(@)) ;; esac",
    "${y:-$(@)}",
    "\"$(@)\" x",
    // Evaluated
    "eval '@'",
    "eval \"@\"",
    "eval @",
    "eval $'@'",
    "eval $'echo \\cJ@'",
    "x='@'; eval \"$x\"",
    "set -- '@'; eval \"$1\"",
    "trap '@' EXIT",
    "trap '@' DEBUG; :",
    "trap '@' ERR; false",
    "trap '@' RETURN; f() { :; }; f",
    "declare -a a='($(@))'",
    "declare -A a='([$(@)]=1)'",
    "declare -i x='a[$(@)]'",
    "declare x=$(@)",
    "readonly -a a='($(@))'",
    "typeset -i x; x='a[$(@)]'",
    "export x=\"$(@)\"",
    "x='a[$(@)]'; echo $((x))",
    "x='a[$(@)]'; (( x ))",
    "x='a[$(@)]'; [[ x -gt 0 ]]",
    "x='a[$(@)]'; y=1; echo ${y:x}",
    "x='a[$(@)]'; echo ${b[x]}",
    "x='a[$(@)]'; b[x]=1",
    "x='a[$(@)]'; for ((; x; )); do break; done",
    "do0='a[$(@)]'; echo $(( do0 ))",
    "RANDOM='a[$(@)]'",
    "SECONDS='a[$(@)]'",
    "HISTCMD='a[$(@)]'",
    "for RANDOM in 'a[$(@)]'; do :; done",
    "read RANDOM <<< 'a[$(@)]'",
    "read 'a[$(@)]' <<< 1",
    "printf -v 'a[$(@)]' x",
    "printf {-v,'a[$(@)]',x}",
    "test {-v,'a[$(@)]'}",
    "unset 'a[$(@)]'",
    "mapfile -C '@;' -c 1 a <<< 1",
    "getopts a 'a[$(@)]' -a",
    "x='$(@)'; echo \"${x@P}\"",
    "PS4='$(@)'; set -x; :",
    "PS4='$(@)' ; shopt -so xtrace; :",
    "n=x; declare -n r='a[$(@)]'; echo $r",
    "x='a[$(@)]'; echo ${!x}",
    "alias q='@'; shopt -s expand_aliases\nq",
    "shopt -s expand_aliases\nalias q='@'\nq",
    "command_not_found_handle_() { :; }; @",
    "source /dev/stdin <<< '@'",
    ". /dev/fd/5 5<<< '@'",
    "bash -c '@'",
    "x=(echo '@'); eval \"${x[1]}\"",
    "printf -v x '%s' '@'; eval \"$x\"",
    "read -r x <<< '@'; $x",
    "x=zz; $x",
    "x=z; ${x}z",
    "x=zz; \"$x\"",
    "zz() { command zz; }; zz",
    "compgen -C '@' x",
    "complete -C '@' x",
    "wait -p 'a[$(@)]' -n",
    "exec {a[$(@)]}> f",
    "{ :; } {b}> f; @",
    "coproc zz { @; }",
    // Misread
    "echo $'\\\\'; @ #'",
    "echo \\ #b; @",
    "echo 'a'\\''b'; @ #'",
    "echo \"a\\\\\"; @ #\"",
    "echo a#b; @",
    "echo ''#b; @",
    "echo ${x#b}; @",
    "echo $#; @",
    ": # it's\n@ # '",
    ": \\\n; @",
    "echo \"${x//\\\"/}\"; @ #\"",
    "echo $((1 # 2\n)); @",
    "[[ a =~ # ]]\n@",
    "[[ a =~ b#c ]]; @",
    "a=(1 # '\n); @ #'",
    "echo $\"a\"; @",
    "echo $\"$(@)\"",
    "shopt -s extglob\necho @(a|b); @",
    "echo {a,$(@)}",
    "echo ~+; @",
];

#[derive(Default, Debug)]
pub struct Figures {
    run: usize,
    hits: usize,
    heard: usize,
    opaque: usize,
}

impl Figures {
    pub fn sentence(&self) -> String {
        format!(
            "{} scripts that hide a command were run, and {} ran it: {} by a name that was heard, {} called opaque",
            self.run, self.hits, self.heard, self.opaque
        )
    }
}

/// Runs so many scripts; says which ran the command unheard.
pub fn listen(wanted: usize, seed: u64) -> (Figures, Vec<String>) {
    let mut figures = Figures::default();
    let mut wrong = Vec::new();
    let mut random = Random::new(seed);
    // Each way to hide it by itself, before they are mixed.
    let mut plain = HIDING.iter().map(|hiding| hiding.replace('@', "zz x"));
    while figures.run < wanted {
        let most = BATCH.min(wanted - figures.run);
        let batch: Vec<String> = (0..most)
            .map(|_| plain.next().unwrap_or_else(|| script(&mut random)))
            .collect();
        figures.run += batch.len();
        for (script, hits) in batch.iter().zip(hits(&batch)) {
            if hits == 0 {
                continue;
            }
            figures.hits += 1;
            let report = toolbay_shell::inspect(script, &Place::new("/home/dev/project"));
            let is_it = |name: &String| name == FORBIDDEN;
            let is_heard = (report.mentions.iter()).any(|one| one.words.first().is_some_and(is_it));
            figures.heard += usize::from(is_heard);
            figures.opaque += usize::from(!is_heard && report.is_opaque);
            // What an earlier script left running may have been counted here: once more, alone.
            if !is_heard && !report.is_opaque && self::hits(std::slice::from_ref(script))[0] > 0 {
                wrong.push(format!("{script:?} runs {FORBIDDEN}, and nothing says so"));
            }
        }
    }
    (figures, wrong)
}

fn script(random: &mut Random) -> String {
    let mut script = (*random.pick(SPELT)).to_owned();
    for _ in 0..=random.below(3) {
        script = random.pick(HIDING).replace('@', &script);
    }
    match random.below(3) {
        0 => mutate::characters(random, &script),
        _ => script,
    }
}

/// How often each script ran the command.
fn hits(batch: &[String]) -> Vec<usize> {
    let namespace = Namespace::new();
    let mut command = namespace.bash(include_str!("argv_root.sh"));
    command.arg(namespace.folder()).arg(batch.len().to_string());
    command.arg(include_str!("hits.sh"));
    let mut child = command.spawn().expect("unshare");
    let input: Vec<u8> = batch
        .iter()
        .flat_map(|script| script.bytes().filter(|byte| *byte != 0).chain([0]))
        .collect();
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let mut output = Vec::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_end(&mut output).expect("what bash says");
    let written = writer.join().expect("no panic");
    written.expect("bash reads all scripts");
    child.wait().expect("unshare ends");
    let mut hits: Vec<usize> = output
        .split(|byte| *byte == 7)
        .map(|script| script.iter().filter(|byte| **byte == 4).count())
        .collect();
    hits.pop();
    assert_eq!(hits.len(), batch.len(), "bash stopped early");
    hits
}
