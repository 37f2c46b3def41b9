//! Addresses of servers.

use std::fmt;

use reqwest::Url;

/// An `http` or `https` address without credentials in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) url: Url,
}

/// A text is no address that requests are sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableAddress {
    /// It is no URL.
    #[error("not an address: {0}")]
    Unreadable(String),
    /// It is a URL of something else.
    #[error("only http and https addresses are used, not {0}")]
    Scheme(String),
    /// It has a user or a password in it; it is not repeated here.
    #[error("an address with a user or password in it is not used; put them into a header")]
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
    /// It is none that requests are sent to.
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

    /// The path, with the query.
    pub fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    /// The host and port, as far as they are given.
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
}
