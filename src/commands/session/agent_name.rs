//! `--agent`: a known agent, or an agent that uses the format of a known agent.

use clap::ValueEnum;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use crate::agent::{Agent, NamedRoots};
use crate::commands::UsageError;
use crate::commands::peers_words::find_hint;
use crate::session::Root;

/// The agent of `--agent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentName {
    /// A known agent.
    Known(Agent),
    /// Another agent, which uses the format of a known agent.
    Fork(String),
}

impl AgentName {
    /// Returns the known agent.
    pub(crate) fn known_agent(&self) -> Option<Agent> {
        match self {
            Self::Known(agent) => Some(*agent),
            Self::Fork(_) => None,
        }
    }

    /// Returns the name of an agent that is not known itself.
    pub(crate) fn fork_name(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Fork(name) => Some(name),
        }
    }

    /// Whether sessions of the agent can be in a directory.
    pub(crate) fn may_be_in(&self, root: &Root, named_roots: &NamedRoots) -> bool {
        let fork = named_roots.find_fork_name(&root.path);
        root.agent.is_none_or(|agent| match self {
            Self::Known(wanted) => agent == *wanted && fork.is_none(),
            Self::Fork(wanted) => fork == Some(wanted),
        })
    }

    /// Replaces the name of another agent by its spelling in the configuration.
    ///
    /// # Errors
    /// The agent is unknown.
    pub(super) fn resolve(&mut self, named_roots: &NamedRoots) -> Result<(), UsageError> {
        let Self::Fork(name) = self else {
            return Ok(());
        };
        let mut forks = named_roots.fork_names();
        if let Some(known) = forks.find(|known| known.eq_ignore_ascii_case(name)) {
            known.clone_into(name);
            return Ok(());
        }
        let mut known: Vec<&str> = Agent::ALL.map(Agent::name).to_vec();
        known.extend(named_roots.fork_names());
        let list_agents = || {
            format!(
                "agents: {}; `[agents.NAME]` in the configuration adds others",
                known.join(", ")
            )
        };
        let hint = find_hint(name, true).unwrap_or_else(list_agents);
        Err(UsageError::new(format!("unknown agent `{name}`")).with_hint(hint))
    }
}

/// Parses the name of an agent. Names in the configuration are checked later.
#[derive(Debug, Clone)]
pub(crate) struct AgentNameParser;

impl TypedValueParser for AgentNameParser {
    type Value = AgentName;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let name = StringValueParser::new().parse_ref(command, argument, value)?;
        Ok(match Agent::from_str(&name, true) {
            Ok(agent) => AgentName::Known(agent),
            Err(_) => AgentName::Fork(name),
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = Agent::value_variants().iter();
        Some(Box::new(known.filter_map(ValueEnum::to_possible_value)))
    }
}
