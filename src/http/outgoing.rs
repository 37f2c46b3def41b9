//! A request before it is sent.

use super::{Address, Redaction, Secret};

/// A request that posts JSON.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Where to.
    pub address: Address,
    /// Headers besides the type and length of the content.
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
    /// Anybody may see it.
    Open(String),
    /// Nobody may.
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
}

impl Header {
    /// A header that anybody may see.
    pub fn open(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Open(value.into()),
        }
    }

    /// A header that nobody may see.
    pub fn secret(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: HeaderValue::Secret(Secret::new(value)),
        }
    }
}

impl Outgoing {
    /// What nobody may see of it.
    pub fn redaction(&self) -> Redaction {
        Redaction::of(
            self.headers
                .iter()
                .filter_map(|header| match &header.value {
                    HeaderValue::Open(_) => None,
                    HeaderValue::Secret(secret) => Some(secret),
                }),
        )
    }

    /// Whether there is anything that nobody may see.
    pub fn has_secrets(&self) -> bool {
        let secret = |header: &Header| matches!(header.value, HeaderValue::Secret(_));
        self.headers.iter().any(secret)
    }
}
