//! Which hosts a command may reach: one parse of a name, one list, no second opinion.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use ipnet::IpNet;
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

/// Why a line of a list means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoHost {
    #[error("`{0}` is no host")]
    Name(String),
    #[error(
        "`{0}`: behind the `@` stands the network of a host that is not public, such as 10.1.0.0/16"
    )]
    Network(String),
    #[error(
        "`{0}`: this network has addresses that no command may reach: those by which machines \
         find each other and clouds tell their secrets"
    )]
    Unreachable(String),
}

impl FromStr for Host {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let no_host = || NoHost::Name(text.escape_debug().to_string());
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

/// One line of a list: `example.com`, `*.example.com`, either with `:PORT`, and with `@NETWORK` if
/// its addresses are not public.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    host: Host,
    with_all_below: bool,
    port: Option<u16>,
    /// Where its addresses must lie; without it, anywhere in public. A name alone never leads
    /// to private addresses: whoever owns the name could point it at a neighbour.
    network: Option<IpNet>,
}

/// Ports that a line without one means.
const USUAL_PORTS: [u16; 2] = [80, 443];

impl FromStr for Pattern {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let (named, network) = match text.rsplit_once('@') {
            Some((named, network)) => (named, Some(parse_network(network, text)?)),
            None => (text, None),
        };
        let (below, rest) = match named.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, named),
        };
        let no_host = || NoHost::Name(text.escape_debug().to_string());
        let (host, port) = split_port(rest).ok_or_else(no_host)?;
        Ok(Self {
            host: host.parse()?,
            with_all_below: below,
            port,
            network,
        })
    }
}

/// What no line can name: nobody's addresses, a link's own with the services of clouds, groups,
/// and another spelling of all of them.
const UNREACHABLE: [&str; 7] = [
    "0.0.0.0/8",
    "169.254.0.0/16",
    "224.0.0.0/3",
    "::/128",
    "::ffff:0:0/96",
    "fe80::/10",
    "ff00::/8",
];

fn parse_network(text: &str, line: &str) -> Result<IpNet, NoHost> {
    let shown = || line.escape_debug().to_string();
    let one = || text.parse::<IpAddr>().map(IpNet::from);
    let network = text.parse::<IpNet>().or_else(|_| one());
    let network = network.map_err(|_| NoHost::Network(shown()))?;
    let touches = |closed: IpNet| closed.contains(&network) || network.contains(&closed);
    // One that is no network touches everything.
    match UNREACHABLE
        .iter()
        .any(|text| text.parse().map_or(true, touches))
    {
        true => Err(NoHost::Unreachable(shown())),
        false => Ok(network),
    }
}

impl Pattern {
    /// Whether a request is what this line is about.
    fn means(&self, host: &Host, port: u16) -> bool {
        let port_fits = match self.port {
            Some(allowed) => allowed == port,
            None => USUAL_PORTS.contains(&port),
        };
        port_fits && self.covers(host)
    }

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
        let is_allowed = self.allow.iter().any(|pattern| pattern.means(host, port));
        is_allowed && !is_denied
    }

    /// Whether a host that is allowed may have this address. `is_public` says what a line
    /// without a network lets through.
    pub(crate) fn leads_to(
        &self,
        host: &Host,
        port: u16,
        address: IpAddr,
        is_public: fn(IpAddr) -> bool,
    ) -> bool {
        let address = address.to_canonical();
        let mut meant = self.allow.iter().filter(|one| one.means(host, port));
        meant.any(|pattern| match pattern.network {
            Some(network) => network.contains(&address),
            None => is_public(address),
        })
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
    fn a_private_host_has_the_addresses_that_were_named_and_no_others() {
        let hosts = Hosts::new(
            [
                "npm.corp@10.1.0.0/16",
                "localhost:3000@127.0.0.1",
                "six.corp@fd12::/64",
                "a.com",
            ],
            [],
        )
        .unwrap();
        for (host, port, address, expected) in [
            ("npm.corp", 443, "10.1.2.3", true),
            ("npm.corp", 443, "::ffff:10.1.2.3", true),
            ("npm.corp", 443, "10.2.0.1", false),
            ("npm.corp", 443, "127.0.0.1", false),
            // Named as private, so the public is not meant.
            ("npm.corp", 443, "8.8.8.8", false),
            ("npm.corp", 22, "10.1.2.3", false),
            ("localhost", 3000, "127.0.0.1", true),
            ("localhost", 3000, "127.0.0.2", false),
            ("localhost", 80, "127.0.0.1", false),
            ("six.corp", 443, "fd12::7", true),
            ("six.corp", 443, "fd13::7", false),
            ("a.com", 443, "10.1.2.3", false),
            ("a.com", 443, "8.8.8.8", true),
            ("other.com", 443, "8.8.8.8", false),
        ] {
            let name = host.parse().unwrap();
            let address = address.parse().unwrap();
            let leads = hosts.leads_to(&name, port, address, is_public);
            assert_eq!(leads, expected, "{host}:{port} at {address}");
        }
        for (line, problem) in [
            ("a.com@", "behind the `@`"),
            ("a.com@b", "behind the `@`"),
            ("a.com@10.0.0.0/33", "behind the `@`"),
            ("@10.0.0.0/8", "is no host"),
            ("u@a.com@10.0.0.0/8", "is no host"),
            ("a.com@0.0.0.0/0", "no command may reach"),
            ("a.com@169.254.169.254", "no command may reach"),
            ("a.com@169.254.0.0/17", "no command may reach"),
            ("a.com@128.0.0.0/1", "no command may reach"),
            ("a.com@::/0", "no command may reach"),
            ("a.com@fe80::1", "no command may reach"),
            ("a.com@::ffff:169.254.169.254", "no command may reach"),
        ] {
            let error = Hosts::new([line], []).unwrap_err().to_string();
            assert!(error.contains(problem), "{line}: {error}");
        }
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
