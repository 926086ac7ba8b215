//! Who may go where, for one call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolbay_contract::{Audit, AuditEvent};
use toolbay_policy::{PathAccess, PathRules};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Where the kernel shows itself as files. With `/` for a root, these would hold
/// the host's own memory and environment.
const KERNEL_FOLDERS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What a call wants with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Read,
    Write,
    /// Make a folder: allowed inside the zones and on the way down to one.
    MakeFolder,
}

/// The files that one call may touch. Paths in here are real: absolute, with
/// every link resolved.
pub(crate) struct Fence {
    roots: Arc<[PathBuf]>,
    zones: Vec<PathBuf>,
    extra_reads: Vec<PathBuf>,
    rules: Arc<PathRules>,
    reporter: Option<Reporter>,
}

/// Where refusals are told, and in whose name.
struct Reporter {
    audit: Arc<dyn Audit>,
    plugin: Arc<str>,
    call_id: Arc<str>,
}

impl Fence {
    /// No files at all.
    pub(crate) fn closed() -> Self {
        Self {
            roots: Arc::new([]),
            zones: Vec::new(),
            extra_reads: Vec::new(),
            rules: Arc::new(PathRules::default()),
            reporter: None,
        }
    }

    /// Reading inside the roots, as far as the rules allow.
    pub(crate) fn reading(roots: Arc<[PathBuf]>, rules: Arc<PathRules>) -> Self {
        Self {
            roots,
            zones: Vec::new(),
            extra_reads: Vec::new(),
            rules,
            reporter: None,
        }
    }

    pub(crate) fn with_zones(mut self, zones: Vec<PathBuf>) -> Self {
        self.zones = zones;
        self
    }

    pub(crate) fn with_extra_reads(mut self, paths: &[PathBuf]) -> Self {
        self.extra_reads = paths.to_vec();
        self
    }

    pub(crate) fn reporting(
        mut self,
        audit: Arc<dyn Audit>,
        plugin: Arc<str>,
        call_id: Arc<str>,
    ) -> Self {
        self.reporter = Some(Reporter {
            audit,
            plugin,
            call_id,
        });
        self
    }

    /// The folders that the guest finds open: the roots, and those of granted
    /// paths outside them.
    pub(crate) fn preopens(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.roots.to_vec();
        let outside = self.zones.iter().map(|zone| nearest_existing(zone)).chain(
            self.extra_reads
                .iter()
                .map(|path| nearest_existing(path.parent().unwrap_or(path))),
        );
        for folder in outside {
            if !all.iter().any(|known| folder.starts_with(known)) {
                all.push(folder);
            }
        }
        all
    }

    /// The granted folder nearest above a path.
    pub(crate) fn home_of(&self, path: &Path) -> Option<PathBuf> {
        self.preopens()
            .into_iter()
            .filter(|folder| path.starts_with(folder))
            .max_by_key(|folder| folder.as_os_str().len())
    }

    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Whether no rule names a path, so that what lies inside a root may be read
    /// without another look.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether the call may not write anywhere.
    pub(crate) fn is_read_only(&self) -> bool {
        self.zones.is_empty()
    }

    /// Says whether the call may do this to the file at this real path. A refusal
    /// goes to the audit log.
    pub(crate) fn check(&self, path: &Path, wish: Wish, operation: &str) -> Result<(), ErrorCode> {
        match self.refusal(path, wish) {
            None => Ok(()),
            Some((code, why)) => {
                self.report(path, operation, why);
                Err(code)
            }
        }
    }

    /// Whether the call may read this real path; for native walkers, which report
    /// nothing because they merely pass by.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        self.refusal(path, Wish::Read).is_none()
    }

    fn refusal(&self, path: &Path, wish: Wish) -> Option<(ErrorCode, String)> {
        if KERNEL_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            return Some((
                ErrorCode::Access,
                "what the kernel shows as files is nobody's file".into(),
            ));
        }
        let access = match wish {
            Wish::Read => PathAccess::Read,
            Wish::Write | Wish::MakeFolder => PathAccess::Write,
        };
        if let Some(rule) = self.rules.forbids(path, access) {
            return Some((ErrorCode::Access, format!("it is closed by `{rule}`")));
        }
        let under = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        let writable = under(&self.zones);
        match wish {
            Wish::Read => {
                let readable = writable
                    || under(&self.roots)
                    || self.extra_reads.iter().any(|extra| path == extra);
                (!readable).then(|| (ErrorCode::Access, "it lies outside what was granted".into()))
            }
            Wish::Write if writable => None,
            Wish::MakeFolder
                if writable || self.zones.iter().any(|zone| zone.starts_with(path)) =>
            {
                None
            }
            Wish::Write | Wish::MakeFolder if self.is_read_only() => Some((
                ErrorCode::ReadOnly,
                "the call was granted reading alone".into(),
            )),
            Wish::Write | Wish::MakeFolder => Some((
                ErrorCode::Access,
                "it lies outside the folders that the call may write in".into(),
            )),
        }
    }

    /// Tells the audit log of a refusal.
    pub(crate) fn report(&self, path: &Path, operation: &str, detail: String) {
        if let Some(reporter) = &self.reporter {
            reporter.audit.note(AuditEvent::PowerRefused {
                plugin: reporter.plugin.to_string(),
                call_id: reporter.call_id.to_string(),
                power: format!("files: {operation}"),
                detail,
                path: Some(path.to_path_buf()),
            });
        }
    }
}

/// The folder itself, or the nearest one above that exists.
fn nearest_existing(folder: &Path) -> PathBuf {
    folder
        .ancestors()
        .find(|part| part.is_dir())
        .unwrap_or(folder)
        .to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_granted_by_where_a_path_lies() {
        let fence = Fence::reading(
            Arc::from([PathBuf::from("/p")]),
            Arc::new(PathRules::default()),
        )
        .with_zones(vec!["/p/src/new".into()])
        .with_extra_reads(&["/etc/hosts".into()]);
        for (path, wish, wanted) in [
            ("/p/a", Wish::Read, true),
            ("/p", Wish::Read, true),
            ("/prefix/a", Wish::Read, false),
            ("/proc/self/environ", Wish::Read, false),
            ("/etc/hosts", Wish::Read, true),
            ("/etc/passwd", Wish::Read, false),
            ("/etc", Wish::Read, false),
            ("/p/a", Wish::Write, false),
            ("/p/src/new/a", Wish::Write, true),
            ("/p/src/newer", Wish::Write, false),
            ("/p/src", Wish::MakeFolder, true),
            ("/p/other", Wish::MakeFolder, false),
            ("/p/src", Wish::Write, false),
        ] {
            assert_eq!(
                fence.check(Path::new(path), wish, "test").is_ok(),
                wanted,
                "{path} {wish:?}"
            );
        }
    }

    #[test]
    fn the_kernels_own_files_are_closed_even_inside_a_root() {
        let fence = Fence::reading(
            Arc::from([PathBuf::from("/")]),
            Arc::new(PathRules::default()),
        )
        .with_zones(vec!["/".into()]);
        for path in ["/proc/self/mem", "/sys/kernel/x", "/dev/sda", "/proc"] {
            assert!(!fence.may_read(Path::new(path)), "{path}");
            assert!(
                fence.check(Path::new(path), Wish::Write, "test").is_err(),
                "{path}"
            );
        }
        assert!(fence.may_read(Path::new("/process/a")));
    }

    #[test]
    fn a_read_only_call_is_told_so() {
        let fence = Fence::reading(
            Arc::from([PathBuf::from("/p")]),
            Arc::new(PathRules::default()),
        );
        assert_eq!(
            fence.check(Path::new("/p/a"), Wish::Write, "test"),
            Err(ErrorCode::ReadOnly)
        );
    }
}
