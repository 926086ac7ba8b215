//! Kills the program while it writes: the file is the old one or the new one, whole.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::Project;

/// Large enough that writing takes a while, small enough for many rounds.
const SIZE: usize = 2 << 20;
const ROUNDS: u32 = 12;

#[test]
fn a_killed_write_leaves_the_old_file_or_the_new_one() {
    let project = Project::new();
    let name = format!("killed-{}", std::process::id());
    let args = ["call", "Write", "-", "--allow", "Write", "--session", &name];
    let [old, new] = ["o", "n"].map(|letter| letter.repeat(SIZE));
    let [before, after] = [&old, &new].map(|content| {
        let input = json!({"file_path": "big.txt", "content": content});
        input.to_string().into_bytes()
    });
    project.run_with_input(&args, &before).exits(0);
    // A session that has just written the old file; each round starts from it.
    let session = std::fs::read(project.session(&name)).unwrap();

    let whole = Instant::now();
    project.run_with_input(&args, &after).exits(0);
    let whole = whole.elapsed();

    let path = project.root().join("big.txt");
    let (mut olds, mut news) = (0, 0);
    for round in 0..ROUNDS {
        std::fs::write(&path, &old).unwrap();
        std::fs::write(project.session(&name), &session).unwrap();
        let mut child = project.spawn(&args);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&after).unwrap();
        drop(stdin);
        // Spread over the later part of a run, where the writing is.
        std::thread::sleep(whole.mul_f32(0.2 + 0.8 * round as f32 / ROUNDS as f32));
        child.kill().unwrap();
        child.wait().unwrap();
        let content = std::fs::read(&path).unwrap();
        if content == old.as_bytes() {
            olds += 1;
        } else {
            assert!(
                content == new.as_bytes(),
                "{} bytes are neither",
                content.len()
            );
            news += 1;
        }
    }
    println!("killed within {whole:?}: the old file {olds} times, the new one {news} times");
    for entry in std::fs::read_dir(project.root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let left = name.starts_with('.') && name.contains(".toolbay-");
        assert!(name == "big.txt" || left, "{name}");
    }
    std::fs::remove_dir_all(project.session(&name).parent().unwrap()).unwrap();
    assert!(whole < Duration::from_secs(60), "{whole:?}");
}
