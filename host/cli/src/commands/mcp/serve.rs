//! `toolbay mcp serve`: the tools for any agent that speaks MCP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use toolbay::contract::{BoxFuture, KillReason, KillSwitch, LogLevel, Session, Tool};
use toolbay::mcp::client::Offers;
use toolbay::mcp::{Bays, Bench, Elicit, HttpSetting, Opening, Routes, serve_http, serve_stdio};
use toolbay::runtime::Runtime;

use super::token::{Door, TokenFile};
use crate::args::{Common, McpQuotas, McpServe};
use crate::commands::{open_with, tell_problems, wishes};
use crate::options::{origins, working_directory};
use crate::places;
use crate::style::Style;
use toolbay::compose::{Bay, EnabledCheck, Wishes};
use toolbay::servers::Connect;
use toolbay::session_file::{SessionFile, fresh, new_name};
use toolbay::settings::ServeQuotas;

pub(super) async fn run(common: Common, how: McpServe) -> anyhow::Result<ExitCode> {
    let kill = KillSwitch::new();
    let places = places::from_environment()?;
    let wishes = Wishes {
        enabled_check: EnabledCheck::All,
        // Their tools are on the list too.
        connect: Connect::First,
        ..wishes()
    };
    // Nobody calls anything in this one: it says what there is, and what is wrong.
    let first = open_with(common.clone(), fresh()?, kill.clone(), wishes).await?;
    tell_problems(&first);
    let sessions = Arc::new(Sessions {
        common,
        definitions: first.dispatch.pool().mcp_definitions(),
        offers: first.servers.offers(),
        client_roots: how.client_roots,
        plain_names: how.plain_names,
        shared: (first.runtime.clone(), first.tools.clone()),
        roots: first.roots.clone(),
        state: places.state.clone(),
    });
    drop(first);
    let secret = random::<32>()?.to_vec();
    let Some(address) = how.http else {
        let served = serve_stdio(sessions, kill, secret).await;
        served.map_err(anyhow::Error::msg)?;
        return Ok(ExitCode::SUCCESS);
    };
    let cwd = working_directory(&sessions.common)?;
    let settings = origins(&sessions.common, &cwd, &places).load()?;
    let quotas = given(&how.quotas).or(settings.mcp_serve).resolve();
    end_on_signals(kill.clone())?;
    let Door { access, made } = Door::of(&how)?;
    let mut file: Option<TokenFile> = None;
    let ready = |address: SocketAddr| {
        let written = made.map(|made| made.write(&places.state, address.port()));
        file = written.transpose().map_err(|error| format!("{error:#}"))?;
        tell_address(address, file.as_ref().map(|file| file.path.as_path()));
        Ok(())
    };
    let setting = HttpSetting {
        address,
        access,
        quotas,
        hosts: how.allow_hosts,
        origins: how.allow_origins,
        secret,
    };
    let served = serve_http(setting, sessions, kill, ready).await;
    served.map_err(anyhow::Error::msg)?;
    Ok(ExitCode::SUCCESS)
}

/// The quotas of the command line, which count before those of settings.
fn given(flags: &McpQuotas) -> ServeQuotas {
    ServeQuotas {
        requests_per_second: flags.requests_per_second,
        request_burst: flags.request_burst,
        max_requests: flags.max_requests,
        max_sessions: flags.max_sessions,
        max_connections: flags.max_connections,
    }
}

/// Says on one line of JSON where the server is, for people and programs. The token itself is
/// never said: what is said is often kept.
fn tell_address(address: SocketAddr, token_file: Option<&Path>) {
    let mut line = json!({"type": "listening", "url": format!("http://{address}/mcp")});
    if let Some(path) = token_file {
        line["token_file"] = json!(path);
    }
    eprintln!("{line}");
    if !address.ip().is_loopback() {
        let style = Style::for_errors();
        eprintln!(
            "{} nothing here is encrypted: put a proxy with TLS before it",
            style.warn("warning:")
        );
    }
}

/// From here on an interrupt or a wish to terminate ends the server in good order; a second one
/// ends it at once.
fn end_on_signals(kill: KillSwitch) -> anyhow::Result<()> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = interrupts.recv() => {}
                _ = terminations.recv() => {}
            }
            if kill.is_thrown() {
                std::process::exit(1);
            }
            kill.throw(KillReason::Shutdown);
        }
    });
    Ok(())
}

/// Puts sessions together that share the tools and nothing else.
struct Sessions {
    common: Common,
    definitions: Vec<Value>,
    offers: Offers,
    client_roots: bool,
    plain_names: bool,
    shared: (Runtime, Vec<Arc<dyn Tool>>),
    roots: Vec<PathBuf>,
    state: PathBuf,
}

impl Bays for Sessions {
    fn definitions(&self) -> Vec<Value> {
        self.definitions.clone()
    }

    fn offers(&self) -> Offers {
        self.offers
    }

    fn has_plain_names(&self) -> bool {
        self.plain_names
    }

    fn asks_for_roots(&self) -> bool {
        self.client_roots
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.roots.clone()
    }

    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<Bench, String>> {
        Box::pin(async move {
            let opened = self.session(opening).await;
            opened.map_err(|error| format!("no session could be opened: {error:#}"))
        })
    }
}

impl Sessions {
    async fn session(&self, opening: Opening) -> anyhow::Result<Bench> {
        let name = new_name()?;
        let file = SessionFile::new(&self.state, &name)?;
        let session = match opening.before {
            Some(before) => Session::restore(before),
            None => fresh()?,
        };
        let routes = opening.routes;
        let person = Arc::new(Elicit::new(routes.clone()));
        let wishes = Wishes {
            approver: person.clone(),
            ask_user: Some(person.clone()),
            asker: Some(person.clone()),
            sampler: Some(person),
            progress: routes.progress_sink(),
            session_id: name,
            session_folder: Some(file.folder().to_path_buf()),
            is_logged: true,
            say: say(routes),
            enabled_check: EnabledCheck::All,
            goes_on: true,
            shared: Some(self.shared.clone()),
            within: opening.within,
            ..wishes()
        };
        let bay: Bay = open_with(self.common.clone(), session, opening.kill, wishes).await?;
        Ok(Bench {
            dispatch: bay.dispatch,
            servers: bay.servers,
            guard: Box::new(Folder(file.folder().to_path_buf())),
        })
    }
}

/// Tells both whoever runs the server and the client.
fn say(routes: Arc<Routes>) -> toolbay::settings::Say {
    let others = wishes().say;
    Arc::new(move |text| {
        others(text);
        routes.say(LogLevel::Warn, text);
    })
}

/// The folder of a session that nobody can take up again. Gone with it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A session whose results all fitted has none.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    Ok(bytes)
}
