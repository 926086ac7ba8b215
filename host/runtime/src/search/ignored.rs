//! What ignore-files mean for a walk: ripgrep's rules, on files that are read within bounds.
//!
//! The `ignore` crate could do all of this, but opens whatever carries the name of an ignore-file
//! and takes as many patterns as it holds. So its matchers of single files are used, and the order
//! in which they are asked is here: `.rgignore` before `.ignore` before `.gitignore` before
//! `.git/info/exclude` before the user's own excludes; of each kind the nearest one that says
//! something; git's files only in a repository, and not past its top.

mod source;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::Gitignore;

use super::Fence;
use super::notes::Notes;
use source::{Links, Sources, first_line, global};

/// The ignore-files of one walk.
pub(super) struct Ignored<'a> {
    sources: Sources<'a>,
    global: Gitignore,
}

/// The ignore-files of a folder, and of those above it.
pub(super) struct Level {
    above: Option<Arc<Level>>,
    special: Gitignore,
    plain: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
    in_repository: bool,
}

/// Which of the names that matter a folder has.
#[derive(Clone, Copy, Default)]
pub(super) struct Present {
    special: bool,
    plain: bool,
    git: bool,
    git_folder: bool,
    jj_folder: bool,
}

impl Present {
    /// For a folder that was not looked through.
    pub(super) const UNKNOWN: Self = Self {
        special: true,
        plain: true,
        git: true,
        git_folder: true,
        jj_folder: true,
    };

    /// Takes note of a name of the folder.
    pub(super) fn note(&mut self, name: &OsStr) {
        match name.as_encoded_bytes() {
            b".rgignore" => self.special = true,
            b".ignore" => self.plain = true,
            b".gitignore" => self.git = true,
            b".git" => self.git_folder = true,
            b".jj" => self.jj_folder = true,
            _ => {}
        }
    }

    fn is_nothing(self) -> bool {
        !(self.special || self.plain || self.git || self.git_folder || self.jj_folder)
    }
}

impl<'a> Ignored<'a> {
    /// For a walk that starts at a folder inside `base`.
    pub(super) fn new(
        start: &Path,
        base: &'a Path,
        fence: &'a dyn Fence,
        notes: &'a Notes,
    ) -> Self {
        let sources = Sources::new(base, fence, notes);
        let global = global().map_or_else(Gitignore::empty, |path| {
            sources.read(start, &path, Links::Anywhere)
        });
        Self { sources, global }
    }

    /// What the folders above the start say.
    pub(super) fn above(&self, start: &Path) -> Arc<Level> {
        let mut level = Arc::new(Level::empty());
        let above: Vec<&Path> = start.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            level = self.below(&level, folder, Present::UNKNOWN);
        }
        level
    }

    /// The level of a folder below one that is known.
    pub(super) fn below(&self, above: &Arc<Level>, folder: &Path, present: Present) -> Arc<Level> {
        if present.is_nothing() {
            return above.clone();
        }
        let read = |is_there: bool, name: &str| match is_there {
            true => {
                let path = folder.join(name);
                self.sources.read(folder, &path, Links::Inside(folder))
            }
            false => Gitignore::empty(),
        };
        let git_folder = present.git_folder.then(|| folder.join(".git"));
        let git_kind = git_folder
            .as_ref()
            .and_then(|path| path.metadata().ok())
            .map(|metadata| metadata.file_type());
        let is_repository = git_kind.is_some() || present.jj_folder && folder.join(".jj").exists();
        let exclude = match (git_folder, git_kind) {
            (Some(path), Some(kind)) if kind.is_file() => self.exclude_elsewhere(folder, &path),
            (Some(_), Some(_)) => read(true, ".git/info/exclude"),
            _ => Gitignore::empty(),
        };
        let level = Level {
            above: Some(above.clone()),
            special: read(present.special, ".rgignore"),
            plain: read(present.plain, ".ignore"),
            git: read(present.git, ".gitignore"),
            exclude,
            is_repository,
            in_repository: is_repository || above.in_repository,
        };
        match level.says_nothing() {
            true => above.clone(),
            false => Arc::new(level),
        }
    }

    /// The excludes of a work tree, whose `.git` is a file that names the repository.
    fn exclude_elsewhere(&self, folder: &Path, git_file: &Path) -> Gitignore {
        let named = || -> Option<PathBuf> {
            let line = first_line(git_file)?;
            let real = folder.join(line.strip_prefix("gitdir: ")?);
            let common = first_line(&real.join("commondir"))?;
            Some(real.join(common).join("info/exclude"))
        };
        named().map_or_else(Gitignore::empty, |path| {
            self.sources.read(folder, &path, Links::Anywhere)
        })
    }

    /// Whether ignore-files leave the path out, or keep it in; it lies in the folder of the level.
    pub(super) fn matched(&self, level: &Level, path: &Path, is_folder: bool) -> Match<()> {
        let (mut plain, mut git, mut exclude) = (Match::None, Match::None, Match::None);
        let mut below_top = level.in_repository;
        let mut next = Some(level);
        while let Some(level) = next {
            let special = says(&level.special, path, is_folder);
            if !special.is_none() {
                return special;
            }
            if plain.is_none() {
                plain = says(&level.plain, path, is_folder);
            }
            if below_top && git.is_none() {
                git = says(&level.git, path, is_folder);
            }
            if below_top && exclude.is_none() {
                exclude = says(&level.exclude, path, is_folder);
            }
            below_top &= !level.is_repository;
            next = level.above.as_deref();
        }
        let global = match level.in_repository {
            true => says(&self.global, path, is_folder),
            false => Match::None,
        };
        plain.or(git).or(exclude).or(global)
    }
}

impl Level {
    /// Where nothing is ignored.
    pub(super) fn empty() -> Self {
        Self {
            above: None,
            special: Gitignore::empty(),
            plain: Gitignore::empty(),
            git: Gitignore::empty(),
            exclude: Gitignore::empty(),
            is_repository: false,
            in_repository: false,
        }
    }

    fn says_nothing(&self) -> bool {
        let files = [&self.special, &self.plain, &self.git, &self.exclude];
        !self.is_repository && files.iter().all(|file| file.is_empty())
    }
}

impl Drop for Level {
    /// One after the other: folders may lie deep in each other, and so do their levels.
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(mut level) = above.and_then(Arc::into_inner) {
            above = level.above.take();
        }
    }
}

fn says(file: &Gitignore, path: &Path, is_folder: bool) -> Match<()> {
    if file.is_empty() {
        return Match::None;
    }
    file.matched(path, is_folder).map(|_| ())
}
