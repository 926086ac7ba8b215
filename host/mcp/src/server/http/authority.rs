//! To whom a request is addressed and from which page it comes, where it says so more than once.
//!
//! The library checks one name against those that the server has. Two programs on the way may
//! take different ones for that name, so a request has one, and it is a host and a port alone. For
//! the same reason it comes from one page at most.

use http::header::{HOST, ORIGIN};
use http::request::Parts;

/// What is wrong with the name under which a request came, or with where it came from.
pub(super) fn problem(parts: &Parts) -> Option<&'static str> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Some("a request has one Host header");
    };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(byte);
    if !host.as_bytes().iter().all(is_name) {
        return Some("Host: a name or an address, and perhaps a port");
    }
    if parts.headers.get_all(ORIGIN).iter().nth(1).is_some() {
        return Some("a request has at most one Origin header");
    }
    let named = parts.uri.authority();
    if named.is_some_and(|named| {
        !named
            .as_str()
            .as_bytes()
            .eq_ignore_ascii_case(host.as_bytes())
    }) {
        return Some("the address of the request names another host than its Host header");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_one_host_and_nothing_else() {
        for (uri, hosts, is_good) in [
            ("/mcp", &["localhost:1"][..], true),
            ("/mcp", &["[::1]:1"], true),
            ("/mcp", &[], false),
            ("/mcp", &["localhost", "localhost"], false),
            ("/mcp", &["evil@localhost"], false),
            ("/mcp", &["localhost/x"], false),
            ("/mcp", &["localhost, evil"], false),
            ("http://localhost:1/mcp", &["LOCALHOST:1"], true),
            ("http://evil.example/mcp", &["localhost"], false),
            ("http://evil@localhost/mcp", &["localhost"], false),
            ("http://localhost:2/mcp", &["localhost:1"], false),
        ] {
            let mut request = http::Request::post(uri);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(problem(&parts).is_none(), is_good, "{uri} {hosts:?}");
        }
    }

    #[test]
    fn a_request_comes_from_one_page_at_most() {
        for (origins, is_good) in [
            (&[][..], true),
            (&["http://localhost:1"], true),
            (&["http://localhost:1", "http://evil.example"], false),
            (&["http://evil.example", "http://localhost:1"], false),
            (&["http://localhost:1", "http://localhost:1"], false),
            (&["http://localhost:1", "null"], false),
            (&["http://localhost:1", ""], false),
        ] {
            let mut request = http::Request::post("/mcp").header(HOST, "localhost:1");
            for origin in origins {
                request = request.header(ORIGIN, *origin);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(problem(&parts).is_none(), is_good, "{origins:?}");
        }
    }
}
