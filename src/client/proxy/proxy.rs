//! The proxy through which programs in a sandbox reach the network.
//!
//! It accepts connections on a socket of their network namespace and connects from this one. It looks names up itself
//! and connects to the addresses that it has checked, so that a second answer of a name server changes nothing.

use std::io::{self, Error, ErrorKind};
use std::net::{self, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};
use url::Host;

use super::domain_rules::DomainRules;
use super::proxy_request::ProxyRequest;
use crate::client::http::{Engine, MessageSender, Reach, look_up_addresses};
use crate::process::{Domains, RunningProxy};
use crate::sandbox::HostAndPort;

/// Maximum number of connections at a time. More clients wait.
const MAX_CONNECTIONS: usize = 256;

/// Maximum length of the head of a request, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// Maximum time from accepting a client to reaching its server, and for the end of a refused connection.
const CONNECT_TIMEOUT: Duration = Duration::from_mins(1);

/// Pause after a client could not be accepted, for example for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A running proxy. It ends, with its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    /// The task that accepts clients.
    _serving: JoinSet<()>,
    /// Keeps the thread that does the work.
    _engine: Engine,
}

/// The rules for connections.
#[derive(Debug)]
pub struct ProxyPolicy {
    /// The servers.
    pub rules: DomainRules,
    /// The addresses that names may have.
    pub reach: Reach,
    /// Returns the addresses of a name, for a port: [`crate::client::http::look_up_addresses`].
    pub look_up: fn(&str, u16) -> io::Result<Vec<SocketAddr>>,
}

impl Proxy {
    /// Serves the clients of a listening socket on the thread of `engine`.
    ///
    /// # Errors
    /// The socket or the thread cannot be used.
    pub fn start(
        listener: net::TcpListener,
        policy: Arc<ProxyPolicy>,
        engine: &Engine,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let start = |_: MessageSender<()>| async {
            let mut serving = JoinSet::new();
            serving.spawn(accept(TcpListener::from_std(listener)?, policy));
            io::Result::Ok(serving)
        };
        Ok(Self {
            _serving: engine.run(start, |()| ())??,
            _engine: engine.clone(),
        })
    }
}

/// Starts a proxy to domains, on a thread of its own. Names may have public addresses.
///
/// # Errors
/// A pattern is malformed, or the socket or the thread cannot be used.
pub fn start_proxy(listener: net::TcpListener, domains: &Domains) -> io::Result<RunningProxy> {
    let policy = ProxyPolicy {
        rules: DomainRules::new(&domains.allowed, &domains.denied).map_err(Error::other)?,
        reach: Reach::Public,
        look_up: look_up_addresses,
    };
    let proxy = Proxy::start(listener, Arc::new(policy), &Engine::default())?;
    Ok(Box::new(proxy))
}

/// Accepts clients until the task is aborted, which ends their connections too.
async fn accept(listener: TcpListener, policy: Arc<ProxyPolicy>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        match listener.accept().await {
            Ok((client, _)) => {
                connections.spawn(serve(client, Arc::clone(&policy)));
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Connects a client to its server. An error means that one of them is gone.
async fn serve(mut client: TcpStream, policy: Arc<ProxyPolicy>) -> io::Result<()> {
    let result = timeout(CONNECT_TIMEOUT, open_server(&mut client, &policy)).await;
    match result.unwrap_or_else(|elapsed| Err(elapsed.into())) {
        Ok(mut server) => copy_bidirectional(&mut client, &mut server).await.map(drop),
        Err(error) => timeout(CONNECT_TIMEOUT, refuse(client, &error)).await?,
    }
}

/// Reads the request of a client, connects to its server, and sends the bytes before the data of the tunnel.
async fn open_server(client: &mut TcpStream, policy: &ProxyPolicy) -> io::Result<TcpStream> {
    let malformed = |problem| Error::new(ErrorKind::InvalidData, problem);
    let mut bytes = Vec::new();
    let request = loop {
        if bytes.len() >= MAX_HEAD || client.read_buf(&mut bytes).await? == 0 {
            return Err(malformed(
                "the head of the request is incomplete or too long",
            ));
        }
        if let Some(request) = ProxyRequest::parse(&bytes).map_err(malformed)? {
            break request;
        }
    };
    let HostAndPort { host, port } = &request.server;
    let with_server = |error: Error| Error::new(error.kind(), format!("{host}:{port}: {error}"));
    let mut server = policy.connect(&request.server).await.map_err(with_server)?;
    server.write_all(&request.beginning).await?;
    if request.is_tunnel {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    }
    Ok(server)
}

impl ProxyPolicy {
    /// Connects to a server.
    ///
    /// # Errors
    /// It is not permitted, one of its addresses is out of reach, or the connection fails.
    async fn connect(&self, server: &HostAndPort) -> io::Result<TcpStream> {
        let reach = self
            .rules
            .check(server, self.reach)
            .map_err(forbidden_error)?;
        let port = server.port;
        let addresses = match server.host.clone() {
            Host::Ipv4(address) => vec![(address, port).into()],
            Host::Ipv6(address) => vec![(address, port).into()],
            Host::Domain(name) => {
                let look_up = self.look_up;
                spawn_blocking(move || look_up(&name, port)).await??
            }
        };
        for address in &addresses {
            reach.check(address.ip()).map_err(forbidden_error)?;
        }
        TcpStream::connect(&*addresses).await
    }
}

fn forbidden_error(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(ErrorKind::PermissionDenied, reason)
}

/// Answers a client, and reads the rest of its data: otherwise the system would discard the answer.
async fn refuse(mut client: TcpStream, error: &Error) -> io::Result<()> {
    let status = match error.kind() {
        ErrorKind::PermissionDenied => "403 Forbidden",
        ErrorKind::InvalidData => "400 Bad Request",
        _ => "502 Bad Gateway",
    };
    // The end of the connection is the end of the text.
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n\
         turnpipe: {error}\n"
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await?;
    copy(&mut client, &mut sink()).await.map(drop)
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
