//! `toolbay mcp login|logout`: who we are to a server behind an address.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::bail;
use serde_json::json;
use toolbay::contract::BoxFuture;
use toolbay::mcp::client::Keyring;
use toolbay::mcp::client::auth::{self, Login, Logout, Person};
use toolbay::mcp::client::config::ServerConfig;
use toolbay::sandbox::process::{Script, run};

use crate::args::{Common, McpLogin};
use crate::commands::{print_json, print_line};
use crate::options::{origins, working_directory};
use crate::places;
use crate::style::Style;
use crate::view::harmless_line;
use toolbay::servers::inventory::Sources;
use toolbay::servers::{Inventory, keyring};

/// A browser that has not started by then is not going to tell why.
const BROWSER_TIME: Duration = Duration::from_secs(20);
/// The address goes along as a variable: it comes from a stranger, and no shell reads it.
const BROWSER: &str = r#"for browser in "$BROWSER" xdg-open open wslview; do
  [ -n "$browser" ] && command -v "$browser" > /dev/null && exec "$browser" "$TOOLBAY_ADDRESS"
done
exit 127"#;

pub(super) async fn login(common: &Common, how: McpLogin) -> anyhow::Result<ExitCode> {
    let (config, keyring) = server(common, &how.name)?;
    let (server, mut options) = keyring.login(&config).await.map_err(anyhow::Error::msg)?;
    options.scopes.extend(how.scopes);
    let store = keyring.store().map_err(anyhow::Error::msg)?;
    let person = AtTheTerminal {
        opens_browser: !how.no_browser,
        style: Style::for_errors(),
    };
    let login = match config.oauth.as_program {
        true => auth::login_as_client(&store, &server, &options).await?,
        false => auth::login(&store, &server, &options, &person).await?,
    };
    if common.json {
        let ends = login.ends.and_then(seconds);
        print_json(&json!({
            "server": how.name, "scopes": login.scopes, "ends": ends, "renewable": login.renewable,
        }))?;
    } else {
        print_line(&sentence(&how.name, &login))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn logout(common: &Common, name: &str) -> anyhow::Result<ExitCode> {
    let (config, keyring) = server(common, name)?;
    let (server, _) = keyring.login(&config).await.map_err(anyhow::Error::msg)?;
    let store = keyring.store().map_err(anyhow::Error::msg)?;
    let (word, told) = match auth::logout(&store, &server).await? {
        Logout::NotLoggedIn => ("not-logged-in", format!("nobody was logged in to {name}")),
        Logout::Revoked => (
            "revoked",
            format!("logged out of {name}; its tokens are void"),
        ),
        Logout::Forgotten { reason } => (
            "forgotten",
            format!("logged out of {name}; until they end its tokens are still valid: {reason}"),
        ),
    };
    match common.json {
        true => print_json(&json!({"server": name, "logout": word}))?,
        false => print_line(&harmless_line(&told))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The server of that name, if it can be used.
fn server(common: &Common, name: &str) -> anyhow::Result<(ServerConfig, Keyring)> {
    let places = places::from_environment()?;
    let cwd = working_directory(common)?;
    let origins = origins(common, &cwd, &places);
    let settings = origins.load()?;
    let inventory = Inventory::take(&Sources {
        cwd: &cwd,
        places: &places,
        process: &origins.process,
        settings: &settings,
        given: &common.mcp_config,
        trust_project: common.trust_project,
    })?;
    let config = inventory.configs.into_iter().find(|one| one.name == name);
    if let Some(config) = config {
        return Ok((config, keyring(&places, &origins.process, &cwd)));
    }
    if let Some(other) = inventory.others.iter().find(|one| one.name == name) {
        let why = other.state.reason().unwrap_or("it cannot be used");
        bail!("the MCP server `{name}` is {}: {why}", other.state.word());
    }
    bail!("there is no MCP server `{name}`; `toolbay mcp list` shows those that there are");
}

/// Somebody with a browser, here or elsewhere.
struct AtTheTerminal {
    opens_browser: bool,
    style: Style,
}

impl Person for AtTheTerminal {
    fn visit(&self, address: &str) -> Result<(), String> {
        let shown = harmless_line(address);
        eprintln!("{}\n{shown}", self.style.bold("Log in at this address:"));
        if !self.opens_browser {
            eprintln!(
                "{}",
                self.style.dim(
                    "If the browser is on another machine, paste the address that it ends at."
                )
            );
            return Ok(());
        }
        let mut env = places::this_process().variables().to_vec();
        env.push(("TOOLBAY_ADDRESS".into(), address.into()));
        let script = Script {
            text: BROWSER.into(),
            cwd: std::env::temp_dir(),
            env,
            stdin: Arc::from([]),
            time: BROWSER_TIME,
            max_output: 4096,
        };
        // Whether it opened or not, the address stands there.
        tokio::spawn(run(script));
        Ok(())
    }

    fn paste(&self) -> BoxFuture<'_, String> {
        if self.opens_browser {
            return Box::pin(std::future::pending());
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread that nobody waits for: a line may never come.
        std::thread::spawn(move || {
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line).is_ok() && !line.trim().is_empty() {
                let _ = sender.send(line.trim().to_owned());
            }
        });
        Box::pin(async move {
            match receiver.await {
                Ok(line) => line,
                Err(_) => std::future::pending().await,
            }
        })
    }
}

fn sentence(name: &str, login: &Login) -> String {
    let mut text = format!("logged in to {}", harmless_line(name));
    if !login.scopes.is_empty() {
        text.push_str(&format!(
            " (rights: {})",
            harmless_line(&login.scopes.join(" "))
        ));
    }
    text.push_str(match (login.renewable, login.ends) {
        (true, _) => "; renewed by itself when it ends",
        (false, Some(_)) => "; it ends and must then be made again",
        (false, None) => "",
    });
    text
}

fn seconds(time: SystemTime) -> Option<u64> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}
