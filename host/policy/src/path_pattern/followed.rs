//! A pattern whose folder is reached over a link.

use std::path::{Path, PathBuf};

use super::{PathPattern, Shape, apart, shape};

impl PathPattern {
    /// The same for where its path or its folder leads, if that is elsewhere. Calls are compared as
    /// the kernel sees them, without links.
    pub(crate) fn followed(&self, real: &dyn Fn(&Path) -> PathBuf) -> Option<Self> {
        let (base, parts) = match &self.shape {
            Shape::Literal(path) => (path.clone(), Vec::new()),
            Shape::Glob(glob) => apart(glob.glob()),
        };
        let leads_to = real(&base);
        if leads_to == base {
            return None;
        }
        // It was a pattern already: only a folder of thousands of letters in front makes it too long.
        // Then all of the folder is meant.
        let whole = Shape::Literal(leads_to.clone());
        let shape = shape(Some(leads_to), &parts).unwrap_or(whole);
        Some(Self {
            shape,
            allows: self.allows.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Anchors;
    use super::*;

    #[test]
    fn a_pattern_also_means_where_its_folder_leads() {
        let anchors = Anchors {
            home: Some("/h".into()),
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        // `/p/link` is `/elsewhere`, `/h` is `/home/me`, `/p/.env` is `/p/conf/{x}`.
        let real = |path: &Path| {
            for (link, target) in [
                ("/p/link", "/elsewhere"),
                ("/h", "/home/me"),
                ("/p/.env", "/p/conf/{x}"),
            ] {
                if let Ok(rest) = path.strip_prefix(link) {
                    return match rest.as_os_str().is_empty() {
                        true => target.into(),
                        false => Path::new(target).join(rest),
                    };
                }
            }
            path.to_owned()
        };
        for (text, path, covered) in [
            ("./link/**", "/elsewhere/a", Some(true)),
            ("./link/**", "/p/link/a", Some(false)),
            ("./link/a/*.rs", "/elsewhere/a/b.rs", Some(true)),
            ("./link/a/*.rs", "/elsewhere/b.rs", Some(false)),
            ("~/.ssh/**", "/home/me/.ssh/id", Some(true)),
            ("./.env", "/p/conf/{x}", Some(true)),
            ("./.env", "/p/conf/x", Some(false)),
            ("./other/**", "", None),
            (".env", "", None),
            ("**/*.pem", "", None),
        ] {
            let pattern = PathPattern::parse(text, &anchors).unwrap();
            let followed = pattern.followed(&real);
            let found = followed.map(|pattern| pattern.forbids(Path::new(path)));
            assert_eq!(found, covered, "{text} {path}");
        }
    }
}
