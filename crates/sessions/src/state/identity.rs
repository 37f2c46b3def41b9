//! The identity of a session, which selects its state directory, and file names for ids from other programs.

use std::path::{Path, PathBuf};

use turnpipe_core::message::SessionId;
use turnpipe_core::text::sha256;

/// Length of the digest in the name of a state directory, in hexadecimal digits.
const DIGEST_LENGTH: usize = 32;

/// The scope of an id. Users and other programs choose ids, and copies of a file have the same id, so the same
/// id in another scope is another session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionScope(String);

impl SessionScope {
    /// Returns the scope of a session file, which may be missing, or of the directory in which a run starts.
    pub fn from_path(path: &Path) -> Self {
        Self(sha256(canonicalize(path).as_os_str().as_encoded_bytes()))
    }

    /// Returns the scope for a digest from a stream.
    #[must_use]
    pub fn with_digest(&self, digest: &str) -> Self {
        Self(sha256(format!("{}\0{digest}", self.0)))
    }

    /// Returns the digest that `turn` writes to its stream.
    pub fn digest(&self) -> &str {
        &self.0
    }
}

/// Identifies the state of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey {
    /// The id, as in records.
    pub id: SessionId,
    /// The scope of the id.
    pub scope: SessionScope,
}

impl SessionKey {
    /// Returns the name of the session's state directory.
    pub(super) fn directory_name(&self) -> String {
        let digest = sha256(format!("{}\0{}", self.scope.0, self.id));
        let id = safe_file_name(self.id.as_str());
        format!("{id}-{}", &digest[..DIGEST_LENGTH])
    }
}

#[cfg(test)]
impl From<&str> for SessionKey {
    fn from(id: &str) -> Self {
        Self {
            id: id.into(),
            scope: SessionScope::from_path(Path::new("/")),
        }
    }
}

/// Returns the canonical path. If the file is missing, resolves its directory.
fn canonicalize(path: &Path) -> PathBuf {
    let missing = || {
        let absolute = std::path::absolute(path).ok()?;
        let directory = absolute.parent()?.canonicalize().ok()?;
        Some(directory.join(absolute.file_name()?))
    };
    let found = path.canonicalize().ok().or_else(missing);
    found.unwrap_or_else(|| path.to_owned())
}

/// Maximum length of a name that is used unchanged, in bytes. Leaves space for an extension.
const MAX_NAME_LENGTH: usize = 128;

/// Returns a file name for `id` that stays in its directory, is not hidden, and does not clash with another id:
/// letters, digits, `-`, `_` and inner dots are kept. If other characters were removed, a hash of the whole id
/// follows.
pub fn safe_file_name(id: &str) -> String {
    let mut name: String = id
        .chars()
        .take(MAX_NAME_LENGTH)
        .map(|character| {
            if is_harmless(character) {
                character
            } else {
                '_'
            }
        })
        .collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if name == id && !id.is_empty() {
        return name;
    }
    name.truncate(MAX_NAME_LENGTH - 17);
    format!("{name}-{:016x}", compute_fingerprint(id))
}

fn is_harmless(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Returns the FNV-1a hash, which is short and stable across versions, unlike the standard library's.
fn compute_fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;
    use crate::state::{SessionState, StateRoot};

    /// Operations on sessions. Numbers select a directory, name, id or session.
    #[derive(Debug, Clone)]
    enum Change {
        /// Creates a session file with a given or a new id.
        Create(usize, usize, Option<usize>),
        Copy(usize, usize, usize),
        Move(usize, usize, usize),
        /// Runs a stream without a file in a directory.
        Stream(usize, usize),
        /// Runs a stream that names the file of a session in a directory.
        StreamOf(usize, usize),
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let change = prop_oneof![
            (0..3_usize, 0..2_usize, prop::option::of(0..2_usize))
                .prop_map(|(directory, name, id)| Change::Create(directory, name, id)),
            (any::<usize>(), 0..3_usize, 0..2_usize)
                .prop_map(|(from, directory, name)| Change::Copy(from, directory, name)),
            (any::<usize>(), 0..3_usize, 0..2_usize)
                .prop_map(|(from, directory, name)| Change::Move(from, directory, name)),
            (0..3_usize, 0..2_usize).prop_map(|(directory, id)| Change::Stream(directory, id)),
            (any::<usize>(), 0..3_usize)
                .prop_map(|(file, directory)| Change::StreamOf(file, directory)),
        ];
        prop::collection::vec(change, 1..12)
    }

    /// Returns a session as a user distinguishes it, and its key.
    fn session(told: String, id: &str, scope: SessionScope) -> (String, SessionKey) {
        let id = id.into();
        (told, SessionKey { id, scope })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_two_sessions_share_state(changes in changes()) {
            let guard = tempfile::tempdir().unwrap();
            let root = StateRoot(guard.path().join("state"));
            let directories = ["a", "b", "b/a"].map(|name| guard.path().join(name));
            for directory in &directories {
                fs::create_dir_all(directory).unwrap();
            }
            let at = |directory: usize, name: usize| {
                directories[directory].join(["work.jsonl", "s.jsonl"][name])
            };
            let ids = ["work", "s"];
            // Each file contains the id of its session.
            let id_in = |file: &Path| fs::read_to_string(file).unwrap();
            let mut files = BTreeSet::new();
            let mut sessions = BTreeMap::new();
            for (number, change) in changes.into_iter().enumerate() {
                let source = |from: usize| files.iter().nth(from % files.len().max(1)).cloned();
                match change {
                    Change::Create(directory, name, id) => {
                        let id = id.map_or_else(|| format!("fresh{number}"), |id| ids[id].into());
                        fs::write(at(directory, name), id).unwrap();
                        files.insert(at(directory, name));
                    }
                    Change::Copy(from, directory, name) => {
                        if let Some(from) = source(from) {
                            fs::write(at(directory, name), id_in(&from)).unwrap();
                            files.insert(at(directory, name));
                        }
                    }
                    Change::Move(from, directory, name) => {
                        if let Some(from) = source(from) {
                            fs::rename(&from, at(directory, name)).unwrap();
                            files.remove(&from);
                            files.insert(at(directory, name));
                        }
                    }
                    Change::Stream(directory, id) => {
                        let scope = SessionScope::from_path(&directories[directory]);
                        let told = format!("{} in {directory}", ids[id]);
                        sessions.extend([session(told, ids[id], scope)]);
                    }
                    Change::StreamOf(file, directory) => {
                        if let Some(file) = source(file) {
                            let named = SessionScope::from_path(&file);
                            let scope = SessionScope::from_path(&directories[directory]);
                            let told = format!("{} of {file:?} in {directory}", id_in(&file));
                            let scope = scope.with_digest(named.digest());
                            sessions.extend([session(told, &id_in(&file), scope)]);
                        }
                    }
                }
            }
            sessions.extend(files.iter().map(|file| {
                let told = format!("{} of {file:?}", id_in(file));
                session(told, &id_in(file), SessionScope::from_path(file))
            }));
            let load = |session| SessionState::load(&root.open_session(session).unwrap()).unwrap();
            for (told, session) in &sessions {
                prop_assert_eq!(load(session).todos, None, "{}", told);
                let directory = root.open_session(session).unwrap();
                let mark = Some(told.as_str().into());
                SessionState::update(&directory, |state| state.todos = mark).unwrap();
            }
            for (told, session) in &sessions {
                prop_assert_eq!(load(session).todos, Some(told.as_str().into()));
            }
        }
    }

    #[test]
    fn all_spellings_of_a_path_are_one_scope() {
        let guard = tempfile::tempdir().unwrap();
        let home = guard.path().canonicalize().unwrap();
        fs::create_dir(home.join("a")).unwrap();
        symlink(home.join("a"), home.join("link")).unwrap();
        let missing = SessionScope::from_path(&home.join("a/s.jsonl"));
        assert_eq!(
            SessionScope::from_path(&home.join("link/../a/./s.jsonl")),
            missing
        );
        assert_eq!(SessionScope::from_path(&home.join("link/s.jsonl")), missing);
        fs::write(home.join("a/s.jsonl"), "").unwrap();
        symlink(home.join("a/s.jsonl"), home.join("other.jsonl")).unwrap();
        assert_eq!(SessionScope::from_path(&home.join("a/s.jsonl")), missing);
        assert_eq!(SessionScope::from_path(&home.join("other.jsonl")), missing);
        assert_ne!(SessionScope::from_path(&home.join("a/t.jsonl")), missing);
    }

    #[test]
    fn directories_of_ids_that_differ_in_case_differ_in_letters() {
        let [one, other] = ["work", "Work"].map(|id| SessionKey::from(id).directory_name());
        assert_ne!(one.to_lowercase(), other.to_lowercase());
    }

    #[test]
    fn plain_ids_stay() {
        assert_eq!(safe_file_name("toolu_01A-b.c"), "toolu_01A-b.c");
    }

    #[test]
    fn hostile_ids_are_sanitized_and_stay_distinct() {
        let hostile = [
            "../../etc/passwd",
            ".",
            "..",
            "",
            "a/b",
            "a_b",
            "\0",
            ".hidden",
        ];
        let names: std::collections::BTreeSet<_> =
            hostile.iter().map(|id| safe_file_name(id)).collect();
        assert_eq!(names.len(), hostile.len());
        assert!(
            names
                .iter()
                .all(|name| !name.contains('/') && !name.starts_with('.'))
        );
    }

    proptest! {
        #[test]
        fn always_one_plain_component(id in any::<String>()) {
            let name = safe_file_name(&id);
            prop_assert!(!name.is_empty() && name.len() <= MAX_NAME_LENGTH);
            prop_assert!(name.chars().all(is_harmless) && !name.starts_with('.'));
        }
    }
}
