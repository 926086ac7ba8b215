//! Two programs create the same file at the same time: one does, the other is told.

use serde_json::json;

use crate::program::{Project, Ran};

const ROUNDS: usize = 8;

#[test]
fn of_two_that_create_a_file_one_wins() {
    let project = Project::new();
    for round in 0..ROUNDS {
        let name = format!("{round}.txt");
        let contents = ["one", "two"];
        let ran: Vec<Ran> = std::thread::scope(|scope| {
            let runs = contents.map(|content| {
                let input = json!({"file_path": name, "content": content}).to_string();
                let project = &project;
                scope.spawn(move || project.run(&["call", "Write", &input, "--allow", "Write"]))
            });
            runs.map(|run| run.join().unwrap()).into_iter().collect()
        });
        let winners: Vec<&str> = contents
            .into_iter()
            .zip(&ran)
            .filter(|(_, ran)| ran.code == Some(0))
            .map(|(content, _)| content)
            .collect();
        let there = std::fs::read_to_string(project.root().join(&name)).unwrap();
        assert_eq!(winners, [there.as_str()], "{ran:?}");
    }
}
