//! `${NAME}` and `${NAME:-otherwise}`, as shells write them. Nothing else is special.

use thiserror::Error;

/// Why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExpandError {
    #[error("the variable {0} is not set; set it, or write ${{{0}:-otherwise}}")]
    Missing(String),
    #[error("a `${{` is not closed by a `}}`")]
    Open,
    #[error("`${{{0}}}` names no variable")]
    NoName(String),
}

/// Puts variables into a text. What comes out of a variable is not looked into again.
pub fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, ExpandError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = inside.find('}').ok_or(ExpandError::Open)?;
        let (name, otherwise) = match inside[..end].split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (&inside[..end], None),
        };
        if !is_name(name) {
            return Err(ExpandError::NoName(inside[..end].to_owned()));
        }
        // As in a shell, `:-` also stands in for a variable that is empty.
        let value = variable(name).filter(|value| otherwise.is_none() || !value.is_empty());
        match (value, otherwise) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(otherwise)) => out.push_str(otherwise),
            (None, None) => return Err(ExpandError::Missing(name.to_owned())),
        }
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_once() {
        let variable = |name: &str| match name {
            "A" => Some("a".to_owned()),
            "EMPTY" => Some(String::new()),
            "TRICK" => Some("${A}".to_owned()),
            _ => None,
        };
        for (text, wanted) in [
            ("", Ok("")),
            ("$A ~ {A} $", Ok("$A ~ {A} $")),
            ("x${A}y${A}", Ok("xaya")),
            ("${TRICK}", Ok("${A}")),
            ("${EMPTY}", Ok("")),
            ("${EMPTY:-b}${NONE:-c d}${NONE:-}", Ok("bc d")),
            ("${NONE}", Err(ExpandError::Missing("NONE".into()))),
            ("${A", Err(ExpandError::Open)),
            ("${}", Err(ExpandError::NoName(String::new()))),
            ("${1A}", Err(ExpandError::NoName("1A".into()))),
            ("${A B}", Err(ExpandError::NoName("A B".into()))),
        ] {
            assert_eq!(expand(text, &variable), wanted.map(str::to_owned), "{text}");
        }
    }
}
