//! The server over streamable HTTP, in both manners of the protocol.
//!
//! The library speaks the protocol and checks `Host` and `Origin`; what is here decides who gets
//! that far, and with how much: tokens, sizes, times, rates. A client can spend only its own share.

mod access;
mod body;
mod front;
mod limits;
mod message;
mod stall;

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use toolbay_contract::KillSwitch;

use self::front::Front;
use self::limits::{
    BODY_TIME, HEADER_BYTES, HEADER_TIME, LAST_WORDS, MOST_CONNECTIONS, MOST_HEADERS, STALLED,
};
use self::stall::Stalling;
use super::house::{Bays, House};

pub use self::access::{Access, Tokens};

/// How to serve.
pub struct HttpSetting {
    pub address: SocketAddr,
    pub access: Access,
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
    let front = Front::new(
        house,
        setting.access,
        &front::Names {
            address,
            hosts: setting.hosts,
            origins: setting.origins,
        },
    );
    let front = Arc::new(front);
    ready(address)?;
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = kill.thrown() => break,
            // Ended ones are let go as others come.
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                // One too many is closed: whoever holds so many open is not waited for.
                Ok((stream, _)) => if let Ok(place) = places.clone().try_acquire_owned() {
                    connections.spawn(serve(front.clone(), stream, place, kill.clone()));
                },
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
    _place: OwnedSemaphorePermit,
    kill: KillSwitch,
) {
    // Small messages must not wait for each other; without it they are merely slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let front = front.clone();
        async move { Ok::<_, std::convert::Infallible>(front.answer(request).await) }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_headers(MOST_HEADERS)
        .max_buf_size(HEADER_BYTES);
    let stream = Stalling::new(stream, STALLED);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = kill.thrown() => connection.as_mut().graceful_shutdown(),
    }
    // What is under way is told its end.
    let _ = tokio::time::timeout(LAST_WORDS.min(BODY_TIME), connection).await;
}
