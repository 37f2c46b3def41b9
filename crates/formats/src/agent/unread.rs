//! Agents whose sessions are not read, and agents that use another agent's format.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Agent, Format, Root};

/// Agents, one on a line: the name, directories and files in the paths of its sessions, the beginning of
/// its files if that is distinctive, and the way to see its sessions.
const AGENTS: &str = include_str!("unread.txt");

/// The advice for agents that use another agent's format.
const MAPPED: &str = "its files are read if they have the format of another agent";

/// An agent without its own [`Format`](super::format::Format).
#[derive(Debug, Clone, Copy)]
struct OtherAgent {
    name: &'static str,
    places: &'static str,
    beginning: &'static str,
    advice: &'static str,
}

fn other_agents() -> impl Iterator<Item = OtherAgent> {
    AGENTS.lines().filter_map(|line| {
        let mut columns = line.split('|').map(str::trim);
        Some(OtherAgent {
            name: columns.next()?,
            places: columns.next()?,
            beginning: columns.next()?,
            advice: columns
                .next()
                .filter(|advice| !advice.is_empty())
                .unwrap_or(MAPPED),
        })
    })
}

/// Returns why a session with this first line is not read although its records look like another agent's.
pub fn refusal(first_line: &[u8]) -> Option<String> {
    let starts = |known: &OtherAgent| {
        !known.beginning.is_empty() && first_line.starts_with(known.beginning.as_bytes())
    };
    other_agents().find(starts).map(OtherAgent::refusal)
}

/// Returns why a file at this path, which matches no format, is not read.
pub fn refusal_at(path: &Path) -> Option<String> {
    at(path).map(OtherAgent::refusal)
}

fn at(path: &Path) -> Option<OtherAgent> {
    let parts: Vec<_> = path.iter().collect();
    let is_in = |place: &str| {
        let place: Vec<_> = Path::new(place).iter().collect();
        parts.windows(place.len()).any(|part| part == place)
    };
    other_agents().find(|known| known.places.split_ascii_whitespace().any(is_in))
}

impl OtherAgent {
    fn refusal(self) -> String {
        let Self { name, advice, .. } = self;
        format!("sessions of {name} are not read; {advice}")
    }
}

/// A directory with the sessions of an agent that uses the format of a known one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRoot {
    /// The name of the agent.
    pub name: String,
    /// The agent whose format it uses.
    pub format: Agent,
    /// The directory.
    pub path: PathBuf,
}

/// The agents that the configuration names. By default there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedRoots(Arc<[NamedRoot]>);

impl NamedRoots {
    /// Returns these agents, also at the resolved paths of their directories, by which files are found.
    pub fn new(roots: Vec<NamedRoot>) -> Self {
        let resolved: Vec<NamedRoot> = roots
            .iter()
            .filter_map(|root| {
                let path = fs::canonicalize(&root.path).ok()?;
                (path != root.path).then(|| NamedRoot {
                    path,
                    ..root.clone()
                })
            })
            .collect();
        Self([roots, resolved].concat().into())
    }

    /// Returns their directories.
    pub fn roots(&self) -> impl Iterator<Item = Root> {
        self.0.iter().map(|root| Root {
            agent: Some(root.format),
            path: root.path.clone(),
        })
    }

    /// Returns the format of the files in a directory of these agents.
    pub fn format_at(&self, path: &Path) -> Option<&'static Format> {
        Some(self.at(path)?.format.format())
    }

    /// Returns the agent in whose directory a file is, if its sessions have the format of another
    /// agent: one of these, or one that is known.
    pub fn fork_name_at(&self, path: &Path) -> Option<&str> {
        let named = self.at(path).map(|root| root.name.as_str());
        named.or_else(|| Some(at(path)?.name))
    }

    /// Returns the names of these agents and of those that [`Self::fork_name_at`] finds.
    pub fn fork_names(&self) -> impl Iterator<Item = &str> {
        let named = self.0.iter().map(|root| root.name.as_str());
        let others = other_agents().filter(|other| !other.places.is_empty());
        named.chain(others.map(|other| other.name))
    }

    fn at(&self, path: &Path) -> Option<&NamedRoot> {
        self.0.iter().find(|root| path.starts_with(&root.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_named_by_place_and_beginning() {
        let none = NamedRoots::default();
        let name = |path| none.fork_name_at(Path::new(path));
        assert_eq!(
            name("/h/.local/share/goose/sessions/sessions.db"),
            Some("goose")
        );
        assert_eq!(name("/p/.crush/crush.db"), Some("Crush"));
        assert_eq!(name("/h/.iflow/projects/p/s.jsonl"), Some("iFlow"));
        assert_eq!(name("/h/.claude/projects/iflow/s.jsonl"), None);
        let buddy = br#"{"type":"session_start","sessionId":"codebuddy_1"}"#;
        assert!(refusal(buddy).unwrap().contains("CodeBuddy"));
        assert!(refusal(br#"{"step_index":0,"source":"USER"}"#).is_some());
        assert_eq!(
            refusal(br#"{"type":"session_start","id":"x","cwd":"/"}"#),
            None
        );
    }
}
