//! The network of a workspace: options, settings and rules about domains.

use crate::cmd::UsageError;
use crate::permission::{Behavior, Rules};
use crate::process::{Domains, Network};
use crate::sandbox::DomainRules;

/// Returns what a workspace reaches: the network of `--network`, or `domains` and those of `WebFetch(domain:…)` rules, if
/// there are any.
///
/// # Errors
/// A pattern is malformed, or domains are allowed beside the whole network.
pub(super) fn workspace_network(
    network: Network,
    mut domains: Domains,
    rules: &Rules,
) -> Result<(Network, Domains), UsageError> {
    if network == Network::On && !domains.allowed.is_empty() {
        let problem = "`--allow-domain` restricts nothing with `--network on`";
        return Err(UsageError::new(problem));
    }
    domains.allowed.extend(rules.domains(Behavior::Allow));
    domains.denied.extend(rules.domains(Behavior::Deny));
    DomainRules::new(&domains.allowed, &domains.denied)
        .map_err(|problem| UsageError::new(problem).about("domains of the workspace"))?;
    match network {
        Network::Off if !domains.allowed.is_empty() => Ok((Network::Domains, domains)),
        network => Ok((network, domains)),
    }
}
