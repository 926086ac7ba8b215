//! How long a caged `true` takes beside a bare `bash -c true`, and a caged script that makes or
//! reads 1,000 files beside a bare one; where something is closed to reading, each open is decided.
//! All are measured in turns in one run.
//!
//! `TOOLBAY_CAGE_HELPER=PATH` has another program build the walls, such as the whole `toolbay`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    use std::time::{Duration, Instant};

    use toolbay_sandbox::cage::{
        Command, Demands, GitAccess, Helper, Hosts, Kind, Limits, Paths, Profile, Programs,
        Streams, Strength, choose, secrets,
    };

    const ROUNDS: usize = 300;
    const FILE_ROUNDS: usize = 15;
    const SCRIPTS: [(&str, &str); 3] = [
        ("true", "true"),
        ("1,000 new files", "for i in {1..1000}; do : > f$i; done"),
        ("1,000 reads", "for i in {1..1000}; do : < f$i; done"),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let project = tempfile::tempdir().unwrap();
    let paths = Paths {
        roots: vec![project.path().to_owned()],
        ..Paths::default()
    };
    let closing = Paths {
        deny_read: secrets(Some(project.path())),
        ..paths.clone()
    };
    let helper = std::env::var_os("TOOLBAY_CAGE_HELPER")
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_toolbay-cage-helper").into());
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    for kind in [Kind::Namespaces, Kind::Bubblewrap, Kind::Degraded] {
        let cage = choose(&Demands {
            least: Strength::Degraded,
            only: Some(kind),
            helper: Helper::At(helper.clone().into()),
            ..Demands::default()
        });
        let enclosures = match cage {
            Ok(cage) => [("", &paths), (", secrets closed", &closing)]
                .map(|(name, paths)| (name, cage.around(paths).unwrap())),
            Err(why) => {
                println!("{:<12} left out: {why}", kind.name());
                continue;
            }
        };
        let command = |script: &str| Command {
            arguments: match script {
                "true" => vec!["/bin/true".into()],
                script => ["/bin/bash", "-c", script].map(Into::into).to_vec(),
            },
            folder: project.path().to_owned(),
            environment: vec![],
            profile: Profile::Workspace {
                git: GitAccess::ReadOnly,
            },
            hosts: Hosts::default(),
            limits: Limits::default(),
            programs: Programs::Any,
            streams: Streams::Apart,
        };
        for (what, script) in SCRIPTS {
            let rounds = if script == "true" {
                ROUNDS
            } else {
                FILE_ROUNDS
            };
            let (mut bare, mut caged) = (Vec::new(), [Vec::new(), Vec::new()]);
            for _ in 0..rounds {
                let start = Instant::now();
                let status = runtime.block_on(async {
                    let mut bash = tokio::process::Command::new("/bin/bash");
                    bash.args(["-c", script]).current_dir(&project);
                    bash.output().await
                });
                bare.push(start.elapsed());
                assert!(status.unwrap().status.success());
                for ((_, enclosure), times) in enclosures.iter().zip(&mut caged) {
                    let start = Instant::now();
                    let ended = runtime.block_on(enclosure.run(&command(script), &mut |_, _| {}));
                    times.push(start.elapsed());
                    ended.unwrap();
                }
            }
            let bare = median(&mut bare);
            for ((name, _), times) in enclosures.iter().zip(&mut caged) {
                let caged = median(times);
                println!(
                    "{:<12} {what}{name}: bare {:.2} ms, caged {:.2} ms, ratio {:.2}",
                    kind.name(),
                    bare.as_secs_f64() * 1e3,
                    caged.as_secs_f64() * 1e3,
                    caged.as_secs_f64() / bare.as_secs_f64()
                );
            }
        }
    }
}
