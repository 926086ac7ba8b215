//! What a command's complaints mean: the cage that it ran in, and what would let it through.
//!
//! The kernel refuses without telling anybody but the command, so what it was is read from what
//! the command says. Whatever a command prints gets here, so a path that it names is shown on one line, and
//! no setting is recommended for a place where secrets or protected files are: nobody refused it for sure.

use std::path::{Component, Path, PathBuf};

use toolbay_contract::visible_line;

/// What is known about the cage.
pub(super) struct Walls<'a> {
    pub(super) read_only: bool,
    pub(super) folder: &'a Path,
    /// What is closed to reading, by settings or rules.
    pub(super) closed: &'a [PathBuf],
    pub(super) has_hosts: bool,
}

impl Walls<'_> {
    /// Whether a place is closed or protected, or holds what is: by its name, and by where that leads now.
    fn are_around(&self, path: &Path) -> bool {
        let is_plain =
            |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        let is_closed = |path: &Path| {
            let mut places = self.closed.iter();
            let mut names = path.components();
            places.any(|place| path.starts_with(place) || place.starts_with(path))
                || names.any(|name| toolbay_policy::is_protected(name.as_os_str()))
        };
        let mut above = path.ancestors();
        let real = above.find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        });
        !path.components().all(is_plain)
            || is_closed(path)
            || real.is_some_and(|path| is_closed(&path))
    }
}

/// Only the end of the output is read: what ended a command comes last.
const LOOKED_AT: usize = 16 << 10;
/// A hundred complaints are one.
const MOST: usize = 4;

const NO_WRITING: [&str; 2] = ["Read-only file system", "EROFS: read-only file system"];
const NO_ACCESS: [&str; 2] = ["Permission denied", "EACCES: permission denied"];
const NO_NETWORK: [&str; 9] = [
    "Could not resolve host",
    "Could not resolve proxy",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "getaddrinfo ENOTFOUND",
    "getaddrinfo EAI_AGAIN",
    "CONNECT tunnel failed, response 403",
    "Failed to resolve",
];

/// Explanations for a command that failed, a sentence each.
pub(super) fn explain(output: &[u8], walls: &Walls<'_>) -> Vec<String> {
    let tail = &output[output.len().saturating_sub(LOOKED_AT)..];
    let tail = String::from_utf8_lossy(tail);
    let mut said: Vec<String> = Vec::new();
    for line in tail.lines() {
        if let Some(sentence) = meaning(line, walls)
            && !said.contains(&sentence)
        {
            said.push(sentence);
        }
        if said.len() == MOST {
            break;
        }
    }
    said
}

fn meaning(line: &str, walls: &Walls<'_>) -> Option<String> {
    let has = |phrases: &[&'static str]| phrases.iter().copied().find(|one| line.contains(one));
    if let Some(phrase) = has(&NO_WRITING) {
        let path = named(line, phrase, walls.folder);
        let is_closed = path.as_ref().is_some_and(|path| walls.are_around(path));
        let what = match path {
            Some(path) if !is_closed => {
                format!("write to {}", visible_line(&path.display().to_string()))
            }
            Some(_) | None => "a write".into(),
        };
        return Some(match walls.read_only {
            true => format!(
                "Blocked by the cage: {what}; a command that only reads gets a cage in which nothing can be written."
            ),
            false if is_closed => {
                "Blocked by the cage: a write to a place that is closed to commands, which no setting should open."
                    .into()
            }
            false => format!(
                "Blocked by the cage: {what}; allow with `\"sandbox\": {{\"allowWrite\": [\"…\"]}}` in the settings."
            ),
        });
    }
    if let Some(phrase) = has(&NO_ACCESS) {
        // Ordinary permissions say the same, so only what is known to be closed counts.
        let path = named(line, phrase, walls.folder)?;
        if walls.closed.iter().any(|place| path.starts_with(place)) {
            return Some(format!(
                "Blocked by the cage: {} is closed, by a deny rule, by `denyRead` in the settings, \
                 or because keys and credentials are kept there.",
                visible_line(&path.display().to_string())
            ));
        }
        return None;
    }
    has(&NO_NETWORK)?;
    Some(match (walls.read_only, walls.has_hosts) {
        (true, _) => "Blocked by the cage: a command that only reads has no network.".into(),
        (false, true) => {
            "Blocked by the cage: this host is not among those that commands may reach; \
                          `\"sandbox\": {\"allowedHosts\": [\"…\"]}` in the settings names them."
                .into()
        }
        (false, false) => "Blocked by the cage: there is no network; allow with \
                           `\"sandbox\": {\"allowedHosts\": [\"…\"]}` in the settings."
            .into(),
    })
}

/// The path that a complaint is about, if it names one.
fn named(line: &str, phrase: &str, folder: &Path) -> Option<PathBuf> {
    let (before, after) = line.split_once(phrase)?;
    let quoted = |text: &str| -> Option<String> {
        let start = text.find(['\'', '"', '‘', '`'])?;
        let rest = text[start..].chars().skip(1).collect::<String>();
        let end = rest.find(['\'', '"', '’'])?;
        Some(rest[..end].to_owned())
    };
    // `tool: cannot make a/b: `, or ` 'a/b'` behind it.
    let last_words = || {
        let part = before.trim_end().trim_end_matches(':');
        let part = part.rsplit(": ").next().unwrap_or(part);
        part.rsplit(' ').next().map(str::to_owned)
    };
    let found = quoted(after)
        .or_else(|| quoted(before))
        .or_else(last_words)?;
    let looks_like_one = !found.is_empty() && found.len() < 1024 && !found.starts_with('[');
    looks_like_one.then(|| folder.join(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walls<'a>(read_only: bool, closed: &'a [PathBuf]) -> Walls<'a> {
        Walls {
            read_only,
            folder: Path::new("/p"),
            closed,
            has_hosts: false,
        }
    }

    #[test]
    fn complaints_name_what_was_refused() {
        for (line, path) in [
            ("bash: line 1: /etc/x: Read-only file system", "/etc/x"),
            (
                "build.sh: 3: cannot create /home/me/.cache/x: Read-only file system",
                "/home/me/.cache/x",
            ),
            (
                "touch: cannot touch '/etc/a b': Read-only file system",
                "/etc/a b",
            ),
            (
                "mkdir: cannot create directory ‘/etc/x’: Read-only file system",
                "/etc/x",
            ),
            (
                "OSError: [Errno 30] Read-only file system: '/etc/x'",
                "/etc/x",
            ),
            (
                "Error: EROFS: read-only file system, open '/etc/x'",
                "/etc/x",
            ),
            (
                "cp: cannot create regular file 'x/y': Read-only file system",
                "/p/x/y",
            ),
        ] {
            let said = explain(line.as_bytes(), &walls(false, &[]));
            let wanted = format!("Blocked by the cage: write to {path}; allow with ");
            assert_eq!(said.len(), 1, "{line}");
            assert!(said[0].starts_with(&wanted), "{line}: {said:?}");
        }
    }

    #[test]
    fn what_is_closed_is_told_apart_from_ordinary_permissions() {
        let closed = [PathBuf::from("/home/me/.ssh"), "/p/.env".into()];
        for (line, wanted) in [
            ("cat: /home/me/.ssh/id: Permission denied", true),
            ("cat: .env: Permission denied", true),
            (
                "PermissionError: [Errno 13] Permission denied: '.env'",
                true,
            ),
            ("cat: /etc/shadow: Permission denied", false),
            ("bash: ./x: Permission denied", false),
            ("Permission denied", false),
            ("Permission denied (publickey).", false),
        ] {
            let said = explain(line.as_bytes(), &walls(false, &closed));
            assert_eq!(said.len(), usize::from(wanted), "{line}: {said:?}");
        }
    }

    /// What a command prints is no proof that something was refused.
    #[test]
    fn no_setting_is_recommended_for_secrets_and_protected_places() {
        let link = tempfile::tempdir().expect("a folder");
        let link = link.path().canonicalize().expect("a path").join("link");
        std::os::unix::fs::symlink("/etc", &link).expect("a link");
        let closed = ["/home/me/.ssh", "/home/me/.aws/credentials", "/etc/shadow"];
        let closed = closed.map(PathBuf::from);
        for path in [
            "/home/me/.ssh/authorized_keys",
            "/home/me/.ssh",
            "/home/me/.aws",
            "/home/me",
            "/home/me/x/../.ssh/authorized_keys",
            "/home/me/.bashrc",
            "/home/me/.gitconfig",
            ".git/hooks/pre-commit",
            ".claude/settings.json",
            link.join("shadow").to_str().expect("text"),
        ] {
            let line = format!("touch: cannot touch '{path}': Read-only file system");
            let said = explain(line.as_bytes(), &walls(false, &closed));
            assert_eq!(said.len(), 1, "{line}");
            assert!(!said[0].contains("allowWrite"), "{said:?}");
            assert!(!said[0].contains(path), "{said:?}");
        }
    }

    #[test]
    fn what_a_command_prints_begins_no_line() {
        let line = "touch: cannot touch '/etc/a\r\u{1b}[2Kb\u{85}c': Read-only file system";
        let said = explain(line.as_bytes(), &walls(false, &[]));
        assert_eq!(said.len(), 1);
        assert!(!said[0].chars().any(char::is_control), "{said:?}");
    }

    #[test]
    fn the_rest_is_told_once_and_nothing_is_invented() {
        let line = "curl: (6) Could not resolve host: example.com\n".repeat(100);
        let said = explain(line.as_bytes(), &walls(false, &[]));
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("allowedHosts"), "{said:?}");
        let said = explain(line.as_bytes(), &walls(true, &[]));
        assert!(said[0].contains("only reads"), "{said:?}");
        for output in [
            &b"error: something else"[..],
            b"",
            b"\xff\xfe: '",
            b"Read-only",
        ] {
            assert_eq!(explain(output, &walls(false, &[])), Vec::<String>::new());
        }
        let many: String = (0..100)
            .map(|i| format!("bash: /etc/{i}: Read-only file system\n"))
            .collect();
        assert_eq!(explain(many.as_bytes(), &walls(false, &[])).len(), MOST);
        // A letter cut in half at the edge, and quotes that do not end.
        let odd = format!("{}‘: Read-only file system", "é".repeat(LOOKED_AT));
        assert_eq!(explain(odd.as_bytes(), &walls(false, &[])).len(), 1);
    }
}
