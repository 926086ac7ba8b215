//! Servers behind addresses: streamable HTTP, the older stream of events, WebSockets.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request as Hello, Response as Welcome};

use super::fake::*;
use crate::client::bounds;
use crate::client::config::{Hidden, LinkConfig, ServerConfig, UrlConfig};
use crate::client::{Departures, NoLauncher, Servers, Surroundings};

/// A request as it came.
pub(super) struct Request {
    pub(super) method: String,
    path: String,
    headers: HashMap<String, String>,
    pub(super) body: Value,
}

pub(super) type Serve = Arc<dyn Fn(Request) -> Reply + Send + Sync>;

pub(super) enum Reply {
    /// Status, headers, body.
    Whole(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Events, as long as they come.
    Events(mpsc::UnboundedReceiver<String>),
    /// The same events as fast as they are taken; an empty text is silence.
    Endless(String),
}

pub(super) fn json_reply(value: &Value) -> Reply {
    let kind = vec![("Content-Type", "application/json".to_owned())];
    Reply::Whole(200, kind, value.to_string().into_bytes())
}

pub(super) fn status(code: u16) -> Reply {
    Reply::Whole(code, Vec::new(), Vec::new())
}

/// Serves HTTP as plainly as a test needs it: one request a connection.
pub(super) async fn listen(serve: Serve) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let serve = serve.clone();
            tokio::spawn(async move {
                let _ = answer(stream, serve).await;
            });
        }
    });
    address
}

const EVENTS_FOLLOW: &str =
    "HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

async fn answer(stream: TcpStream, serve: Serve) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    read.read_line(&mut line).await?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        read.read_line(&mut line).await?;
        match line.trim().split_once(':') {
            Some((name, value)) => {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            None => break,
        }
    }
    let length = headers
        .get("content-length")
        .and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    read.read_exact(&mut body).await?;
    let request = Request {
        method,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    match serve(request) {
        Reply::Whole(code, headers, body) => {
            let mut head = format!("HTTP/1.1 {code} x\r\nConnection: close\r\n");
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
            write.write_all(head.as_bytes()).await?;
            write.write_all(&body).await
        }
        Reply::Endless(events) => {
            write.write_all(EVENTS_FOLLOW.as_bytes()).await?;
            while !events.is_empty() {
                write.write_all(events.as_bytes()).await?;
            }
            std::future::pending().await
        }
        Reply::Events(mut events) => {
            write.write_all(EVENTS_FOLLOW.as_bytes()).await?;
            while let Some(event) = events.recv().await {
                write.write_all(event.as_bytes()).await?;
                write.flush().await?;
            }
            Ok(())
        }
    }
}

fn url(address: SocketAddr, path: &str) -> UrlConfig {
    UrlConfig {
        url: format!("http://{address}{path}"),
        headers: BTreeMap::from([("X-Key".to_owned(), Hidden("k-1".into()))]),
    }
}

pub(super) fn http(address: SocketAddr) -> ServerConfig {
    config(LinkConfig::Http(url(address, "/mcp")))
}

/// What a fake server says to a message, without the line ends.
pub(super) fn first(answer: &Answer, message: &Value) -> Option<Value> {
    answer(message).into_iter().find_map(|say| match say {
        Say::Line(value) => Some(value),
        _ => None,
    })
}

fn echo() -> Answer {
    honest(json!([tool("echo")]), |message| {
        vec![text(message, &message["params"]["arguments"].to_string())]
    })
}

#[tokio::test]
async fn an_expired_session_is_begun_anew_and_the_call_made_once_more() {
    let (sessions, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begun, called) = (sessions.clone(), calls.clone());
    let answer = echo();
    let serve: Serve = Arc::new(move |request| {
        assert_eq!(
            request.headers.get("x-key").map(String::as_str),
            Some("k-1")
        );
        if request.method != "POST" {
            return status(405);
        }
        let message = &request.body;
        if message["method"] == "initialize" {
            let session = begun.fetch_add(1, Ordering::Relaxed) + 1;
            let value = first(&answer, message).unwrap();
            let headers = vec![
                ("Content-Type", "application/json".to_owned()),
                ("Mcp-Session-Id", format!("s{session}")),
            ];
            return Reply::Whole(200, headers, value.to_string().into_bytes());
        }
        let session = request.headers.get("mcp-session-id").cloned();
        if message["method"] == "tools/call" {
            called.fetch_add(1, Ordering::Relaxed);
            // The first session is over when it is used for a call.
            if session.as_deref() == Some("s1") {
                let body = json!({"jsonrpc": "2.0", "id": null,
                    "error": {"code": -32001, "message": "Session not found"}});
                let kind = vec![("Content-Type", "application/json".to_owned())];
                return Reply::Whole(404, kind, body.to_string().into_bytes());
            }
        }
        match first(&answer, message) {
            Some(value) => json_reply(&value),
            None => status(202),
        }
    });
    let servers = servers(vec![http(listen(serve).await)]);
    servers.connect_all().await;
    assert_eq!(
        servers.statuses()[0].state.word(),
        "connected",
        "{:?}",
        servers.statuses()
    );
    let said = call(&*find(&servers, "mcp__fake__echo"), json!({"a": 1})).await;
    assert_eq!(said.unwrap().text(), "{\"a\":1}");
    assert_eq!(sessions.load(Ordering::Relaxed), 2);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_session_is_given_back_when_it_ends() {
    let given_back: Arc<Mutex<Vec<String>>> = Arc::default();
    let (back, answer) = (given_back.clone(), echo());
    let serve: Serve = Arc::new(move |request| {
        let session = request.headers.get("mcp-session-id").cloned();
        if request.method == "DELETE" {
            assert_eq!(request.headers["x-key"], "k-1");
            back.lock().unwrap().extend(session);
            return status(204);
        }
        match (request.method.as_str(), first(&answer, &request.body)) {
            ("POST", Some(value)) => {
                let headers = vec![
                    ("Content-Type", "application/json".to_owned()),
                    ("Mcp-Session-Id", "s1".to_owned()),
                ];
                Reply::Whole(200, headers, value.to_string().into_bytes())
            }
            ("POST", None) => status(202),
            _ => status(405),
        }
    });
    let departures = Departures::new();
    let around = Surroundings {
        departures: departures.clone(),
        ..around(Arc::new(NoLauncher))
    };
    let servers = Servers::new(vec![http(listen(serve).await)], around);
    servers.connect_all().await;
    assert_eq!(servers.statuses()[0].state.word(), "connected");
    assert!(departures.all(std::time::Duration::from_secs(60)).await);
    assert_eq!(*given_back.lock().unwrap(), ["s1"]);
}

#[tokio::test]
async fn what_servers_answer_instead_becomes_their_state() {
    let elsewhere = Arc::new(AtomicUsize::new(0));
    let visited = elsewhere.clone();
    let other = listen(Arc::new(move |_| {
        visited.fetch_add(1, Ordering::Relaxed);
        status(200)
    }))
    .await;
    let big = || {
        let kind = vec![("Content-Type", "application/json".to_owned())];
        Reply::Whole(200, kind, vec![b' '; bounds::MESSAGE + 1])
    };
    let redirect = move || {
        let to = vec![("Location", format!("http://{other}/mcp"))];
        Reply::Whole(307, to, Vec::new())
    };
    let endless = || {
        let (sender, events) = mpsc::unbounded_channel();
        let _ = sender.send("data: ".to_owned());
        for _ in 0..=bounds::MESSAGE >> 20 {
            let _ = sender.send("x".repeat(1 << 20));
        }
        Reply::Events(events)
    };
    type Case = (
        Box<dyn Fn() -> Reply + Send + Sync>,
        &'static str,
        &'static str,
    );
    let cases: Vec<Case> = vec![
        (Box::new(|| status(401)), "needs-auth", "who asks"),
        (Box::new(|| status(500)), "failed", "500"),
        (Box::new(big), "failed", "a message of more than"),
        (Box::new(redirect), "failed", "another address"),
        (Box::new(endless), "failed", ""),
        (
            Box::new(|| json_reply(&json!("no"))),
            "failed",
            "no message",
        ),
    ];
    for (reply, word, part) in cases {
        let servers = servers(vec![http(listen(Arc::new(move |_| reply())).await)]);
        servers.connect_all().await;
        let state = servers.statuses()[0].state.clone();
        assert_eq!(state.word(), word, "{state:?}");
        assert!(state.reason().unwrap().contains(part), "{state:?}");
    }
    assert_eq!(elsewhere.load(Ordering::Relaxed), 0, "nobody was followed");
    // Nobody is there at all.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    for link in [
        LinkConfig::Http(url(address, "/")),
        LinkConfig::Sse(url(address, "/")),
        LinkConfig::WebSocket(UrlConfig {
            url: format!("ws://{address}/"),
            headers: BTreeMap::new(),
        }),
    ] {
        let servers = servers(vec![config(link)]);
        servers.connect_all().await;
        let state = servers.statuses()[0].state.clone();
        assert_eq!(state.word(), "failed");
        assert!(state.reason().unwrap().contains("refused"), "{state:?}");
    }
}

#[tokio::test]
async fn the_older_stream_of_events_works_and_asks_who_is_there() {
    let answer = echo();
    let stream: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
    let serve: Serve = Arc::new(move |request| {
        assert_eq!(
            request.headers.get("x-key").map(String::as_str),
            Some("k-1")
        );
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/sse") => {
                let (sender, events) = mpsc::unbounded_channel();
                let hello = ": hi\n\nevent: endpoint\ndata: /post?session=1\n\n";
                sender.send(hello.to_owned()).unwrap();
                *stream.lock().unwrap() = Some(sender);
                Reply::Events(events)
            }
            ("POST", "/post?session=1") => {
                if let Some(value) = first(&answer, &request.body) {
                    let stream = stream.lock().unwrap();
                    let event = format!("event: message\ndata: {value}\n\n");
                    stream.as_ref().unwrap().send(event).unwrap();
                }
                status(202)
            }
            ("GET", "/closed") => status(401),
            _ => status(404),
        }
    });
    let address = listen(serve).await;
    let servers_of = |path| servers(vec![config(LinkConfig::Sse(url(address, path)))]);
    let open = servers_of("/sse");
    open.connect_all().await;
    let said = call(&*find(&open, "mcp__fake__echo"), json!({"b": 2})).await;
    assert_eq!(said.unwrap().text(), "{\"b\":2}");
    for (path, word) in [("/closed", "needs-auth"), ("/nowhere", "failed")] {
        let servers = servers_of(path);
        servers.connect_all().await;
        assert_eq!(servers.statuses()[0].state.word(), word);
    }
}

#[tokio::test]
#[allow(clippy::result_large_err)]
async fn a_websocket_carries_messages_both_ways() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = echo();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let greet = |hello: &Hello, mut welcome: Welcome| {
                    assert_eq!(hello.headers()["authorization"], "Bearer t");
                    let protocol = hello.headers()["sec-websocket-protocol"].clone();
                    welcome
                        .headers_mut()
                        .insert("sec-websocket-protocol", protocol);
                    Ok(welcome)
                };
                let socket = tokio_tungstenite::accept_hdr_async(stream, greet).await;
                let mut socket = socket.unwrap();
                while let Some(Ok(Message::Text(line))) = socket.next().await {
                    let message: Value = serde_json::from_str(&line).unwrap();
                    if message["params"]["arguments"]["die"] == true {
                        return;
                    }
                    if let Some(value) = first(&answer, &message) {
                        socket.send(Message::text(value.to_string())).await.unwrap();
                    }
                }
            });
        }
    });
    let headers = BTreeMap::from([("authorization".to_owned(), Hidden("Bearer t".into()))]);
    let url = format!("ws://{address}/");
    let servers = servers(vec![config(LinkConfig::WebSocket(UrlConfig {
        url,
        headers,
    }))]);
    servers.connect_all().await;
    let tool = find(&servers, "mcp__fake__echo");
    let said = call(&*tool, json!({"c": 3})).await;
    assert_eq!(said.unwrap().text(), "{\"c\":3}");
    let error = call(&*tool, json!({"die": true})).await.unwrap_err();
    assert!(
        error.to_string().contains("ended during the call"),
        "{error}"
    );
    let again = call(&*tool, json!({"c": 4})).await;
    assert_eq!(again.unwrap().text(), "{\"c\":4}");
}
