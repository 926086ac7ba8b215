//! From a word to the path that it names, as far as text can say.

use std::path::{Component, Path, PathBuf};

use crate::check::{Check, Finding};
use crate::place::Place;
use crate::reading::Word;

/// Where a word leads from a place.
pub(crate) fn resolve(word: &Word, place: &Place) -> Result<PathBuf, Finding> {
    let path = place.resolve(&expanded(word, place)?);
    if word.glob && path_has_hidden_glob(&word.text) {
        return Err(Check::OutsidePath.found(format!(
            "the pattern `{}` may match the folder above",
            word.text
        )));
    }
    Ok(path)
}

/// The same for a list that only informs: what cannot be told is left out.
pub(crate) fn resolve_any(word: &Word, place: &Place) -> Option<PathBuf> {
    resolve(word, place).ok()
}

/// Whether a path may be read without asking: it lies inside, or it is the empty device.
pub(crate) fn check_read(word: &Word, path: &Path, place: &Place) -> Result<(), Finding> {
    if is_process_environment(&word.text) || is_process_environment(&path.to_string_lossy()) {
        return Err(Check::ProcEnvironAccess
            .found(format!("`{}` shows the variables of a process", word.text)));
    }
    if path == Path::new("/dev/null") || place.holds(path) {
        return Ok(());
    }
    Err(Check::OutsidePath.found(format!(
        "`{}` lies outside the project's folders",
        word.text
    )))
}

fn expanded(word: &Word, place: &Place) -> Result<String, Finding> {
    if !word.tilde {
        return Ok(word.text.clone());
    }
    let unknown = || Check::OutsidePath.found(format!("`{}` names a home folder", word.text));
    let rest = word.text.strip_prefix('~').ok_or_else(unknown)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(unknown());
    }
    let home = place.home().ok_or_else(unknown)?;
    Ok(format!("{}{rest}", home.display()))
}

/// A component such as `.*` matches `..` in many shells.
fn path_has_hidden_glob(text: &str) -> bool {
    Path::new(text)
        .components()
        .any(|component| match component {
            Component::Normal(name) => {
                let name = name.to_string_lossy();
                name.starts_with('.') && name.contains(['*', '?', '['])
            }
            _ => false,
        })
}

/// `/proc/self/environ` and whatever a pattern makes of it; `/dev/fd` is a way there.
pub(crate) fn is_process_environment(text: &str) -> bool {
    let in_proc = text.contains("/proc/") || text.starts_with("/dev/fd/");
    in_proc
        && (text.contains("environ") || text.contains(['*', '?', '[', '{']) || text.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_where_bash_would_go() {
        let place = Place::new("/p").with_home("/home/me");
        let word = |text: &str| Word {
            glob: text.contains('*'),
            tilde: text.starts_with('~'),
            ..Word::plain(text)
        };
        for (text, inside) in [
            ("a", true),
            ("./a/../b", true),
            ("../x", false),
            ("/p/x", true),
            ("/px", false),
            ("/dev/null", true),
            ("/dev/zero", false),
            ("~", false),
            ("~/x", false),
            ("~root/x", false),
            ("~+", false),
            ("*", true),
            ("src/*/x", true),
            ("*/../../x", false),
            (".*", false),
            ("src/.*/x", false),
        ] {
            let word = word(text);
            let read = resolve(&word, &place).and_then(|path| check_read(&word, &path, &place));
            assert_eq!(read.is_ok(), inside, "{text}");
        }
    }
}
