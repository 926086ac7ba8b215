//! What the operands of a command mean: text, a pattern, or something that is read.

use super::arguments::{Arguments, Operand};
use super::format::Operands;
use super::names::is_name;
use crate::check::Finding;

/// Judges all words that are left. Afterwards `reads` is complete; the answer says
/// whether any operand named something that is read.
pub(super) fn judge(arguments: &mut Arguments<'_>) -> Result<bool, Finding> {
    let mut operands = Vec::new();
    while let Some(operand) = arguments.next_operand()? {
        may_stand(arguments, operand)?;
        operands.push(operand);
    }
    arguments.enough()?;
    how_many(arguments, &operands)?;
    let mut names_path = false;
    for (position, operand) in operands.iter().enumerate() {
        names_path |= one(arguments, position, *operand)?;
    }
    Ok(names_path)
}

/// A glob may become a flag if nothing in front of it says otherwise.
fn may_stand(arguments: &Arguments<'_>, operand: Operand<'_>) -> Result<(), Finding> {
    let word = operand.word;
    let may_be_flag = word.glob && !operand.behind && word.text.starts_with(['*', '?', '[']);
    if may_be_flag && !arguments.table.glob {
        return Err(arguments.found(format!(
            "`{0}` may become a flag of `{1}`; `./{0}` may not",
            word.text, arguments.command
        )));
    }
    Ok(())
}

fn how_many(arguments: &Arguments<'_>, operands: &[Operand<'_>]) -> Result<(), Finding> {
    let table = arguments.table;
    let most = match table.operands {
        Operands::None => 0,
        Operands::Path => table.max_operands.min(1),
        _ => table.max_operands,
    };
    if let Some(surplus) = operands.get(most) {
        return Err(arguments.unknown(&surplus.word.text));
    }
    if operands.len() < table.min_operands {
        return Err(arguments.found(format!("`{}` lacks an operand", arguments.command)));
    }
    // A glob is any number of words.
    if most != usize::MAX {
        for operand in operands {
            arguments.no_glob(operand.word)?;
        }
    }
    Ok(())
}

/// Whether the operand names something that is read.
fn one(
    arguments: &mut Arguments<'_>,
    position: usize,
    operand: Operand<'_>,
) -> Result<bool, Finding> {
    let word = operand.word;
    let table = arguments.table;
    // One word of a filter is one word: what stands behind a blank is another.
    let is_listed = table.words.hold(&word.text) && !word.text.contains(char::is_whitespace);
    let looks_like_flag = word.text.starts_with('-');
    let is_path = match table.operands {
        Operands::None | Operands::Text => false,
        Operands::FormatText if position == 0 && may_assign(&word.text) => {
            return Err(arguments.unknown(&word.text));
        }
        Operands::FormatText => false,
        Operands::Names if is_name(&word.text) || is_listed => false,
        // Those that begin with a dot are folders.
        Operands::Words if is_listed => word.text.starts_with('.'),
        Operands::WordsText if position == 0 && is_listed => false,
        Operands::WordsText if position > 0 && !looks_like_flag => false,
        Operands::Numbers if is_small_number(&word.text) => false,
        Operands::PlusText if word.text.starts_with('+') && !word.glob => false,
        Operands::Names
        | Operands::Words
        | Operands::WordsText
        | Operands::Numbers
        | Operands::PlusText => return Err(arguments.unknown(&word.text)),
        Operands::Paths | Operands::Path => true,
        Operands::PatternPaths => position > 0 || arguments.has_pattern,
        Operands::TextPaths => position > 0,
        Operands::PathText => position == 0,
    };
    let first_differs = match table.operands {
        Operands::PatternPaths => !arguments.has_pattern,
        other => matches!(
            other,
            Operands::TextPaths | Operands::PathText | Operands::FormatText | Operands::WordsText
        ),
    };
    if first_differs && position == 0 {
        // As several words it would be more than the first.
        arguments.no_glob(word)?;
    }
    // A glob shows names even where it is only text.
    if is_path || word.glob {
        arguments.read(word.clone())?;
    }
    Ok(is_path)
}

/// `%n` in a format of bash's `printf` sets a variable. Between the two may stand
/// anything that is no letter of a conversion.
pub(crate) fn may_assign(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let conversion =
            behind.trim_start_matches(|c: char| " #+-'*.hjlLqtz0123456789".contains(c));
        if conversion.starts_with('n') {
            return true;
        }
        // A second percent sign is a conversion too: it ends here.
        rest = conversion.strip_prefix('%').unwrap_or(conversion);
    }
    false
}

/// Small enough that counting up to it ends soon.
fn is_small_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    unsigned.len() <= 7
        && unsigned.bytes().all(is_digit)
        && unsigned.starts_with(|first: char| first.is_ascii_digit())
}
