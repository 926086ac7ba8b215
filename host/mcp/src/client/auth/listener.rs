//! Waits on this machine for the one request by which the browser brings the answer.
//!
//! Everybody on this machine can connect, and every web page can make the browser do so.
//! What counts is the request that knows the secret `state` of this login; all others get a
//! short refusal and change nothing. Nothing of a request is kept but that address.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::error::AuthError;
use super::page::Page;

/// Codes and states are some hundred bytes; browsers add about a kilobyte of headers.
const MAX_HEAD: usize = 16 << 10;

/// A browser sends its request at once. Whoever takes longer only keeps others out.
const PATIENCE: Duration = Duration::from_secs(10);

/// Beyond these the oldest has to go: who connects without asking cannot keep the browser out.
const MAX_CONNECTIONS: usize = 32;

const PATH: &str = "/callback";

/// A port of this machine, and the address that leads to it.
#[derive(Debug)]
pub(super) struct Listener {
    socket: TcpListener,
    redirect: Url,
}

/// The browser's request, which still waits for its page.
#[derive(Debug)]
pub(super) struct Arrival {
    address: Url,
    browser: TcpStream,
}

impl Listener {
    /// At a port of the kernel's choice, or where `wanted` points.
    pub(super) async fn bind(wanted: Option<&str>) -> Result<Self, AuthError> {
        let (port, template) = match wanted {
            None => (0, Url::parse(&format!("http://127.0.0.1{PATH}"))),
            Some(wanted) => {
                let url = check_wanted(wanted).map_err(|reason| {
                    AuthError::BadRedirect(wanted.to_owned(), reason.to_owned())
                })?;
                (url.port().unwrap_or(0), Ok(url))
            }
        };
        let failed = |reason: String| {
            AuthError::BadRedirect(wanted.unwrap_or("127.0.0.1").to_owned(), reason)
        };
        let mut redirect = template.map_err(|error| failed(error.to_string()))?;
        let socket = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .await
            .map_err(|error| failed(error.to_string()))?;
        let port = socket
            .local_addr()
            .map_err(|error| failed(error.to_string()))?
            .port();
        redirect
            .set_port(Some(port))
            .map_err(|()| failed("it takes no port".to_owned()))?;
        Ok(Self { socket, redirect })
    }

    /// What the authorisation server is told.
    pub(super) fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Waits for the request with this state. Its end is the caller's to set.
    pub(super) async fn arrival(&self, state: &str) -> Arrival {
        let mut open: JoinSet<Option<Arrival>> = JoinSet::new();
        let mut oldest: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((browser, _)) => {
                        oldest.retain(|connection| !connection.is_finished());
                        while oldest.len() >= MAX_CONNECTIONS {
                            if let Some(connection) = oldest.pop_front() {
                                connection.abort();
                            }
                        }
                        let redirect = self.redirect.clone();
                        let state = state.to_owned();
                        oldest.push_back(open.spawn(async move {
                            timeout(PATIENCE, hear(browser, &redirect, &state)).await.ok()?
                        }));
                    }
                    // No more handles, or one that went away: the next may do better.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
                Some(heard) = open.join_next() => {
                    if let Ok(Some(arrival)) = heard {
                        return arrival;
                    }
                }
            }
        }
    }
}

impl Arrival {
    pub(super) fn address(&self) -> &Url {
        &self.address
    }

    /// Shows how it went. A browser that does not wait for it misses nothing.
    pub(super) async fn show(self, page: Page) {
        let _ = timeout(PATIENCE, reply(self.browser, page)).await;
    }
}

/// Somebody else's registration of this client, so its address must be taken as it is.
fn check_wanted(wanted: &str) -> Result<Url, &'static str> {
    let url = Url::parse(wanted).map_err(|_| "it cannot be read")?;
    let ours = matches!(url.host_str(), Some("127.0.0.1" | "localhost"));
    if url.scheme() != "http" || !ours {
        return Err("it must begin with http://127.0.0.1 or http://localhost");
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err("it must be an address and a path alone");
    }
    Ok(url)
}

/// Reads one request. What is not the awaited one is answered here.
async fn hear(mut browser: TcpStream, redirect: &Url, state: &str) -> Option<Arrival> {
    let head = match read_head(&mut browser).await {
        Ok(Some(head)) => head,
        Ok(None) => {
            reply(browser, Page::TooLarge).await.ok()?;
            return None;
        }
        Err(_) => return None,
    };
    match judge(&head, redirect, state) {
        Ok(address) => Some(Arrival { address, browser }),
        Err(page) => {
            reply(browser, page).await.ok()?;
            None
        }
    }
}

/// Up to the empty line; nothing if it does not come soon enough.
async fn read_head(browser: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    loop {
        let mut piece = [0; 2048];
        let read = browser.read(&mut piece).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(piece.get(..read).unwrap_or_default());
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return Ok(Some(head));
        }
        if head.len() > MAX_HEAD {
            return Ok(None);
        }
    }
}

/// The address that was asked for, if it is the answer to this login.
fn judge(head: &[u8], redirect: &Url, state: &str) -> Result<Url, Page> {
    let head = std::str::from_utf8(head).map_err(|_| Page::NotUnderstood)?;
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) = (
        request.next(),
        request.next(),
        request.next(),
        request.next(),
    ) else {
        return Err(Page::NotUnderstood);
    };
    if !version.starts_with("HTTP/1.") {
        return Err(Page::NotUnderstood);
    }
    if method != "GET" {
        return Err(Page::NotAllowed);
    }
    // A page of another host that had its name lead here would say that name.
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, host)| host.trim())
        .collect();
    let port = redirect.port_or_known_default().unwrap_or_default();
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let [host] = hosts.as_slice() else {
        return Err(Page::NotUnderstood);
    };
    if !ours.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        return Err(Page::NotHere);
    }
    if !target.starts_with('/') || target.starts_with("//") {
        return Err(Page::NotUnderstood);
    }
    let address = redirect.join(target).map_err(|_| Page::NotUnderstood)?;
    if address.path() != redirect.path() {
        return Err(Page::NotHere);
    }
    if !has_state(&address, state) {
        return Err(Page::NotAwaited);
    }
    Ok(address)
}

/// Whether an address carries this state, and only this one.
pub(super) fn has_state(address: &Url, state: &str) -> bool {
    let mut states = address
        .query_pairs()
        .filter(|(name, _)| name == "state")
        .map(|(_, value)| value);
    match (states.next(), states.next()) {
        (Some(only), None) => same(only.as_bytes(), state.as_bytes()),
        _ => false,
    }
}

/// Takes as long for a good guess as for a bad one.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

async fn reply(mut browser: TcpStream, page: Page) -> io::Result<()> {
    browser.write_all(page.response().as_bytes()).await?;
    browser.shutdown().await?;
    // What was sent and not read would make the kernel take the page back.
    let mut rest = [0; 4096];
    for _ in 0..64 {
        if browser.read(&mut rest).await? == 0 {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
