//! The network of a workspace: options, settings and rules about domains.

use crate::client::proxy::DomainRules;
use crate::commands::UsageError;
use crate::config::PermissionSettings;
use crate::permission::Behavior;
use crate::process::{Domains, Network};

/// Returns what a workspace reaches: the network of `--network`, or the domains of options, of `sandbox` in settings and
/// of `WebFetch(domain:…)` rules, if there are any.
///
/// # Errors
/// A pattern is malformed, or an option allows domains beside the whole network.
pub(super) fn resolve_network(
    network: Network,
    allowed: &[String],
    settings: &PermissionSettings,
) -> Result<(Network, Domains), UsageError> {
    if network == Network::On && !allowed.is_empty() {
        let problem = "`--allow-domain` restricts nothing with `--network on`";
        return Err(UsageError::new(problem));
    }
    let (rules, sandbox) = (&settings.rules, &settings.sandbox);
    let join = |named: &[String], behavior| -> Vec<String> {
        named
            .iter()
            .cloned()
            .chain(rules.domains(behavior))
            .collect()
    };
    let domains = Domains {
        allowed: join(
            &[allowed, &sandbox.allowed_domains].concat(),
            Behavior::Allow,
        ),
        denied: join(&sandbox.denied_domains, Behavior::Deny),
    };
    DomainRules::new(&domains.allowed, &domains.denied)
        .map_err(|problem| UsageError::new(problem).about("domains of the workspace"))?;
    match network {
        Network::Off if !domains.allowed.is_empty() => Ok((Network::Domains, domains)),
        network => Ok((network, domains)),
    }
}
