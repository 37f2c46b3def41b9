//! The network: one HTTP client, the providers of models, the proxy of a workspace.

pub mod http;
pub mod model;
#[cfg(sandbox)]
pub mod proxy;
