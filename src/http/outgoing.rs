//! A request before it is sent, and the secrets in it.

use super::{Address, Redaction, Secret};

/// A request that posts JSON.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The address.
    pub address: Address,
    /// Headers other than the type and length of the content.
    pub headers: Vec<Header>,
    /// The body, exactly as it is sent.
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
    /// May be shown.
    Open(String),
    /// Must never be shown.
    Secret(Secret),
}

impl HeaderValue {
    /// The text, to be sent.
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
    /// A header that may be shown.
    pub fn open(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Open(value.into()),
        }
    }

    /// A header that must never be shown.
    pub fn secret(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Secret(Secret::new(value)),
        }
    }
}

impl Outgoing {
    /// Masks its secrets.
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
