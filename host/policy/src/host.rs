//! Hosts: how rules name them, and which one an address leads to.
//!
//! Programs read addresses differently. A rule that allows counts only where every reader
//! comes to the same host; a rule that forbids counts where some reader might.

use serde::{Deserialize, Serialize};

/// `example.com`, `*.example.com` (all below it, not itself) or `*`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostPattern {
    Every,
    One(String),
    Below(String),
}

impl HostPattern {
    pub fn parse(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        if lower == "*" {
            return Ok(Self::Every);
        }
        let (name, is_below) = match lower.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (lower.as_str(), false),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        if !is_plain_host(name) {
            return Err(format!(
                "`{text}` is no host; write `example.com`, `*.example.com` or `*`, without \
                 `https://`, path and port"
            ));
        }
        Ok(if is_below {
            Self::Below(name.to_owned())
        } else {
            Self::One(name.to_owned())
        })
    }

    /// Whether it covers a host in lower case.
    pub(crate) fn covers(&self, host: &str) -> bool {
        match self {
            Self::Every => true,
            Self::One(name) => host == name,
            Self::Below(parent) => host
                .strip_suffix(parent.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        }
    }

    /// Whether the address leads there for certain.
    pub(crate) fn covers_url(&self, url: &str) -> bool {
        plain_host(url).is_some_and(|host| self.covers(&host))
    }

    /// Whether the address may lead there.
    pub(crate) fn may_cover_url(&self, url: &str) -> bool {
        possible_hosts(url).is_none_or(|hosts| hosts.iter().any(|host| self.covers(host)))
    }
}

impl TryFrom<String> for HostPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        match pattern {
            HostPattern::Every => "*".into(),
            HostPattern::One(name) => name,
            HostPattern::Below(parent) => format!("*.{parent}"),
        }
    }
}

/// The host of an address in lower case; none where readers could disagree.
pub(crate) fn plain_host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let authority = rest.split(['/', '?', '#']).next()?;
    let has_oddity = |byte: u8| byte <= b' ' || byte >= 127 || byte == b'\\';
    // A backslash further on may still end the host for some.
    if !is_scheme || url.bytes().any(has_oddity) || authority.matches('@').count() > 1 {
        return None;
    }
    let host = without_port(authority.rsplit('@').next()?).to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    (is_plain_host(host) && !is_odd_number(host)).then(|| host.to_owned())
}

/// Every host that some reader comes to; none if that cannot be told.
pub(crate) fn possible_hosts(url: &str) -> Option<Vec<String>> {
    if let Some(host) = plain_host(url) {
        return Some(vec![host]);
    }
    // Browsers drop these wherever they stand.
    let url: String = url
        .trim()
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let behind_scheme = match url.split_once(':') {
        Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => rest,
        _ => &url,
    };
    let text = behind_scheme.trim_start_matches(['/', '\\']);
    let mut hosts = Vec::new();
    for ends in [&['/', '?', '#'][..], &['/', '?', '#', '\\']] {
        let authority = text.split(ends).next().unwrap_or(text);
        let behind_first = authority
            .split_once('@')
            .map_or(authority, |(_, host)| host);
        let behind_last = authority.rsplit('@').next().unwrap_or(authority);
        for host in [behind_first, behind_last] {
            let host = without_port(host).to_ascii_lowercase();
            let host = host.strip_suffix('.').unwrap_or(&host).to_owned();
            if !is_plain_host(&host) || is_odd_number(&host) {
                return None;
            }
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
    }
    Some(hosts)
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_plain_host(host: &str) -> bool {
    if let Some(inner) = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let is_digit = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
        return !inner.is_empty() && inner.bytes().all(is_digit);
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.split('.').all(is_label)
}

/// A number that is an address, though not written as one: `0x7f.1` is `127.0.0.1`.
fn is_odd_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    is_number && host.parse::<core::net::Ipv4Addr>().is_err()
}

#[cfg(test)]
mod tests;
