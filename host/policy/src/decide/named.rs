//! Paths that a call names and that need more than a rule about their folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Policy, Request, paths_of};
use crate::behavior::Behavior;
use crate::claims::Subject;
use crate::path_pattern::PathPattern;
use crate::protected::protected_part;

impl Policy {
    /// The protected name in a path: below its root, or anywhere if it lies outside.
    pub(crate) fn protected_part<'a>(&self, path: &'a Path) -> Option<&'a OsStr> {
        protected_part(self.root_of(path), path)
    }

    /// The innermost root around a path; the root of all paths if it lies outside.
    fn root_of(&self, path: &Path) -> &Path {
        let around = self.roots().iter().filter(|root| path.starts_with(root));
        let root = around.max_by_key(|root| root.components().count());
        root.map_or(Path::new("/"), PathBuf::as_path)
    }

    /// A protected path that the call would change, and its name, unless an allow rule itself
    /// names what is protected: `Edit(./**)` does not allow to change `.git/config`,
    /// `Edit(./.git/config)` and `Edit(.git/**)` do.
    pub(crate) fn unnamed_protected<'a>(
        &self,
        request: &'a Request,
    ) -> Option<(&'a Path, &'a str)> {
        if request.claims.read_only {
            return None;
        }
        let aliases = request.aliases.iter().map(PathBuf::as_path);
        paths_of(&request.subjects).chain(aliases).find_map(|path| {
            let name = self.protected_part(path)?;
            let is_named = self.list(Behavior::Allow).iter().any(|rule| {
                let pattern = rule.content().and_then(|content| content.path.pattern());
                let names = |pattern: &PathPattern| pattern.names(name, self.root_of(path));
                rule.names(&request.tool)
                    && pattern.is_some_and(|pattern| pattern.allows(path) && names(pattern))
            });
            // What has no name in UTF-8 is not in the list of protected names.
            (!is_named).then(|| name.to_str().map(|name| (path, name)))?
        })
    }

    /// A folder around a root in which the call would write. Nothing grants that.
    pub(crate) fn above_a_root<'a>(&self, request: &'a Request) -> Option<&'a Path> {
        if request.claims.read_only {
            return None;
        }
        request.subjects.iter().find_map(|subject| match subject {
            Subject::Folder(folder) => {
                let is_above = |root: &PathBuf| root != folder && root.starts_with(folder);
                self.roots()
                    .iter()
                    .any(is_above)
                    .then_some(folder.as_path())
            }
            Subject::Path(_) | Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => None,
        })
    }
}
