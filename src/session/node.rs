//! A record as a node of the tree that some formats keep.

use std::hash::{DefaultHasher, Hash, Hasher};

use uuid::Uuid;

/// An id in a fixed size: files may hold millions of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// The key of an id. UUIDs keep their bits; other ids are hashed, which may join two of them
    /// by an accident that nobody will live to see.
    pub fn of(id: &str) -> Self {
        if let Ok(uuid) = Uuid::try_parse(id) {
            return Self(uuid.as_u128());
        }
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, id).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        Self(half(1) << 64 | half(2))
    }
}

/// How a record takes part in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Something was said: the end of a branch may be here.
    Turn,
    /// It stands between turns and may be the end of a branch.
    Step,
    /// It stands between turns, but is never the end of a branch.
    Aside,
    /// A subagent's.
    Side,
}

/// A record as a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Names it.
    pub id: Key,
    /// The record that it follows.
    pub parent: Option<Key>,
    /// How it takes part.
    pub part: Part,
    /// The message that it is a part of.
    pub message: Option<Key>,
    /// The calls in it.
    pub calls: Vec<Key>,
    /// The calls that it answers.
    pub answers: Vec<Key>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_differ_have_keys_that_differ() {
        let ids = [
            "",
            "a",
            "b",
            "2858a029-7d10-4ede-b828-eca2d41ea466",
            "f2e861eb",
        ];
        for (at, id) in ids.iter().enumerate() {
            assert!(ids[..at].iter().all(|other| Key::of(other) != Key::of(id)));
            assert_eq!(Key::of(id), Key::of(id));
        }
    }
}
