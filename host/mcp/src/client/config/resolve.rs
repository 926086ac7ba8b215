//! From what a file says about a server to what counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::expand::{ExpandError, expand};
use super::{
    Hidden, Kind, LinkConfig, RawServer, Scope, ServerConfig, ServerSandbox, StdioConfig, UrlConfig,
};

/// A call that is silent for so long is given up; one that tells of progress is not silent.
const USUAL_TIMEOUT: Duration = Duration::from_secs(120);
const LEAST_TIMEOUT: Duration = Duration::from_millis(100);
const MOST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// Names are parts of the names of tools, of rules and of files.
const LONGEST_NAME: usize = 128;

/// Why an entry is no server.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: the MCP server `{server}`: {problem}")]
pub struct ConfigError {
    pub file: String,
    pub server: String,
    pub problem: String,
}

impl RawServer {
    /// Puts variables in and checks what the types cannot. Paths that are not absolute start at
    /// `folder`; `source` is the file, for people.
    pub fn resolve(
        &self,
        name: &str,
        scope: Scope,
        source: &str,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ServerConfig, ConfigError> {
        let resolving = Resolving { folder, variable };
        let wrong = |problem| ConfigError {
            file: source.to_owned(),
            server: name.to_owned(),
            problem,
        };
        let link = check_name(name).and_then(|()| resolving.link(self));
        let link = link.map_err(wrong)?;
        let oauth = self.oauth.clone().unwrap_or_default();
        let oauth = oauth.resolve(folder).map_err(wrong)?;
        let timeout = self.timeout.map_or(USUAL_TIMEOUT, Duration::from_millis);
        Ok(ServerConfig {
            name: name.to_owned(),
            scope,
            source: source.to_owned(),
            link,
            disabled: self.disabled,
            timeout: timeout.clamp(LEAST_TIMEOUT, MOST_TIMEOUT),
            trusted: self.trusted,
            stateful: self.stateful,
            sampling: self.sampling,
            oauth,
        })
    }

    /// What the entry is about, whether or not it says so.
    pub fn kind(&self) -> Kind {
        match (self.kind, &self.command, &self.url) {
            (Some(kind), _, _) => kind,
            (None, None, Some(_)) => Kind::Http,
            (None, _, _) => Kind::Stdio,
        }
    }
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(format!(
            "a name has 1 to {LONGEST_NAME} bytes and no control characters"
        ));
    }
    Ok(())
}

struct Resolving<'a> {
    folder: &'a Path,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Resolving<'_> {
    fn link(&self, raw: &RawServer) -> Result<LinkConfig, String> {
        let kind = raw.kind();
        self.check_keys(raw, kind)?;
        match kind {
            Kind::Stdio => self.stdio(raw).map(LinkConfig::Stdio),
            Kind::Http => self.url(raw, &["http", "https"]).map(LinkConfig::Http),
            Kind::Sse => self.url(raw, &["http", "https"]).map(LinkConfig::Sse),
            Kind::Ws => self.url(raw, &["ws", "wss"]).map(LinkConfig::WebSocket),
            Kind::SseIde => self.ide(raw, &["http"]).map(LinkConfig::Sse),
            Kind::WsIde => self.ide(raw, &["ws"]).map(LinkConfig::WebSocket),
            Kind::Proxy => self.proxy(raw).map(LinkConfig::Http),
            Kind::Sdk => Err("a server inside the program is given by code, not by a file".into()),
        }
    }

    /// A key that this kind of server does not use is a mistake.
    fn check_keys(&self, raw: &RawServer, kind: Kind) -> Result<(), String> {
        let is_process = kind == Kind::Stdio;
        let is_ide = matches!(kind, Kind::SseIde | Kind::WsIde);
        let keys = [
            ("command", raw.command.is_some(), is_process),
            ("args", !raw.args.is_empty(), is_process),
            ("env", !raw.env.is_empty(), is_process),
            ("cwd", raw.cwd.is_some(), is_process),
            ("sandbox", raw.sandbox != Default::default(), is_process),
            ("stateful", raw.stateful, is_process),
            ("url", raw.url.is_some(), !is_process),
            ("headers", !raw.headers.is_empty(), !is_process),
            ("oauth", raw.oauth.is_some(), !is_process),
            ("id", raw.id.is_some(), kind == Kind::Proxy),
            ("authToken", raw.auth_token.is_some(), is_ide),
            ("ideName", raw.ide_name.is_some(), is_ide),
        ];
        match keys.iter().find(|(_, is_there, fits)| *is_there && !fits) {
            Some((key, _, _)) if is_process => Err(format!(
                "`{key}` is for servers behind a URL; this one is a command (type stdio)"
            )),
            Some((key, _, _)) => Err(format!("`{key}` does not fit its type")),
            None => Ok(()),
        }
    }

    fn stdio(&self, raw: &RawServer) -> Result<StdioConfig, String> {
        let command = self.text("command", raw.command.as_deref())?;
        if command.trim().is_empty() {
            return Err("`command` is missing: the program to start".into());
        }
        let args = raw.args.iter();
        let args = args.map(|text| self.expanded("args", text));
        let sandbox = &raw.sandbox;
        for name in raw.env.keys().chain(&sandbox.env) {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(format!("`{name}` is no name of a variable"));
            }
        }
        Ok(StdioConfig {
            command,
            args: args.collect::<Result<_, _>>()?,
            env: self.hidden("env", &raw.env)?,
            cwd: match &raw.cwd {
                Some(text) => Some(self.path("cwd", text)?),
                None => None,
            },
            sandbox: ServerSandbox {
                roots: match &sandbox.roots {
                    Some(roots) => Some(self.paths("sandbox.roots", roots)?),
                    None => None,
                },
                allow_read: self.paths("sandbox.allowRead", &sandbox.allow_read)?,
                allowed_hosts: sandbox.allowed_hosts.clone(),
                fetch_from: sandbox.fetch_from.clone(),
                env: sandbox.env.clone(),
                git_writes: sandbox.git_writes,
            },
        })
    }

    fn url(&self, raw: &RawServer, schemes: &[&str]) -> Result<UrlConfig, String> {
        let url = self.text("url", raw.url.as_deref())?;
        check_url(&url, schemes)?;
        let headers = self.hidden("headers", &raw.headers)?;
        for (name, value) in &headers {
            let is_sound = http::HeaderName::try_from(name.as_str()).is_ok()
                && http::HeaderValue::try_from(value.0.as_str()).is_ok();
            if !is_sound {
                return Err(format!("the header `{name}` cannot be sent"));
            }
        }
        Ok(UrlConfig { url, headers })
    }

    /// An editor speaks to this machine alone: its token must not travel.
    fn ide(&self, raw: &RawServer, schemes: &[&str]) -> Result<UrlConfig, String> {
        let mut config = self.url(raw, schemes)?;
        if !is_loopback(&config.url) {
            return Err(
                "an editor is reached on this machine: 127.0.0.1, [::1] or localhost".into(),
            );
        }
        if let Some(token) = &raw.auth_token {
            let token = self.expanded("authToken", token)?;
            let value = Hidden(format!("Bearer {token}"));
            config.headers.insert("authorization".into(), value);
        }
        Ok(config)
    }

    fn proxy(&self, raw: &RawServer) -> Result<UrlConfig, String> {
        let id = self.text("id", raw.id.as_deref())?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || !id.chars().all(is_plain) || id.starts_with('.') {
            return Err(
                "`id` is missing or has other characters than letters, digits, - _ .".into(),
            );
        }
        let mut config = self.url(raw, &["http", "https"])?;
        if config.url.contains(['?', '#']) {
            return Err("the `url` of a gateway has no query".into());
        }
        config.url = format!("{}/{id}", config.url.trim_end_matches('/'));
        Ok(config)
    }

    fn text(&self, key: &str, text: Option<&str>) -> Result<String, String> {
        match text {
            Some(text) => self.expanded(key, text),
            None => Err(format!("`{key}` is missing")),
        }
    }

    fn expanded(&self, key: &str, text: &str) -> Result<String, String> {
        let expanded = expand(text, self.variable);
        let expanded = expanded.map_err(|error: ExpandError| format!("`{key}`: {error}"))?;
        if expanded.contains('\0') {
            return Err(format!("`{key}` holds a zero byte"));
        }
        Ok(expanded)
    }

    fn hidden(
        &self,
        key: &str,
        pairs: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Hidden>, String> {
        let expanded = |(name, text): (&String, &String)| {
            let value = self.expanded(&format!("{key}.{name}"), text)?;
            Ok((name.clone(), Hidden(value)))
        };
        pairs.iter().map(expanded).collect()
    }

    fn path(&self, key: &str, text: &str) -> Result<PathBuf, String> {
        let text = self.expanded(key, text)?;
        let home = || (self.variable)("HOME").map(PathBuf::from);
        let path = match (text.strip_prefix("~/"), text.as_str()) {
            (Some(rest), _) => home().map(|home| home.join(rest)),
            (None, "~") => home(),
            (None, _) => Some(self.folder.join(&text)),
        };
        path.ok_or_else(|| format!("`{key}`: there is no home folder"))
    }

    fn paths(&self, key: &str, texts: &[String]) -> Result<Vec<PathBuf>, String> {
        texts.iter().map(|text| self.path(key, text)).collect()
    }
}

/// Refuses an address that is none, or that holds a password.
fn check_url(url: &str, schemes: &[&str]) -> Result<(), String> {
    let uri: http::Uri = url
        .parse()
        .map_err(|error| format!("`url` is no address: {error}"))?;
    let scheme = uri.scheme_str().unwrap_or_default();
    if !schemes.contains(&scheme) {
        return Err(format!(
            "`url` must begin with {}://",
            schemes.join(":// or ")
        ));
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            Err("`url` holds a name or a password; put them into `headers`".into())
        }
        Some(authority) if !authority.host().is_empty() => Ok(()),
        _ => Err("`url` names no host".into()),
    }
}

fn is_loopback(url: &str) -> bool {
    let uri: Result<http::Uri, _> = url.parse();
    let host = uri.ok().and_then(|uri| uri.host().map(str::to_owned));
    host.is_some_and(|host| matches!(host.as_str(), "127.0.0.1" | "[::1]" | "localhost"))
}
