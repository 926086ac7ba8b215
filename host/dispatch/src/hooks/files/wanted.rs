//! Which words of a command name what it runs, by the rules of shells and interpreters.

use std::collections::BTreeMap;

use super::kinds::{
    has_script_option, is_python, is_reader, is_script_option, is_shell, is_switch, runs_files,
    takes_script_by_option,
};
use super::lexer::{ANY, BEFORE_COMMANDS, NAME, NAME_END, ONE, Token};

/// Values that a word may have; of one with more, each variable may hold anything.
const MOST_VALUES: usize = 16;
/// Variables in the values of variables.
const MOST_DEPTH: usize = 4;

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
}

/// All that a text names.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) simples: Vec<Simple>,
    /// An interpreter stands somewhere.
    pub(super) runs_files: bool,
    /// Something is run that is made from words: `eval`.
    pub(super) evaluates: bool,
}

type Variables = BTreeMap<String, Vec<String>>;

pub(super) fn read(tokens: &[Token]) -> Reading {
    let commands: Vec<&[Token]> = tokens
        .split(|token| *token == Token::End)
        .filter(|command| !command.is_empty())
        .collect();
    let variables = assigned(&commands);
    let mut reading = Reading::default();
    let mut has_shell = false;
    for command in &commands {
        let words: Vec<&str> = texts(command).collect();
        reading.evaluates |= words.contains(&"eval");
        has_shell |= words.iter().any(|word| is_shell(word));
        let has_option = has_script_option(&words);
        let runs = |at: usize| stands_for_itself(&words, at) && runs_files(words[at], has_option);
        reading.runs_files |= (0..words.len()).any(runs);
    }
    reading.runs_files |= reading.evaluates;
    let evaluates = reading.evaluates;
    let simples = commands
        .iter()
        .map(|command| simple(command, &variables, (evaluates, has_shell)));
    reading.simples = simples.collect();
    reading
}

/// A dot is a program only where a command begins; elsewhere it is the folder.
fn stands_for_itself(words: &[&str], at: usize) -> bool {
    let is_in_front = |word: &&str| {
        let is_assigned = word.split_once('=').is_some_and(|(name, _)| is_name(name));
        is_assigned || BEFORE_COMMANDS.contains(word) || matches!(*word, "command" | "builtin")
    };
    words[at] != "." || words[..at].iter().all(is_in_front)
}

fn texts(command: &[Token]) -> impl Iterator<Item = &str> {
    command.iter().filter_map(|token| match token {
        Token::Word(word) => Some(&*word.text),
        Token::End | Token::Into | Token::From => None,
    })
}

/// The values that variables get anywhere in the text, whichever comes first when it runs.
fn assigned(commands: &[&[Token]]) -> Variables {
    const DECLARE: [&str; 6] = ["export", "local", "readonly", "declare", "typeset", "env"];
    let mut variables = Variables::new();
    let mut add = |name: &str, value: &str| {
        let values = variables.entry(name.to_owned()).or_default();
        if values.len() <= MOST_VALUES && !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    };
    for command in commands {
        let mut words = texts(command).skip_while(|word| BEFORE_COMMANDS.contains(word));
        let Some(first) = words.next() else {
            continue;
        };
        if first == "for" {
            let name = words.next().unwrap_or_default();
            words
                .filter(|word| *word != "in")
                .for_each(|value| add(name, value));
            continue;
        }
        let is_declared = DECLARE.contains(&first);
        for word in std::iter::once(first).chain(words) {
            match word.split_once('=').filter(|(name, _)| is_name(name)) {
                Some((name, value)) => add(name.trim_end_matches('+'), value),
                None if is_declared => {}
                None => break,
            }
        }
    }
    variables
}

fn is_name(text: &str) -> bool {
    let text = text.strip_suffix('+').unwrap_or(text);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn simple(
    command: &[Token],
    variables: &Variables,
    (evaluates, has_shell): (bool, bool),
) -> Simple {
    let all: Vec<&str> = texts(command).collect();
    let is_list = all.first() == Some(&"for");
    let runs_shell = evaluates || all.iter().any(|word| is_shell(word));
    let mut simple = Simple {
        is_reader: (0..all.len()).any(|at| stands_for_itself(&all, at) && is_reader(all[at])),
        ..Simple::default()
    };
    let has_option = has_script_option(&all);
    let mut at = 0;
    let mut interpreter: Option<&str> = None;
    let mut option: Option<&str> = None;
    let mut before = &Token::End;
    for token in command {
        let Token::Word(word) = token else {
            before = token;
            continue;
        };
        let role = match (before, interpreter, option) {
            (Token::Into, _, _) => Role::Target,
            (_, None, _) => Role::Plain,
            (_, Some(_), Some(flag)) if is_script_option(flag) => Role::Script,
            (_, Some(_), Some(_)) => Role::Value,
            (_, Some(name), None) if takes_script_by_option(name) => Role::Value,
            (_, Some(_), None) => Role::Operand,
        };
        before = token;
        simple.has_output |= word.text.contains(&*format!("{NAME}{NAME_END}"));
        let is_assigned = word
            .text
            .split_once('=')
            .is_some_and(|(name, _)| is_name(name));
        let may_run = interpreter.is_some() || is_list || is_assigned || evaluates;
        // A pattern in quotes is one for a shell that reads it again.
        let is_pattern = !word.is_quoted || runs_shell || word.text.contains(NAME);
        let fill = match (
            is_pattern && !word.is_compared,
            may_run,
            simple.words.is_empty(),
        ) {
            (true, true, _) => Fill::Folder,
            // A text in quotes is a command for a shell alone.
            (true, false, true) if has_shell || !word.is_inner => Fill::Folder,
            (_, _, _) => Fill::Nothing,
        };
        let mut texts = vec![word.text.clone()];
        if interpreter.is_some_and(is_python) {
            texts.extend(modules(&word.text, option));
        }
        if interpreter == Some("go") || all.contains(&"run-parts") {
            texts.push(format!("{}/{ANY}", word.text.trim_end_matches('/')));
        }
        texts.extend(parts(&word.text));
        let values = texts.iter().flat_map(|text| filled_in(text, variables));
        let values = values.filter_map(|text| wanted(&text, fill, role));
        simple.words.push(values.collect());
        option = match (interpreter, &*word.text) {
            (Some(interpreter), flag) if flag.starts_with(['-', '+']) && flag.len() > 1 => {
                (!is_switch(interpreter, flag)).then_some(flag)
            }
            (_, _) => None,
        };
        simple.has_code |= option.is_some_and(|flag| flag.ends_with(['c', 'e', 'l']));
        let runs = stands_for_itself(&all, at) && runs_files(&word.text, has_option);
        at += 1;
        if interpreter.is_none_or(takes_script_by_option) && runs {
            interpreter = Some(&word.text);
            option = None;
        }
    }
    simple
}

/// The files of a module of Python: `a.b` is `a/b.py` or a package, and those above it run before it.
fn modules(word: &str, option: Option<&str>) -> Vec<String> {
    let name = match (word.strip_prefix("-m"), option) {
        (_, Some(flag))
            if flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('m') =>
        {
            word
        }
        (Some(name), _) if !name.is_empty() => name,
        (_, _) => return Vec::new(),
    };
    let path = name.replace('.', "/");
    let mut files = vec![
        format!("{path}.py"),
        format!("{path}/__main__.py"),
        format!("{path}/__init__.py"),
    ];
    let mut above = &*path;
    while let Some((folder, _)) = above.rsplit_once('/') {
        files.push(format!("{folder}/__init__.py"));
        above = folder;
    }
    files
}

/// Paths in a word: behind `=`, in lists with `:`, and right behind the letter of an option.
fn parts(word: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut value = word;
    if let Some((_, behind)) = word.split_once('=') {
        parts.push(behind.to_owned());
        value = behind;
    }
    if value.contains(':') {
        parts.extend(
            value
                .split(':')
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
    }
    let attached = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    if let Some(attached) = attached.and_then(|rest| rest.get(1..))
        && attached.len() > 1
    {
        parts.push(attached.to_owned());
        // The letter of a script's option may come last of several.
        parts.extend(attached.split_once('f').map(|(_, rest)| rest.to_owned()));
    }
    parts
}

/// A text with its variables put in, in all values that are known.
fn filled_in(text: &str, variables: &Variables) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    for _ in 0..MOST_DEPTH {
        let mut next: Vec<String> = Vec::new();
        let mut is_changed = false;
        for text in &all {
            let mut names = text.split(NAME).skip(1);
            let variable = names.find_map(|rest| {
                let (name, _) = rest.split_once(NAME_END)?;
                let values = variables.get(name)?;
                Some((format!("{NAME}{name}{NAME_END}"), values))
            });
            match variable {
                Some((mark, values)) if next.len() + values.len() <= MOST_VALUES => {
                    is_changed = true;
                    next.extend(values.iter().map(|value| text.replace(&mark, value)));
                }
                Some(_) | None => next.push(text.clone()),
            }
        }
        next.truncate(MOST_VALUES + 1);
        all = next;
        if !is_changed {
            break;
        }
    }
    all
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
