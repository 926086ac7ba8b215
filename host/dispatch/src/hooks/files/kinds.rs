//! Which programs run the files that they are given, and which files are scripts by their names.

mod names;

use std::path::Path;

use names::*;
pub(super) use names::{COMPLETIONS, MORE_COMPLETIONS};

/// The name of a program without its folder and version.
fn program(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    if INTERPRETERS.contains(&name) {
        return name;
    }
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    // `python3.12t`, `ksh93u+m`.
    let letters = name.split(|c: char| c.is_ascii_digit()).next();
    let letters = letters.unwrap_or(name).trim_end_matches('-');
    match INTERPRETERS.contains(&bare) {
        false if INTERPRETERS.contains(&letters) => letters,
        true | false => bare,
    }
}

/// Whether the next words may be run by this one.
pub(super) fn is_interpreter(word: &str) -> bool {
    let name = program(word);
    INTERPRETERS.contains(&name) || OLD_FILTERS.contains(&name) || is_loader(word)
}

/// What the system itself starts programs with.
fn is_loader(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name.starts_with("ld.so")
}

/// Whether a command has an option for a script among its words.
pub(super) fn has_script_option<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut is_awk = false;
    let mut has_option = false;
    for word in words {
        is_awk |= program(word).ends_with("awk");
        let is_short = word.starts_with('-') && !word.starts_with("--");
        let is_long = |name: &str| word.starts_with(name);
        has_option |= is_short && word.contains('f') || is_long("--f");
        has_option |= is_awk
            && (is_short && word.contains(['E', 'i', 'l'])
                || is_long("--e")
                || is_long("--i")
                || is_long("--l"));
    }
    has_option
}

/// Whether a command with this word runs what it is given.
pub(super) fn runs_files(word: &str, has_script_option: bool) -> bool {
    let name = program(word);
    INTERPRETERS.contains(&name) || FILTERS.contains(&name) && has_script_option || is_loader(word)
}

/// Whether a word is an interpreter where it stands for a program.
pub(super) fn runs_files_in_front(word: &str) -> bool {
    INTERPRETERS_IN_FRONT.contains(&program(word))
}

pub(super) fn is_reader(word: &str) -> bool {
    READERS.contains(&program(word))
}

pub(super) fn is_python(word: &str) -> bool {
    PYTHONS.contains(&program(word))
}

pub(super) fn is_shell(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    SHELLS.contains(&program(word)) || SHELL_STARTERS.contains(&name)
}

pub(super) fn is_builtin_launcher(word: &str) -> bool {
    BUILTIN_LAUNCHERS.contains(&word)
}

pub(super) fn is_launcher(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    is_builtin_launcher(word) || LAUNCHERS.contains(&name)
}

pub(super) fn changes_folder(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let is_short = word.starts_with('-') && !word.starts_with("--");
    FOLDER_CHANGES.contains(&name) || is_short && word.contains('C')
}

/// Whether the value of a variable is run, or has files run, by programs that read it.
pub fn is_code_variable(name: &str) -> bool {
    CODE_VARIABLES.contains(&name)
}

pub(super) fn takes_script_by_option(word: &str) -> bool {
    BY_OPTION.contains(&program(word)) || FILTERS.contains(&program(word))
}

pub(super) fn is_script_option(word: &str) -> bool {
    SCRIPT_OPTIONS.contains(&word)
}

/// A flag that takes no value for certain, so that the script may follow it.
pub(super) fn is_switch(interpreter: &str, flag: &str) -> bool {
    let switches = match program(interpreter) {
        name if SHELLS.contains(&name) => SHELL_SWITCHES,
        name if PYTHONS.contains(&name) => PYTHON_SWITCHES,
        _ => "",
    };
    let letters = flag.trim_start_matches('-');
    flag == "--" || !flag.starts_with("--") && letters.chars().all(|c| switches.contains(c))
}

pub(super) fn is_script(path: &Path) -> bool {
    has_ending(path, SCRIPTS)
}

/// Whether a file that an interpreter gets would be a script by its name.
pub(super) fn is_source(path: &Path) -> bool {
    has_ending(path, SCRIPTS) || has_ending(path, SOURCES)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| endings.contains(&&*ending.to_ascii_lowercase()))
}
