//! A request before it is sent.

use super::{Address, Redaction, Secret};

/// A POST request with a JSON body, or a GET request.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The address.
    pub address: Address,
    /// Headers in addition to `content-type` and `content-length`.
    pub headers: Vec<Header>,
    /// The body, sent unchanged.
    pub body: String,
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: HeaderValue,
}

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// Not secret.
    Open(String),
    /// Secret: never displayed.
    Secret(Secret),
}

impl HeaderValue {
    /// Returns the text to send.
    pub(super) fn expose(&self) -> &str {
        match self {
            Self::Open(text) => text,
            Self::Secret(secret) => secret.expose(),
        }
    }

    pub(super) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Open(_) => None,
            Self::Secret(secret) => Some(secret),
        }
    }
}

impl Header {
    /// Creates a header without a secret.
    pub fn open(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Open(value.into()),
        }
    }

    /// Creates a header with a secret.
    pub fn secret(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Secret(Secret::new(value)),
        }
    }
}

impl Outgoing {
    /// Returns a redaction of its secrets.
    pub fn redaction(&self) -> Redaction {
        let headers = self.headers.iter();
        let in_headers = headers.filter_map(|header| header.value.secret());
        Redaction::of(in_headers.chain(&self.address.secrets()))
    }

    /// Whether it contains secrets.
    pub fn has_secrets(&self) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|header| header.value.secret().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_an_address_are_secret() {
        let base = Address::parse("https://host/v1?key=abcdefgh&api-version=2025-01-01").unwrap();
        let outgoing = Outgoing {
            address: base.join("chat?alt=sse"),
            headers: Vec::new(),
            body: String::new(),
        };
        assert_eq!(
            outgoing.redaction().clean(&outgoing.address.to_string()),
            "https://host/v1/chat?key=[redacted]&api-version=2025-01-01&alt=sse"
        );
    }
}
