//! The HTTP client.

use std::sync::OnceLock;

use reqwest::redirect::Policy;
use rustls::ClientConfig;
use tokio::time::timeout;

use super::failure::{MAX_MESSAGE_BYTES, causes, chain};
use super::reach::Guard;
use super::{
    Address, Headers, HttpFailure, HttpSettings, Outgoing, Reach, Redaction, RefusedAddress,
    Response, tls,
};

/// Hint for servers that use the certificate of an authority.
const AUTHORITY_HINT: &str = ": the server's certificate is one for an authority; make it with \
                             `-addext basicConstraints=critical,CA:FALSE`";

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
        Self::reaching(Reach::Anywhere, settings)
    }

    /// Creates a client that connects only to addresses within `reach`.
    pub fn reaching(reach: Reach, settings: HttpSettings) -> Self {
        Self {
            guard: Guard::new(reach, settings.proxies.hosts()),
            settings,
            plain: OnceLock::new(),
            encrypted: OnceLock::new(),
        }
    }

    /// Posts a request. Returns the response when its headers have arrived. Must be called within an
    /// [`super::Engine`].
    ///
    /// # Errors
    /// No response arrived in time.
    pub async fn send(&self, outgoing: &Outgoing) -> Result<Response, HttpFailure> {
        let client = self.for_address(&outgoing.address)?;
        let request = client.post(outgoing.address.url.clone());
        let request = request
            .header("content-type", "application/json")
            .body(outgoing.body.clone());
        self.with_headers(request, outgoing).await
    }

    /// Sends a GET request with the headers of `outgoing` and without a body.
    ///
    /// # Errors
    /// No response arrived in time.
    pub async fn fetch(&self, outgoing: &Outgoing) -> Result<Response, HttpFailure> {
        let client = self.for_address(&outgoing.address)?;
        let request = client.get(outgoing.address.url.clone());
        self.with_headers(request, outgoing).await
    }

    /// Sends a GET request. Returns the response when its headers have arrived. Must be called within an
    /// [`super::Engine`].
    ///
    /// # Errors
    /// The address is out of reach, or no response arrived in time.
    pub async fn get(&self, address: &Address, accept: &str) -> Result<Response, HttpFailure> {
        let redaction = Redaction::of(&address.secrets());
        let request = self.for_address(address)?.get(address.url.clone());
        // Without compression, responses cannot expand in memory.
        let request = request
            .header("accept-encoding", "identity")
            .header("accept", accept);
        self.response(request, address, redaction).await
    }

    async fn response(
        &self,
        request: reqwest::RequestBuilder,
        address: &Address,
        redaction: Redaction,
    ) -> Result<Response, HttpFailure> {
        let idle = self.settings.limits.idle;
        let answered = async {
            self.guard
                .check(address)
                .await
                .map_err(|refused| HttpFailure::unusable(refused.to_string()))?;
            let sent = request.send().await;
            sent.map_err(|error| self.failure(&error, address, &redaction))
        };
        let response = timeout(idle, answered)
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

    async fn with_headers(
        &self,
        mut request: reqwest::RequestBuilder,
        outgoing: &Outgoing,
    ) -> Result<Response, HttpFailure> {
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
        self.response(request, &outgoing.address, redaction).await
    }

    /// Returns the client for an address, for other protocols over HTTP.
    ///
    /// # Errors
    /// The client cannot be built.
    pub fn for_address(&self, address: &Address) -> Result<&reqwest::Client, HttpFailure> {
        let client = if address.is_encrypted() || self.settings.proxies.has_encrypted() {
            self.encrypted
                .get_or_init(|| self.build(tls::with_roots(&self.settings)?))
        } else {
            self.plain.get_or_init(|| self.build(tls::without_roots()?))
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
            .map_err(|error| HttpFailure::unusable(chain(&error)))
    }

    fn failure(
        &self,
        error: &reqwest::Error,
        address: &Address,
        redaction: &Redaction,
    ) -> HttpFailure {
        if error.is_timeout() && error.is_connect() {
            return HttpFailure::timed_out(self.settings.limits.connect);
        }
        let refused = causes(error).find_map(|cause| cause.downcast_ref::<RefusedAddress>());
        if let Some(refused) = refused {
            return HttpFailure::unusable(refused.to_string());
        }
        let mut message = format!("{}: {}", address.authority(), chain(error));
        if message.contains("CaUsedAsEndEntity") {
            message.push_str(AUTHORITY_HINT);
        }
        HttpFailure::Unreachable {
            message: redaction.clean_line(&message, MAX_MESSAGE_BYTES),
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
