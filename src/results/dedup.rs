//! References to earlier results with the same text.

use std::collections::BTreeMap;

use crate::message::ToolUseId;
use crate::text::sha256;

/// Shortest result that a reference replaces, in bytes.
const MIN_LENGTH: usize = 400;
/// Most results that are remembered.
const MAX_REMEMBERED: usize = 4096;

/// The results so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The call of each result, by the digest of the result.
    pub results: BTreeMap<String, String>,
}

impl Seen {
    /// Remembers a result. Returns a reference to an earlier call if the same tool gave the same text.
    pub fn reference(&mut self, tool: &str, id: &ToolUseId, text: &str) -> Option<String> {
        let key = key(tool, text);
        // Ids may repeat: one with another result is not referred to any more.
        self.results
            .retain(|known, earlier| earlier != id.as_str() || *known == key);
        if text.len() < MIN_LENGTH {
            return None;
        }
        if let Some(earlier) = self.results.get(&key)
            && earlier != id.as_str()
        {
            return Some(match tool {
                "Read" => format!(
                    "The file is unchanged: its text is in the result of the earlier call {earlier}."
                ),
                _ => format!("The same output as the earlier call {earlier}; see its result."),
            });
        }
        if self.results.len() < MAX_REMEMBERED {
            self.results.insert(key, id.0.clone());
        }
        None
    }
}

/// The tool and the digest of the text. It is saved, so later versions must compute the same.
fn key(tool: &str, text: &str) -> String {
    format!("{tool}-{}", sha256(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_referred_to_the_second_time() {
        let mut seen = Seen::default();
        let text = "x".repeat(MIN_LENGTH);
        assert_eq!(seen.reference("Read", &"a".into(), &text), None);
        let again = seen.reference("Read", &"b".into(), &text).unwrap();
        assert!(again.contains("earlier call a"), "{again}");
        assert_eq!(seen.reference("Bash", &"c".into(), &text), None);
        assert_eq!(seen.reference("Read", &"d".into(), "short"), None);
        assert_eq!(seen.reference("Read", &"e".into(), "short"), None);
    }

    #[test]
    fn an_id_that_was_reused_is_not_referred_to() {
        let mut seen = Seen::default();
        let (text, other) = ("x".repeat(MIN_LENGTH), "y".repeat(MIN_LENGTH));
        for (id, text) in [("a", &*text), ("a", "short"), ("b", &text), ("b", &other)] {
            assert_eq!(seen.reference("Bash", &id.into(), text), None);
        }
        assert_eq!(seen.reference("Bash", &"c".into(), &text), None);
        let again = seen.reference("Bash", &"d".into(), &other).unwrap();
        assert!(again.contains("earlier call b"), "{again}");
    }

    #[test]
    fn keys_are_the_same_in_every_version() {
        let mut seen = Seen::default();
        seen.reference("Read", &"a".into(), &"x".repeat(MIN_LENGTH));
        let digest = "7b0bd700ce066ef35190fde2dd7a0bcce426b8e10e4d32613ab550105545faad";
        assert_eq!(
            seen.results.keys().next().unwrap(),
            &format!("Read-{digest}")
        );
    }
}
