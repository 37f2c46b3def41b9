//! The request of a client of the proxy.

use httparse::{EMPTY_HEADER, Header, Request, Status};
use url::{Position, Url};

use crate::sandbox::HostAndPort;

/// Maximum number of headers.
const MAX_HEADERS: usize = 100;

/// Headers about the connection to the proxy, and `Host`, which the URL replaces.
const NOT_SENT: &str = "connection host keep-alive proxy-authorization proxy-connection te upgrade";

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProxyRequest {
    pub(super) server: HostAndPort,
    /// Whether the proxy answers the client before the server does.
    pub(super) is_tunnel: bool,
    /// The bytes that are sent to the server first.
    pub(super) beginning: Vec<u8>,
}

impl ProxyRequest {
    /// Parses the bytes that a client sent; `None` if a part of the head is missing.
    ///
    /// # Errors
    /// The reason why the request is refused.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, &'static str> {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut request = Request::new(&mut headers);
        let status = request
            .parse(bytes)
            .map_err(|_| "the request is malformed")?;
        let (Status::Complete(length), Some(method), Some(target)) =
            (status, request.method, request.path)
        else {
            return Ok(None);
        };
        let rest = bytes.get(length..).unwrap_or_default();
        let is_tunnel = method == "CONNECT";
        let mut beginning = Vec::new();
        let server = if is_tunnel {
            HostAndPort::parse(target)
        } else {
            let url = Url::parse(target)
                .ok()
                .filter(|url| url.scheme() == "http")
                .ok_or("the target is not an `http://` URL")?;
            let path = &url[Position::BeforePath..Position::AfterQuery];
            let host = &url[Position::BeforeHost..Position::AfterPort];
            let version = request.version.unwrap_or_default();
            beginning.extend(format!("{method} {path} HTTP/1.{version}\r\n").bytes());
            beginning.extend(format!("Host: {host}\r\nConnection: close\r\n").bytes());
            for Header { name, value } in request.headers.iter() {
                if !NOT_SENT
                    .split(' ')
                    .any(|unsent| name.eq_ignore_ascii_case(unsent))
                {
                    beginning.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
                }
            }
            beginning.extend(b"\r\n");
            let port = url.port_or_known_default().unwrap_or_default();
            HostAndPort::parse(&format!("{}:{port}", url.host_str().unwrap_or_default()))
        };
        beginning.extend(rest);
        Ok(Some(Self {
            server: server.ok_or("the target is not a host with a port")?,
            is_tunnel,
            beginning,
        }))
    }
}

#[cfg(test)]
#[path = "proxy_request_tests.rs"]
mod tests;
