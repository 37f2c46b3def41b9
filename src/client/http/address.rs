//! Addresses of servers, and whether secrets may be sent to them.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

use super::Secret;
use crate::text::is_secret_name;

/// An `http` or `https` URL without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) url: Url,
}

/// The reason why a text is not a usable server address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableAddress {
    /// Not a URL.
    #[error("not a URL: {0}")]
    Unreadable(String),
    /// A host and a path only.
    #[error(
        "a scheme is missing; start with `https://`, or with `http://` for a server on this machine"
    )]
    NoScheme,
    /// A URL with another scheme.
    #[error("only http and https addresses are supported, not {0}; start with `https://`")]
    Scheme(String),
    /// A URL with a user or a password, which is not repeated in the message.
    #[error("an address must not contain a user or password; put them into a header")]
    Credentials,
    /// A secret would be sent over the public network without encryption.
    #[error("a key is not sent to {host} without https")]
    PlainText { host: String },
}

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    /// The text is not a usable address.
    pub fn parse(text: &str) -> Result<Self, UnusableAddress> {
        let text = text.trim();
        // `localhost:8080/v1` would be read as a URL with the scheme `localhost`.
        if !text.contains("://") {
            return Err(UnusableAddress::NoScheme);
        }
        let url =
            Url::parse(text).map_err(|error| UnusableAddress::Unreadable(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UnusableAddress::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UnusableAddress::Credentials);
        }
        Ok(Self { url })
    }

    /// Appends `path` and its query to the address. Existing query parameters are kept first.
    #[must_use]
    pub fn join(&self, path: &str) -> Self {
        let mut url = self.url.clone();
        url.set_fragment(None);
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let full_path = format!(
            "{}/{}",
            url.path().trim_end_matches('/'),
            path.trim_start_matches('/')
        );
        url.set_path(&full_path);
        let query = match (url.query(), query) {
            (Some(existing), Some(added)) => Some(format!("{existing}&{added}")),
            (existing, added) => existing.or(added).map(str::to_owned),
        };
        url.set_query(query.as_deref());
        Self { url }
    }

    /// Returns a part of the path that occurs twice in a row, e.g. `v1` in `/v1/v1/messages`.
    pub fn repeated_part(&self) -> Option<String> {
        let parts: Vec<&str> = self.url.path_segments()?.collect();
        (1..=parts.len() / 2).find_map(|length| {
            let mut pairs = parts.windows(2 * length).map(|pair| pair.split_at(length));
            let (part, _) = pairs.find(|(first, second)| first == second && *first != [""])?;
            Some(part.join("/"))
        })
    }

    /// Resolves the `location` of a redirect.
    ///
    /// # Errors
    /// The target is not a usable address.
    pub fn resolve_redirect(&self, location: &str) -> Result<Self, UnusableAddress> {
        let target = self.url.join(location);
        let url = target.map_err(|error| UnusableAddress::Unreadable(error.to_string()))?;
        Self::parse(url.as_str())
    }

    /// Returns the address with the scheme `https`.
    #[must_use]
    pub fn with_https(mut self) -> Self {
        // This fails only for other schemes.
        let _ = self.url.set_scheme("https");
        self
    }

    /// Whether `other` has the same host and port. The default ports of `http` and `https` count as equal.
    pub fn has_same_server(&self, other: &Self) -> bool {
        self.authority() == other.authority()
    }

    /// Returns the values of query parameters with the names of secrets.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let pairs = self.url.query_pairs();
        pairs
            .filter(|(name, _)| is_secret_name(name))
            .map(|(_, value)| Secret::new(value))
            .collect()
    }

    /// Returns the host, with the port if there is one.
    pub fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(formatter)
    }
}

/// Whether secrets may be sent without encryption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlainText {
    /// Only to this machine and to private networks.
    #[default]
    Nearby,
    /// Anywhere, by configuration.
    Anywhere,
}

/// Suffixes of names in private networks.
const PRIVATE_SUFFIXES: &[&str] = &[".local", ".internal", ".lan", ".localhost", ".home.arpa"];

impl Address {
    /// Checks that a secret may be sent to this address.
    ///
    /// # Errors
    /// The connection would be unencrypted over the public network.
    pub fn check_secrets_allowed(&self, plain_text: PlainText) -> Result<(), UnusableAddress> {
        if self.is_encrypted() || plain_text == PlainText::Anywhere || self.is_nearby() {
            return Ok(());
        }
        Err(UnusableAddress::PlainText {
            host: self.authority(),
        })
    }

    /// Whether the host is this machine or in a private network, judging by its name.
    pub fn is_nearby(&self) -> bool {
        match self.host() {
            Host::Ip(IpAddr::V4(address)) => {
                address.is_loopback() || address.is_private() || address.is_link_local()
            }
            Host::Ip(IpAddr::V6(address)) => {
                address.is_loopback()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
            }
            Host::Name(name) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                !name.contains('.') || PRIVATE_SUFFIXES.iter().any(|end| name.ends_with(end))
            }
        }
    }

    pub(super) fn host(&self) -> Host<'_> {
        let host = self.url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(address) => Host::Ip(address.to_canonical()),
            Err(_) => Host::Name(bare),
        }
    }
}

pub(super) enum Host<'a> {
    /// An IP address. IPv4-mapped IPv6 addresses are converted to IPv4.
    Ip(IpAddr),
    Name(&'a str),
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
