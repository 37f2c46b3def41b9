//! The network of programs in a workspace.

use std::any::Any;
use std::io;
use std::net::TcpListener;

pub use turnpipe_core::message::Network;

/// Patterns of the servers to which a proxy connects. Denied ones take precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Domains {
    /// The servers that programs may reach.
    pub allowed: Vec<String>,
    /// Exceptions from the allowed servers.
    pub denied: Vec<String>,
}

/// A proxy, which ends when it is dropped.
pub type RunningProxy = Box<dyn Any + Send + Sync>;

/// Starts a proxy to domains for the clients of a listening socket.
pub type ProxyStarter = fn(TcpListener, &Domains) -> io::Result<RunningProxy>;

/// The port of the proxy, on the loopback interface of a workspace. It is above the range from which Linux assigns
/// ports by default.
pub const PROXY_PORT: u16 = 61_080;
