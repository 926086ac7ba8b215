//! Where the name of a discovered host may lead.
//!
//! A server out there that names an authorisation server in here would have us knock at
//! doors that it cannot reach itself. The protocol library looks names up with a filter of
//! its own; this one is for the requests that we make ourselves.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde::{Deserialize, Serialize};

use super::endpoint::is_loopback;

/// Which addresses an authorisation server may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// Those of the world; those of this machine only for a server on this machine.
    #[default]
    Public,
    /// Those of the company's network too.
    Private,
}

/// Lets through the addresses that the policy allows; a name that has none leads nowhere.
#[derive(Clone, Copy)]
pub(super) struct Filter {
    addresses: Addresses,
    loopback: bool,
}

impl Filter {
    pub(super) fn new(server: &Url, addresses: Addresses) -> Self {
        Self {
            addresses,
            loopback: is_loopback(server),
        }
    }

    pub(super) fn allows(self, address: IpAddr) -> bool {
        match class(address) {
            Class::Public => true,
            Class::Private => self.addresses == Addresses::Private,
            Class::Loopback => self.loopback,
            Class::Reserved => false,
        }
    }

    /// An address that is no name is not looked up, so it is checked here.
    pub(super) fn allows_host(self, url: &Url) -> bool {
        let Some(host) = url.host_str() else {
            return false;
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.parse().is_ok_and(|address| self.allows(address)) || host.parse::<IpAddr>().is_err()
    }
}

impl Resolve for Filter {
    fn resolve(&self, name: Name) -> Resolving {
        let filter = *self;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found
                .filter(|address| filter.allows(address.ip()))
                .collect();
            if allowed.is_empty() {
                return Err("the name leads to no address that may be used".into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Class {
    Public,
    Private,
    Loopback,
    /// What no authorisation server has: link-local (where clouds keep their keys),
    /// multicast, nobody's.
    Reserved,
}

fn class(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(address) => class_v4(address),
        IpAddr::V6(address) => class_v6(address),
    }
}

fn class_v4(address: Ipv4Addr) -> Class {
    let [first, second, ..] = address.octets();
    if address.is_loopback() {
        Class::Loopback
    } else if address.is_private() || (first == 100 && (64..128).contains(&second)) {
        Class::Private
    } else if first == 0
        || first >= 224
        || address.is_link_local()
        || (first == 198 && (18..20).contains(&second))
        || address.is_documentation()
        || (first == 192 && second == 0 && address.octets()[2] == 0)
    {
        Class::Reserved
    } else {
        Class::Public
    }
}

fn class_v6(address: Ipv6Addr) -> Class {
    let [first, second, third, fourth, fifth, sixth, high, low] = address.segments();
    if address.is_loopback() {
        return Class::Loopback;
    }
    let inner = Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match [first, second, third, fourth, fifth, sixth] {
        // Addresses of the old kind in the new one's clothes.
        [0, 0, 0, 0, 0, 0xffff | 0] | [0x64, 0xff9b, 0, 0, 0, 0] => class_v4(inner),
        [0x2002, ..] => class_v4(Ipv4Addr::from((u32::from(second) << 16) | u32::from(third))),
        [0xfc00..=0xfdff, ..] => Class::Private,
        // The world's addresses begin with 001; of these, Teredo hides another address.
        [0x2001, 0, ..] => Class::Reserved,
        [0x2000..=0x3fff, ..] => Class::Public,
        _ => Class::Reserved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart_in_all_their_clothes() {
        let cases = [
            (
                Class::Public,
                "93.184.216.34 2606:2800:220:1::1 64:ff9b::5db8:d822",
            ),
            (
                Class::Loopback,
                "127.0.0.1 127.9.9.9 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::",
            ),
            (
                Class::Private,
                "10.1.2.3 172.16.0.1 192.168.1.1 100.64.0.1 fd00::1 ::ffff:10.0.0.1",
            ),
            (
                Class::Reserved,
                "169.254.169.254 0.0.0.0 0.1.2.3 224.0.0.1 255.255.255.255 198.18.0.1 :: fe80::1 ff02::1 2001::1 ::ffff:169.254.169.254 64:ff9b:1::1",
            ),
        ];
        for (expected, addresses) in cases {
            for address in addresses.split(' ') {
                assert_eq!(class(address.parse().unwrap()), expected, "{address}");
            }
        }
    }

    #[test]
    fn a_server_out_there_cannot_lead_us_to_this_machine() {
        let far = Url::parse("https://mcp.example.com").unwrap();
        let near = Url::parse("http://localhost:3000").unwrap();
        let here = Url::parse("https://127.0.0.1/").unwrap();
        for addresses in [Addresses::Public, Addresses::Private] {
            assert!(!Filter::new(&far, addresses).allows_host(&here));
            assert!(Filter::new(&near, addresses).allows_host(&here));
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_leads_nowhere() {
        let far = Url::parse("https://mcp.example.com").unwrap();
        let filter = Filter::new(&far, Addresses::Private);
        let name: Name = "localhost".parse().unwrap();
        assert!(filter.resolve(name).await.is_err());
    }
}
