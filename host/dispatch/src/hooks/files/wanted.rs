//! Which words of a command name what it runs, by the rules of shells and interpreters.

use std::collections::HashSet;

use super::bounds::{MOST_WORDS, TooMuchNamed};
use super::kinds::{
    changes_folder, has_script_option, is_code_variable, is_python, is_reader, is_script_option,
    is_shell, is_switch, runs_files, runs_files_in_front, takes_script_by_option,
};
use super::lexer::{ANY, NAME, NAME_END, ONE, Token, lex_more, unescaped};
use super::parts::{modules, parts, pieces, without_formats};
use super::programs::{blanks, filled_blank, is_dot_place, is_program_place, runs_found, texts};
use super::variables::{Entry, Place, Variables, assigned, commands};

/// What zsh reads in the folder that a variable names.
const ZSH_FILES: [&str; 4] = [".zshenv", ".zprofile", ".zshrc", ".zlogin"];
/// List files in folders of folders.
const FINDERS: [&str; 4] = ["find", "fd", "fdfind", "bfs"];

/// Texts that are made of variables are read so often, since they can make more of them.
const MOST_ROUNDS: usize = 2;

/// What a word is to the command that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// No interpreter is in front of it.
    Plain,
    /// May be the script of the interpreter in front of it, or data for that script.
    Operand,
    /// Behind an option that takes a script.
    Script,
    /// Behind an option that may take a value.
    Value,
    /// Written to.
    Target,
}

/// What is put in for stars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    Nothing,
    /// What there is and what may be there later: any of it is run.
    Folder,
}

/// One word in one of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Without variables: `ANY` and `ONE` are what is left of them.
    pub(super) text: String,
    /// What stands in front of it is not known, as in `$HERE/a`.
    pub(super) is_behind_variable: bool,
    pub(super) fill: Fill,
    pub(super) role: Role,
}

/// A command without `;` and `|` in it.
#[derive(Debug, Default)]
pub(super) struct Simple {
    /// Each with its values.
    pub(super) words: Vec<Vec<Wanted>>,
    /// It runs what it reads, unless it is given a file.
    pub(super) is_reader: bool,
    /// It gets the output of another command as a word.
    pub(super) has_output: bool,
    /// It is given a program as a text: `-c`.
    pub(super) has_code: bool,
    /// Its program is not known, and may be an interpreter.
    pub(super) is_unknown: bool,
    /// Folders that it goes to, or has something started in.
    pub(super) goes_to: Vec<Wanted>,
    /// Its program is given something by name.
    pub(super) is_given: bool,
    /// The names of programs that it may start.
    pub(super) programs: Vec<String>,
}

/// All that a text names.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) simples: Vec<Simple>,
    /// An interpreter stands somewhere.
    pub(super) runs_files: bool,
    /// Something is run that is made from words: `eval`.
    pub(super) evaluates: bool,
    /// Folders in which programs are looked for.
    pub(super) program_folders: Vec<Wanted>,
}

pub(super) fn read(tokens: &[Token]) -> Result<Reading, TooMuchNamed> {
    let mut tokens = tokens.to_vec();
    let mut known = HashSet::new();
    for _ in 0..MOST_ROUNDS {
        let more = composed(&tokens, &mut known)?;
        for text in &more {
            lex_more(text, &mut tokens)?;
        }
        if more.is_empty() {
            break;
        }
    }
    reading(&tokens)
}

/// Texts for a shell that are complete only with their variables.
fn composed(tokens: &[Token], known: &mut HashSet<String>) -> Result<Vec<String>, TooMuchNamed> {
    let commands = commands(tokens);
    let variables = variables(&commands);
    let mut more = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        let has_shell = texts(command).any(is_shell);
        for (at, entry) in command.iter().enumerate() {
            if !entry.word.text.contains(NAME) || !has_shell && !is_program_place(command, at) {
                continue;
            }
            let place = (entry.word.text_number, number);
            for text in variables.put_in(&entry.word.text, place) {
                let is_command = text.contains(|c: char| c.is_whitespace() || ";|&<".contains(c));
                if is_command && text != entry.word.text && known.insert(text.clone()) {
                    more.push(text);
                }
            }
        }
        if known.len() > MOST_WORDS / 4 {
            return Err(TooMuchNamed::Words);
        }
        if variables.is_too_much() {
            return Err(TooMuchNamed::Values);
        }
    }
    Ok(more)
}

fn variables(commands: &[Vec<Entry<'_>>]) -> Variables {
    // What these read may set any of them.
    let sets_more = |command: &Vec<Entry<'_>>| {
        let mut words = texts(command).enumerate();
        words.any(|(at, word)| {
            matches!(word, "eval" | "source") || word == "." && is_dot_place(command, at)
        })
    };
    Variables::of(commands, commands.iter().any(sets_more))
}

fn reading(tokens: &[Token]) -> Result<Reading, TooMuchNamed> {
    let commands = commands(tokens);
    let variables = variables(&commands);
    let mut reading = Reading::default();
    let mut has_shell = false;
    let mut aliases = HashSet::new();
    for command in &commands {
        reading.evaluates |= texts(command).any(|word| word == "eval");
        has_shell |= texts(command).any(is_shell);
        if texts(command).any(|word| word == "alias") {
            let names = texts(command).filter_map(|word| word.split_once('='));
            aliases.extend(names.map(|(name, _)| name));
        }
    }
    let has_any = |names: &[&str]| {
        let mut words = commands.iter().flat_map(|command| texts(command));
        words.any(|word| names.contains(&word))
    };
    let mut context = Context {
        variables: &variables,
        evaluates: reading.evaluates,
        has_shell,
        aliases,
        formats: has_any(&["printf", "echo", "awk", "sprintf"]),
        has_path_tools: has_any(&["dirname", "basename", "realpath", "readlink", "pwd"])
            || commands
                .iter()
                .flatten()
                .any(|entry| cuts_folder(&entry.word.text)),
        separators: variables.separators(),
    };
    let read = |context: &Context<'_>, reading: &mut Reading| -> Vec<Simple> {
        let all = commands.iter().enumerate();
        let all = all.map(|(number, command)| context.simple(command, number, reading));
        all.collect()
    };
    let mut simples = read(&context, &mut reading);
    // What any of the others prints or is given may be what is run, also by way of a pattern.
    let reads = simples
        .iter()
        .any(|simple| simple.is_reader && !simple.is_given);
    if reads && !context.evaluates {
        context.evaluates = true;
        simples = read(&context, &mut reading);
    }
    reading.simples = simples;
    reading.runs_files |= reading.evaluates;
    match variables.is_too_much() {
        true => Err(TooMuchNamed::Values),
        false => Ok(reading),
    }
}

/// Whether the folder above the one that a shell is in is meant.
fn cuts_folder(text: &str) -> bool {
    [format!("{NAME}PWD"), format!("{NAME}OLDPWD")]
        .iter()
        .flat_map(|mark| text.split(mark.as_str()).skip(1))
        .any(|rest| rest.starts_with(['%', '/', ':']))
}

/// What is the same for all commands of a text.
struct Context<'a> {
    variables: &'a Variables,
    evaluates: bool,
    has_shell: bool,
    aliases: HashSet<&'a str>,
    /// Names may be put into a text in places that begin with `%`.
    formats: bool,
    /// Something takes paths apart.
    has_path_tools: bool,
    /// What else than blanks separates words.
    separators: Vec<char>,
}

/// What a word is as a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Program {
    None,
    /// It runs the files that it is given.
    Interpreter(String),
    /// It may be one.
    Unknown,
}

impl Context<'_> {
    fn program(
        &self,
        (command, has_option): (&[Entry<'_>], bool),
        at: usize,
        values: &[String],
    ) -> Program {
        let is_place = is_program_place(command, at);
        let is_dot = is_dot_place(command, at);
        let runs = |value: &&str| {
            (*value != "." || is_dot) && runs_files(value, has_option)
                || is_place && runs_files_in_front(value)
        };
        let is_end = |c: char| c.is_whitespace() || self.separators.contains(&c);
        let words = values.iter().flat_map(|value| value.split(is_end));
        let mut words = words;
        if let Some(name) = words.find(runs) {
            return Program::Interpreter(name.to_owned());
        }
        let text = &*command[at].word.text;
        // The name of a program that is given as an argument stands in the text elsewhere.
        let is_argument = |value: &str| {
            value == format!("{NAME}{NAME_END}") && text.starts_with(&format!("{NAME}1"))
        };
        let is_open = |value: &String| {
            let name = value.rsplit('/').next().unwrap_or_default();
            name.contains([NAME, ANY, ONE]) && !is_argument(value)
        };
        let word = command[at].word;
        let is_read = !word.is_compared && (self.has_shell || !word.is_inner);
        let is_unknown = values.iter().any(is_open) || self.aliases.contains(text);
        match is_place && is_read && is_unknown {
            true => Program::Unknown,
            false => Program::None,
        }
    }

    fn simple(&self, command: &[Entry<'_>], number: usize, reading: &mut Reading) -> Simple {
        let is_list = texts(command).next() == Some("for");
        let runs_shell = self.evaluates || texts(command).any(is_shell);
        let mut simple = Simple::default();
        let mut goes_next = false;
        let has_option = has_script_option(texts(command));
        let blanks = blanks(command);
        let runs_found = runs_found(command)
            || self.evaluates && texts(command).any(|word| FINDERS.contains(&word));
        let runs_folders = texts(command).any(|word| word == "run-parts");
        let mut interpreter: Option<String> = None;
        let mut option: Option<&str> = None;
        for (at, entry) in command.iter().enumerate() {
            let word = entry.word;
            let place: Place = (word.text_number, number);
            let values = self.variables.put_in(&word.text, place);
            let assigned = assigned(&word.text);
            let is_code = assigned.is_some_and(|(name, _, _)| is_code_variable(name));
            let role = match (entry.before, interpreter.as_deref(), option) {
                (Token::Into, _, _) => Role::Target,
                _ if is_code => Role::Script,
                (_, None, _) => Role::Plain,
                (_, Some(_), Some(flag)) if is_script_option(flag) => Role::Script,
                (_, Some(_), Some(_)) => Role::Value,
                (_, Some(name), None) if takes_script_by_option(name) => Role::Value,
                (_, Some(_), None) => Role::Operand,
            };
            simple.has_output |= values
                .iter()
                .any(|value| value.contains(&*format!("{NAME}{NAME_END}")));
            let may_run = interpreter.is_some() || is_list || assigned.is_some() || self.evaluates;
            // A pattern in quotes is one for a shell that reads it again.
            let is_pattern = !word.is_quoted || runs_shell || word.text.contains(NAME);
            let fill = match (is_pattern && !word.is_compared, may_run, at == 0) {
                (true, true, _) => Fill::Folder,
                // A text in quotes is a command for a shell alone.
                (true, false, true) if self.has_shell || !word.is_inner => Fill::Folder,
                (_, _, _) => Fill::Nothing,
            };
            let mut texts = Vec::new();
            for value in &values {
                if interpreter.as_deref().is_some_and(is_python) {
                    texts.extend(modules(value, option));
                }
                if interpreter.as_deref() == Some("go") || runs_folders {
                    texts.push(format!("{}/{ANY}", value.trim_end_matches('/')));
                }
                texts.extend(parts(value));
                texts.extend(blanks.iter().filter_map(|blank| filled_blank(value, blank)));
                if self.formats && value.contains(['%', '\\']) {
                    let plain = without_formats(&unescaped(value));
                    texts.extend(plain.split_whitespace().map(str::to_owned));
                }
                if let Some((folder, name)) = value.rsplit_once('/').filter(|_| self.has_path_tools)
                {
                    texts.extend([folder.to_owned(), name.to_owned()]);
                }
                let apart = value.split(|c| self.separators.contains(&c));
                texts.extend(apart.filter(|part| part != value).map(str::to_owned));
                if runs_found && !word.text.starts_with('-') {
                    let value = value.trim_end_matches('/');
                    texts.push(format!("{value}/{ANY}{ANY}/{ANY}"));
                }
                if is_code {
                    texts.extend(pieces(value));
                    let folders = value.strip_prefix("ZDOTDIR=").into_iter();
                    texts.extend(
                        folders.flat_map(|folder| ZSH_FILES.map(|name| format!("{folder}/{name}"))),
                    );
                }
            }
            let all = values.iter().chain(&texts);
            let wanted: Vec<Wanted> = all.filter_map(|text| wanted(text, fill, role)).collect();
            if let Some(("PATH" | "path" | "fpath", _, _)) = assigned {
                let folders = wanted.iter().filter(|folder| !folder.text.contains('='));
                reading.program_folders.extend(folders.cloned());
            }
            simple.is_given |= interpreter.is_some()
                && !entry.is_redirected()
                && !word.text.starts_with(['-', '+'])
                && wanted
                    .iter()
                    .any(|wanted| !wanted.text.starts_with([ANY, ONE]));
            let goes_here = changes_folder(&word.text);
            if goes_next || goes_here && word.text.len() > 2 {
                simple.goes_to.extend(wanted.iter().cloned());
            }
            goes_next = goes_here || goes_next && word.text.starts_with('-');
            simple.words.push(wanted);
            let program = self.program((command, has_option), at, &values);
            let flag = &*word.text;
            option = match interpreter.as_deref() {
                Some(interpreter) if flag.starts_with(['-', '+']) && flag.len() > 1 => {
                    (!is_switch(interpreter, flag)).then_some(flag)
                }
                Some(_) | None => None,
            };
            simple.has_code |= option.is_some_and(|flag| flag.ends_with(['c', 'e', 'l']));
            if entry.before == &Token::End && !flag.starts_with('-') {
                let names = values.iter().filter(|value| !value.contains(['/', '=']));
                simple.programs.extend(names.cloned());
            }
            let is_free = interpreter.as_deref().is_none_or(takes_script_by_option);
            reading.runs_files |= is_code;
            match program {
                Program::Interpreter(name) => {
                    reading.runs_files = true;
                    simple.is_reader |= is_reader(&name);
                    if is_free {
                        interpreter = Some(name);
                        option = None;
                    }
                }
                Program::Unknown => {
                    simple.is_unknown = true;
                    simple.is_reader = true;
                    let has_more = command[at + 1..].iter().any(|entry| !entry.is_redirected());
                    reading.runs_files |= !has_more;
                    if is_free {
                        interpreter = Some(String::new());
                        option = None;
                    }
                }
                Program::None => {}
            }
        }
        simple
    }
}

/// None of a word that says nothing, as `"$1"`.
fn wanted(text: &str, fill: Fill, role: Role) -> Option<Wanted> {
    let mut plain = String::new();
    let mut rest = text;
    let mut is_behind_variable = false;
    let is_variable_alone = text.starts_with(NAME);
    while let Some((before, after)) = rest.split_once(NAME) {
        plain.push_str(before);
        let (_, behind) = after.split_once(NAME_END).unwrap_or(("", after));
        match plain.is_empty() && (behind.starts_with('/') || behind.is_empty()) {
            true => is_behind_variable = true,
            false => plain.push(ANY),
        }
        rest = behind;
    }
    plain.push_str(rest);
    let plain = match is_behind_variable {
        true => plain.trim_start_matches('/').to_owned(),
        false => plain,
    };
    let is_open = |c: char| c == ANY || c == ONE || c == '/' || c == '.';
    let says_nothing = plain.is_empty() || is_variable_alone && plain.chars().all(is_open);
    (!says_nothing).then_some(Wanted {
        text: plain,
        is_behind_variable,
        fill,
        role,
    })
}
