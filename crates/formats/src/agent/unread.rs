//! Agents whose sessions are not read, and known agents that use another agent's format.

use std::path::Path;

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

/// Returns the name of the agent whose sessions are at a path, if they have the format of another one.
pub(super) fn fork_of_place(path: &Path) -> Option<&'static str> {
    Some(at(path)?.name)
}

/// Returns the names that [`fork_of_place`] returns.
pub(super) fn fork_names<'a>() -> impl Iterator<Item = &'a str> {
    let others = other_agents().filter(|other| !other.places.is_empty());
    others.map(|other| other.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_named_by_place_and_beginning() {
        let name = |path| fork_of_place(Path::new(path));
        assert_eq!(name("/h/.local/share/amp/threads/T-1.json"), Some("Amp"));
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
