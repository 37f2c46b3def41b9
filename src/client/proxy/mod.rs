//! The proxy that connects programs in a workspace, which have no network of their own, to the servers that rules permit.

mod domain_rules;
#[allow(clippy::module_inception, reason = "the file of the type Proxy")]
mod proxy;
mod proxy_request;

pub use domain_rules::DomainRules;
pub use proxy::{Proxy, ProxyPolicy, start_proxy};
