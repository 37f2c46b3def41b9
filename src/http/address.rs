//! Addresses of servers, and where secrets may be sent.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

use super::Secret;
use crate::text::names_secret;

/// An `http` or `https` address without credentials in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) url: Url,
}

/// A text cannot be used as the address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableAddress {
    /// It is not a URL.
    #[error("not an address: {0}")]
    Unreadable(String),
    /// It is a URL of something else.
    #[error("only http and https addresses are supported, not {0}")]
    Scheme(String),
    /// It contains a user or a password, and is not repeated here.
    #[error("an address must not contain a user or password; put them into a header")]
    Credentials,
    /// A secret would go over the open network.
    #[error("a key is not sent to {host} without https")]
    PlainText {
        /// The machine.
        host: String,
    },
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// It is not such an address.
    pub fn parse(text: &str) -> Result<Self, UnusableAddress> {
        let text = text.trim();
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

    /// The address with `path` at its end; a query stays behind it. A query of `path` is added.
    #[must_use]
    pub fn join(&self, path: &str) -> Self {
        let mut url = self.url.clone();
        url.set_fragment(None);
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let whole = format!(
            "{}/{}",
            url.path().trim_end_matches('/'),
            path.trim_start_matches('/')
        );
        url.set_path(&whole);
        let query = match (url.query(), query) {
            (Some(one), Some(other)) => Some(format!("{one}&{other}")),
            (one, other) => one.or(other).map(str::to_owned),
        };
        url.set_query(query.as_deref());
        Self { url }
    }

    /// The part of the path that stands there twice in a row, e.g. `v1` of `/v1/v1/messages`.
    pub fn repeated_part(&self) -> Option<String> {
        let parts: Vec<&str> = self.url.path_segments()?.collect();
        (1..=parts.len() / 2).find_map(|length| {
            let mut pairs = parts.windows(2 * length).map(|pair| pair.split_at(length));
            let (part, _) = pairs.find(|(one, next)| one == next && *one != [""])?;
            Some(part.join("/"))
        })
    }

    /// Where an answer with this `location` leads.
    ///
    /// # Errors
    /// That is not such an address.
    pub fn redirected(&self, location: &str) -> Result<Self, UnusableAddress> {
        let next = self.url.join(location);
        let next = next.map_err(|error| UnusableAddress::Unreadable(error.to_string()))?;
        Self::parse(next.as_str())
    }

    /// The same address by `https`.
    #[must_use]
    pub fn encrypted(mut self) -> Self {
        // It fails for other schemes only.
        let _ = self.url.set_scheme("https");
        self
    }

    /// Whether both are on one server. The usual ports of `http` and `https` count as one.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.authority() == other.authority()
    }

    /// The values in the query whose names are those of secrets.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let pairs = self.url.query_pairs();
        pairs
            .filter(|(name, _)| names_secret(name))
            .map(|(_, value)| Secret::new(value))
            .collect()
    }

    /// The host, and the port if there is one.
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
    /// To this machine and to private networks only.
    #[default]
    Nearby,
    /// Anywhere: the configuration allows it.
    Anywhere,
}

/// Names that only private networks resolve.
const PRIVATE_SUFFIXES: &[&str] = &[".local", ".internal", ".lan", ".localhost", ".home.arpa"];

impl Address {
    /// Checks that a secret may be sent there.
    ///
    /// # Errors
    /// It would cross the open network unencrypted.
    pub fn admit_secrets(&self, plain_text: PlainText) -> Result<(), UnusableAddress> {
        if self.is_encrypted() || plain_text == PlainText::Anywhere || self.is_nearby() {
            return Ok(());
        }
        Err(UnusableAddress::PlainText {
            host: self.authority(),
        })
    }

    /// Whether the host is this machine or one of a private network, judging by its name.
    pub fn is_nearby(&self) -> bool {
        match self.host() {
            Host::Machine(IpAddr::V4(address)) => {
                address.is_loopback() || address.is_private() || address.is_link_local()
            }
            Host::Machine(IpAddr::V6(address)) => {
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
            Ok(address) => Host::Machine(address.to_canonical()),
            Err(_) => Host::Name(bare),
        }
    }
}

/// Which machine an address names.
pub(super) enum Host<'a> {
    /// By its number. Of IPv4 addresses in IPv6 form it is the IPv4 address.
    Machine(IpAddr),
    /// By a name, to be looked up.
    Name(&'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_whatever_the_slashes() {
        let rows = [
            (
                "https://a.b/v1",
                "chat/completions",
                "https://a.b/v1/chat/completions",
            ),
            ("https://a.b/v1/", "/chat", "https://a.b/v1/chat"),
            ("https://a.b", "api/chat", "https://a.b/api/chat"),
            (
                "https://a.b/x?api-version=1#f",
                "chat",
                "https://a.b/x/chat?api-version=1",
            ),
            (
                "http://[::1]:8/g",
                "m:s?alt=sse",
                "http://[::1]:8/g/m:s?alt=sse",
            ),
            ("http://h/?k=1", "m?alt=sse", "http://h/m?k=1&alt=sse"),
        ];
        for (base, path, expected) in rows {
            let joined = Address::parse(base).unwrap().join(path);
            assert_eq!(joined.to_string(), expected);
        }
    }

    #[test]
    fn a_repeated_part_of_a_path_is_found() {
        let rows = [
            ("https://a.b/v1/v1/messages", Some("v1")),
            ("https://a.b/v1/messages", None),
            (
                "https://a.b/x/chat/completions/chat/completions",
                Some("chat/completions"),
            ),
            ("https://a.b/v1/x/v1", None),
            ("https://a.b//x", None),
            ("https://a.b", None),
        ];
        for (address, expected) in rows {
            let found = Address::parse(address).unwrap().repeated_part();
            assert_eq!(found.as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn other_addresses_are_refused_without_being_repeated() {
        for text in [
            "",
            "localhost:8080",
            "ftp://a/b",
            "file:///x",
            "https://",
            "//a",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        let error = Address::parse("https://me:canary@host/").unwrap_err();
        assert_eq!(error, UnusableAddress::Credentials);
        assert!(!error.to_string().contains("canary"));
    }

    #[test]
    fn secrets_stay_on_private_networks_or_are_encrypted() {
        let allowed = [
            "https://api.example.com",
            "http://localhost:8000",
            "http://127.0.0.1:1",
            "http://127.9.9.9",
            "http://[::1]:4",
            "http://[fd00::2]",
            "http://[::ffff:10.0.0.1]",
            "http://10.1.2.3",
            "http://172.20.0.5:11434",
            "http://192.168.1.7",
            "http://gpu:8000",
            "http://gpu.lan",
            "http://HOST.docker.internal:11434",
        ];
        for text in allowed {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.admit_secrets(PlainText::Nearby), Ok(()), "{text}");
        }
        let refused = [
            "http://api.example.com/v1",
            "http://8.8.8.8",
            "http://172.32.0.1",
            "http://[2001:db8::1]",
            "http://[::ffff:8.8.8.8]",
            "http://localhost.example.com",
            "http://0.0.0.0",
        ];
        for text in refused {
            let address = Address::parse(text).unwrap();
            assert!(address.admit_secrets(PlainText::Nearby).is_err(), "{text}");
            assert_eq!(address.admit_secrets(PlainText::Anywhere), Ok(()));
        }
    }
}
