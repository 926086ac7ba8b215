//! A list of servers that settings point to. It is fetched when somebody looks at the servers,
//! kept, and read from there: no session waits for it.
//!
//! Whoever writes the list is somewhere else, so it may name addresses and nothing that would run
//! on this machine.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use toolbay_mcp::client::config::{Kind, Scope};

use super::inventory::{Declared, parse};
use crate::own_file;
use crate::places::Places;
use crate::settings::read_text;

const PATIENCE: Duration = Duration::from_secs(10);
const MOST_BYTES: u64 = 1 << 20;

fn file(places: &Places) -> PathBuf {
    places.state.join("mcp-servers.json")
}

/// The list as it was fetched last.
pub fn cached(places: &Places) -> anyhow::Result<Vec<Declared>> {
    let file = file(places);
    match read_text(&file)? {
        Some(text) => understood(&text, places),
        None => Ok(Vec::new()),
    }
}

fn understood(text: &str, places: &Places) -> anyhow::Result<Vec<Declared>> {
    let listed = parse(text, &file(places), Scope::Remote)?;
    for declared in &listed {
        let raw = &declared.raw;
        ensure!(
            matches!(raw.kind(), Kind::Http | Kind::Sse | Kind::Ws | Kind::Proxy),
            "the list of MCP servers names `{}`, which is no server behind an address",
            declared.name
        );
        ensure!(
            !raw.trusted && !raw.sampling,
            "the list of MCP servers wants `{}` to be trusted, which is for you to say",
            declared.name
        );
        ensure!(
            !raw.oauth
                .as_ref()
                .is_some_and(|oauth| oauth.names_secrets()),
            "the list of MCP servers names secrets of this machine for `{}`",
            declared.name
        );
        // Nobody has looked at it, so it must not ask for what only this machine knows.
        let texts = raw.url.iter().chain(raw.headers.values());
        ensure!(
            texts.into_iter().all(|text| !text.contains("${")),
            "the list of MCP servers wants variables of this machine for `{}`",
            declared.name
        );
    }
    Ok(listed)
}

/// Fetches the list; without an address the old one goes. Waits for the network: not for an async
/// thread.
pub fn fetch(url: Option<&str>, places: &Places) -> anyhow::Result<()> {
    let file = file(places);
    let Some(url) = url else {
        return match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| file.display().to_string())
            }
            Ok(()) | Err(_) => Ok(()),
        };
    };
    let is_near = ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"];
    if !url.starts_with("https://") && !is_near.iter().any(|near| url.starts_with(near)) {
        bail!("the list of MCP servers must come from an address that begins with https://");
    }
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .build()
        .new_agent();
    let about = "the list of MCP servers";
    let mut response = agent.get(url).call().context(about)?;
    let body = response.body_mut().with_config().limit(MOST_BYTES);
    let text = body.read_to_string().context(about)?;
    understood(&text, places)?;
    own_file::replace(&file, text.as_bytes())
}
