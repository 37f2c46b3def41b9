//! The one client.

use std::error::Error as _;
use std::sync::OnceLock;

use reqwest::redirect::Policy;
use rustls::ClientConfig;
use tokio::time::timeout;

use super::{Address, Headers, HttpFailure, HttpSettings, Outgoing, Redaction, Response, tls};

/// What helps where the certificate of a server says that it is an authority's.
const OWN_AUTHORITY: &str = ": the server's certificate is one for an authority; make it with \
                             `-addext basicConstraints=critical,CA:FALSE`";

/// The longest error message, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 300;

/// Sends requests. Redirects are not followed: they would send keys to another server.
#[derive(Debug)]
pub struct Client {
    settings: HttpSettings,
    plain: OnceLock<Result<reqwest::Client, HttpFailure>>,
    encrypted: OnceLock<Result<reqwest::Client, HttpFailure>>,
}

impl Client {
    /// A client that builds nothing yet.
    pub fn new(settings: HttpSettings) -> Self {
        Self {
            settings,
            plain: OnceLock::new(),
            encrypted: OnceLock::new(),
        }
    }

    /// Sends a request and returns the answer once its headers have arrived. Must be called within
    /// an [`super::Engine`].
    ///
    /// # Errors
    /// No answer arrived in time.
    pub async fn send(&self, outgoing: &Outgoing) -> Result<Response, HttpFailure> {
        let redaction = outgoing.redaction();
        let idle = self.settings.limits.idle;
        let request = self.request(outgoing, &redaction)?;
        let response = timeout(idle, request.send())
            .await
            .map_err(|_| HttpFailure::timed_out(idle))?
            .map_err(|error| self.failure(&error, &outgoing.address, &redaction))?;
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

    fn request(
        &self,
        outgoing: &Outgoing,
        redaction: &Redaction,
    ) -> Result<reqwest::RequestBuilder, HttpFailure> {
        let client = self.for_address(&outgoing.address)?;
        let mut request = client
            .post(outgoing.address.url.clone())
            .header("content-type", "application/json");
        for header in &outgoing.headers {
            let (Ok(name), Ok(mut value)) = (
                header.name.parse::<reqwest::header::HeaderName>(),
                header
                    .value
                    .expose()
                    .parse::<reqwest::header::HeaderValue>(),
            ) else {
                let name = redaction.clean_line(&header.name, LONGEST_MESSAGE);
                return Err(HttpFailure::unusable(format!(
                    "header {name}: cannot be sent"
                )));
            };
            value.set_sensitive(header.value.secret().is_some());
            request = request.header(name, value);
        }
        Ok(request.body(outgoing.body.clone()))
    }

    /// What sends requests to an address, for those who speak another protocol over HTTP.
    ///
    /// # Errors
    /// It cannot be built.
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
            // `config` has read the proxies from the environment.
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
        let mut message = format!("{}: {}", address.authority(), chain(error));
        if message.contains("CaUsedAsEndEntity") {
            message.push_str(OWN_AUTHORITY);
        }
        HttpFailure::Unreachable {
            message: redaction.clean_line(&message, LONGEST_MESSAGE),
        }
    }
}

/// The causes of an error, without the URL, which may contain a key.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    for cause in std::iter::successors(error.source(), |cause| (*cause).source()) {
        let text = cause.to_string();
        if !causes.iter().any(|known| known.contains(&text)) {
            causes.push(text);
        }
    }
    if causes.is_empty() {
        return "the request failed".to_owned();
    }
    causes.join(": ")
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
