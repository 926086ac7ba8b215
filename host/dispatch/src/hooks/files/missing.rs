//! Scripts that a hook names and that are nowhere.

use std::collections::HashSet;
use std::path::Path;

use super::kinds::{COMPLETIONS, MORE_COMPLETIONS, is_interpreter, is_script};
use super::lexer::{ANY, ONE};
use super::paths::{Links, relative};
use super::places::{Names, start_folders};
use super::{LookBudget, NameGround, crude, lexer, wanted};

/// Variables whose values are among the places where a word may start from.
const KNOWN_VARIABLES: &[&str] = &["CLAUDE_PROJECT_DIR", "TOOLBAY_PROJECT_DIR", "HOME", "PWD"];

/// A script that a command names and that is in none of the places where it could be: an interpreter
/// that does not find its script ends with the same code as a script that fails.
pub(in crate::hooks) fn missing_script(
    command: &str,
    project: &Path,
    home: Option<&Path>,
) -> Option<String> {
    // What an unknown variable holds is not known, so what follows it could be anywhere.
    let is_known = |word: &&str| {
        let mut names = word.split('$').skip(1);
        names.all(|name| {
            let name = name.trim_start_matches('{');
            KNOWN_VARIABLES.iter().any(|known| name.starts_with(known))
        })
    };
    let known: Vec<&str> = command.split_whitespace().filter(is_known).collect();
    let words = crude::words(&known.join(" "));
    let reading = lexer::lex(command).and_then(|tokens| wanted::read(&tokens));
    let reading = reading.unwrap_or_default();
    let ground = NameGround::of_project(project, home);
    let (mut links, mut budget) = (Links::new(project), LookBudget::default());
    let names = Names::of(&words, &reading);
    // One that names too much never ran.
    let folders = start_folders(&names, &ground, &mut links, &mut budget).unwrap_or_default();
    let is_missing = |word: &str| {
        let mut places = folders.iter().flat_map(|folder| {
            let names = COMPLETIONS.iter().chain(MORE_COMPLETIONS);
            let names = names.map(|ending| format!("{}{ending}", relative(word)));
            names.map(|name| folder.join(name))
        });
        !places.any(|place| place.exists())
    };
    // Pieces of a name that is there as a whole, such as one with blanks in it.
    let pieces = || -> HashSet<String> {
        let all = reading
            .simples
            .iter()
            .flat_map(|simple| simple.words.iter().flatten());
        let whole = all.filter(|word| word.text.contains([ANY, ONE]) || !is_missing(&word.text));
        let plain = |word: &wanted::Wanted| word.text.replace([ANY, ONE], "*");
        whole.flat_map(|word| crude::words(&plain(word))).collect()
    };
    let mut follows = false;
    let mut missing = words.iter().filter(|word| {
        let is_given = std::mem::replace(&mut follows, is_interpreter(word)) && word.contains('/');
        let is_named = is_script(Path::new(word)) || is_given;
        !word.starts_with('-') && is_named && is_missing(word)
    });
    let first = missing.next()?;
    let pieces = pieces();
    let mut all = std::iter::once(first).chain(missing);
    all.find(|word| !pieces.contains(*word)).cloned()
}
