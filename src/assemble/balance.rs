//! Whether a JSON object that arrives in fragments is whole, without parsing it again for each.

/// The state after the fragments read so far.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Balance {
    depth: usize,
    place: Place,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the object.
    #[default]
    Before,
    /// In it, outside of strings.
    Structure,
    /// In a string.
    Text,
    /// After a backslash in a string.
    Escape,
    /// After the object.
    After,
}

impl Balance {
    /// Reads the next fragment.
    pub(super) fn read(&mut self, fragment: &[u8]) {
        for &byte in fragment {
            self.place = match (self.place, byte) {
                (Place::Before | Place::Structure, b'{' | b'[') => {
                    self.depth += 1;
                    Place::Structure
                }
                (Place::Structure, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        Place::After
                    } else {
                        Place::Structure
                    }
                }
                (Place::Structure, b'"') | (Place::Escape, _) => Place::Text,
                (Place::Text, b'"') => Place::Structure,
                (Place::Text, b'\\') => Place::Escape,
                (place, _) => place,
            };
        }
    }

    /// Whether an object or array is complete.
    pub(super) fn is_whole(self) -> bool {
        self.place == Place::After
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wholes_and_parts() {
        let rows = [
            ("", false),
            ("{", false),
            ("{}", true),
            (r#" {"a":"}"}"#, true),
            (r#"{"a":"\"}"#, false),
            (r#"{"a":[{}]"#, false),
            (r#"{"a":[{}]}"#, true),
        ];
        for (text, whole) in rows {
            let mut balance = Balance::default();
            balance.read(text.as_bytes());
            assert_eq!(balance.is_whole(), whole, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_the_last_byte_makes_an_object_whole(text in "\\PC{0,20}") {
            let object = serde_json::json!({ "k": text, "n": [1, {"x": text}] }).to_string();
            let mut balance = Balance::default();
            for byte in object.as_bytes() {
                prop_assert!(!balance.is_whole());
                balance.read(&[*byte]);
            }
            prop_assert!(balance.is_whole());
        }
    }
}
