//! A table as it is written, and as it is used. `README.md` explains every key.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::class::Class;
use super::flags::Flags;
use super::names::Words;
use crate::program::{self, Judge};

/// One command, or one of its sub-commands.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) flags: Flags,
    pub(super) operands: Operands,
    pub(super) max_operands: usize,
    pub(super) min_operands: usize,
    pub(super) pattern_flags: Vec<String>,
    /// Flags that make it follow links below what is named, wherever they lead.
    pub(super) follows: Vec<String>,
    /// Flags with which it does not, after all.
    pub(super) follows_unless: Vec<String>,
    /// Without one flag of each group it does something else.
    pub(super) requires: Vec<Vec<String>>,
    /// For the operands that are words of a list.
    pub(super) words: Words,
    pub(super) dash: Dash,
    pub(super) check: Option<Judge>,
    /// The function decides alone; the flags are those that may stand alone.
    pub(super) check_only: bool,
    pub(super) implicit: Option<String>,
    pub(super) glob: bool,
    /// A word that begins with `@` names a file full of flags.
    pub(super) at_files: bool,
    /// A path with a colon may be on another machine.
    pub(super) remote_colon: bool,
    /// `--` ends the flags.
    pub(super) double_dash: bool,
    /// A short flag takes a value from its own word.
    pub(super) attached: bool,
    pub(super) network: bool,
    pub(super) class: Option<Class>,
    pub(super) exit: BTreeMap<i32, String>,
    pub(super) subcommands_only: bool,
    pub(super) subcommands: BTreeMap<String, Table>,
}

/// What the words that are no flags mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) enum Operands {
    #[default]
    #[serde(rename = "none")]
    None,
    #[serde(rename = "text")]
    Text,
    /// Names and nothing more, or listed words.
    #[serde(rename = "names")]
    Names,
    /// Listed words.
    #[serde(rename = "words")]
    Words,
    /// The first is a listed word, even if it looks like a flag.
    #[serde(rename = "words text")]
    WordsText,
    #[serde(rename = "numbers")]
    Numbers,
    /// Each begins with a plus, as the format of `date`.
    #[serde(rename = "+text")]
    PlusText,
    /// The first is a format of `printf`.
    #[serde(rename = "format text")]
    FormatText,
    #[serde(rename = "paths")]
    Paths,
    #[serde(rename = "path")]
    Path,
    #[serde(rename = "pattern paths")]
    PatternPaths,
    #[serde(rename = "path text")]
    PathText,
    #[serde(rename = "text paths")]
    TextPaths,
}

/// How flags and operands are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Dash {
    #[default]
    Gnu,
    Posix,
    Long,
    /// No word is a flag.
    None,
}

/// The keys of a table, sub-commands left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Keys {
    flags: String,
    include: OneOrMany,
    operands: Option<Operands>,
    max_operands: Option<usize>,
    min_operands: usize,
    pattern_flags: String,
    follows: String,
    follows_unless: String,
    requires: OneOrMany,
    words: String,
    dash: Dash,
    check: Option<String>,
    implicit: Option<String>,
    glob: bool,
    at_files: bool,
    remote_colon: bool,
    double_dash: Option<bool>,
    attached: Option<bool>,
    network: bool,
    class: Option<Class>,
    exit: BTreeMap<String, String>,
    subcommands_only: Option<bool>,
    pub(super) ok: Vec<String>,
    pub(super) no: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

/// Finds the table that `include` names.
pub(super) type Find<'a> = &'a dyn Fn(&str) -> Option<toml::Table>;

/// What is written of sub-commands.
type Below<'a> = Vec<(&'a str, &'a toml::Table)>;

/// Splits what is written into the keys and the sub-commands.
pub(super) fn split(written: &toml::Table) -> Result<(Keys, Below<'_>), String> {
    let mut keys = toml::Table::new();
    let mut subcommands = Vec::new();
    for (name, value) in written {
        match value {
            toml::Value::Table(table) if name != "exit" => subcommands.push((&**name, table)),
            _ => {
                keys.insert(name.clone(), value.clone());
            }
        }
    }
    let keys = keys
        .try_into()
        .map_err(|e: toml::de::Error| e.to_string())?;
    Ok((keys, subcommands))
}

/// Makes a table usable. A set is only there to be included. An error is a sentence for who writes tables.
pub(super) fn read(written: &toml::Table, is_set: bool, find: Find<'_>) -> Result<Table, String> {
    let (keys, written_subcommands) = split(written)?;
    let mut subcommands = BTreeMap::new();
    for (name, table) in written_subcommands {
        let table = read(table, is_set, find).map_err(|error| format!("{name}: {error}"))?;
        subcommands.insert(name.to_owned(), table);
    }
    let flags = all_flags(&keys, find, 0)?;
    if keys.check.is_some() && keys.implicit.is_some() {
        return Err("a function says itself what is read when nothing is named".into());
    }
    let check = match &keys.check {
        Some(name) => Some(program::named(name).ok_or_else(|| format!("no function {name}"))?),
        None => None,
    };
    let table = Table {
        check,
        check_only: keys
            .check
            .as_deref()
            .is_some_and(|name| WHOLE.contains(&name)),
        operands: keys.operands.unwrap_or_default(),
        max_operands: keys.max_operands.unwrap_or(usize::MAX),
        min_operands: keys.min_operands,
        pattern_flags: listed(&keys.pattern_flags, &flags)?,
        follows: listed(&keys.follows, &flags)?,
        follows_unless: listed(&keys.follows_unless, &flags)?,
        requires: keys
            .requires
            .all()
            .iter()
            .map(|group| listed(group, &flags))
            .collect::<Result<_, _>>()?,
        words: Words::parse(&keys.words),
        dash: keys.dash,
        implicit: keys.implicit,
        glob: keys.glob,
        at_files: keys.at_files,
        remote_colon: keys.remote_colon,
        double_dash: keys.double_dash.unwrap_or(true),
        attached: keys.attached.unwrap_or(true),
        network: keys.network,
        class: keys.class,
        exit: exit(keys.exit)?,
        subcommands_only: keys.subcommands_only.unwrap_or(!subcommands.is_empty()),
        subcommands,
        flags,
    };
    if !is_set {
        names_fit(&table)?;
    }
    Ok(table)
}

/// Functions that look at every argument themselves. All others come after the flags.
const WHOLE: &[&str] = &["awk", "double-test", "find", "jq", "sed", "test"];

/// A short name of several letters can only be meant where dashes are long.
fn names_fit(table: &Table) -> Result<(), String> {
    let misfit = table.flags.names().find(|name| {
        table.dash != Dash::Long && !name.starts_with("--") && name.chars().count() > 2
    });
    match misfit {
        Some(name) => Err(format!("`{name}` needs `dash = \"long\"`")),
        None => Ok(()),
    }
}

/// Names that must be among the flags.
fn listed(names: &str, flags: &Flags) -> Result<Vec<String>, String> {
    let listed = |name: &str| match flags.get(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err(format!("`{name}` is not among the flags")),
    };
    names.split_ascii_whitespace().map(listed).collect()
}

/// Deeper than anybody needs: sets that include each other would never end.
const MOST_INCLUDES: usize = 6;

fn all_flags(keys: &Keys, find: Find<'_>, depth: usize) -> Result<Flags, String> {
    if depth > MOST_INCLUDES {
        return Err("too many tables include each other".into());
    }
    let mut flags = Flags::parse(&keys.flags)?;
    for name in keys.include.all() {
        let written = find(name).ok_or_else(|| format!("there is no `{name}` to include"))?;
        let (keys, _) = split(&written)?;
        flags.include(&all_flags(&keys, find, depth + 1)?);
    }
    Ok(flags)
}

fn exit(written: BTreeMap<String, String>) -> Result<BTreeMap<i32, String>, String> {
    let number = |(status, meaning): (String, String)| match status.parse() {
        Ok(status) => Ok((status, meaning)),
        Err(_) => Err(format!("`{status}` is no exit status")),
    };
    written.into_iter().map(number).collect()
}
