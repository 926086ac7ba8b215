//! Who may go where, for one call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolbay_contract::{Audit, AuditEvent, RulesNow, names_over_links};
use toolbay_policy::{Capability, PathAccess, WriteGrant, Zone, Zones};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use crate::gate::CapabilityGate;

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

impl Wish {
    fn access(self) -> PathAccess {
        match self {
            Self::Read => PathAccess::Read,
            Self::Write | Self::MakeFolder => PathAccess::Write,
        }
    }
}

/// The files that one call may touch. Paths in here are real: absolute, with
/// every link resolved.
pub(crate) struct Fence {
    roots: Arc<[PathBuf]>,
    zones: Zones,
    extra_reads: Zones,
    rules: RulesNow,
    reporter: Option<Reporter>,
    /// If given, the component was not granted files, and nothing is open.
    ungranted: Option<Arc<CapabilityGate>>,
}

/// Where refusals are told, and in whose name.
#[derive(Clone)]
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
            zones: Zones::default(),
            extra_reads: Zones::default(),
            rules: RulesNow::default(),
            reporter: None,
            ungranted: None,
        }
    }

    /// Reading inside the roots, as far as the rules allow.
    pub(crate) fn reading(roots: Arc<[PathBuf]>, rules: RulesNow) -> Self {
        Self {
            roots,
            zones: Zones::default(),
            extra_reads: Zones::default(),
            rules,
            reporter: None,
            ungranted: None,
        }
    }

    /// The same for a component that was not granted files: it finds the folders and opens
    /// nothing, and whoever runs it learns what it wanted.
    pub(crate) fn closed_by(&self, gate: Arc<CapabilityGate>) -> Self {
        Self {
            roots: self.roots.clone(),
            reporter: self.reporter.clone(),
            ungranted: Some(gate),
            ..Self::closed()
        }
    }

    pub(crate) fn with_zones(mut self, zones: Zones) -> Self {
        self.zones = zones;
        self
    }

    pub(crate) fn with_extra_reads(mut self, zones: Zones) -> Self {
        self.extra_reads = zones;
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
        // A handle of a folder is no grant: what is opened through it is checked by itself.
        let named = self.zones.iter().chain(self.extra_reads.iter());
        for folder in named.map(|zone| match zone {
            Zone::File(file) => nearest_existing(file.parent().unwrap_or(file)),
            Zone::Folder(folder) => nearest_existing(folder),
        }) {
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

    /// Whether some rule names a path, so that what lies inside a root needs another look.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.get().is_empty()
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

    /// Says whether a deny rule is about a name by which a path is reached over links, where the real path
    /// has another one.
    pub(crate) fn check_names(
        &self,
        path: &Path,
        wish: Wish,
        operation: &str,
    ) -> Result<(), ErrorCode> {
        let rules = self.rules.get();
        if !rules.has_rules() {
            return Ok(());
        }
        let access = wish.access();
        let names = names_over_links(path);
        let Some(name) = names.iter().find(|name| rules.is_shut(name, access)) else {
            return Ok(());
        };
        self.report(name, operation, "a deny rule closes this name".into());
        Err(ErrorCode::Access)
    }

    /// Whether the call may read this real path; for native walkers, which report
    /// nothing because they merely pass by.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        self.refusal(path, Wish::Read).is_none()
    }

    fn refusal(&self, path: &Path, wish: Wish) -> Option<(ErrorCode, String)> {
        if let Some(gate) = &self.ungranted {
            gate.lends(Capability::Files);
            let why = "the component was not granted `files`";
            return Some((ErrorCode::Access, why.into()));
        }
        if KERNEL_FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            return Some((
                ErrorCode::Access,
                "what the kernel shows as files is nobody's file".into(),
            ));
        }
        let access = wish.access();
        if let Some(rule) = self.rules.get().forbids(path, access) {
            return Some((ErrorCode::Access, format!("it is closed by `{rule}`")));
        }
        match wish {
            Wish::Read => {
                let in_a_root = self.roots.iter().any(|root| path.starts_with(root));
                let is_readable =
                    in_a_root || self.zones.cover(path) || self.extra_reads.cover(path);
                (!is_readable)
                    .then(|| (ErrorCode::Access, "it lies outside what was granted".into()))
            }
            Wish::MakeFolder if self.zones.lead_through(path) => None,
            Wish::Write | Wish::MakeFolder if self.is_read_only() => Some((
                ErrorCode::ReadOnly,
                "the call was granted reading alone".into(),
            )),
            Wish::Write | Wish::MakeFolder => match self.zones.write(path) {
                WriteGrant::Yes => None,
                WriteGrant::Outside => Some((
                    ErrorCode::Access,
                    "the call was not permitted to write it".into(),
                )),
                WriteGrant::Protected(name) => Some((
                    ErrorCode::Access,
                    format!(
                        "`{name}` is protected: a call changes it only if it names it itself and \
                         that is permitted"
                    ),
                )),
            },
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
    use toolbay_policy::{Anchors, Closed, PathRules, Rule, Rules};

    use super::*;

    fn fence(root: &str, zones: Vec<Zone>) -> Fence {
        Fence::reading(Arc::from([PathBuf::from(root)]), RulesNow::default())
            .with_zones(Zones::new(zones))
    }

    #[test]
    fn wishes_are_granted_by_where_a_path_lies() {
        let zones = vec![
            Zone::Folder("/p/src/new".into()),
            Zone::File("/p/a/b/named".into()),
            Zone::File("/p/.envrc".into()),
        ];
        let extra = vec![
            Zone::File("/etc/hosts".into()),
            Zone::Folder("/opt/x".into()),
        ];
        let fence = fence("/p", zones).with_extra_reads(Zones::new(extra));
        for (path, wish, wanted) in [
            ("/p/a", Wish::Read, true),
            ("/p", Wish::Read, true),
            ("/prefix/a", Wish::Read, false),
            ("/proc/self/environ", Wish::Read, false),
            ("/etc/hosts", Wish::Read, true),
            ("/etc/passwd", Wish::Read, false),
            ("/etc", Wish::Read, false),
            ("/opt/x/deep", Wish::Read, true),
            ("/opt/xy", Wish::Read, false),
            ("/opt/x/deep", Wish::Write, false),
            ("/p/a", Wish::Write, false),
            ("/p/src/new/a", Wish::Write, true),
            ("/p/src/new/.git/config", Wish::Write, false),
            ("/p/src/new/.git", Wish::MakeFolder, false),
            ("/p/src/new/deep", Wish::MakeFolder, true),
            ("/p/src/new", Wish::Write, false),
            ("/p/src/newer", Wish::Write, false),
            ("/p/src", Wish::MakeFolder, true),
            ("/p/a/b", Wish::MakeFolder, true),
            ("/p/a/b/named", Wish::Write, true),
            ("/p/a/b/beside", Wish::Write, false),
            ("/p/a/b/beside", Wish::MakeFolder, false),
            ("/p/other", Wish::MakeFolder, false),
            ("/p/src", Wish::Write, false),
            ("/p/.envrc", Wish::Write, true),
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
        let fence = fence("/", vec![Zone::Folder("/".into())]);
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
        let fence = fence("/p", Vec::new());
        assert_eq!(
            fence.check(Path::new("/p/a"), Wish::Write, "test"),
            Err(ErrorCode::ReadOnly)
        );
    }

    #[test]
    fn a_rule_that_comes_while_the_call_runs_holds_from_then_on() {
        let now = Arc::new(std::sync::Mutex::new(Arc::new(PathRules::default())));
        let look = now.clone();
        let rules = RulesNow::looking(move || look.lock().unwrap().clone());
        let fence = Fence::reading(Arc::from([PathBuf::from("/p")]), rules);
        assert!(fence.may_read(Path::new("/p/.env")));
        let anchors = Anchors {
            home: None,
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        let deny = vec![Rule::parse("Read(.env)", &anchors).unwrap()];
        let later = PathRules::of(&Rules {
            deny,
            ..Rules::default()
        });
        *now.lock().unwrap() = Arc::new(later.and_closed(&Closed::default()));
        assert!(!fence.may_read(Path::new("/p/.env")));
    }
}
