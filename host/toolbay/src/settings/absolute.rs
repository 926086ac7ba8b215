//! Rules that were meant from the root of the machine and count from elsewhere.
//!
//! `/tmp/x/**` counts from the folder of the settings file, as in gitignore. Whoever meant
//! `//tmp/x/**` has closed nothing, and would not notice.

use std::path::Path;

use toolbay_policy::Rule;

/// What to say about a rule that names nothing where it counts from, and something from the root.
pub(super) fn misread(rule: &Rule, folder: &Path) -> Option<String> {
    let (_, content) = rule.text().split_once('(')?;
    let content = content.strip_suffix(')')?.trim();
    let rest = content.strip_prefix('/')?;
    if rest.starts_with('/') || content.ends_with(":*") {
        return None;
    }
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
    let plain: Vec<&str> = rest.split('/').take_while(is_plain).collect();
    let place = plain.join("/");
    // Of `/*.rs` nothing is named; of `/tmp` alone the first part must be there.
    let is_elsewhere =
        !place.is_empty() && !folder.join(&place).exists() && Path::new("/").join(&place).exists();
    is_elsewhere.then(|| {
        format!(
            "the rule `{}` means `{}/{rest}`, where nothing is; write `/{content}` for the \
             absolute path",
            rule.text(),
            folder.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use toolbay_policy::Anchors;

    use super::*;

    #[test]
    fn a_rule_is_misread_where_only_the_root_has_such_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("usr")).unwrap();
        let anchors = Anchors {
            home: None,
            cwd: folder.path().to_path_buf(),
            settings: folder.path().to_path_buf(),
        };
        let there = elsewhere.path().display();
        for (text, is_misread) in [
            (format!("Read({there}/**)"), true),
            (format!("Read({there})"), true),
            (format!("Edit({there}/*.rs)"), true),
            (format!("Read(/{there}/**)"), false),
            (format!("Read({there}/nothing/**)"), false),
            ("Read(/usr/**)".into(), false),
            ("Read(/*.rs)".into(), false),
            ("Read(usr/**)".into(), false),
            ("Bash(/bin/ls:*)".into(), false),
            ("Read".into(), false),
        ] {
            let rule = Rule::parse(&text, &anchors).unwrap();
            let said = misread(&rule, folder.path());
            assert_eq!(said.is_some(), is_misread, "{text}: {said:?}");
            if let Some(said) = said {
                let wanted = format!("write `/{there}");
                assert!(said.contains(&wanted), "{said}");
            }
        }
    }
}
