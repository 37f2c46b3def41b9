//! Results that were given before.

use std::collections::BTreeMap;

use crate::message::ToolUseId;
use crate::text::sha256;

/// Shorter results than this are cheaper to repeat than to refer to, in bytes.
const WORTHWHILE: usize = 400;
/// How many results are remembered.
const REMEMBERED: usize = 4096;

/// The results given so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The call that gave each result, by the digest of the result.
    pub results: BTreeMap<String, String>,
}

impl Seen {
    /// Remembers a result; if the same tool gave the same text before, returns what to say
    /// instead of repeating it.
    pub fn reference(&mut self, tool: &str, id: &ToolUseId, text: &str) -> Option<String> {
        let key = key(tool, text);
        // Ids come again: one that has another result now refers to nothing.
        self.results
            .retain(|known, earlier| earlier != id.as_str() || *known == key);
        if text.len() < WORTHWHILE {
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
        if self.results.len() < REMEMBERED {
            self.results.insert(key, id.0.clone());
        }
        None
    }
}

/// The tool and a digest of the text that stays the same in every version.
fn key(tool: &str, text: &str) -> String {
    format!("{tool}-{}", sha256(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_second_time_and_only_long_texts() {
        let mut seen = Seen::default();
        let text = "x".repeat(WORTHWHILE);
        assert_eq!(seen.reference("Read", &"a".into(), &text), None);
        let again = seen.reference("Read", &"b".into(), &text).unwrap();
        assert!(again.contains("earlier call a"), "{again}");
        assert_eq!(seen.reference("Bash", &"c".into(), &text), None);
        assert_eq!(seen.reference("Read", &"d".into(), "short"), None);
        assert_eq!(seen.reference("Read", &"e".into(), "short"), None);
    }

    #[test]
    fn an_id_that_came_again_is_not_referred_to() {
        let mut seen = Seen::default();
        let (text, other) = ("x".repeat(WORTHWHILE), "y".repeat(WORTHWHILE));
        for (id, text) in [("a", &*text), ("a", "short"), ("b", &text), ("b", &other)] {
            assert_eq!(seen.reference("Bash", &id.into(), text), None);
        }
        assert_eq!(seen.reference("Bash", &"c".into(), &text), None);
        let again = seen.reference("Bash", &"d".into(), &other).unwrap();
        assert!(again.contains("earlier call b"), "{again}");
    }

    #[test]
    fn what_is_remembered_is_the_same_in_every_version() {
        let mut seen = Seen::default();
        seen.reference("Read", &"a".into(), &"x".repeat(WORTHWHILE));
        let digest = "7b0bd700ce066ef35190fde2dd7a0bcce426b8e10e4d32613ab550105545faad";
        assert_eq!(
            seen.results.keys().next().unwrap(),
            &format!("Read-{digest}")
        );
    }
}
