//! `toolbay mcp login|logout`: who we are to a server behind an address.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::json;
use toolbay_contract::BoxFuture;
use toolbay_mcp::client::auth::{self, Identity, LoginOptions, Logout, Person, Secret, TokenStore};
use toolbay_mcp::client::config::{LinkConfig, ServerConfig};
use toolbay_sandbox::process::{Script, run};

use crate::args::Common;
use crate::commands::{print_json, print_line};
use crate::compose::{origins, working_directory};
use crate::places::{Places, hook_environment, variable};
use crate::servers::Inventory;
use crate::servers::inventory::Sources;
use crate::style::Style;
use crate::view::harmless;

/// What an entry says about logging in.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct OauthSettings {
    client_id: Option<String>,
    /// The name of a variable; the secret itself does not belong into a file.
    client_secret_env: Option<String>,
    /// Where this program describes itself, for servers that look there.
    client_document: Option<String>,
    scopes: Vec<String>,
    redirect: Option<String>,
}

pub(super) async fn login(
    common: Common,
    name: &str,
    no_browser: bool,
) -> anyhow::Result<ExitCode> {
    let (server, store, config) = find(&common, name)?;
    let person: Arc<dyn Person> = Arc::new(AtTerminal { no_browser });
    let done = auth::login(&store, &server, &options(&config)?, &*person).await?;
    if common.json {
        print_json(&json!({"logged_in": name, "scopes": done.scopes}))?;
    } else {
        let scopes = match done.scopes.is_empty() {
            true => String::new(),
            false => format!(" ({})", done.scopes.join(" ")),
        };
        let line = format!("logged in to the MCP server {name}{scopes}");
        print_line(&harmless(&line))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn logout(common: Common, name: &str) -> anyhow::Result<ExitCode> {
    let (server, store, _) = find(&common, name)?;
    let done = auth::logout(&store, &server).await?;
    let (word, text) = match &done {
        Logout::NotLoggedIn => ("not-logged-in", "nobody was logged in to".to_owned()),
        Logout::Revoked => ("revoked", "logged out of".to_owned()),
        Logout::Forgotten { reason } => (
            "forgotten",
            format!("the tokens are forgotten here, but may hold until they end ({reason}):"),
        ),
    };
    let text = format!("{text} the MCP server {name}");
    match common.json {
        true => print_json(&json!({"logged_out": name, "how": word}))?,
        false => print_line(&harmless(&text))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The server, from whichever scope has it.
fn find(common: &Common, name: &str) -> anyhow::Result<(auth::Server, TokenStore, ServerConfig)> {
    let places = Places::from_environment()?;
    let cwd = working_directory(common)?;
    let settings = origins(common, &cwd, &places).load()?;
    let inventory = Inventory::take(&Sources {
        cwd: &cwd,
        places: &places,
        settings: &settings,
        given: &common.mcp_config,
        trust_project: common.trust_project,
    })?;
    let found = inventory.configs.into_iter().find(|one| one.name == name);
    let Some(config) = found else {
        bail!("there is no MCP server `{name}` that may be used; `toolbay mcp list` shows all");
    };
    let LinkConfig::Http(url) = &config.link else {
        bail!("the MCP server `{name}` is not reached by HTTP, so there is nothing to log in to");
    };
    let server = auth::Server::new(name, &url.url)?;
    let store = TokenStore::open(&places.tokens())?;
    Ok((server, store, config))
}

fn options(config: &ServerConfig) -> anyhow::Result<LoginOptions> {
    let about = || {
        format!(
            "{}: `oauth` of the MCP server `{}`",
            config.source, config.name
        )
    };
    let settings: OauthSettings = match &config.oauth {
        Some(value) => serde_json::from_value(value.clone()).with_context(about)?,
        None => OauthSettings::default(),
    };
    let secret = match &settings.client_secret_env {
        Some(name) => {
            let value = variable(name).and_then(|value| value.into_string().ok());
            let value = value.with_context(|| format!("{}: {name} is not set", about()))?;
            Some(Secret::new(value))
        }
        None => None,
    };
    let identity = match (settings.client_id, settings.client_document) {
        (Some(id), _) => Identity::Known { id, secret },
        (None, Some(address)) => Identity::Document { address },
        (None, None) => Identity::Register,
    };
    Ok(LoginOptions {
        identity,
        scopes: settings.scopes,
        redirect: settings.redirect,
        ..LoginOptions::default()
    })
}

/// Whoever started the program.
struct AtTerminal {
    no_browser: bool,
}

impl Person for AtTerminal {
    fn visit(&self, address: &str) -> Result<(), String> {
        let style = Style::for_errors();
        eprintln!("{}", style.bold("Open this address to log in:"));
        eprintln!("{}", harmless(address));
        if self.no_browser {
            eprintln!("If the browser ends at a page that it cannot show, paste its address here.");
            return Ok(());
        }
        let mut env = hook_environment();
        for name in [
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XDG_RUNTIME_DIR",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            env.extend(variable(name).map(|value| (name.into(), value)));
        }
        // Never a part of the script: a shell would read it.
        env.push(("TOOLBAY_ADDRESS".into(), address.into()));
        let script = Script {
            text: "xdg-open \"$TOOLBAY_ADDRESS\" || open \"$TOOLBAY_ADDRESS\"".into(),
            cwd: "/".into(),
            env,
            stdin: Arc::new([]),
            time: Duration::from_secs(30),
            max_output: 4096,
        };
        // Where there is no browser, the address is on the screen.
        tokio::spawn(run(script));
        Ok(())
    }

    fn paste(&self) -> BoxFuture<'_, String> {
        if !self.no_browser || !std::io::stdin().is_terminal() {
            return Box::pin(std::future::pending());
        }
        Box::pin(async {
            let line = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                std::io::stdin().read_line(&mut line).map(|_| line)
            });
            match line.await {
                Ok(Ok(line)) if !line.trim().is_empty() => line.trim().to_owned(),
                _ => std::future::pending().await,
            }
        })
    }
}
