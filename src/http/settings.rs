//! Configuration of requests.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{NoProxy, Proxy, Url};

use super::{HttpFailure, Secret};

/// Configuration of the client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpSettings {
    /// Proxies.
    pub proxies: Proxies,
    /// A PEM file with certificates to trust in addition to the system's.
    pub extra_certificates: Option<PathBuf>,
    /// A PEM file that replaces the system's certificates.
    pub certificate_file: Option<PathBuf>,
    /// A directory that replaces the system's certificates.
    pub certificate_directory: Option<PathBuf>,
    /// Time limits.
    pub limits: TimeLimits,
}

/// Timeouts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// To connect.
    pub connect: Duration,
    /// Between two chunks of a response, and to the first.
    pub idle: Duration,
    /// In total, with retries.
    pub total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // A local server may load the model first.
            idle: Duration::from_mins(2),
            total: Duration::from_mins(5),
        }
    }
}

/// Proxies by the scheme of the requested URL. Their URLs may contain passwords.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http`.
    pub http: Option<Secret>,
    /// For `https`.
    pub https: Option<Secret>,
    /// For schemes without a proxy.
    pub all: Option<Secret>,
    /// Hosts without a proxy: names, suffixes, IP addresses, networks, or `*`, separated by commas.
    pub except: Option<String>,
}

impl Proxies {
    /// Whether a request may use a proxy over TLS.
    pub(super) fn has_encrypted(&self) -> bool {
        [&self.http, &self.https, &self.all]
            .into_iter()
            .flatten()
            .any(|proxy| proxy.expose().starts_with("https:"))
    }

    /// Returns the hosts of the proxies.
    pub(super) fn hosts(&self) -> Vec<String> {
        let proxies = [&self.http, &self.https, &self.all];
        let addresses = proxies.into_iter().flatten().map(Secret::expose);
        // A proxy without a scheme uses `http`.
        let urls = addresses.filter_map(|address| match address.split_once("://") {
            Some(_) => Url::parse(address).ok(),
            None => Url::parse(&format!("http://{address}")).ok(),
        });
        urls.filter_map(|url| Some(url.host_str()?.to_owned()))
            .collect()
    }

    /// Builds the proxies of the client. Proxies for a single scheme come first.
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
            // The URL may contain a password and is not repeated.
            let proxy = proxy.map_err(|_| {
                HttpFailure::unusable(format!("the {kind} proxy has no usable address"))
            })?;
            proxies.push(proxy.no_proxy(except.clone()));
        }
        Ok(proxies)
    }
}
