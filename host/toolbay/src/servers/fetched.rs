//! Servers that a package runner fetches before it runs them, as `npx` and `uvx` do.
//!
//! To fetch takes the network and no project; to run takes the project and no network. So there
//! are two cages. In the first one the very same command is started where it sees neither the
//! session's folders nor the secrets of its entry, until it answers for the first time or ends.
//! What it has fetched stays in a folder of its own, and from then on it runs without the hosts
//! that it came from: what was fetched once stays what it is until somebody fetches it again.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use toolbay_mcp::client::config::StdioConfig;
use toolbay_sandbox::cage::{Command, Enclosure};

use super::launcher::how;
use crate::own_file;

/// What a first start may take: whole languages come over slow lines.
pub const TIME: Duration = Duration::from_secs(600);
/// What is read until somebody answers.
const MOST_OUTPUT: u64 = 1 << 20;
const LAST_WORDS: usize = 600;

/// Programs that fetch what they run.
const RUNNERS: [&str; 10] = [
    "npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "uvx", "uv", "pipx",
];

/// Tells package runners that there is no network, so that they do not wait for it.
pub const OFFLINE: [(&str, &str); 3] = [
    ("npm_config_offline", "true"),
    ("UV_OFFLINE", "1"),
    ("PIP_NO_INDEX", "1"),
];

/// Whether a program fetches what it runs.
pub fn is_runner(program: &str) -> bool {
    let name = Path::new(program).file_name();
    name.is_some_and(|name| RUNNERS.iter().any(|runner| name == *runner))
}

/// Whether a variable is for a package runner: how to fetch, from where, whom to believe. All others
/// may be secrets of the server, and fetching needs none.
pub fn is_for_runners(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let prefixes = ["npm_config_", "uv_", "pip_", "pipx_", "bun_config_"];
    let certificates = [
        "ssl_cert_file",
        "ssl_cert_dir",
        "node_extra_ca_certs",
        "requests_ca_bundle",
    ];
    prefixes.iter().any(|prefix| lower.starts_with(prefix))
        || certificates.contains(&lower.as_str())
}

/// The folder of all that was fetched.
#[derive(Debug, Clone)]
pub struct Packages(PathBuf);

impl Packages {
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Where a server is put that may be fetched.
    pub fn of(&self, config: &StdioConfig) -> Option<Package> {
        let from = &config.sandbox.fetch_from;
        if from.is_empty() {
            return None;
        }
        // The same command from the same hosts is the same server, whoever names it.
        let named = json!([config.command, config.args, from]).to_string();
        let digest = toolbay_runtime::digest(named.as_bytes());
        let digest = digest.rsplit(':').next().unwrap_or_default();
        let name = digest.get(..32).unwrap_or(digest);
        Some(Package(self.0.join(name)))
    }
}

/// What was fetched of one server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Package(PathBuf);

impl Package {
    /// The part that belongs to the server.
    pub fn files(&self) -> PathBuf {
        self.0.join("files")
    }

    pub fn is_fetched(&self) -> bool {
        self.mark().exists()
    }

    /// It has answered: nothing is missing.
    pub fn settle(&self) {
        // Without the mark it is fetched once more, which changes nothing but the time it takes.
        let _ = own_file::replace(&self.mark(), b"");
    }

    /// It did not even answer: something is missing.
    pub fn doubt(&self) {
        let _ = std::fs::remove_file(self.mark());
    }

    /// Throws everything away.
    pub fn forget(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Where package runners and servers are to put things.
    pub fn variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let files = self.files();
        let places = [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("npm_config_cache", "npm"),
            ("PIPX_HOME", "pipx"),
            ("BUN_INSTALL_CACHE_DIR", "bun"),
        ];
        places
            .into_iter()
            .map(move |(name, folder)| (name.into(), files.join(folder).into()))
    }

    /// Makes the folder, and waits until nobody else fetches the same.
    pub fn begin(&self) -> anyhow::Result<std::fs::File> {
        let alone = own_file::lock(&self.mark())?;
        std::fs::create_dir_all(self.files())?;
        Ok(alone)
    }

    fn mark(&self) -> PathBuf {
        self.0.join("fetched")
    }
}

/// Starts a server where it can be fetched and do nothing else. The error is how it ended without an
/// answer, which means little: many end because there is no project.
pub async fn fetch(enclosure: &Enclosure, command: &Command) -> Result<(), String> {
    let talk = enclosure.open(command).await;
    let mut talk = talk.map_err(|error| error.to_string())?;
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "toolbay", "version": env!("CARGO_PKG_VERSION")},
        },
    });
    // One that ends without reading is noticed below.
    let _ = talk.input.write_all(format!("{hello}\n").as_bytes()).await;
    let mut lines = BufReader::new(talk.output.take(MOST_OUTPUT)).split(b'\n');
    let answered = async {
        let mut heard = 0;
        // Runners print things of their own before.
        while let Ok(Some(line)) = lines.next_segment().await {
            let parsed: Option<serde_json::Value> = serde_json::from_slice(&line).ok();
            if parsed.is_some_and(|value| value.get("jsonrpc").is_some()) {
                return Ok(());
            }
            heard += line.len() as u64 + 1;
        }
        match heard < MOST_OUTPUT {
            true => std::future::pending().await,
            false => Err("it writes and writes, and answers nothing".to_owned()),
        }
    };
    let mut said = Vec::new();
    let listening = async {
        let mut chunk = vec![0; 4096];
        while let Ok(read @ 1..) = talk.errors.read(&mut chunk).await {
            said.extend_from_slice(&chunk[..read]);
            let over = said.len().saturating_sub(LAST_WORDS);
            said.drain(..over);
        }
        std::future::pending::<()>().await
    };
    let ended = tokio::select! {
        answered = answered => return answered,
        () = listening => return Ok(()),
        ended = talk.life.ended() => ended,
    };
    // What it said last may not have been read yet; what it started may go on for long.
    let rest = async {
        let mut chunk = vec![0; 4096];
        while let Ok(read @ 1..) = talk.errors.read(&mut chunk).await {
            said.extend_from_slice(&chunk[..read]);
            let over = said.len().saturating_sub(LAST_WORDS);
            said.drain(..over);
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(200), rest).await;
    let text = match ended {
        Ok(ended) => how(&ended, "it took too long"),
        Err(error) => error.to_string(),
    };
    let said = String::from_utf8_lossy(&said);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    Err(match said.is_empty() {
        true => text,
        false => format!("{text}; its last words: {said}"),
    })
}

#[cfg(test)]
mod tests {
    use toolbay_mcp::client::config::ServerSandbox;

    use super::*;

    fn config(command: &str, args: &[&str], from: &[&str]) -> StdioConfig {
        StdioConfig {
            command: command.into(),
            args: args.iter().map(|one| (*one).into()).collect(),
            env: Default::default(),
            cwd: None,
            sandbox: ServerSandbox {
                fetch_from: from.iter().map(|one| (*one).into()).collect(),
                ..ServerSandbox::default()
            },
        }
    }

    #[test]
    fn another_command_or_another_host_is_another_package() {
        let packages = Packages::new("/data".into());
        let base = config("npx", &["-y", "a"], &["h"]);
        let package = packages.of(&base).unwrap();
        assert_eq!(packages.of(&base), Some(package.clone()));
        assert!(packages.of(&config("npx", &["-y", "a"], &[])).is_none());
        for other in [
            config("npx", &["-y", "b"], &["h"]),
            config("npx", &["-y a"], &["h"]),
            config("npx", &["-y", "a"], &["h", "i"]),
            config("/evil/npx", &["-y", "a"], &["h"]),
        ] {
            assert_ne!(packages.of(&other).unwrap(), package);
        }
        let name = package.0.strip_prefix("/data").unwrap().to_str().unwrap();
        assert!(name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn a_mark_says_that_nothing_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let packages = Packages::new(folder.path().join("servers"));
        let package = packages.of(&config("npx", &[], &["h"])).unwrap();
        assert!(!package.is_fetched());
        drop(package.begin().unwrap());
        assert!(package.files().is_dir() && !package.is_fetched());
        package.settle();
        assert!(package.is_fetched());
        package.doubt();
        assert!(!package.is_fetched() && package.files().is_dir());
        package.settle();
        package.forget().unwrap();
        assert!(!package.is_fetched() && !package.files().exists());
        package.forget().unwrap();
    }

    #[test]
    fn runners_and_what_is_for_them_are_known() {
        for (program, wanted) in [
            ("npx", true),
            ("/usr/bin/uvx", true),
            ("node", false),
            ("npx.sh", false),
        ] {
            assert_eq!(is_runner(program), wanted, "{program}");
        }
        for (name, wanted) in [
            ("npm_config_registry", true),
            ("NPM_CONFIG_REGISTRY", true),
            ("UV_INDEX_URL", true),
            ("SSL_CERT_FILE", true),
            ("API_KEY", false),
            ("NPM_TOKEN", false),
            ("AWS_SECRET_ACCESS_KEY", false),
        ] {
            assert_eq!(is_for_runners(name), wanted, "{name}");
        }
    }
}
