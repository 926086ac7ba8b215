//! How long a caged `true` takes beside a bare `bash -c true`, measured in turns in one run.
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
        Streams, Strength, choose,
    };

    const ROUNDS: usize = 300;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let project = tempfile::tempdir().unwrap();
    let paths = Paths {
        roots: vec![project.path().to_owned()],
        ..Paths::default()
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
        let enclosure = match cage {
            Ok(cage) => cage.around(&paths).unwrap(),
            Err(why) => {
                println!("{:<12} left out: {why}", kind.name());
                continue;
            }
        };
        let command = Command {
            arguments: vec!["/bin/true".into()],
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
        let (mut bare, mut caged) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let status = runtime.block_on(async {
                tokio::process::Command::new("/bin/bash")
                    .args(["-c", "true"])
                    .output()
                    .await
            });
            bare.push(start.elapsed());
            assert!(status.unwrap().status.success());
            let start = Instant::now();
            let ended = runtime.block_on(enclosure.run(&command, &mut |_, _| {}));
            caged.push(start.elapsed());
            ended.unwrap();
        }
        let (bare, caged) = (median(&mut bare), median(&mut caged));
        println!(
            "{:<12} bare {:.2} ms, caged {:.2} ms, ratio {:.2}",
            kind.name(),
            bare.as_secs_f64() * 1e3,
            caged.as_secs_f64() * 1e3,
            caged.as_secs_f64() / bare.as_secs_f64()
        );
    }
}
