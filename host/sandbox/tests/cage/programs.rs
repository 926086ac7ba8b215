//! Scripts that were judged by their words start what they name, whatever the repository says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::world::{ALONE, KINDS, User, World, left_out};

/// What the project's own program does when it runs.
const MARK: &str = "ITS OWN CODE RAN";

/// A script that makes the project what it is, what is run in it then, and what must be seen.
struct Case {
    name: &'static str,
    project: &'static str,
    script: &'static str,
    /// A part of the output, where the command must still do its work.
    works: Option<&'static str>,
}

const REPOSITORY: &str = "rm -rf .git nested deep; git init -q . && git config user.email a@b && git config user.name x \
    && echo one > a.txt && git add a.txt && git commit -qm first && echo two >> a.txt";

const CASES: &[Case] = &[
    Case {
        name: "a program by its path",
        project: "true",
        script: "./evil",
        works: None,
    },
    Case {
        name: "a program of the project by a link elsewhere",
        project: "ln -s $PWD/evil link",
        script: "./link",
        works: None,
    },
    Case {
        name: "git's external diff",
        project: "git config diff.external ./evil",
        script: "git diff",
        works: None,
    },
    Case {
        name: "git's external diff as a text for the shell",
        project: "git config diff.external 'sh ./evil #'",
        script: "git diff",
        works: None,
    },
    Case {
        name: "a script of git's own that runs what the configuration says",
        project: "git config diff.external git-difftool--helper; git config diff.tool x; git config difftool.prompt false; git config difftool.x.cmd 'sh ./evil'",
        script: "git diff",
        works: None,
    },
    Case {
        name: "another one as a conversion to text",
        project: "echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv git-web--browse; git config web.browser zz; git config browser.zz.cmd 'sh ./evil'",
        script: "git show",
        works: None,
    },
    Case {
        name: "conversion to text",
        project: "echo '*.txt diff=x' > .gitattributes; git config diff.x.textconv 'sh ./evil; cat'",
        script: "git diff; git show; git blame a.txt",
        works: None,
    },
    Case {
        name: "a filter",
        project: "echo '*.txt filter=x' > .gitattributes; git config filter.x.clean 'sh ./evil; cat'; touch a.txt",
        script: "git status; git diff",
        works: None,
    },
    Case {
        name: "a filter that stays",
        project: "echo '*.txt filter=x' > .gitattributes; git config filter.x.process 'sh ./evil'; touch a.txt",
        script: "git status; git diff",
        works: None,
    },
    Case {
        name: "a watcher of files",
        project: "git config core.fsmonitor ./evil",
        script: "git status",
        works: None,
    },
    Case {
        name: "the check of a signature",
        project: "git config gpg.format ssh; git config gpg.ssh.program $PWD/evil; git config gpg.ssh.allowedSignersFile a.txt; git config format.pretty %GG; \
            git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN SSH SIGNATURE-----\\n x\\n -----END SSH SIGNATURE-----' > c; git reset -q --soft $(git hash-object -t commit -w c)",
        script: "git log",
        works: None,
    },
    Case {
        name: "references of others",
        project: "git clone -q . other; git config core.alternateRefsCommand \"sh $PWD/evil #\"; mkdir -p .git/objects/info; echo $PWD/other/.git/objects > .git/objects/info/alternates",
        script: "git rev-list --alternate-refs --count",
        works: None,
    },
    Case {
        name: "a lazy fetch",
        project: "git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.partialclonefilter blob:none; git config remote.origin.url .; git config remote.origin.uploadpack './evil;'; f=.git/objects/$(git rev-parse HEAD:a.txt | sed 's,..,&/,'); rm -f $f",
        script: "git cat-file -p HEAD:a.txt; git show",
        works: None,
    },
    Case {
        name: "an alias of the repository",
        project: "git config alias.lg '!./evil'",
        script: "git lg",
        works: None,
    },
    Case {
        name: "a bare repository among the files",
        project: "mkdir docs && cd docs && git init -q --bare . && git config core.bare false && git config core.worktree . && git config core.fsmonitor ../evil",
        script: "cd docs && git status",
        works: None,
    },
    Case {
        name: "a bare repository behind find",
        project: "mkdir docs && cd docs && git init -q --bare . && git config core.bare false && git config core.worktree . && git config core.fsmonitor ../evil",
        script: "find docs -maxdepth 0 -execdir git -C docs status ';'",
        works: None,
    },
    Case {
        name: "the settings of a repository below",
        project: "git init -q sub; (cd sub; echo x > x; git add x; git -c user.name=x -c user.email=a@b commit -qm x; git config core.fsmonitor $OLDPWD/evil; git config diff.external $OLDPWD/evil; echo y > x); git add sub 2>/dev/null",
        script: "git status; git diff --submodule=diff",
        works: None,
    },
    Case {
        name: "the settings of a submodule",
        project: "git clone -q . from; git -c protocol.file.allow=always submodule --quiet add ./from sub; git config -f .git/modules/sub/config core.fsmonitor $PWD/evil; git config -f .git/modules/sub/config diff.external $PWD/evil; echo y > sub/a.txt",
        script: "git status; git diff --submodule=diff; git -C sub status",
        works: None,
    },
    Case {
        name: "a program in memory",
        project: "true",
        script: r#"python3 -c 'import os; f=os.memfd_create("x"); os.write(f, open("/bin/echo","rb").read()); g=os.open(f"/proc/self/fd/{f}", os.O_RDONLY); os.close(f); os.execve(g, ["echo", "ITS", "OWN", "CODE", "RAN"], {})'"#,
        works: None,
    },
    Case {
        name: "plain reading still works",
        project: "true",
        script: "git status --short && git log --oneline | wc -l && git diff --stat && ls | sort | head -3 && find . -name '*.txt' -exec wc -l {} +",
        works: Some("a.txt"),
    },
    Case {
        name: "wrappers still start what they are told",
        project: "true",
        script: "env LC_ALL=C timeout 5 nice cat a.txt | xargs echo",
        works: Some("one two"),
    },
    Case {
        name: "a script of the system still runs",
        project: "true",
        script: "git --version && python3 -c 'print(6 * 7)'",
        works: Some("42"),
    },
];

#[test]
fn a_repository_starts_no_code_of_its_own_in_a_judged_script() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, "programs");
            for case in CASES {
                for profile in ["read-only", "workspace"] {
                    one(&world, kind, user, profile, case);
                }
            }
        }
    }
}

fn one(world: &World, kind: &str, user: User, profile: &str, case: &Case) {
    world.fresh_project();
    let project = world.project();
    let evil = project.join("evil");
    fs::write(&evil, format!("#!/bin/sh\necho {MARK}\necho {MARK} >&2\n")).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    world.own(&project);
    let made = format!("{REPOSITORY} && {{ {}; }}", case.project);
    let made = world.outside(&["bash", "-c", &made]).output().unwrap();
    assert!(made.status.success(), "{}: {made:?}", case.name);
    let mark = |options: &[&str]| {
        let ended = world.caged(kind, profile, options, case.script);
        let all = [ended.stdout, ended.stderr].concat();
        (
            ended.status.code(),
            String::from_utf8_lossy(&all).into_owned(),
        )
    };
    let (code, text) = mark(&["--programs", "judged"]);
    if code == Some(99) {
        left_out(kind, user, &text);
        return;
    }
    let name = format!("{} in {kind}, {profile}, {}", case.name, user.name());
    assert!(!text.contains(MARK), "{name}: {text}");
    if let Some(works) = case.works {
        assert!(text.contains(works) && code == Some(0), "{name}: {text}");
    }
}

/// The cases are worth something: without the doorman they run the project's code.
#[test]
fn the_same_repositories_run_their_code_where_all_programs_may_start() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let world = World::new(Path::new("/tmp"), User::This, "programs");
    let attacks = CASES.iter().filter(|case| case.works.is_none());
    let mut ran = Vec::new();
    let mut silent = Vec::new();
    for case in attacks {
        world.fresh_project();
        let project = world.project();
        let evil = project.join("evil");
        fs::write(&evil, format!("#!/bin/sh\necho {MARK}\necho {MARK} >&2\n")).unwrap();
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
        let made = format!("{REPOSITORY} && {{ {}; }}", case.project);
        world.outside(&["bash", "-c", &made]).output().unwrap();
        let ended = world.caged("any", "read-only", &[], case.script);
        let all = [ended.stdout, ended.stderr].concat();
        match String::from_utf8_lossy(&all).contains(MARK) {
            true => ran.push(case.name),
            false => silent.push((case.name, String::from_utf8_lossy(&all).into_owned())),
        }
    }
    println!(
        "{} of {} run without it",
        ran.len(),
        ran.len() + silent.len()
    );
    assert!(silent.is_empty(), "these attack nothing: {silent:#?}");
}

#[test]
fn a_refused_program_is_reported_by_name() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let world = World::new(Path::new("/tmp"), User::This, "reported");
    let made = format!("{REPOSITORY} && git config core.fsmonitor 'sh -c ./evil'");
    world.outside(&["bash", "-c", &made]).output().unwrap();
    let ended = world.caged("any", "read-only", &["--programs", "judged"], "git status");
    let text = String::from_utf8_lossy(&ended.stderr);
    assert!(text.contains("wants to start"), "{text}");
    assert!(text.contains("git"), "{text}");
}

#[test]
fn starting_what_is_no_file_keeps_nobody_waiting() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        let world = World::new(Path::new("/tmp"), User::This, "pipes");
        let made = "mkfifo pipe && chmod +x pipe && mkdir folder";
        let made = world.outside(&["bash", "-c", made]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        // Nobody ever writes to the pipe; the doorman would wait for it with all in the cage.
        let script = "env ./pipe; env ./folder; env /dev/null; touch new; echo goes on";
        let ended = world.caged(kind, "workspace", &["--programs", "judged"], script);
        if ended.status.code() == Some(99) {
            let why = String::from_utf8_lossy(&ended.stderr);
            left_out(kind, User::This, why.trim());
            continue;
        }
        let said = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(said, "goes on\n", "{kind}: {ended:?}");
        assert!(world.path("project/new").exists(), "{kind}");
    }
}
