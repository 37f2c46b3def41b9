//! Parses the servers that programs request from the proxy.

use url::Host;

/// A port of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAndPort {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
}

impl HostAndPort {
    /// Parses `host:port`; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = parse_authority(text)?;
        Some(Self { host, port: port? })
    }
}

/// Parses a host that a port may follow, as in a URL: a name, a decimal, octal or hexadecimal IPv4 address, or an IPv6
/// address in brackets. Equal hosts have equal results: names are in lower case and without a trailing dot, IPv4-mapped
/// addresses are IPv4.
pub fn parse_authority(text: &str) -> Option<(Host, Option<u16>)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let host = match Host::parse(host).ok()? {
        // Without its last dots, the name could be an address.
        Host::Domain(name) if name.starts_with('.') || name.ends_with("..") => return None,
        Host::Domain(name) => Host::Domain(name.trim_end_matches('.').to_owned()),
        Host::Ipv6(address) => address
            .to_ipv4_mapped()
            .map_or(Host::Ipv6(address), Host::Ipv4),
        address @ Host::Ipv4(_) => address,
    };
    Some((host, port))
}
