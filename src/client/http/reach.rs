//! The networks that a client may connect to.
//!
//! URLs from a model must not lead into networks that only this machine can reach. The check is on the IP address
//! of the connection: the client's own resolver looks up names and refuses addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{Address, Host};

/// The addresses that a client may connect to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// All addresses.
    Anywhere,
    /// The public internet, this machine, and private networks.
    PublicAndPrivate,
    /// The public internet.
    #[default]
    Public,
}

/// An error: the client may not connect to an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address} is {kind}, which must not be accessed{hint}")]
pub struct RefusedAddress {
    address: IpAddr,
    kind: &'static str,
    hint: &'static str,
}

/// A network that is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    /// Whether it is this machine or a private network. All other networks are never accessed: cloud services that
    /// trust their machines, and addresses of no machine.
    is_private: bool,
    /// The kind of its addresses.
    kind: &'static str,
}

const RESERVED: Network = Network {
    is_private: false,
    kind: "a reserved address",
};

/// The networks of `networks.txt`.
static NETWORKS: LazyLock<Vec<(IpNet, Network)>> = LazyLock::new(|| {
    let rows = include_str!("networks.txt").lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    #[expect(clippy::expect_used, reason = "the table is part of the program")]
    let parse_row = |row: &'static str| {
        let mut words = row.splitn(3, ' ');
        let network = words.next().and_then(|network| network.parse().ok());
        let is_private = words.next() == Some("private");
        let kind = words.next().expect("three columns");
        (network.expect("a network"), Network { is_private, kind })
    };
    rows.map(parse_row).collect()
});

impl Network {
    /// Returns the network of an address, or `None` if it is public.
    fn containing(address: IpAddr) -> Option<Self> {
        let address = address.to_canonical();
        let mut networks = NETWORKS.iter();
        let found = networks
            .find(|(network, _)| network.contains(&address))
            .map(|(_, network)| *network);
        let IpAddr::V6(address) = address else {
            return found;
        };
        if let [0x64, 0xff9b, 0, 0, 0, 0, ..] = address.segments() {
            // NAT64: the IPv4 address is in the last 32 bits.
            let [.., a, b, c, d] = address.octets();
            return Self::containing(Ipv4Addr::new(a, b, c, d).into());
        }
        // Only 2000::/3 is allocated.
        let is_global = address.to_bits() >> 125 == 1;
        found.or((!is_global).then_some(RESERVED))
    }
}

impl Reach {
    /// Checks an address.
    ///
    /// # Errors
    /// The address is out of reach.
    pub fn check(self, address: IpAddr) -> Result<(), RefusedAddress> {
        let (network, hint) = match (self, Network::containing(address)) {
            (Self::Anywhere, _) | (_, None) => return Ok(()),
            (Self::PublicAndPrivate, Some(network)) if network.is_private => return Ok(()),
            (Self::Public, Some(network)) if network.is_private => {
                (network, " without `--allow-private-addresses`")
            }
            (_, Some(network)) => (network, ""),
        };
        Err(RefusedAddress {
            address: address.to_canonical(),
            kind: network.kind,
            hint,
        })
    }

    /// Returns the address with `https`, except for nearby machines that may be reached.
    #[must_use]
    pub fn prefer_https(self, address: Address) -> Address {
        if self != Self::Public && address.is_nearby() {
            address
        } else {
            address.with_https()
        }
    }
}

/// The resolver of a client, which refuses addresses out of reach.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    reach: Reach,
    /// Host names of proxies, which may have any address.
    proxies: Arc<[String]>,
}

impl Guard {
    pub(super) fn new(reach: Reach, proxies: Vec<String>) -> Self {
        Self {
            reach,
            proxies: proxies.into(),
        }
    }

    /// Checks the addresses that do not use the resolver: IP addresses, and names that a proxy looks up.
    ///
    /// # Errors
    /// The address is out of reach.
    pub(super) async fn check(&self, address: &Address) -> Result<(), RefusedAddress> {
        if self.reach == Reach::Anywhere {
            return Ok(());
        }
        match address.host() {
            Host::Ip(address) => self.reach.check(address),
            Host::Name(name) if !self.proxies.is_empty() => {
                // Behind a proxy, local lookups of external names may fail; the proxy then looks them up.
                let found = resolve_name(name.to_owned()).await.unwrap_or_default();
                found
                    .iter()
                    .try_for_each(|address| self.reach.check(address.ip()))
            }
            Host::Name(_) => Ok(()),
        }
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_owned();
        let reach = if self.proxies.contains(&name) {
            Reach::Anywhere
        } else {
            self.reach
        };
        Box::pin(async move {
            let found = resolve_name(name).await?;
            for address in &found {
                reach.check(address.ip())?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Returns the addresses of a name, for a port. Blocks.
///
/// # Errors
/// The system finds none.
pub fn look_up_addresses(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((name, port).to_socket_addrs()?.collect())
}

async fn resolve_name(name: String) -> io::Result<Vec<SocketAddr>> {
    tokio::task::spawn_blocking(move || look_up_addresses(&name, 0)).await?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(url: &str) -> IpAddr {
        match Address::parse(url).unwrap().host() {
            Host::Ip(address) => address,
            Host::Name(name) => panic!("{url}: {name} is a name"),
        }
    }

    #[test]
    fn networks_parse_and_have_no_host_bits() {
        for (network, _) in NETWORKS.iter() {
            assert_eq!(network.trunc(), *network);
        }
        assert_eq!(NETWORKS.len(), 32);
    }

    #[test]
    fn only_the_public_internet_is_reached() {
        let public = "http://1.1.1.1 http://8.8.8.8:8080 http://172.32.0.1 http://172.15.255.255 \
            http://100.63.255.255 http://100.128.0.1 http://192.0.1.1 http://198.20.0.1 \
            http://223.255.255.255 http://[2606:4700::1111] http://[::ffff:8.8.8.8] \
            http://[64:ff9b::8.8.8.8]";
        for url in public.split_whitespace() {
            assert_eq!(Reach::Public.check(literal(url)), Ok(()), "{url}");
        }
        let private = "http://127.0.0.1 http://127.1 http://127.255.255.254 http://2130706433 http://0x7f000001 \
            http://0177.0.0.1 http://0x7f.1 http://10.0.0.1 http://172.16.0.1 http://172.31.255.255 \
            http://192.168.1.1 http://3232235777 http://100.64.0.1 http://[::1] \
            http://[0:0:0:0:0:0:0:1] http://[::ffff:127.0.0.1] http://[::ffff:a00:1] \
            http://[64:ff9b::10.0.0.1] http://[fd00::1] http://[fc00::1]";
        for url in private.split_whitespace() {
            assert!(Reach::Public.check(literal(url)).is_err(), "{url}");
            assert_eq!(Reach::PublicAndPrivate.check(literal(url)), Ok(()), "{url}");
            assert_eq!(Reach::Anywhere.check(literal(url)), Ok(()), "{url}");
        }
        let never = "http://0.0.0.0 http://0 http://0.1.2.3 http://169.254.169.254 http://2852039166 \
            http://0xa9fea9fe http://0251.0376.0251.0376 http://169.254.1.1 http://100.100.100.200 \
            http://168.63.129.16 http://192.0.0.192 http://192.0.2.1 http://198.18.0.1 \
            http://198.51.100.1 http://203.0.113.1 http://224.0.0.1 http://239.255.255.250 \
            http://240.0.0.1 http://255.255.255.255 http://[::] http://[::ffff:169.254.169.254] \
            http://[::ffff:0.0.0.0] http://[::169.254.169.254] http://[::127.0.0.1] \
            http://[64:ff9b::169.254.169.254] http://[64:ff9b:1::1] http://[fd00:ec2::254] \
            http://[fd00:ec2::23] http://[fd20:ce::254] http://[fd00:c1::a9fe:a9fe] \
            http://[fd00:42::42] http://[fd00:a9fe:a9fe::1] http://169.254.42.42 \
            http://169.254.170.2 http://169.254.0.23 http://[fe80::a9fe:a9fe] http://[fe80::1] \
            http://[fec0::1] http://[ff02::1] http://[2001:db8::1] http://[3fff::1] http://[2001::1] \
            http://[2002:7f00:1::] http://[100::1]";
        for url in never.split_whitespace() {
            assert!(
                Reach::PublicAndPrivate.check(literal(url)).is_err(),
                "{url}"
            );
            assert!(Reach::Public.check(literal(url)).is_err(), "{url}");
        }
    }

    #[test]
    fn errors_name_the_option() {
        let refused = |url: &str| Reach::Public.check(literal(url)).unwrap_err().to_string();
        assert_eq!(
            refused("http://[::ffff:127.0.0.1]"),
            "127.0.0.1 is this machine, which must not be accessed without \
             `--allow-private-addresses`"
        );
        assert_eq!(
            refused("http://169.254.169.254"),
            "169.254.169.254 is a metadata service, which must not be accessed"
        );
    }

    #[test]
    fn only_nearby_machines_are_reached_without_encryption() {
        let rows = [
            (
                Reach::Public,
                "http://docs.rs/a?b#c",
                "https://docs.rs/a?b#c",
            ),
            (
                Reach::Public,
                "http://docs.rs:8080/",
                "https://docs.rs:8080/",
            ),
            (Reach::Public, "http://localhost/", "https://localhost/"),
            (
                Reach::PublicAndPrivate,
                "http://localhost:1/",
                "http://localhost:1/",
            ),
            (Reach::PublicAndPrivate, "http://[::1]/", "http://[::1]/"),
            (
                Reach::PublicAndPrivate,
                "http://docs.rs/",
                "https://docs.rs/",
            ),
        ];
        for (reach, given, asked) in rows {
            let address = reach.prefer_https(Address::parse(given).unwrap());
            assert_eq!(address.to_string(), asked);
        }
    }
}
