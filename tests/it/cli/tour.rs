//! The tour: what it promises to show is what happens.

use serde_json::Value;

use crate::program::Project;

#[test]
fn the_tour_shows_each_promise() {
    let project = Project::new();
    let ran = project.run(&["tour", "--json"]).exits(0).quietly();
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let errors: Vec<(&str, Vec<bool>)> = lines
        .iter()
        .filter(|line| line["results"].is_array())
        .map(|line| {
            let results = line["results"].as_array().unwrap().iter();
            let errors = results.map(|result| result["is_error"].as_bool().unwrap());
            (line["step"].as_str().unwrap(), errors.collect())
        })
        .collect();
    assert_eq!(
        errors,
        [
            ("1. Three reads at once", vec![false; 3]),
            ("2. A search through the host's native engine", vec![false]),
            ("3. An edit, allowed by a rule", vec![false]),
            ("4. What no rule allows is not done", vec![true; 3]),
            ("5. A command in a cage", vec![true]),
            ("6. A third-party tool that lies", vec![false]),
            ("7. A file too large to show", vec![false]),
            ("8. Results too long for one message", vec![false; 3]),
        ]
    );
    let end = lines.last().unwrap();
    assert_eq!(
        end["changed"],
        serde_json::json!(["src/main.rs", "out/app"]),
        "{end}"
    );
    let caged = &lines[5]["results"][0]["content"].to_string();
    for said in ["built", ".env: Permission denied", "cannot create"] {
        assert!(caged.contains(said), "{said}: {caged}");
    }
    assert!(!ran.out.contains("correct-horse"), "{}", ran.out);
}

#[test]
fn the_tour_keeps_a_long_result_in_a_file_and_shows_its_beginning() {
    let project = Project::new();
    let ran = project.run(&["tour"]).exits(0).quietly();
    let (_, step) = ran
        .out
        .split_once("\n8. Results too long for one message\n")
        .unwrap();
    let lines: Vec<&str> = step.lines().collect();
    let place = |line: &&str| line.contains("<persisted-output>");
    assert_eq!(lines.iter().filter(|line| place(line)).count(), 1, "{step}");
    let at = lines.iter().position(place).unwrap();
    assert!(lines[at - 1].starts_with("✓ "), "{step}");
    // The folder is the session's, and gone with the tour.
    let said = lines[at + 1..at + 6].join("\n");
    assert!(
        said.starts_with("    This result is too long to be shown here: 77.1 KB in 2002 lines. "),
        "{said}"
    );
    assert!(
        said.contains("\n    session/tool-results/toolu_00-"),
        "{said}"
    );
    assert!(said.contains("It begins with (1.9 KB):"), "{said}");
    assert!(said.contains(" request served in "), "{said}");
}
