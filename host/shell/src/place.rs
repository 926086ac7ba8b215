//! Where a script would run, as far as text and the caller can say it.

use std::path::{Component, Path, PathBuf};

use crate::links::LinkResolver;

/// The folders that a script may look into, and the one where it starts. This crate reads no
/// file: what is a link, and where it leads, is asked of the caller's resolver. Without one, all
/// of it is text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    working_directory: PathBuf,
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    links: Option<LinkResolver>,
}

impl Place {
    /// A project folder that is also the working directory.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        Self {
            roots: vec![project.clone()],
            working_directory: project,
            home: None,
            links: None,
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

    /// How links are followed. The roots must be real paths then.
    #[must_use]
    pub fn with_links(mut self, links: LinkResolver) -> Self {
        self.links = Some(links);
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

    /// Where the kernel really goes for a path: `..` behind a link leads above its target. The same
    /// as [`Place::resolve`] without a resolver.
    pub fn real(&self, path: &str) -> PathBuf {
        let Some(links) = &self.links else {
            return self.resolve(path);
        };
        let mut real = PathBuf::new();
        for component in self.working_directory.join(path).components() {
            match component {
                Component::ParentDir => {
                    real = links.real(&real);
                    real.pop();
                }
                Component::CurDir => {}
                other => real.push(other),
            }
        }
        links.real(&real)
    }

    /// The path as it is written and the one that it leads to, for rules about either.
    pub fn both(&self, path: &str) -> impl Iterator<Item = PathBuf> + use<> {
        let written = self.resolve(path);
        let real = Some(self.real(path)).filter(|real| *real != written);
        std::iter::once(written).chain(real)
    }

    pub(crate) fn links(&self) -> Option<&LinkResolver> {
        self.links.as_ref()
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
