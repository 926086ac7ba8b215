//! File types by name, and the nearest names for one that does not exist.

use ignore::types::{FileTypeDef, Types, TypesBuilder};

use super::SearchError;

/// More suggestions than this are noise.
const MOST_SUGGESTIONS: usize = 5;

/// The file types that a request may name, in order.
pub fn type_names() -> Vec<String> {
    definitions()
        .iter()
        .map(|definition| definition.name().to_owned())
        .collect()
}

/// A matcher for the types named; the empty one matches every file.
pub(super) fn select(names: &[String]) -> Result<Types, SearchError> {
    if names.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known = builder.definitions();
    for name in names {
        if !known.iter().any(|definition| definition.name() == name) {
            return Err(unknown(name, &known));
        }
        builder.select(name);
    }
    builder.build().map_err(|_| unknown("", &known))
}

fn definitions() -> Vec<FileTypeDef> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.definitions()
}

fn unknown(name: &str, known: &[FileTypeDef]) -> SearchError {
    let near = nearest(name, known);
    let hint = if near.is_empty() {
        "; use a glob such as `*.ext` instead".to_owned()
    } else {
        format!("; did you mean {}?", near.join(", "))
    };
    SearchError::UnknownType {
        name: name.to_owned(),
        hint,
    }
}

/// Names that share an extension with the wanted one come first (`tsx` is found
/// under `ts`), then those a slip of the keyboard away.
fn nearest(name: &str, known: &[FileTypeDef]) -> Vec<String> {
    let name = name.trim_start_matches(['*', '.']).to_lowercase();
    if name.is_empty() {
        return Vec::new();
    }
    let extension = format!("*.{name}");
    let mut ranked: Vec<(usize, &str)> = known
        .iter()
        .filter_map(|definition| {
            let other = definition.name();
            let distance = distance(&name, other);
            if definition.globs().contains(&extension) {
                Some((0, other))
            } else if distance <= 2.min(name.len() / 2) {
                Some((distance, other))
            } else if name.len() >= 3 && other.starts_with(&name) {
                Some((3, other))
            } else {
                None
            }
        })
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(MOST_SUGGESTIONS)
        .map(|(_, other)| format!("`{other}`"))
        .collect()
}

/// How many letters must be added, dropped or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = i;
        let mut previous = i + 1;
        for (slot, b) in row.iter_mut().skip(1).zip(&right) {
            let change = diagonal + usize::from(a != *b);
            diagonal = *slot;
            previous = change.min(previous + 1).min(diagonal + 1);
            *slot = previous;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
