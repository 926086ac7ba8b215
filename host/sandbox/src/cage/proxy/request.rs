//! The head of a request to the proxy, read strictly: what is not plain is refused.

use super::hosts::{Host, split_port};

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) form: Form,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// Bytes in both directions.
    Tunnel,
    /// One request: its head for the server, and how many bytes follow.
    Plain { head: Vec<u8>, body: u64 },
}

/// Reads a head, which ends with an empty line. The answer to a bad one is its status.
pub(super) fn parse(head: &[u8]) -> Result<Request, &'static str> {
    const BAD: &str = "400 Bad Request";
    let text = std::str::from_utf8(head).map_err(|_| BAD)?;
    let mut lines = text.strip_suffix("\r\n\r\n").ok_or(BAD)?.split("\r\n");
    let first: Vec<&str> = lines.next().ok_or(BAD)?.split(' ').collect();
    let [method, target, version @ ("HTTP/1.1" | "HTTP/1.0")] = first[..] else {
        return Err(BAD);
    };
    if method == "CONNECT" {
        let (host, port) = split_port(target).ok_or(BAD)?;
        return Ok(Request {
            host: host.parse().map_err(|_| BAD)?,
            port: port.ok_or(BAD)?,
            form: Form::Tunnel,
        });
    }
    let is_token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let rest = target.strip_prefix("http://").ok_or(BAD)?;
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) if rest.as_bytes()[at] == b'/' => rest.split_at(at),
        Some(_) => return Err(BAD),
        None => (rest, "/"),
    };
    let is_plain = |text: &str| text.bytes().all(|byte| (0x21..0x7f).contains(&byte));
    if !is_token(method) || !is_plain(path) {
        return Err(BAD);
    }
    let (host, port) = split_port(authority).ok_or(BAD)?;
    let host: Host = host.parse().map_err(|_| BAD)?;
    let shown = match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    };
    // The server is told the host that was judged, whatever the client's header says.
    let mut head = format!("{method} {path} {version}\r\nHost: {shown}\r\nConnection: close\r\n");
    let mut body = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(BAD)?;
        let value = value.trim_matches([' ', '\t']);
        if !is_token(name) || value.bytes().any(|byte| byte < 0x20 && byte != b'\t') {
            return Err(BAD);
        }
        match name.to_ascii_lowercase().as_str() {
            "host"
            | "connection"
            | "proxy-connection"
            | "proxy-authorization"
            | "keep-alive"
            | "te"
            | "trailer"
            | "upgrade" => continue,
            "transfer-encoding" => return Err("411 Length Required"),
            "content-length" => {
                let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
                let length = value.parse::<u64>().ok().filter(|_| is_number).ok_or(BAD)?;
                // Two lengths are how requests are smuggled.
                if body.replace(length).is_some() {
                    return Err(BAD);
                }
            }
            _ => {}
        }
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    Ok(Request {
        host,
        port: port.unwrap_or(80),
        form: Form::Plain {
            head: head.into_bytes(),
            body: body.unwrap_or(0),
        },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_is_told_anew() {
        let request = parse(
            b"POST http://Example.com:8080/a?b HTTP/1.1\r\nHost: evil.com\r\nX: y\r\n\
              Proxy-Connection: keep-alive\r\nContent-Length: 3\r\n\r\n",
        )
        .unwrap();
        let head = "POST /a?b HTTP/1.1\r\nHost: example.com:8080\r\nConnection: close\r\n\
                    X: y\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(request.host.to_string(), "example.com");
        assert_eq!(request.port, 8080);
        let form = Form::Plain {
            head: head.into(),
            body: 3,
        };
        assert_eq!(request.form, form);
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for head in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET http://a@b.com/ HTTP/1.1\r\n\r\n",
            "GET http://a.com#@b.com/ HTTP/1.1\r\n\r\n",
            "GET http://a.com\\@b.com/ HTTP/1.1\r\n\r\n",
            "GET http://a.com?@b.com/ HTTP/1.1\r\n\r\n",
            "GET https://a.com/ HTTP/1.1\r\n\r\n",
            "GET http://a.com/\tx HTTP/1.1\r\n\r\n",
            "GET  http://a.com/ HTTP/1.1\r\n\r\n",
            "CONNECT a.com HTTP/1.1\r\n\r\n",
            "CONNECT a.com:443@b.com:443 HTTP/1.1\r\n\r\n",
            "CONNECT a.com\0b.com:443 HTTP/1.1\r\n\r\n",
            "POST http://a.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST http://a.com/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST http://a.com/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "GET http://a.com/ HTTP/1.1\r\nA b: c\r\n\r\n",
            "GET http://a.com/ HTTP/1.1\r\n folded\r\n\r\n",
            "GET http://a.com/ HTTP/1.1\nHost: a\n\n",
            "",
        ] {
            assert!(parse(head.as_bytes()).is_err(), "{head:?}");
        }
    }
}
