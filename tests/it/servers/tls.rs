//! Servers behind TLS: who they are is checked, against the authorities that this machine trusts.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::program::Project;

/// A server for `localhost`, whose certificate an authority of its own vouches for.
struct Https {
    folder: TempDir,
    child: Child,
    port: u16,
}

// A test of a server has to start one.
#[allow(clippy::disallowed_methods)]
fn run(folder: &Path, line: &str) {
    let mut words = line.split_whitespace();
    let done = Command::new(words.next().unwrap())
        .args(words)
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    assert!(done.unwrap().success(), "{line}");
}

impl Https {
    #[allow(clippy::disallowed_methods)]
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        write("behind.py", include_str!("../../conformance/behind.py"));
        write("https.py", include_str!("https.py"));
        write("extensions", "subjectAltName=DNS:localhost\n");
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        for line in [
            format!("openssl req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=ca -days 2"),
            format!("openssl req {key} -keyout key.pem -out request.pem -subj /CN=localhost"),
            "openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
             -out cert.pem -extfile extensions"
                .to_owned(),
        ] {
            run(folder.path(), &line);
        }
        let mut child = Command::new("/usr/bin/python3")
            .arg("https.py")
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap();
        Self {
            folder,
            child,
            port,
        }
    }

    fn entry(&self, host: &str) -> String {
        let url = format!("https://{host}:{}/mcp", self.port);
        json!({"mcpServers": {"far": {"type": "http", "url": url}}}).to_string()
    }
}

impl Drop for Https {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_certificate_must_be_vouched_for_and_be_the_servers() {
    let (project, server) = (Project::new(), Https::start());
    let authority = server.folder.path().join("ca.pem");
    let trusting = [("SSL_CERT_FILE", authority.as_path())];
    let entry = server.entry("localhost");
    let list = ["--mcp-config", &entry, "mcp", "list"];
    project
        .run(&list)
        .exits(0)
        .prints(&["failed", "invalid peer certificate"]);
    project
        .run_with_variables(&list, &trusting)
        .exits(0)
        .prints(&["connected"]);
    let call = ["--allow", "mcp__far", "call", "mcp__far__touch"];
    project
        .run_with_variables(&[&list[..2], &call].concat(), &trusting)
        .exits(0)
        .prints(&["0 watched"]);
    // The same server under a name that its certificate does not have.
    let entry = server.entry("127.0.0.1");
    project
        .run_with_variables(&["--mcp-config", &entry, "mcp", "list"], &trusting)
        .exits(0)
        .prints(&["failed", "not valid for name"]);
}
