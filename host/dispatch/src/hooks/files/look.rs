//! Looks for what the words of a command name, in every place where they may start from.

use std::collections::{BTreeSet, HashSet};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::bounds::{LONGEST_COMMAND, MOST_TOKENS, MOST_WORDS};
use super::kinds::{COMPLETIONS, MORE_COMPLETIONS, is_script, is_source};
use super::lexer::{self, ANY, ONE};
use super::paths::{Links, plain, relative};
use super::places::{Names, start_folders};
use super::wanted::{self, Fill, Reading, Role, Simple, Wanted};
use super::{CommandForm, LookBudget, NameGround, NamedFiles, TooMuchNamed, crude, globs};

/// The first lines of so many scripts are read, with those of their interpreters.
const MOST_INTERPRETERS: usize = 256;
/// Systems read no more of a first line.
const LONGEST_FIRST_LINE: u64 = 4096;

/// How far an interpreter would go with a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// It is run if it is a script by itself.
    No,
    /// It is run whatever it is.
    Yes,
}

pub(super) struct Look<'a> {
    ground: &'a NameGround,
    which: NamedFiles,
    budget: &'a mut LookBudget,
    pub(super) files: BTreeSet<PathBuf>,
    links: Links,
    /// Words that scripts get, and files that are written to.
    data: HashSet<String>,
}

impl<'a> Look<'a> {
    pub(super) fn new(
        ground: &'a NameGround,
        which: NamedFiles,
        budget: &'a mut LookBudget,
    ) -> Self {
        Self {
            ground,
            which,
            budget,
            files: BTreeSet::new(),
            links: Links::new(&ground.within),
            data: HashSet::new(),
        }
    }

    pub(super) fn at_command(&mut self, command: CommandForm<'_>) -> Result<(), TooMuchNamed> {
        let text = match command {
            CommandForm::Shell(text) => text.to_owned(),
            CommandForm::Words(words) => words.join(" "),
        };
        if text.len() > LONGEST_COMMAND {
            return Err(TooMuchNamed::Length);
        }
        let words = crude::words(&text);
        let different: HashSet<&String> = words.iter().collect();
        if different.len() > MOST_WORDS {
            return Err(TooMuchNamed::Words);
        }
        let tokens = match command {
            CommandForm::Shell(text) => lexer::lex(text)?,
            CommandForm::Words(words) => lexer::of_words(words)?,
        };
        if tokens.len() > MOST_TOKENS {
            return Err(TooMuchNamed::Words);
        }
        let reading = wanted::read(&tokens)?;
        let names = Names::of(&words, &reading);
        let folders = start_folders(&names, self.ground, &mut self.links, self.budget)?;
        self.reading(&reading, &folders)?;
        self.programs(&reading, &folders)?;
        self.crude(&words, &folders)?;
        if let CommandForm::Words([program, ..]) = command {
            self.started(program)?;
        }
        Ok(())
    }

    /// A script's first line names what runs it, and that may be a file of the project, too.
    pub(super) fn at_interpreters(&mut self) -> Result<(), TooMuchNamed> {
        let mut open: Vec<PathBuf> = self.files.iter().cloned().collect();
        let mut left = MOST_INTERPRETERS;
        while let Some(file) = open.pop() {
            let Some(line) = first_line(&file) else {
                continue;
            };
            left = left.checked_sub(1).ok_or(TooMuchNamed::Looks)?;
            let known = self.files.clone();
            self.at_command(CommandForm::Shell(&line))?;
            // Started by its path, whatever it is, and also if it is made only later.
            for word in crude::words(&line) {
                if word.contains('/') {
                    self.started(&word)?;
                }
            }
            open.extend(self.files.difference(&known).cloned());
        }
        Ok(())
    }

    /// What is started by this path, whatever it is.
    fn started(&mut self, word: &str) -> Result<(), TooMuchNamed> {
        self.budget.spend(1)?;
        let path = self.ground.project.join(word);
        if path.is_file() || word.contains('/') {
            self.follow(&path);
        }
        Ok(())
    }

    /// What is found in the folders that the command adds to where programs are looked for.
    fn programs(&mut self, reading: &Reading, folders: &[PathBuf]) -> Result<(), TooMuchNamed> {
        let programs: BTreeSet<&str> = reading
            .simples
            .iter()
            .flat_map(|simple| &simple.programs)
            .map(String::as_str)
            .collect();
        for folder in &reading.program_folders {
            for base in folders {
                let is_root = base == Path::new("/");
                if !folder.is_behind_variable && folder.text.starts_with('/') != is_root {
                    continue;
                }
                let folder = base.join(relative(&folder.text));
                if self.which == NamedFiles::Closed && folder.is_dir() {
                    self.follow(&folder);
                }
                self.budget.spend(programs.len())?;
                for program in &programs {
                    let path = folder.join(program);
                    if !program.contains([ANY, ONE]) && !path.is_dir() {
                        self.follow(&path);
                    }
                }
            }
        }
        Ok(())
    }

    /// The words without regard to quotes.
    fn crude(&mut self, words: &[String], folders: &[PathBuf]) -> Result<(), TooMuchNamed> {
        let all = words.iter().enumerate();
        let all: HashSet<(&str, Option<&[String]>)> = all
            .map(|(at, word)| (&**word, crude::between(words, at)))
            .collect();
        for folder in folders {
            for (word, between) in &all {
                let is_data = || {
                    let mut before = between.iter().copied().flatten();
                    self.which == NamedFiles::Code
                        && before.any(|word| folder.join(relative(word)).is_file())
                };
                let is_data = || self.data.contains(*word) || is_data();
                let given = match between.is_some() && !is_data() {
                    true => Given::Yes,
                    false => Given::No,
                };
                for ending in COMPLETIONS {
                    self.look_for(folder, word, ending, given)?;
                }
            }
        }
        Ok(())
    }

    /// The words as a shell reads them.
    fn reading(&mut self, reading: &Reading, folders: &[PathBuf]) -> Result<(), TooMuchNamed> {
        match self.which {
            NamedFiles::Closed => {
                let given = match reading.runs_files {
                    true => Given::Yes,
                    false => Given::No,
                };
                for word in reading
                    .simples
                    .iter()
                    .flat_map(|simple| simple.words.iter().flatten())
                {
                    let is_target = word.role == Role::Target;
                    let given = if is_target { Given::No } else { given };
                    self.word(word, given, folders)?;
                }
                // What an unknown program is given.
                let unknown = reading.simples.iter().filter(|simple| simple.is_unknown);
                for word in unknown.flat_map(|simple| simple.words.iter().flatten()) {
                    if !matches!(word.role, Role::Plain | Role::Target) {
                        self.word(word, Given::Yes, folders)?;
                    }
                }
                Ok(())
            }
            NamedFiles::Code => {
                let mut runs_input = reading.evaluates;
                for simple in &reading.simples {
                    runs_input |= self.simple(simple, folders)?;
                }
                // What is read or printed anywhere may be what is run.
                let all = reading
                    .simples
                    .iter()
                    .flat_map(|simple| simple.words.iter().flatten());
                let all = all.filter(|word| runs_input && word.role != Role::Target);
                for word in all {
                    self.word(word, Given::Yes, folders)?;
                }
                Ok(())
            }
        }
    }

    /// The code of one command; whether it also runs what it is given as input or as a text that
    /// another command prints.
    fn simple(&mut self, simple: &Simple, folders: &[PathBuf]) -> Result<bool, TooMuchNamed> {
        let mut has_script = false;
        for values in &simple.words {
            let mut is_file = false;
            for word in values {
                let given = match word.role {
                    Role::Plain | Role::Target => Given::No,
                    Role::Operand if has_script => Given::No,
                    Role::Operand | Role::Script | Role::Value => Given::Yes,
                };
                is_file |= self.word(word, given, folders)?;
            }
            let is_data = |role: Role| role == Role::Target || has_script && role == Role::Operand;
            let data = values.iter().filter(|word| is_data(word.role));
            self.data.extend(data.map(|word| word.text.clone()));
            let is_script = values
                .iter()
                .any(|word| matches!(word.role, Role::Operand | Role::Script));
            has_script |= is_file && is_script;
        }
        let has_program = has_script || simple.has_code && !simple.has_output;
        Ok(simple.is_reader && !has_program)
    }

    /// Whether a word is a file anywhere.
    fn word(
        &mut self,
        word: &Wanted,
        given: Given,
        folders: &[PathBuf],
    ) -> Result<bool, TooMuchNamed> {
        let is_absolute = word.text.starts_with('/');
        let mut is_file = false;
        for folder in folders {
            let is_root = folder == Path::new("/");
            if !word.is_behind_variable && is_absolute != is_root {
                continue;
            }
            if word.text.contains([ANY, ONE]) {
                self.pattern(folder, word, given)?;
                continue;
            }
            is_file |= self.look_for(folder, &word.text, "", given)?;
            let more = match given {
                Given::Yes => MORE_COMPLETIONS,
                Given::No => &[],
            };
            for ending in COMPLETIONS.iter().skip(1).chain(more) {
                self.look_for(folder, &word.text, ending, given)?;
            }
        }
        Ok(is_file)
    }

    /// What a pattern matches now; where any of it is run, its folder stays as it is.
    fn pattern(&mut self, base: &Path, word: &Wanted, given: Given) -> Result<(), TooMuchNamed> {
        if word.fill == Fill::Nothing {
            return Ok(());
        }
        let (project, within) = (&self.ground.project, &self.ground.within);
        let (top, is_clone) = (within, within != project);
        // The whole of a clone is not looked through for a name at its top.
        let is_wanted = |folder: &Path| {
            let real = folder.canonicalize().ok();
            let readings = [Some(plain(folder)), real];
            readings.iter().flatten().any(|folder| {
                folder.starts_with(project)
                    || is_clone && folder.starts_with(top)
                    || top.starts_with(folder) && folder != Path::new("/")
            })
        };
        let text = relative(&word.text);
        let found = globs::matches(base, text, &is_wanted, self.budget)?;
        let given = if word.fill == Fill::Folder {
            Given::Yes
        } else {
            given
        };
        for path in found {
            self.budget.spend(1)?;
            if self.is_run(&path, given) {
                self.follow(&path);
            }
        }
        let folder = globs::folder(text);
        if word.fill == Fill::Folder && self.which == NamedFiles::Closed && !folder.is_empty() {
            self.follow(&base.join(folder));
        }
        Ok(())
    }

    /// Notes a name in a folder if it is run. Whether it is a file.
    fn look_for(
        &mut self,
        folder: &Path,
        word: &str,
        ending: &str,
        given: Given,
    ) -> Result<bool, TooMuchNamed> {
        self.budget.spend(1)?;
        let path = folder.join(format!("{}{ending}", relative(word)));
        let (mut is_file, mut is_named) = (false, false);
        for path in self.links.readings(&path) {
            if self.is_run(&path, given) || self.is_later(word, ending, &path) {
                self.note(&path);
                is_named = true;
            }
            is_file |= path.is_file();
        }
        if is_named {
            // As it is written, for the links in front of `..`.
            self.note(&path);
        }
        Ok(ending.is_empty() && is_file)
    }

    /// Whether a name without an ending may be a program that is not there yet: a tool could make it.
    fn is_later(&self, word: &str, ending: &str, path: &Path) -> bool {
        self.which == NamedFiles::Closed
            && ending.is_empty()
            && word.contains('/')
            && path.extension().is_none()
            && path.symlink_metadata().is_err()
    }

    /// Whether a file is run by a command that names it, and not only read.
    fn is_run(&self, path: &Path, given: Given) -> bool {
        match path.metadata() {
            Ok(found) if found.is_file() => {
                let is_executable = found.permissions().mode() & 0o111 != 0;
                is_script(path) || given == Given::Yes || is_executable || begins_like_script(path)
            }
            // A folder is data; a script that is not there yet must not be made by a tool.
            Ok(_) => false,
            Err(_) => is_script(path) || given == Given::Yes && is_source(path),
        }
    }

    /// Notes a path in all its readings, the links on the way to it, and where they lead, as far as they
    /// lie in the project.
    fn follow(&mut self, path: &Path) {
        self.note(path);
        for reading in self.links.readings(path) {
            self.note(&reading);
        }
    }

    fn note(&mut self, path: &Path) {
        if !can_be_named(path) {
            return;
        }
        let way = self.links.way(path);
        let within = &self.ground.within;
        let is_inside = |path: &PathBuf| path.starts_with(within) && path != within;
        let all = way.links.into_iter().chain(way.end);
        self.files.extend(all.filter(is_inside));
    }
}

/// Whether the system takes this as a name at all. The text of a script, in quotes, often is longer, and
/// nothing can be made there that would have to be closed.
fn can_be_named(path: &Path) -> bool {
    const LONGEST_PATH: usize = 4095;
    const LONGEST_PART: usize = 255;
    path.as_os_str().len() <= LONGEST_PATH && path.iter().all(|part| part.len() <= LONGEST_PART)
}

/// What follows `#!` in the first line of a script.
fn first_line(path: &Path) -> Option<String> {
    let mut begin = Vec::new();
    let file = toolbay_contract::regular_file::open(path).ok()?;
    file.take(LONGEST_FIRST_LINE).read_to_end(&mut begin).ok()?;
    let rest = begin.strip_prefix(b"#!")?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

fn begins_like_script(path: &Path) -> bool {
    let mut begin = [0; 2];
    let file = toolbay_contract::regular_file::open(path);
    file.is_ok_and(|mut file| file.read_exact(&mut begin).is_ok() && begin == *b"#!")
}
