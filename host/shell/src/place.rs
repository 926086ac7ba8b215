//! Where a script would run, as far as text can say it.

use std::path::{Component, Path, PathBuf};

/// The folders that a script may look into, and the one where it starts. All of it is
/// text: links are the business of whoever runs the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    working_directory: PathBuf,
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Place {
    /// A project folder that is also the working directory.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        Self {
            roots: vec![project.clone()],
            working_directory: project,
            home: None,
        }
    }

    /// Everywhere is inside: for whoever asks only whether a script changes something.
    pub fn anywhere() -> Self {
        Self::new("/").with_home("/")
    }

    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.roots = roots.into_iter().collect();
        self
    }

    /// What `~` stands for.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The same place after a `cd`.
    #[must_use]
    pub fn moved_to(mut self, working_directory: PathBuf) -> Self {
        self.working_directory = working_directory;
        self
    }

    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// A path as the kernel would go it if there were no links: absolute, without `.`
    /// and `..`.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let mut resolved = PathBuf::new();
        for component in self.working_directory.join(path).components() {
            match component {
                Component::ParentDir => {
                    resolved.pop();
                }
                Component::CurDir => {}
                other => resolved.push(other),
            }
        }
        resolved
    }

    /// Whether a resolved path lies in one of the roots.
    pub fn holds(&self, resolved: &Path) -> bool {
        self.roots.iter().any(|root| resolved.starts_with(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_component() {
        let place = Place::new("/home/me/project");
        for (path, inside) in [
            ("", true),
            (".", true),
            ("src/main.rs", true),
            ("/home/me/project", true),
            ("/home/me/project/../project/x", true),
            ("src/../../project/x", true),
            ("..", false),
            ("../project-evil", false),
            ("/home/me/project_evil/x", false),
            ("/home/me/project/../other", false),
            ("/", false),
            ("../../../../../..", false),
        ] {
            assert_eq!(place.holds(&place.resolve(path)), inside, "{path}");
        }
    }
}
