//! The only way out of a cage: a proxy of the host that listens inside.
//!
//! The listening socket was made in the cage's own network and handed out, so no bytes need
//! to be carried across by anybody else. A host is parsed once, judged, resolved once, and
//! only the addresses that were judged are connected to.

pub(crate) mod hosts;
mod request;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use hosts::{Host, Hosts};
use request::{Form, Request, parse};

/// Where it listens inside. Nothing else is there before the command.
pub(crate) const PORT: u16 = 41_080;

/// More at once is no everyday work.
const MOST_CONNECTIONS: usize = 64;
const LONGEST_HEAD: usize = 16 << 10;
/// For a client to say what it wants, and for a server to answer the phone.
const PATIENCE: Duration = Duration::from_secs(15);

type Looked = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// How names become addresses, and which of those may be used.
#[derive(Clone)]
struct World {
    look_up: fn(String, u16) -> Looked,
    may_use: fn(std::net::IpAddr) -> bool,
}

const REAL: World = World {
    look_up: |name, port| {
        Box::pin(async move { Ok(lookup_host((name.as_str(), port)).await?.collect()) })
    },
    may_use: hosts::is_public,
};

/// Variables that tell programs of the proxy.
pub(crate) fn variables() -> Vec<(&'static str, String)> {
    let proxy = format!("http://127.0.0.1:{PORT}");
    let mut all: Vec<(&str, String)> = [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
        "ALL_PROXY",
    ]
    .map(|name| (name, proxy.clone()))
    .to_vec();
    for name in ["NO_PROXY", "no_proxy"] {
        all.push((name, "localhost,127.0.0.1,::1".into()));
    }
    all
}

/// How many refusals are kept: the first ones say what there is to know.
const MOST_REFUSED: usize = 32;

/// What was refused, each once.
#[derive(Debug, Clone, Default)]
struct Refused(Arc<Mutex<Vec<String>>>);

impl Refused {
    fn note(&self, what: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_REFUSED && !all.contains(&what) {
            all.push(what);
        }
    }
}

/// A proxy that runs until it is dropped.
pub(crate) struct Proxy {
    task: JoinHandle<()>,
    refused: Refused,
}

impl Proxy {
    pub(crate) fn start(listener: OwnedFd, hosts: Hosts) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let refused = Refused::default();
        let serving = serve(listener, Arc::new(hosts), REAL, refused.clone());
        Ok(Self {
            task: tokio::spawn(serving),
            refused,
        })
    }

    /// What it would not connect to so far.
    pub(crate) fn refused(&self) -> Vec<String> {
        let all = self.refused.0.lock();
        all.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, hosts: Arc<Hosts>, world: World, refused: Refused) {
    // Dropped with this future, and with it every connection.
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        if open.len() >= MOST_CONNECTIONS {
            open.join_next().await;
        }
        match listener.accept().await {
            Ok((client, _)) => {
                let (hosts, world) = (hosts.clone(), world.clone());
                let refused = refused.clone();
                open.spawn(async move {
                    let mut client = client;
                    if let Err(status) = answer(&mut client, &hosts, &world, &refused).await {
                        let text = format!(
                            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                        );
                        let _ = client.write_all(text.as_bytes()).await;
                    }
                });
            }
            // The network inside is gone, and the command with it.
            Err(_) => return,
        }
    }
}

/// Serves one connection. An error is a status that the client has not been told yet.
async fn answer(
    client: &mut TcpStream,
    hosts: &Hosts,
    world: &World,
    refused: &Refused,
) -> Result<(), &'static str> {
    let (head, early) = timeout(PATIENCE, read_head(client))
        .await
        .map_err(|_| "408 Request Timeout")??;
    let request = parse(&head)?;
    let mut server = connect(&request, hosts, world, refused).await?;
    // From here on errors are the connection's own; both ends see them.
    match request.form {
        Form::Tunnel => {
            let told = client
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await;
            if told.is_ok() && server.write_all(&early).await.is_ok() {
                let _ = copy_bidirectional(client, &mut server).await;
            }
        }
        Form::Plain { head, body } => {
            let (mut from_client, mut to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let sending = async {
                to_server.write_all(&head).await?;
                // Not a byte more than was announced: it could be another request.
                let mut rest = early.as_slice().chain(&mut from_client).take(body);
                copy(&mut rest, &mut to_server).await
            };
            let receiving = copy(&mut from_server, &mut to_client);
            let _ = tokio::join!(sending, receiving);
        }
    }
    Ok(())
}

async fn read_head(client: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>), &'static str> {
    let mut all = Vec::new();
    loop {
        let count = client.read_buf(&mut all).await.unwrap_or(0);
        if let Some(end) = all.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let rest = all.split_off(end + 4);
            return Ok((all, rest));
        }
        if count == 0 {
            return Err("400 Bad Request");
        }
        if all.len() > LONGEST_HEAD {
            return Err("431 Request Header Fields Too Large");
        }
    }
}

async fn connect(
    request: &Request,
    hosts: &Hosts,
    world: &World,
    refused: &Refused,
) -> Result<TcpStream, &'static str> {
    const REFUSED: &str = "403 Forbidden";
    let asked = format!("{}:{}", request.host, request.port);
    if !hosts.allows(&request.host, request.port) {
        refused.note(format!("{asked} is not among the hosts that it may reach"));
        return Err(REFUSED);
    }
    let addresses = match &request.host {
        Host::Address(address) => vec![SocketAddr::new(*address, request.port)],
        Host::Name(name) => timeout(PATIENCE, (world.look_up)(name.clone(), request.port))
            .await
            .map_err(|_| "504 Gateway Timeout")?
            .map_err(|_| "502 Bad Gateway")?,
    };
    // One private address among public ones is somebody's trick.
    let leads_astray = |address: &&SocketAddr| {
        let may_use = world.may_use;
        !hosts.leads_to(&request.host, request.port, address.ip(), may_use)
    };
    if let Some(address) = addresses.iter().find(leads_astray) {
        let address = address.ip();
        refused.note(format!(
            "{asked} has the address {address}, which is not public or not in its network; a list \
             can name it with its network, as in `{}@{address}`",
            request.host
        ));
        return Err(REFUSED);
    }
    for address in addresses {
        if let Ok(Ok(server)) = timeout(PATIENCE, TcpStream::connect(address)).await {
            return Ok(server);
        }
    }
    Err("502 Bad Gateway")
}

#[cfg(test)]
mod tests;
