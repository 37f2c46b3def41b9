//! Which requests go through which proxy.

use reqwest::{NoProxy, Proxy};

use super::{HttpFailure, Secret};

/// Proxies by the scheme of the requested address. Their addresses may hold passwords.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http`.
    pub http: Option<Secret>,
    /// For `https`.
    pub https: Option<Secret>,
    /// For what has none of its own.
    pub all: Option<Secret>,
    /// Hosts that are reached without: names, suffixes, addresses, networks, or `*`, with commas
    /// between.
    pub except: Option<String>,
}

impl Proxies {
    /// Whether a request may go through a proxy that is itself reached by TLS.
    pub(super) fn has_encrypted(&self) -> bool {
        [&self.http, &self.https, &self.all]
            .into_iter()
            .flatten()
            .any(|proxy| proxy.expose().starts_with("https:"))
    }

    /// The proxies as the client wants them, the special ones first.
    pub(super) fn build(&self) -> Result<Vec<Proxy>, HttpFailure> {
        let except = self.except.as_deref().and_then(NoProxy::from_string);
        let mut proxies = Vec::new();
        for (kind, address) in [
            ("http", &self.http),
            ("https", &self.https),
            ("all", &self.all),
        ] {
            let Some(address) = address else { continue };
            let proxy = match kind {
                "http" => Proxy::http(address.expose()),
                "https" => Proxy::https(address.expose()),
                _ => Proxy::all(address.expose()),
            };
            // The address may hold a password; nothing is repeated of it.
            let proxy = proxy.map_err(|_| {
                HttpFailure::Unusable(format!("the {kind} proxy has no usable address"))
            })?;
            proxies.push(proxy.no_proxy(except.clone()));
        }
        Ok(proxies)
    }
}
