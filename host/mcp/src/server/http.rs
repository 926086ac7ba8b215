//! The server over streamable HTTP, in both manners of the protocol.
//!
//! The library speaks the protocol and checks `Host` and `Origin`; what is here decides who gets
//! that far, and with how much: tokens, sizes, times, rates. A client can spend only its own share.

mod access;
mod authority;
mod body;
mod connections;
mod front;
pub(super) mod limits;
mod memory;
mod message;
mod quotas;
mod rate;
mod requests;
mod sessions;
mod shares;
mod stall;

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolbay_contract::KillSwitch;

use self::connections::{Connection, Connections};
use self::front::Front;
use self::limits::{
    BODY_TIME, CONNECTIONS, HEADER_BYTES, HEADER_TIME, LAST_LOOK, LAST_WORDS, LOOKED_AT,
    MOST_HEADERS, STALLED, STRANGER_TIME, STRANGERS,
};
use self::shares::Shares;
use self::stall::Stalling;
use super::house::{Bays, House};

pub use self::access::{Access, Tokens};
pub use self::quotas::HttpQuotas;

/// How to serve.
pub struct HttpSetting {
    pub address: SocketAddr,
    pub access: Access,
    pub quotas: HttpQuotas,
    /// Names under which the server may be spoken to, beside those of this machine itself.
    pub hosts: Vec<String>,
    /// Web pages that may speak to it, beside its own.
    pub origins: Vec<String>,
    /// Random, 32 bytes or more.
    pub secret: Vec<u8>,
}

/// Serves until the switch is thrown. `ready` hears the address that was taken.
pub async fn serve_http(
    setting: HttpSetting,
    bays: Arc<dyn Bays>,
    kill: KillSwitch,
    ready: impl FnOnce(SocketAddr) -> Result<(), String>,
) -> Result<(), String> {
    if !setting.address.ip().is_loopback() && matches!(setting.access, Access::Open) {
        return Err(format!(
            "{} can be reached from other machines, and there is no token: give one, or serve on \
             a loopback address such as 127.0.0.1",
            setting.address
        ));
    }
    let house = House::new(bays, kill.clone(), setting.secret)?;
    let listener = TcpListener::bind(setting.address).await;
    let listener = listener.map_err(|error| format!("{}: {error}", setting.address))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let quotas = setting.quotas;
    let shares = Shares::new(
        setting.access.clients(),
        quotas.max_connections,
        CONNECTIONS,
    );
    let table = Connections::new(shares, STRANGERS);
    let front = Front::new(
        house,
        setting.access,
        &quotas,
        &front::Names {
            address,
            hosts: setting.hosts,
            origins: setting.origins,
        },
    );
    let front = Arc::new(front);
    ready(address)?;
    let mut connections = JoinSet::new();
    let looks = Arc::new(Semaphore::new(LOOKED_AT));
    loop {
        tokio::select! {
            () = kill.thrown() => break,
            // Ended ones are let go as others come.
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (front, looks) = (front.clone(), looks.clone());
                    let serving = serve(front, stream, table.admit(), looks, kill.clone());
                    connections.spawn(serving);
                    // What came before this one may have something to say by now.
                    tokio::task::yield_now().await;
                }
                // No handle left, or a client that was gone at once: others may do better.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    front.end();
    let ended = async { while connections.join_next().await.is_some() {} };
    // Who has not heard the end by then does not listen.
    let _ = tokio::time::timeout(LAST_WORDS, ended).await;
    connections.shutdown().await;
    Ok(())
}

/// Serves one connection to its end.
async fn serve(
    front: Arc<Front>,
    stream: TcpStream,
    connection: Arc<Connection>,
    looks: Arc<Semaphore>,
    kill: KillSwitch,
) {
    // Small messages must not wait for each other; without it they are merely slower.
    let _ = stream.set_nodelay(true);
    let here = connection.clone();
    let service = service_fn(move |request| {
        let (front, here) = (front.clone(), here.clone());
        async move { Ok::<_, std::convert::Infallible>(front.answer(request, &here).await) }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_headers(MOST_HEADERS)
        .max_buf_size(HEADER_BYTES);
    let stream = Stalling::new(stream, STALLED);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    // Whoever sends its headers byte by byte does not get the time of a client.
    let stays_a_stranger = async {
        tokio::time::sleep(STRANGER_TIME).await;
        if !connection.is_strangers() {
            std::future::pending::<()>().await;
        }
    };
    tokio::pin!(stays_a_stranger);
    loop {
        tokio::select! {
            _ = serving.as_mut() => return,
            () = stays_a_stranger.as_mut() => return,
            // A stranger has little to lose; what a client asked at this very moment is answered.
            () = connection.gives_way() => {
                if !connection.is_strangers() {
                    break;
                }
                let Ok(_look) = looks.try_acquire() else {
                    return;
                };
                tokio::select! {
                    _ = serving.as_mut() => return,
                    () = tokio::time::sleep(LAST_LOOK) => {}
                }
                if connection.is_strangers() {
                    return;
                }
            }
            () = kill.thrown() => break,
        }
    }
    serving.as_mut().graceful_shutdown();
    // What is under way is told its end.
    let _ = tokio::time::timeout(LAST_WORDS.min(BODY_TIME), serving).await;
}
