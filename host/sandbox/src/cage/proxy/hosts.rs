//! Which hosts a command may reach: one parse of a name, one list, no second opinion.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;

/// A name or an address that was parsed. Nothing else is ever looked up or connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// Letters, digits and hyphens, in lower case, without a dot at the end.
    Name(String),
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no host")]
pub struct NoHost(String);

impl FromStr for Host {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let no_host = || NoHost(text.escape_debug().to_string());
        if let Some(inside) = text.strip_prefix('[') {
            let inside = inside.strip_suffix(']').ok_or_else(no_host)?;
            let address: Ipv6Addr = inside.parse().map_err(|_| no_host())?;
            return Ok(Self::Address(address.into()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        // Resolvers read `127.1`, `0x7f000001` and `2130706433` as addresses.
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.starts_with(|c: char| c.is_ascii_digit());
        if name.len() > 253 || is_number || !name.split('.').all(is_label) {
            return Err(no_host());
        }
        Ok(Self::Name(name))
    }
}

/// One line of a list: `example.com`, `*.example.com`, either with `:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    host: Host,
    with_all_below: bool,
    port: Option<u16>,
}

/// Ports that a line without one means.
const USUAL_PORTS: [u16; 2] = [80, 443];

impl FromStr for Pattern {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let (below, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (host, port) = split_port(rest).ok_or_else(|| NoHost(text.to_owned()))?;
        Ok(Self {
            host: host.parse()?,
            with_all_below: below,
            port,
        })
    }
}

impl Pattern {
    fn covers(&self, host: &Host) -> bool {
        match (&self.host, host) {
            (Host::Name(own), Host::Name(asked)) if self.with_all_below => asked
                .strip_suffix(own.as_str())
                .is_some_and(|front| front.ends_with('.')),
            (own, asked) => own == asked,
        }
    }
}

/// Hosts that a command may reach. Nothing is allowed that is not listed; what is denied is
/// denied whatever else is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
}

impl Hosts {
    pub fn new<'a>(
        allow: impl IntoIterator<Item = &'a str>,
        deny: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, NoHost> {
        Ok(Self {
            allow: allow
                .into_iter()
                .map(str::parse)
                .collect::<Result<_, _>>()?,
            deny: deny.into_iter().map(str::parse).collect::<Result<_, _>>()?,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }

    pub(crate) fn allows(&self, host: &Host, port: u16) -> bool {
        let is_denied = self.deny.iter().any(|pattern| {
            pattern.covers(host) && pattern.port.is_none_or(|denied| denied == port)
        });
        let is_allowed = self.allow.iter().any(|pattern| {
            let port_fits = match pattern.port {
                Some(allowed) => allowed == port,
                None => USUAL_PORTS.contains(&port),
            };
            pattern.covers(host) && port_fits
        });
        is_allowed && !is_denied
    }
}

/// A host and perhaps a port behind a colon. Anything else is nothing.
pub(crate) fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let end = match text.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = text.split_at_checked(end)?;
    if rest.is_empty() {
        return Some((host, None));
    }
    let digits = rest.strip_prefix(':')?;
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port: u16 = digits.parse().ok().filter(|port| is_plain && *port != 0)?;
    Some((host, Some(port)))
}

/// Whether an address belongs to everybody: not to this machine, its network, a cloud's
/// services, or a way around that question.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inside) = address.to_ipv4_mapped() {
        return is_public_v4(inside);
    }
    let [a, b, c, ..] = address.segments();
    // Only what is handed out to the public; translators and tunnels hide an address of the
    // fourth version inside.
    let is_global = (0x2000..=0x3fff).contains(&a);
    let is_special = a == 0x2001 && (b < 0x0200 || b == 0x0db8)
        || a == 0x2002
        || a == 0x3fff && b < 0x1000
        || a == 0x2620 && b == 0x004f && c == 0x8000;
    is_global && !is_special
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_plain_name_or_an_address() {
        for (text, expected) in [
            ("Example.COM.", Some("example.com")),
            ("a_b.example", Some("a_b.example")),
            ("93.184.216.34", Some("93.184.216.34")),
            ("[2606:2800::1]", Some("[2606:2800::1]")),
            ("127.1", None),
            ("2130706433", None),
            ("0x7f000001", None),
            ("0177.0.0.1", None),
            ("1.2.3.4.", None),
            ("exa mple.com", None),
            ("example.com\0.evil.com", None),
            ("example.com\r\nHost: x", None),
            ("ex\u{e4}mple.com", None),
            ("example\u{ff0e}com", None),
            ("-a.com", None),
            ("a..com", None),
            ("", None),
            (".", None),
            ("[::1", None),
            ("user@example.com", None),
            ("example.com/", None),
            ("example.com#", None),
        ] {
            let host = text.parse::<Host>().ok().map(|host| host.to_string());
            assert_eq!(host.as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn lists_mean_whole_names_and_deny_wins() {
        let hosts = Hosts::new(
            ["example.com", "*.cdn.net", "api.org:8443"],
            ["bad.cdn.net", "api.org:80"],
        )
        .unwrap();
        for (host, port, expected) in [
            ("example.com", 443, true),
            ("example.com", 80, true),
            ("example.com", 22, false),
            ("sub.example.com", 443, false),
            ("notexample.com", 443, false),
            ("a.b.cdn.net", 443, true),
            ("cdn.net", 443, false),
            ("evilcdn.net", 443, false),
            ("bad.cdn.net", 443, false),
            ("api.org", 8443, true),
            ("api.org", 443, false),
        ] {
            let host = host.parse().unwrap();
            assert_eq!(hosts.allows(&host, port), expected, "{host}:{port}");
        }
        let nothing = Hosts::default();
        assert!(nothing.is_empty() && !nothing.allows(&"example.com".parse().unwrap(), 443));
    }

    #[test]
    fn private_addresses_are_known_in_every_disguise() {
        for (address, expected) in [
            ("8.8.8.8", true),
            ("2606:4700::1", true),
            ("127.0.0.1", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.32.0.1", true),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("255.255.255.255", false),
            ("224.0.0.1", false),
            ("::1", false),
            ("::", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::", false),
            ("2001:0:7f00:1::", false),
            ("fe80::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn a_port_is_a_plain_number() {
        for (text, expected) in [
            ("a:80", Some(("a", Some(80)))),
            ("a", Some(("a", None))),
            ("[::1]:80", Some(("[::1]", Some(80)))),
            ("[::1]", Some(("[::1]", None))),
            ("a:", None),
            ("a:0", None),
            ("a:+80", None),
            ("a:80:80", None),
            ("a:99999", None),
        ] {
            assert_eq!(split_port(text), expected, "{text}");
        }
    }
}
