//! The HTTP client: its settings, proxies and certificates.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{NoProxy, Proxy, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;

use super::reach::Guard;
use super::response::{MAX_MESSAGE_BYTES, describe_causes, error_chain};
use super::{
    Address, Headers, HttpFailure, Outgoing, Reach, Redaction, RefusedAddress, Response, Secret,
};

/// Errors of TLS and their hints.
const TLS_HINTS: [(&str, &str); 3] = [
    (
        "CaUsedAsEndEntity",
        "the server uses the certificate of an authority (CA) as its own; create one with \
         `-addext basicConstraints=critical,CA:FALSE`",
    ),
    (
        "UnknownIssuer",
        "the authority (CA) of the server's certificate is unknown; set its file in `SSL_CERT_FILE` or in \
         the configuration",
    ),
    (
        "InvalidContentType",
        "the server does not use TLS on this port; try `http://`",
    ),
];

/// Sends requests. Does not follow redirects, which could send keys to another server.
#[derive(Debug)]
pub struct Client {
    settings: HttpSettings,
    guard: Guard,
    plain: OnceLock<Result<reqwest::Client, HttpFailure>>,
    encrypted: OnceLock<Result<reqwest::Client, HttpFailure>>,
}

impl Client {
    /// Creates a client for all addresses.
    pub fn new(settings: HttpSettings) -> Self {
        Self::with_reach(Reach::Anywhere, settings)
    }

    /// Creates a client that connects only to addresses within `reach`.
    pub fn with_reach(reach: Reach, settings: HttpSettings) -> Self {
        Self {
            guard: Guard::new(reach, settings.proxies.hosts()),
            settings,
            plain: OnceLock::new(),
            encrypted: OnceLock::new(),
        }
    }

    /// Posts a request, or sends a GET request if it has no body. Returns the response when its headers have
    /// arrived. Must be called within an [`super::Engine`].
    ///
    /// # Errors
    /// No response arrived in time.
    pub async fn send(&self, outgoing: &Outgoing) -> Result<Response, HttpFailure> {
        let client = self.client_for(&outgoing.address)?;
        let url = outgoing.address.url.clone();
        let mut request = match outgoing.body.as_str() {
            "" => client.get(url),
            body => client
                .post(url)
                .header("content-type", "application/json")
                .body(body.to_owned()),
        };
        let redaction = outgoing.redaction();
        for header in &outgoing.headers {
            let (Ok(name), Ok(mut value)) = (
                header.name.parse::<reqwest::header::HeaderName>(),
                header
                    .value
                    .expose()
                    .parse::<reqwest::header::HeaderValue>(),
            ) else {
                let name = redaction.clean_line(&header.name, MAX_MESSAGE_BYTES);
                return Err(HttpFailure::unusable(format!(
                    "header {name}: cannot be sent"
                )));
            };
            value.set_sensitive(header.value.secret().is_some());
            request = request.header(name, value);
        }
        self.await_response(request, &outgoing.address, redaction)
            .await
    }

    /// Sends a GET request. Returns the response when its headers have arrived. Must be called within an
    /// [`super::Engine`].
    ///
    /// # Errors
    /// The address is out of reach, or no response arrived in time.
    pub async fn get(&self, address: &Address, accept: &str) -> Result<Response, HttpFailure> {
        let redaction = Redaction::new(&address.secrets());
        let request = self.client_for(address)?.get(address.url.clone());
        let request = request.header("accept", accept);
        self.await_response(request, address, redaction).await
    }

    async fn await_response(
        &self,
        request: reqwest::RequestBuilder,
        address: &Address,
        redaction: Redaction,
    ) -> Result<Response, HttpFailure> {
        let idle = self.settings.limits.idle;
        let exchange = async {
            self.guard
                .check(address)
                .await
                .map_err(|refused| HttpFailure::unusable(refused.to_string()))?;
            // Without compression, responses cannot expand in memory.
            let result = request.header("accept-encoding", "identity").send().await;
            result.map_err(|error| self.to_failure(&error, address, &redaction))
        };
        let response = timeout(idle, exchange)
            .await
            .map_err(|_| HttpFailure::timed_out(idle))??;
        let headers: Headers = response
            .headers()
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes());
                (name.to_string(), value.into_owned())
            })
            .collect();
        Ok(Response::from_network(response, headers, idle, redaction))
    }

    /// Returns the client for an address, for other protocols over HTTP.
    ///
    /// # Errors
    /// The client cannot be built.
    pub fn client_for(&self, address: &Address) -> Result<&reqwest::Client, HttpFailure> {
        let client = if address.is_encrypted() || self.settings.proxies.has_encrypted() {
            self.encrypted
                .get_or_init(|| self.build(config_with_roots(&self.settings)?))
        } else {
            self.plain
                .get_or_init(|| self.build(config_without_roots()?))
        };
        client.as_ref().map_err(Clone::clone)
    }

    fn build(&self, tls: ClientConfig) -> Result<reqwest::Client, HttpFailure> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("turnpipe/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(self.settings.limits.connect)
            .tls_backend_preconfigured(tls)
            .http1_only()
            .dns_resolver(self.guard.clone())
            // Proxies come from `config`.
            .no_proxy();
        for proxy in self.settings.proxies.build()? {
            builder = builder.proxy(proxy);
        }
        builder
            .build()
            .map_err(|error| HttpFailure::unusable(describe_causes(&error)))
    }

    fn to_failure(
        &self,
        error: &reqwest::Error,
        address: &Address,
        redaction: &Redaction,
    ) -> HttpFailure {
        if error.is_timeout() && error.is_connect() {
            return HttpFailure::timed_out(self.settings.limits.connect);
        }
        let refused = error_chain(error).find_map(|cause| cause.downcast_ref::<RefusedAddress>());
        if let Some(refused) = refused {
            return HttpFailure::unusable(refused.to_string());
        }
        let mut message = format!("{}: {}", address.authority(), describe_causes(error));
        if let Some((_, hint)) = TLS_HINTS.iter().find(|(cause, _)| message.contains(cause)) {
            message = format!("{message}: {hint}");
        }
        let proxies = self.settings.proxies.hosts();
        if error.is_connect() && !proxies.is_empty() && !message.contains("proxy") {
            message = format!("{message}; a proxy is set: {}", proxies.join(", "));
        }
        HttpFailure::Unreachable {
            message: redaction.clean_line(&message, MAX_MESSAGE_BYTES),
        }
    }
}

/// Returns a configuration without certificates, for unencrypted connections. Reads no files.
pub(super) fn config_without_roots() -> Result<ClientConfig, HttpFailure> {
    config_with_store(RootCertStore::empty())
}

/// Returns a configuration that trusts the system's certificates, or their replacement, and the extra ones.
/// Parses a few hundred kilobytes.
///
/// # Errors
/// A configured file cannot be read, or no certificates were found.
pub(super) fn config_with_roots(settings: &HttpSettings) -> Result<ClientConfig, HttpFailure> {
    let mut store = RootCertStore::empty();
    if let Some(path) = &settings.extra_certificates {
        let unusable = |reason: String| {
            HttpFailure::unusable(format!("certificates in {}: {reason}", path.display()))
        };
        let before = store.len();
        let certificates =
            CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
            store
                .add(certificate)
                .map_err(|error| unusable(error.to_string()))?;
        }
        if store.len() == before {
            return Err(unusable("none found".to_owned()));
        }
    }
    let system = match (&settings.certificate_file, &settings.certificate_directory) {
        (None, None) => rustls_native_certs::load_native_certs(),
        (file, directory) => {
            rustls_native_certs::load_certs_from_paths(file.as_deref(), directory.as_deref())
        }
    };
    // System stores often have old certificates that cannot be parsed.
    store.add_parsable_certificates(system.certs);
    if store.is_empty() {
        let error = system.errors.first().map(ToString::to_string);
        let why = error.unwrap_or_else(|| "the system has no certificates".to_owned());
        return Err(HttpFailure::unusable(format!(
            "no root certificates: {why}"
        )));
    }
    config_with_store(store)
}

fn config_with_store(store: RootCertStore) -> Result<ClientConfig, HttpFailure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpFailure::unusable(format!("tls: {error}")))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

/// Configuration of the client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpSettings {
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
    pub http: Option<Secret>,
    pub https: Option<Secret>,
    /// For schemes without a proxy.
    pub all: Option<Secret>,
    /// Hosts without a proxy: names, suffixes, IP addresses, networks, or `*`, separated by commas.
    pub excluded: Option<String>,
}

impl Proxies {
    /// Whether a request may use a proxy over TLS.
    pub(super) fn has_encrypted(&self) -> bool {
        [&self.http, &self.https, &self.all]
            .into_iter()
            .flatten()
            .any(|proxy| proxy.expose().starts_with("https:"))
    }

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
        let excluded = self.excluded.as_deref().and_then(NoProxy::from_string);
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
            proxies.push(proxy.no_proxy(excluded.clone()));
        }
        Ok(proxies)
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
