//! git: what the tables cannot say of its sub-commands. Every function gets the words
//! behind the sub-command, after its table has found them harmless one by one.

#[cfg(test)]
mod tests;

use super::{Judge, Use};
use crate::check::{Check, Finding};
use crate::reading::Word;

/// The function of this name, as the key `check` of a table gives it.
pub(super) fn named(name: &str) -> Option<Judge> {
    Some(match name {
        "git" => judge,
        "git-branch" => |words| listing(words, ""),
        "git-tag" => |words| listing(words, "n"),
        "git-config" => config,
        "git-reflog" => reflog,
        "git-remote-show" => remote_show,
        _ => return None,
    })
}

/// Flags that write, run something or read elsewhere. No table has them; here they are
/// looked for in every place, because git might see a flag where a table saw a value.
const HIDDEN: &[&str] = &[
    "--exec",
    "--ext-diff",
    "--filters",
    "--no-index",
    "--open-files-in-pager",
    "--output",
    "--remerge-diff",
    "--show-signature",
    "--textconv",
    "--upload-pack",
];

/// Harmless flags that an abbreviation of a hidden one would look like.
const NOT_HIDDEN: &[&str] = &["--filter", "--text"];

/// The formats that are built in. Any other name is looked up in the configuration.
const FORMATS: &[&str] = &[
    "email",
    "full",
    "fuller",
    "mboxrd",
    "medium",
    "oneline",
    "raw",
    "reference",
    "short",
];

/// Flags whose values may hold a percent sign that is no placeholder.
const NO_FORMAT: &[&str] = &[
    "--author=",
    "--committer=",
    "--date=",
    "--grep=",
    "-G",
    "-S",
];

/// For all sub-commands that have formats or the options of `git diff`.
fn judge(words: &[Word]) -> Result<Use, Finding> {
    let mut previous = "";
    for word in words {
        let text = word.text.as_str();
        no_hidden_flag(text)?;
        no_signature(previous, text)?;
        known_format(text)?;
        previous = text;
    }
    Ok(Use::default())
}

fn no_hidden_flag(text: &str) -> Result<(), Finding> {
    let name = text.split('=').next().unwrap_or(text);
    let abbreviates = |hidden: &str| name.len() > 2 && hidden.starts_with(name);
    if name.starts_with("--")
        && !NOT_HIDDEN.contains(&name)
        && HIDDEN.iter().any(|it| abbreviates(it))
    {
        return Err(
            Check::UnknownArgument.found(format!("git `{text}` may write or run something"))
        );
    }
    Ok(())
}

/// Placeholders and keys about signatures make git run the program that checks them.
fn no_signature(previous: &str, text: &str) -> Result<(), Finding> {
    let placeholder = !NO_FORMAT.iter().any(|flag| text.starts_with(flag)) && has_signature(text);
    let field = text.contains("signature")
        && (text.contains("%(") || text.starts_with("--sort") || previous == "--sort");
    if placeholder || field {
        return Err(Check::RunsCode.found(format!("git runs a program for `{text}`")));
    }
    Ok(())
}

/// `%GK`, or with a sign in between as in `%+GK`.
fn has_signature(text: &str) -> bool {
    text.match_indices('%').any(|(at, _)| {
        text[at + 1..]
            .trim_start_matches(['+', '-', ' '])
            .starts_with('G')
    })
}

fn known_format(text: &str) -> Result<(), Finding> {
    let value = text
        .strip_prefix("--pretty=")
        .or_else(|| text.strip_prefix("--format="));
    let Some(value) = value else {
        return Ok(());
    };
    let written_out = value.contains('%')
        || value.starts_with("format:")
        || value.starts_with("tformat:")
        || value.is_empty();
    if written_out || FORMATS.contains(&value) {
        return Ok(());
    }
    Err(Check::UnknownArgument.found(format!("what git calls `{value}` stands elsewhere")))
}

/// Flags that make `git branch` and `git tag` list, so that operands are patterns or
/// commits. Without one an operand is a name to create.
const LISTS: &[&str] = &[
    "--contains",
    "--list",
    "--merged",
    "--no-contains",
    "--no-merged",
    "--points-at",
];

/// `letters`: the short flags beside `-l` that make a list.
fn listing(words: &[Word], letters: &str) -> Result<Use, Finding> {
    judge(words)?;
    let mut lists = false;
    let mut operands = false;
    let mut rest = words.iter().map(|word| word.text.as_str());
    while let Some(text) = rest.next() {
        let name = text.split('=').next().unwrap_or(text);
        match text {
            "--" => operands |= rest.by_ref().count() > 0,
            // Their values come next, and might look like a flag.
            "--sort" | "--format" => {
                rest.next();
            }
            _ if text.starts_with("--") => lists |= LISTS.contains(&name),
            _ if text.starts_with('-') => {
                lists |= text.contains('l') || text.contains(|letter| letters.contains(letter));
            }
            _ => operands = true,
        }
    }
    if operands && !lists {
        return Err(Check::UnknownArgument.found("without `--list` git would create that name"));
    }
    Ok(Use::default())
}

/// Flags that make `git config` read.
const CONFIG_READS: &[&str] = &[
    "--get",
    "--get-all",
    "--get-color",
    "--get-colorbool",
    "--get-regexp",
    "--get-urlmatch",
    "--list",
    "-l",
];

fn config(words: &[Word]) -> Result<Use, Finding> {
    // Behind a name a flag is no flag: `git config user.name --get` sets that name.
    let mut flags = words
        .iter()
        .map(|word| word.text.as_str())
        .take_while(|text| text.starts_with('-') && *text != "--");
    // A value in the next word might be what looks like the flag that reads.
    let split = flags
        .clone()
        .any(|text| matches!(text, "--type" | "--default"));
    if split || !flags.any(|text| CONFIG_READS.contains(&text)) {
        return Err(Check::UnknownArgument.found("`git config` without `--get` or `--list`"));
    }
    Ok(Use::default())
}

/// Common names of branches that could be sub-commands by their letters.
const BRANCHES: &[&str] = &["dev", "develop", "main", "master", "stash", "trunk"];

/// The first word is a sub-command or a reference. Those that write must not pass for a
/// reference, nor may one that a later git has.
fn reflog(words: &[Word]) -> Result<Use, Finding> {
    judge(words)?;
    let first = words.first().map_or("-", |word| word.text.as_str());
    let looks_like_subcommand = first
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if looks_like_subcommand && !first.starts_with('-') && !BRANCHES.contains(&first) {
        return Err(
            Check::UnknownArgument.found(format!("`git reflog {first}`; try `show {first}`"))
        );
    }
    Ok(Use::default())
}

/// Asks the remote unless told not to.
fn remote_show(words: &[Word]) -> Result<Use, Finding> {
    let names_one = |word: &Word| !word.text.starts_with('-') || word.text == "--";
    if words.iter().any(names_one) && words.first().is_none_or(|word| word.text != "-n") {
        return Err(Check::UnknownArgument.found("`git remote show` without `-n` asks a server"));
    }
    Ok(Use::default())
}
