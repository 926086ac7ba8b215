//! Starting: the program from nothing to its result, beside another that only says
//! its version.

use std::time::Duration;

use serde_json::json;
use toolbay_tests::RG;

use crate::measure::{Effort, ratio, take_turns};
use crate::program;
use crate::table::{Goal, Table};

pub fn run(effort: Effort, table: &mut Table) {
    let Some(toolbay) = program::toolbay() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let file = home.join("notes.txt");
    std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
    let input = json!({ "file_path": file }).to_string();
    // The warming rounds fill the cache of compiled tools.
    let [read, tour, tools, version] = take_turns(
        effort.rounds(60),
        [
            Box::new(|| {
                let mut command = program::command(&toolbay, home);
                command.args(["call", "Read", &input]).current_dir(home);
                program::run(&mut command).0
            }),
            Box::new(|| program::run(program::command(&toolbay, home).arg("tour")).0),
            Box::new(|| program::run(program::command(&toolbay, home).arg("tools")).0),
            Box::new(|| program::run(program::command(RG, home).arg("--version")).0),
        ],
    );
    read.print("toolbay call Read");
    tour.print("toolbay tour");
    tools.print("toolbay tools");
    version.print("rg --version");
    let peer = ("`rg --version`", &version);
    // Either is enough: some machines start every program slowly.
    let goal = if ratio(read.p50(), version.p50()) <= 10.0 {
        Goal::AtMost(10.0)
    } else {
        Goal::Within(Duration::from_millis(25))
    };
    table.compare("`toolbay call Read …`, warm cache", &read, peer, goal);
    table.compare(
        "`toolbay tour`, warm cache",
        &tour,
        peer,
        Goal::Within(Duration::from_millis(100)),
    );
    table.compare("`toolbay tools`", &tools, peer, Goal::None);
}
