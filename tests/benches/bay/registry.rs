//! Many plugins: what each that is registered and never called adds to a start.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolbay::compose::{Bay, BayOptions, Ingredients, Wishes};
use toolbay::sandbox::cage::Helper;
use toolbay::settings::{CommandLine, Origins};
use toolbay::{Places, ProcessContext};
use toolbay_contract::{KillSwitch, Session};
use toolbay_runtime::digest;
use toolbay_tests::guests;

use crate::measure::{Effort, pretty, take_turns};
use crate::program;
use crate::table::{Table, judged};
use crate::tree::made;

/// With this and a folder this program opens a session and says how much memory that
/// took.
pub const CHILD: &str = "--open-session-with";

const TIME_GOAL: Duration = Duration::from_millis(50);
const MEMORY_GOAL: u64 = 50 << 10;

pub fn run(effort: Effort, table: &mut Table) {
    let Some(toolbay) = program::toolbay() else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let [none, some, many] = [0, 30, 1_000].map(plugins);
    let list = |folder: &Path| {
        let mut command = program::command(&toolbay, home.path());
        command.arg("tools").arg("--plugin").arg(folder);
        program::run(&mut command)
    };
    let listed = list(&many).1.iter().filter(|byte| **byte == b'\n').count();
    assert!(listed > 1_000, "only {listed} tools are listed");
    let [zero, thirty, thousand] = take_turns(
        effort.rounds(60),
        [
            Box::new(|| list(&none).0),
            Box::new(|| list(&some).0),
            Box::new(|| list(&many).0),
        ],
    );
    zero.print("toolbay tools, no plugin");
    thirty.print("toolbay tools, 30 plugins");
    thousand.print("toolbay tools, 1,000 plugins");
    let [empty, full] = [&none, &many].map(|folder| peak_kilobytes(folder, home.path()));

    let base = zero.p50();
    for (count, times) in [("30", &thirty), ("1,000", &thousand)] {
        let added = times.p50().saturating_sub(base);
        table.add([
            format!("Start with {count} plugins, time added"),
            pretty(added),
            format!("{} (no plugin)", pretty(base)),
            format!("{:.2}×", times.p50().as_secs_f64() / base.as_secs_f64()),
            judged(format!("≤ {}", pretty(TIME_GOAL)), added <= TIME_GOAL),
        ]);
    }
    let added = full.saturating_sub(empty);
    let megabytes = |kilobytes: u64| format!("{:.1} MB", kilobytes as f64 / 1024.0);
    table.add([
        "Start with 1,000 plugins, memory added".into(),
        megabytes(added),
        format!("{} (no plugin)", megabytes(empty)),
        format!("{:.2}×", full as f64 / empty as f64),
        judged(
            format!("≤ {}", megabytes(MEMORY_GOAL)),
            added <= MEMORY_GOAL,
        ),
    ]);
}

/// A folder of so many plugins. They differ in the name that their info section tells,
/// so they are different components to the host; none of them is ever compiled.
fn plugins(count: usize) -> PathBuf {
    let stamp = format!("plugins 2 of {}", digest(guests::TRIVIAL));
    made(&format!("bench-plugins-{count}"), &stamp, |folder| {
        const NAME: &[u8] = br#""name":"Trivial""#;
        let places: Vec<usize> = guests::TRIVIAL
            .windows(NAME.len())
            .enumerate()
            .filter(|(_, bytes)| *bytes == NAME)
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty(), "the guest tells its name");
        for number in 0..count {
            let mut bytes = guests::TRIVIAL.to_vec();
            let name = format!(r#""name":"T{number:06}""#);
            for at in &places {
                bytes[*at..*at + NAME.len()].copy_from_slice(name.as_bytes());
            }
            std::fs::write(folder.join(format!("t{number:06}.wasm")), bytes).unwrap();
        }
    })
}

/// The most memory that a process had which opened a session with these plugins.
fn peak_kilobytes(folder: &Path, home: &Path) -> u64 {
    let mut command = program::command(std::env::current_exe().unwrap(), home);
    let said = program::run(command.arg(CHILD).arg(folder)).1;
    let said = String::from_utf8(said).unwrap();
    println!("a session with {}: {} KB", folder.display(), said.trim());
    said.trim().parse().unwrap()
}

/// What a session knows of its process.
#[allow(clippy::disallowed_methods)]
fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// The child's part.
pub fn child(folder: &str) {
    let waiting = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()
        .unwrap();
    let process = ProcessContext::new(variables());
    let places = Places::by_variables(|name| process.variable(name).map(Into::into));
    let bay = waiting
        .block_on(Bay::open(Ingredients {
            options: BayOptions {
                origins: Origins {
                    cwd: std::env::current_dir().unwrap(),
                    places: places.unwrap(),
                    process,
                    given: CommandLine::default(),
                },
                add_dirs: Vec::new(),
                plugins: vec![folder.into()],
                mcp_config: Vec::new(),
                simple: false,
                helper: Helper::ThisProgram,
            },
            session: Session::new(7),
            on_compile: None,
            kill: KillSwitch::new(),
            wishes: Wishes::default(),
        }))
        .unwrap();
    assert!(bay.problems.is_empty(), "{:?}", bay.problems);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("Linux tells the most memory that a process had");
    println!("{}", peak.trim().trim_end_matches(" kB"));
}
