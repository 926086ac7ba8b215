//! What somebody can say about a cage: paths, hosts, folders; and that saying more about the
//! command than about the cage does not widen it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use crate::world::{ALONE, KINDS, User, World, is_root, left_out, not_run};

fn everywhere(name: &str, check: impl Fn(&World, &str)) {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    for kind in KINDS {
        for user in User::all() {
            let world = World::new(Path::new("/tmp"), user, name);
            let tried = world.caged(kind, "workspace", &[], "true");
            match tried.status.code() {
                Some(99) => left_out(kind, user, &String::from_utf8_lossy(&tried.stderr)),
                _ => check(&world, kind),
            }
        }
    }
}

fn fails(world: &World, kind: &str, options: &[&str], script: &str) {
    let output = world.caged(kind, "workspace", options, script);
    assert!(!output.status.success(), "{kind}: {script}: {output:?}");
    assert_ne!(output.status.code(), Some(99), "{output:?}");
}

fn works(world: &World, kind: &str, options: &[&str], script: &str) -> String {
    let output = world.caged(kind, "workspace", options, script);
    assert!(output.status.success(), "{kind}: {script}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_working_folder_widens_nothing() {
    everywhere("folder", |world, kind| {
        let outside = world.path("outside");
        let options = ["--cwd", outside.to_str().unwrap()];
        fails(world, kind, &options, "echo x > new");
        fails(world, kind, &["--cwd", "/"], "echo x > \".$OUTSIDE/new\"");
        works(world, kind, &options, "echo x > \"$PROJECT/new\"");
        assert!(!outside.join("new").exists());
    });
}

#[test]
fn a_folder_of_its_own_can_hold_any_name_and_opens_nothing_else() {
    everywhere("own", |world, kind| {
        for inside in ["outside/own", "project/own", "home/own"] {
            let own = world.path(inside);
            fs::create_dir_all(&own).unwrap();
            world.own(&own);
            let place = own.to_str().unwrap();
            // Protected with all that is around it, as the folder of all servers is.
            let around = own.parent().unwrap().to_str().unwrap();
            for options in [
                vec!["--own", place],
                vec!["--own", place, "--protect", around],
            ] {
                for profile in ["workspace", "read-only"] {
                    let script = format!(
                        "cd {place} && mkdir -p a/.git/hooks .vscode && echo x > a/.git/hooks/pre-commit \
                         && echo x > .npmrc && mv a b && rm -r b .vscode .npmrc && echo {profile} > kept"
                    );
                    let output = world.caged(kind, profile, &options, &script);
                    assert!(output.status.success(), "{kind} {inside}: {output:?}");
                    let kept = fs::read_to_string(own.join("kept")).unwrap();
                    assert_eq!(kept.trim(), profile);
                    for script in [
                        format!("echo x > {place}/../new"),
                        format!("mv {place} {place}2"),
                        format!("ln {place}/kept {place}/../kept"),
                        "mkdir \"$PROJECT/.vscode\"".to_owned(),
                    ] {
                        // What lies in the project may change like the rest of it.
                        let is_project = inside.starts_with("project") && profile == "workspace";
                        if is_project && options.len() == 2 && script.contains(place) {
                            continue;
                        }
                        let output = world.caged(kind, profile, &options, &script);
                        assert!(!output.status.success(), "{kind} {inside}: {script}");
                        assert_ne!(output.status.code(), Some(99), "{output:?}");
                    }
                }
            }
        }
    });
}

#[test]
fn a_protected_path_need_not_exist() {
    everywhere("protect", |world, kind| {
        let path = world.path("project/ci/keys/release");
        let options = ["--protect", path.to_str().unwrap()];
        fails(
            world,
            kind,
            &options,
            "mkdir -p ci/keys && echo x > ci/keys/release",
        );
        fails(
            world,
            kind,
            &options,
            "mkdir -p x/keys && echo x > x/keys/release && mv x ci2 && mv ci ci3",
        );
        fails(
            world,
            kind,
            &options,
            "rm -rf ci; mkdir -p y/keys && echo x > y/keys/release && mv -T y ci",
        );
        fails(world, kind, &options, "rm -rf ci; ln -s \"$TMPDIR\" ci");
        works(
            world,
            kind,
            &options,
            "mkdir -p ci/keys && echo x > ci/keys/other",
        );
        assert!(!path.exists());
        fs::write(&path, "mine").unwrap();
        world.own(&world.project());
        fails(world, kind, &options, "echo x > ci/keys/release");
        fails(
            world,
            kind,
            &options,
            "mv ci/keys ci/k && mkdir ci/keys && echo x > ci/keys/release",
        );
        fails(world, kind, &options, "rm ci/keys/release");
        works(world, kind, &options, "cat ci/keys/release");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    });
}

#[test]
fn a_link_with_a_protected_name_protects_what_it_leads_to() {
    everywhere("link", |world, kind| {
        let project = world.project();
        fs::create_dir(project.join("shared")).unwrap();
        fs::write(project.join("shared/settings.json"), "mine").unwrap();
        fs::write(project.join("servers.json"), "mine").unwrap();
        symlink("shared", project.join(".agents")).unwrap();
        symlink("servers.json", project.join(".mcp.json")).unwrap();
        world.own(&project);
        for script in [
            "echo x > .agents/settings.json",
            "echo x > .agents/new",
            "rm .agents",
            "mv .agents a",
            "ln -sfn \"$TMPDIR\" .agents",
            "rm .mcp.json",
            "echo x > .mcp.json",
        ] {
            fails(world, kind, &[], script);
        }
        works(
            world,
            kind,
            &[],
            "cat .agents/settings.json .mcp.json; echo x > f; rm f; mkdir d; rmdir d",
        );
        assert!(project.join(".agents").is_symlink() && project.join(".mcp.json").is_symlink());
        // The other name of the same place is no way around.
        fails(world, kind, &[], "echo x > shared/settings.json");
        fails(world, kind, &[], "echo x > servers.json");
    });
}

#[test]
fn a_denied_path_cannot_be_read() {
    everywhere("deny", |world, kind| {
        fs::write(world.path("project/.env"), "KEY").unwrap();
        world.own(&world.project());
        let path = world.path("project/.env");
        let options = ["--deny-read", path.to_str().unwrap()];
        fails(world, kind, &options, "cat .env");
        fails(world, kind, &options, "echo x > .env");
        fails(world, kind, &options, "ln .env e && cat e");
        fails(world, kind, &options, "mv .env e && cat e");
        assert_eq!(fs::read_to_string(&path).unwrap(), "KEY");
    });
}

#[test]
fn names_may_be_any_bytes() {
    everywhere("bytes", |world, kind| {
        let odd = world.project().join(OsStr::from_bytes(b"a\xff\"\n $(x)"));
        fs::create_dir(&odd).unwrap();
        world.own(&odd);
        let script = "cd a* && echo x > $'\\xfe' && mv $'\\xfe' b && mkdir .vscode";
        fails(world, kind, &[], script);
        assert!(odd.join("b").exists() && !odd.join(".vscode").exists());
    });
}

#[test]
fn only_listed_hosts_can_be_reached() {
    everywhere("hosts", |world, kind| {
        if kind == "degraded" {
            // It has no hosts: see the next test.
            return;
        }
        // Without a list there is not even a proxy.
        works(world, kind, &[], "test -z \"$HTTP_PROXY\"");
        fails(world, kind, &[], "exec 3<>/dev/tcp/127.0.0.1/41080");
        let options = ["--host", "good.example", "--host", "127.0.0.1"];
        let status = "curl -s -o /dev/null -w '%{http_code}' -m 9";
        let own = format!("http://127.0.0.1:{}/", world.port);
        for (url, expected) in [
            ("http://bad.example/", "403"),
            ("http://127.0.0.1:80/", "403"),
            ("http://good.example:22/", "403"),
            (own.as_str(), "403"),
        ] {
            // `curl` would go straight to the loopback device of the cage.
            let script = format!("{status} --noproxy '' -x \"$HTTP_PROXY\" {url}");
            assert_eq!(works(world, kind, &options, &script), expected, "{url}");
        }
        let tunnel = "curl -s -m 9 -x \"$HTTPS_PROXY\" https://bad.example/";
        fails(world, kind, &options, tunnel);
        assert!(!world.path("run/tcp_got").exists());
    });
}

#[test]
fn a_degraded_cage_has_no_hosts() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let world = World::new(Path::new("/tmp"), User::This, "no-hosts");
    let output = world.caged("degraded", "workspace", &["--host", "good.example"], "true");
    assert_eq!(output.status.code(), Some(99), "{output:?}");
}

#[test]
fn roots_must_be_folders_and_not_the_system() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let world = World::new(Path::new("/tmp"), User::This, "roots");
    for root in [
        "/",
        "/etc",
        "/proc/self",
        "/usr",
        "relative",
        "/nowhere",
        "/etc/passwd",
    ] {
        let output = world.caged("namespaces", "workspace", &["--root", root], "true");
        assert_eq!(output.status.code(), Some(99), "{root}: {output:?}");
    }
}

#[test]
fn what_holds_a_repository_stays_where_it_is() {
    everywhere("pins", |world, kind| {
        for script in ["mv nested n", "mv deep/a x", "mv deep d && mkdir deep"] {
            fails(world, kind, &[], script);
        }
        works(
            world,
            kind,
            &[],
            "mkdir a && mv a nested/a && mv nested/a deep/b",
        );
        let change = "python3 -c 'open(\"nested/.git/config\",\"r+\").write(\"x\")'";
        fails(world, kind, &[], change);
    });
}

#[test]
fn hooks_in_the_tree_are_protected_too() {
    everywhere("hooks", |world, kind| {
        let project = world.project();
        fs::create_dir(project.join("hooks")).unwrap();
        let config = "[core]\n\thooksPath = hooks\n";
        fs::write(project.join(".git/config"), config).unwrap();
        world.own(&project);
        for script in [
            "echo x > hooks/pre-commit",
            "mv hooks h",
            "rmdir hooks && mkdir hooks",
        ] {
            fails(world, kind, &[], script);
        }
    });
}

#[test]
fn root_works_in_the_project_of_an_ordinary_user_as_that_user() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    if !is_root() {
        return not_run("a project of somebody else (needs root)");
    }
    for kind in KINDS {
        let world = World::new(Path::new("/tmp"), User::Ordinary, "owner").with_this_host();
        let said = works(
            &world,
            kind,
            &[],
            "echo x > new && mkdir d && touch d/y && id -u && echo e > /dev/stderr",
        );
        assert_eq!(said, "65534\n", "{kind}");
        assert_eq!(
            fs::metadata(world.path("project/new")).unwrap().uid(),
            65534
        );
        fails(&world, kind, &[], "echo x > .mcp.json");
        fails(&world, kind, &[], "cat /etc/shadow");
        fails(&world, kind, &[], "cat \"$HOME/.ssh/id_rsa\"");
    }
}
