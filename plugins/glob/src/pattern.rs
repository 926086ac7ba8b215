//! What a pattern means.
//!
//! The host's globs are gitignore-style: one without a slash matches at any
//! depth. A leading slash ties it to the root, which is what people expect who
//! know globs from a shell.

/// Added to the host's words when it refuses a pattern.
pub const HELP: &str =
    "`*` and `?` match within a folder, `**` any folders, `{a,b}` either, `[a-c]` a character";

/// Version control data is no project file.
const LEFT_OUT: &str = "!.git";

/// Splits a pattern that names a folder of its own (`/a/b/**/*.rs`, `../x/*.c`)
/// into that folder and the rest.
pub fn split(pattern: &str) -> (Option<String>, String) {
    if !pattern.starts_with('/') && !pattern.split('/').any(|part| part == "..") {
        return (None, pattern.trim_start_matches("./").to_owned());
    }
    let parts: Vec<&str> = pattern.split('/').collect();
    // The last part is a name to match even when it has nothing special.
    let plain = parts
        .iter()
        .take(parts.len().saturating_sub(1))
        .take_while(|part| !part.contains(['*', '?', '[', '{', '\\']))
        .count();
    let (folder, rest) = parts.split_at(plain);
    let folder = match folder.join("/") {
        folder if folder.is_empty() => "/".to_owned(),
        folder => folder,
    };
    (Some(folder), rest.join("/"))
}

/// The host's globs for a pattern below its root.
pub fn globs(pattern: &str) -> Result<Vec<String>, String> {
    if pattern.trim().is_empty() {
        return Err(format!("pattern names no file. {HELP}"));
    }
    if pattern.split('/').any(|part| part == "..") {
        return Err("`..` may stand only at the beginning of a pattern; use path instead".into());
    }
    // A folder alone means what is in it.
    let pattern = match pattern.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => pattern.to_owned(),
    };
    Ok(vec![format!("/{pattern}"), LEFT_OUT.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_split_off_absolute_and_climbing_patterns_only() {
        for (given, folder, rest) in [
            ("*.rs", None, "*.rs"),
            ("./src/*.rs", None, "src/*.rs"),
            ("src/**/*.rs", None, "src/**/*.rs"),
            ("/root/x/**/*.rs", Some("/root/x"), "**/*.rs"),
            ("/root/x/y.rs", Some("/root/x"), "y.rs"),
            ("/*.rs", Some("/"), "*.rs"),
            ("/a/{b,c}/d.rs", Some("/a"), "{b,c}/d.rs"),
            ("../other/*.rs", Some("../other"), "*.rs"),
            ("a/../b/*.rs", Some("a/../b"), "*.rs"),
            ("/a/b/", Some("/a/b"), ""),
        ] {
            let folder = folder.map(str::to_owned);
            assert_eq!(split(given), (folder, rest.to_owned()), "{given}");
        }
    }

    #[test]
    fn patterns_are_tied_to_the_root() {
        for (given, wanted) in [
            ("*.rs", Some("/*.rs")),
            ("**/*.rs", Some("/**/*.rs")),
            ("src/", Some("/src/**")),
            ("", None),
            ("  ", None),
            ("*/../x", None),
        ] {
            let found = globs(given).ok().and_then(|globs| globs.first().cloned());
            assert_eq!(found.as_deref(), wanted, "{given}");
        }
    }
}
