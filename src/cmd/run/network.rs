//! The network of a workspace: options, settings and rules about domains.

use crate::cmd::UsageError;
use crate::permission::{Behavior, Rules};
use crate::process::{Domains, Network};
use crate::sandbox::DomainRules;

/// Returns what a workspace reaches: the network of `--network`, or the domains of `--allow-domain`, of settings and of
/// `WebFetch(domain:…)` rules, if there are any.
///
/// # Errors
/// A pattern is malformed, or there are domains beside the whole network.
pub(super) fn workspace_network(
    network: Network,
    allowed: &[String],
    settings: Domains,
    rules: &Rules,
) -> Result<(Network, Domains), UsageError> {
    if network == Network::On {
        return match allowed {
            [] => Ok((network, Domains::default())),
            _ => Err(UsageError::new(
                "`--allow-domain` restricts nothing with `--network on`",
            )),
        };
    }
    let mut domains = settings;
    domains.allowed.extend_from_slice(allowed);
    domains.allowed.extend(rules.domains(Behavior::Allow));
    domains.denied.extend(rules.domains(Behavior::Deny));
    DomainRules::new(&domains.allowed, &domains.denied)
        .map_err(|problem| UsageError::new(problem).about("domains of the workspace"))?;
    let network = if domains.allowed.is_empty() {
        Network::Off
    } else {
        Network::Domains
    };
    Ok((network, domains))
}
