//! What can be configured about requests.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{NoProxy, Proxy, Url};

use super::{HttpFailure, Secret};

/// How all requests are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpSettings {
    /// Which proxies they go through.
    pub proxies: Proxies,
    /// A PEM file with certificates to trust in addition to those of the system.
    pub extra_certificates: Option<PathBuf>,
    /// A PEM file to use instead of the system's certificates.
    pub certificate_file: Option<PathBuf>,
    /// A directory to use instead of the system's certificates.
    pub certificate_directory: Option<PathBuf>,
    /// Time limits.
    pub limits: TimeLimits,
}

/// How long a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// For connecting.
    pub connect: Duration,
    /// Between two pieces of an answer, and to the first.
    pub idle: Duration,
    /// In all, retries included.
    pub total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // A local server may have to load the model first.
            idle: Duration::from_mins(2),
            total: Duration::from_mins(5),
        }
    }
}

/// Proxies by the scheme of the requested address. Their addresses may hold passwords.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http`.
    pub http: Option<Secret>,
    /// For `https`.
    pub https: Option<Secret>,
    /// For schemes without a proxy of their own.
    pub all: Option<Secret>,
    /// Hosts that are reached without a proxy: names, suffixes, addresses, networks, or `*`,
    /// separated by commas.
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

    /// The machines that they run on.
    pub(super) fn hosts(&self) -> Vec<String> {
        let proxies = [&self.http, &self.https, &self.all];
        let addresses = proxies.into_iter().flatten().map(Secret::expose);
        // A proxy without a scheme is asked by `http`.
        let urls = addresses.filter_map(|address| match address.split_once("://") {
            Some(_) => Url::parse(address).ok(),
            None => Url::parse(&format!("http://{address}")).ok(),
        });
        urls.filter_map(|url| Some(url.host_str()?.to_owned()))
            .collect()
    }

    /// The proxies for the client, those of a single scheme first.
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
            // The address may contain a password and is not repeated.
            let proxy = proxy.map_err(|_| {
                HttpFailure::unusable(format!("the {kind} proxy has no usable address"))
            })?;
            proxies.push(proxy.no_proxy(except.clone()));
        }
        Ok(proxies)
    }
}
