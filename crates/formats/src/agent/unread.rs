//! Agents whose sessions are not read, and known agents that use another agent's format.

use std::path::Path;

/// Agents, one per line, in four columns: the name, parts of the paths of its sessions, the beginning of its files if
/// no other agent's files have it, and advice for users.
const AGENTS: &str = include_str!("unread.txt");

/// The advice for agents that use another agent's format.
const MAPPED: &str = "its files are read if they have the format of another agent";

/// An agent without its own [`Format`](super::format::Format).
#[derive(Debug, Clone, Copy)]
struct OtherAgent {
    name: &'static str,
    paths: &'static str,
    beginning: &'static str,
    advice: &'static str,
}

fn parse_agents() -> impl Iterator<Item = OtherAgent> {
    AGENTS.lines().filter_map(|line| {
        let mut columns = line.split('|').map(str::trim);
        Some(OtherAgent {
            name: columns.next()?,
            paths: columns.next()?,
            beginning: columns.next()?,
            advice: columns
                .next()
                .filter(|advice| !advice.is_empty())
                .unwrap_or(MAPPED),
        })
    })
}

/// Returns why a session with this first line is not read although its records look like another agent's.
pub fn find_refusal(first_line: &[u8]) -> Option<String> {
    let starts = |known: &OtherAgent| {
        !known.beginning.is_empty() && first_line.starts_with(known.beginning.as_bytes())
    };
    parse_agents().find(starts).map(OtherAgent::format_refusal)
}

/// Returns why a file at this path, which matches no format, is not read.
pub fn find_refusal_at(path: &Path) -> Option<String> {
    find_agent(path).map(OtherAgent::format_refusal)
}

fn find_agent(path: &Path) -> Option<OtherAgent> {
    let parts: Vec<_> = path.iter().collect();
    let is_in = |place: &str| {
        let place: Vec<_> = Path::new(place).iter().collect();
        parts.windows(place.len()).any(|part| part == place)
    };
    parse_agents().find(|known| known.paths.split_ascii_whitespace().any(is_in))
}

impl OtherAgent {
    fn format_refusal(self) -> String {
        let Self { name, advice, .. } = self;
        format!("sessions of {name} are not read; {advice}")
    }
}

/// Returns the name of the agent whose sessions are at a path, if they have the format of another one.
pub(super) fn find_known_fork(path: &Path) -> Option<&'static str> {
    Some(find_agent(path)?.name)
}

/// Returns the names that [`find_known_fork`] can return.
pub(super) fn list_known_forks<'a>() -> impl Iterator<Item = &'a str> {
    let others = parse_agents().filter(|other| !other.paths.is_empty());
    others.map(|other| other.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_named_by_place_and_beginning() {
        let name = |path| find_known_fork(Path::new(path));
        assert_eq!(name("/h/.local/share/amp/threads/T-1.json"), Some("Amp"));
        assert_eq!(name("/p/.crush/crush.db"), Some("Crush"));
        assert_eq!(name("/h/.iflow/projects/p/s.jsonl"), Some("iFlow"));
        assert_eq!(name("/h/.claude/projects/iflow/s.jsonl"), None);
        let buddy = br#"{"type":"session_start","sessionId":"codebuddy_1"}"#;
        assert!(find_refusal(buddy).unwrap().contains("CodeBuddy"));
        assert!(find_refusal(br#"{"step_index":0,"source":"USER"}"#).is_some());
        assert_eq!(
            find_refusal(br#"{"type":"session_start","id":"x","cwd":"/"}"#),
            None
        );
    }
}
