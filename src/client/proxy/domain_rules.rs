//! The servers that programs in a sandbox may connect to.

use url::Host;

use crate::client::http::Reach;
use crate::permission::DomainPattern;
use crate::sandbox::{HostAndPort, parse_authority};

/// Ports of allowed hosts whose rule names no port.
const WEB_PORTS: [u16; 2] = [80, 443];

/// Allowed and denied servers. Denied ones win.
#[derive(Debug, Clone)]
pub struct DomainRules {
    allowed: Vec<Pattern>,
    denied: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    /// The pattern itself, as a host.
    host: Host,
    /// The names that match it, as in `WebFetch(domain:…)`.
    names: DomainPattern,
    /// `None`: any port of a denied host, and the usual ports of an allowed one.
    port: Option<u16>,
}

impl DomainRules {
    /// Parses the patterns: `example.com` is the host alone, `*.example.com` its subdomains, `*` any name.
    ///
    /// # Errors
    /// Names a malformed pattern.
    pub fn new(allowed: &[String], denied: &[String]) -> Result<Self, String> {
        let parse = |texts: &[String]| -> Result<Vec<Pattern>, String> {
            texts.iter().map(|text| Pattern::parse(text)).collect()
        };
        let (allowed, denied) = (parse(allowed)?, parse(denied)?);
        Ok(Self { allowed, denied })
    }

    /// Whether programs may connect to a port of a host, written as in a URL. Its addresses are not checked.
    pub fn permits(&self, host: &str, port: u16) -> bool {
        let server = HostAndPort::parse(&format!("{host}:{port}"));
        server.is_some_and(|server| self.check(&server, Reach::Public).is_ok())
    }

    /// Returns the addresses that a server may have: `reach`, or also private addresses if a rule names the server's
    /// address or `localhost`.
    ///
    /// # Errors
    /// The server is not permitted.
    pub(super) fn check(&self, server: &HostAndPort, reach: Reach) -> Result<Reach, &'static str> {
        if self.denied.iter().any(|pattern| pattern.covers(server)) {
            return Err("a denied domain");
        }
        let is_match = |pattern: &&Pattern| {
            let has_port = pattern.port.is_some() || WEB_PORTS.contains(&server.port);
            has_port && pattern.covers(server)
        };
        let mut matching = self.allowed.iter().filter(is_match).peekable();
        matching.peek().ok_or("not an allowed domain")?;
        let is_named = matching.any(|pattern| pattern.host == server.host);
        match &server.host {
            Host::Domain(name) if name != "localhost" || !is_named => Ok(reach),
            _ => Ok(Reach::PublicAndPrivate),
        }
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, String> {
        let host = parse_authority(text);
        let parsed = host.and_then(|(host, port)| {
            let names = DomainPattern::parse(&host.to_string())?;
            Some(Self { host, names, port })
        });
        parsed.ok_or_else(|| format!("`{text}` is not a host such as `*.example.com:443`"))
    }

    /// Whether the pattern matches a server. A server given by its address matches only that address.
    fn covers(&self, server: &HostAndPort) -> bool {
        let is_name = |name: &String| self.names.covers(name);
        let is_host = matches!(&server.host, Host::Domain(name) if is_name(name));
        (is_host || self.host == server.host) && self.port.is_none_or(|port| port == server.port)
    }
}

#[cfg(test)]
#[path = "domain_rules_tests.rs"]
mod tests;
