//! Agents whose sessions are not read, and agents that use another agent's format.

use std::path::Path;

/// An agent without its own [`Format`](super::format::Format).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OtherAgent {
    name: &'static str,
    /// Directories and files in the paths of its sessions.
    places: &'static [&'static str],
    /// The beginning of its files. Empty if that is not distinctive.
    beginning: &'static str,
    /// The way to see its sessions.
    advice: &'static str,
}

/// The advice for agents that use another agent's format.
const MAPPED: &str = "its files are read if they have the format of another agent";

const OTHERS: [OtherAgent; 9] = [
    other(
        "goose",
        &["goose/sessions", ".goose"],
        "",
        "`goose session export` writes them",
    ),
    other("Crush", &[".crush", "crush.db"], "", "`crush` shows them"),
    other(
        "Kimi",
        &[".kimi", ".kimi-code"],
        "{\"type\":\"metadata\",\"protocol_version\"",
        "`kimi` shows them",
    ),
    other(
        "Amp",
        &["amp/threads"],
        "",
        "`amp threads markdown` writes them",
    ),
    other(
        "Antigravity",
        &["antigravity-cli", "antigravity"],
        "{\"step_index\"",
        "Antigravity shows them",
    ),
    other("iFlow", &[".iflow"], "", MAPPED),
    other(
        "CodeBuddy",
        &[".codebuddy"],
        "{\"type\":\"session_start\",\"sessionId\":\"codebuddy",
        MAPPED,
    ),
    other(
        "WorkBuddy",
        &[".workbuddy"],
        "{\"type\":\"session_start\",\"sessionId\":\"workbuddy",
        MAPPED,
    ),
    other(
        "CodeBuddy or WorkBuddy",
        &[],
        "{\"type\":\"session_start\",\"sessionId\"",
        MAPPED,
    ),
];

const fn other(
    name: &'static str,
    places: &'static [&'static str],
    beginning: &'static str,
    advice: &'static str,
) -> OtherAgent {
    OtherAgent {
        name,
        places,
        beginning,
        advice,
    }
}

/// Returns the agent in whose directory a file is, if its sessions have the format of another
/// agent.
pub fn fork_at(path: &Path) -> Option<&'static str> {
    Some(at(path)?.name)
}

/// Returns why a session with this first line is not read although its records look like another agent's.
pub fn refusal(first_line: &[u8]) -> Option<String> {
    let starts = |known: &&OtherAgent| {
        !known.beginning.is_empty() && first_line.starts_with(known.beginning.as_bytes())
    };
    OTHERS.iter().find(starts).map(OtherAgent::refusal)
}

/// Returns why a file at this path, which matches no format, is not read.
pub fn refusal_at(path: &Path) -> Option<String> {
    at(path).map(OtherAgent::refusal)
}

fn at(path: &Path) -> Option<&'static OtherAgent> {
    let parts: Vec<_> = path.iter().collect();
    let is_in = |place: &str| {
        let place: Vec<_> = Path::new(place).iter().collect();
        parts.windows(place.len()).any(|part| part == place)
    };
    OTHERS
        .iter()
        .find(|known| known.places.iter().any(|place| is_in(place)))
}

impl OtherAgent {
    fn refusal(&self) -> String {
        let Self { name, advice, .. } = self;
        format!("sessions of {name} are not read; {advice}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_named_by_place_and_beginning() {
        let name = |path: &str| fork_at(Path::new(path));
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
