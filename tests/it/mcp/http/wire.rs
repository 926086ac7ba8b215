//! HTTP byte by byte, so that what no library would send can be sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Project, wait};

/// Against hanging; nothing here takes as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, serving.
pub struct Server {
    child: Child,
    pub address: String,
    pub token: Option<String>,
    pub token_file: Option<PathBuf>,
    said: mpsc::Receiver<String>,
}

impl Server {
    /// Serves with a token that it makes.
    pub fn start(project: &Project, args: &[&str]) -> Self {
        let mut all = vec!["mcp", "serve", "--http", "127.0.0.1:0"];
        all.extend(args);
        let mut child = project.spawn(&all);
        let errors = child.stderr.take().unwrap();
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let listening: Value = loop {
            let line = said
                .recv_timeout(PATIENCE)
                .expect("a line with the address");
            match serde_json::from_str(&line) {
                Ok(line) => break line,
                Err(_) => eprintln!("{line}"),
            }
        };
        let url = listening["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap();
        let token_file = listening["token_file"].as_str().map(PathBuf::from);
        let token = token_file.as_ref().map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            text.trim().to_owned()
        });
        Self {
            child,
            address: address.strip_suffix("/mcp").unwrap().to_owned(),
            token,
            token_file,
            said,
        }
    }

    pub fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap()
    }

    /// Everything that was said on standard error so far.
    pub fn said(&self) -> String {
        let lines: Vec<String> = self.said.try_iter().collect();
        lines.join("\n")
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends text as it is.
    pub fn send(&self, text: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that has had enough may close before all is sent.
        let _ = stream.write_all(text);
        Reply::read(stream)
    }

    /// The head of a request with these headers beside the usual ones; `None` leaves a usual one
    /// out.
    pub fn head(&self, method: &str, headers: &[(&str, Option<&str>)], length: usize) -> String {
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let length = length.to_string();
        let mut all: Vec<(&str, &str)> = vec![
            ("Host", &self.address),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Length", &length),
            ("Connection", "close"),
        ];
        if let Some(bearer) = &bearer {
            all.push(("Authorization", bearer));
        }
        for (name, value) in headers {
            all.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
            all.extend(value.map(|value| (*name, value)));
        }
        let lines: String = all
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        format!("{method} /mcp HTTP/1.1\r\n{lines}\r\n")
    }

    pub fn post(&self, headers: &[(&str, Option<&str>)], body: &str) -> Reply {
        let text = self.head("POST", headers, body.len()) + body;
        self.send(text.as_bytes())
    }

    /// A request of the protocol without sessions, with what it wants in every one.
    pub fn alone(&self, method: &str, params: Value, capabilities: &Value) -> Reply {
        self.alone_as(&[], method, params, capabilities)
    }

    pub fn alone_as(
        &self,
        headers: &[(&str, Option<&str>)],
        method: &str,
        mut params: Value,
        capabilities: &Value,
    ) -> Reply {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({"name": "test", "version": "1"});
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let name = params["name"].as_str().or(params["uri"].as_str());
        let name = name.map(str::to_owned);
        let mut all = vec![
            ("MCP-Protocol-Version", Some("2026-07-28")),
            ("Mcp-Method", Some(method)),
        ];
        if let Some(name) = &name {
            all.push(("Mcp-Name", Some(name)));
        }
        all.extend(headers);
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.post(&all, &body.to_string())
    }

    /// The most memory that it has held so far, in bytes; none where no such number is known.
    pub fn peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kib << 10)
    }

    /// Asks it to end, and waits until it has.
    pub fn end(mut self) -> i32 {
        self.signal("TERM");
        wait(&mut self.child, &["mcp", "serve", "--http"])
            .code()
            .unwrap()
    }

    /// Waits for the end of one that was asked already.
    pub fn end_after_signal(mut self) -> i32 {
        let status = wait(&mut self.child, &["mcp", "serve", "--http"]);
        status.code().unwrap()
    }

    // A test of how the program ends has to end it.
    #[allow(clippy::disallowed_methods)]
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back: its head, and its body as it comes.
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    body: Body,
}

enum Body {
    Chunked(BufReader<TcpStream>, Vec<u8>),
    Plain(Vec<u8>),
}

impl Reply {
    /// Reads the head. A connection that ends without one has the status 0.
    pub fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.to_lowercase(), value.trim().to_owned()));
            }
        }
        let has = |name: &str, value: &str| headers.iter().any(|(n, v)| n == name && v == value);
        let body = if has("transfer-encoding", "chunked") {
            Body::Chunked(reader, Vec::new())
        } else {
            let length = headers.iter().find(|(name, _)| name == "content-length");
            let length = length.and_then(|(_, value)| value.parse().ok());
            let mut bytes = Vec::new();
            // What breaks off is short, which the test will notice.
            let _ = reader.take(length.unwrap_or(0)).read_to_end(&mut bytes);
            Body::Plain(bytes)
        };
        Self {
            status: status.unwrap_or(0),
            headers,
            body,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(self) -> String {
        match self.body {
            Body::Plain(bytes) => String::from_utf8(bytes).unwrap(),
            Body::Chunked(mut reader, mut all) => {
                while let Some(bytes) = chunk(&mut reader) {
                    all.extend(bytes);
                }
                String::from_utf8(all).unwrap()
            }
        }
    }

    /// The next message of the stream, or the only one of a plain body.
    pub fn next(&mut self) -> Option<Value> {
        let (reader, held) = match &mut self.body {
            Body::Plain(bytes) if bytes.is_empty() => return None,
            Body::Plain(bytes) => {
                let text = String::from_utf8(std::mem::take(bytes)).unwrap();
                return Some(serde_json::from_str(&text).unwrap_or(Value::String(text)));
            }
            Body::Chunked(reader, held) => (reader, held),
        };
        loop {
            while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = held.drain(..=end).collect();
                let line = String::from_utf8(line).unwrap();
                let data = line.strip_prefix("data:").map(str::trim);
                if let Some(data) = data.filter(|data| !data.is_empty()) {
                    return Some(serde_json::from_str(data).expect("nothing but the protocol"));
                }
            }
            held.extend(chunk(reader)?);
        }
    }

    /// The answer at the end of the stream.
    #[track_caller]
    pub fn answer(mut self) -> Value {
        let status = self.status;
        loop {
            let message = self.next();
            let message = message.unwrap_or_else(|| panic!("{status}: no answer"));
            if message.get("result").is_some() || message.get("error").is_some() {
                return message;
            }
            assert!(message.get("method").is_some(), "{status}: {message}");
        }
    }
}

fn chunk(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let size = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut bytes = vec![0; size + 2];
    reader.read_exact(&mut bytes).ok()?;
    bytes.truncate(size);
    (size > 0).then_some(bytes)
}

/// A connection that is kept for several requests.
pub struct Line {
    reader: BufReader<TcpStream>,
}

impl Line {
    pub fn open(server: &Server) -> Self {
        let reader = BufReader::new(server.connect());
        Self { reader }
    }

    /// Sends a request; its status and headers, or none if the connection has ended.
    pub fn ask(&mut self, text: &str) -> Option<(u16, String)> {
        self.reader.get_mut().write_all(text.as_bytes()).ok()?;
        self.read()
    }

    /// Reads what comes next, to its end.
    pub fn read(&mut self) -> Option<(u16, String)> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let head = head.to_lowercase();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let value = |name: &str| {
            let lines = head.lines();
            let mut values = lines.filter_map(|line| line.strip_prefix(name));
            values.next().map(str::trim)
        };
        if value("transfer-encoding:") == Some("chunked") {
            while chunk(&mut self.reader).is_some() {}
        } else {
            let length = value("content-length:").and_then(|length| length.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            self.reader.read_exact(&mut body).ok()?;
        }
        Some((status, head))
    }
}

/// A client with a session.
pub struct Session<'a> {
    pub server: &'a Server,
    pub id: String,
    bearer: Option<String>,
    next: u64,
}

impl<'a> Session<'a> {
    pub fn begin(server: &'a Server, capabilities: Value) -> Self {
        Self::begin_as(server, None, capabilities)
    }

    /// With another token than the server made.
    pub fn begin_as(server: &'a Server, token: Option<&str>, capabilities: Value) -> Self {
        let mut session = Self {
            server,
            id: String::new(),
            bearer: token.map(|token| format!("Bearer {token}")),
            next: 1,
        };
        let reply = session.begun("initialize", initialize(capabilities));
        assert_eq!(reply.status, 200);
        session.id = reply.header("mcp-session-id").unwrap().to_owned();
        let answer = reply.answer();
        assert_eq!(
            answer["result"]["serverInfo"]["name"], "toolbay",
            "{answer}"
        );
        session.notify("notifications/initialized", json!({}));
        session
    }

    pub fn headers(&self) -> Vec<(&str, Option<&str>)> {
        let mut all = vec![("MCP-Protocol-Version", Some("2025-11-25"))];
        if !self.id.is_empty() {
            all.push(("Mcp-Session-Id", Some(self.id.as_str())));
        }
        if let Some(bearer) = &self.bearer {
            all.push(("Authorization", Some(bearer)));
        }
        all
    }

    pub fn say(&self, message: &Value) -> Reply {
        self.server.post(&self.headers(), &message.to_string())
    }

    pub fn notify(&self, method: &str, params: Value) {
        let reply = self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
        assert_eq!(reply.status, 202);
    }

    /// Sends a request and hands out its stream.
    pub fn begun(&mut self, method: &str, params: Value) -> Reply {
        let id = self.next;
        self.next += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.begun(method, params).answer()
    }

    #[track_caller]
    pub fn call(&mut self, name: &str, input: Value) -> Value {
        let params = json!({"name": name, "arguments": input});
        self.ask("tools/call", params)["result"].clone()
    }

    /// Ends the session.
    pub fn delete(&self) -> u16 {
        let head = self.server.head("DELETE", &self.headers(), 0);
        self.server.send(head.as_bytes()).status
    }
}

pub fn initialize(capabilities: Value) -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    })
}
