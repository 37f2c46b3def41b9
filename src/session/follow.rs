//! Follows a file that others write to: returns complete lines as they arrive, and reports when the
//! file is replaced or truncated.
//!
//! [`Lines`] does no I/O. It holds bytes back until their newline arrives. So a record that is
//! written in two steps, or cut inside a character, never appears broken.

use std::io;
use std::path::{Path, PathBuf};

use memchr::memrchr;

use super::open::{Identity, OpenError, SessionFile, open_safely};
use crate::jsonl::{read_at, room_to_read};
use crate::wire::records::SwitchReason;

/// How many bytes are read at once.
const READ_SIZE: usize = 256 * 1024;

/// How many bytes are read at once if no more are expected.
const SMALL_READ: usize = 16 * 1024;

/// Splits bytes into complete lines.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
}

impl Lines {
    /// Adds bytes. Returns the lines that they complete, with their newlines.
    pub fn push(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let Some(newline) = memrchr(b'\n', &bytes) else {
            self.held.extend_from_slice(&bytes);
            return Vec::new();
        };
        let mut whole = std::mem::take(&mut self.held);
        self.held.extend_from_slice(&bytes[newline + 1..]);
        bytes.truncate(newline + 1);
        if whole.is_empty() {
            return bytes;
        }
        whole.extend_from_slice(&bytes);
        whole
    }

    /// The number of bytes held back.
    pub fn pending(&self) -> u64 {
        self.held.len() as u64
    }

    /// Takes the bytes held back.
    pub fn take_rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// The result of [`Follower::look`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Nothing new.
    Nothing,
    /// Complete lines.
    Lines(Vec<u8>),
    /// More bytes, but no complete line.
    Bytes,
    /// Reading starts over.
    Switch(SwitchReason),
}

/// Follows one file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// The open file, if the path exists.
    file: Option<SessionFile>,
    /// How far the file was read, in bytes.
    read: u64,
    /// How many bytes to expect, judging by the last read.
    expected: usize,
    lines: Lines,
}

impl Follower {
    /// Follows `file` from the offset `start`.
    pub fn new(file: SessionFile, start: u64) -> Self {
        Self {
            path: file.path.clone(),
            file: Some(file),
            read: start,
            expected: 0,
            lines: Lines::default(),
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The offset after the last complete line that was returned.
    pub fn offset(&self) -> u64 {
        self.read - self.lines.pending()
    }

    /// The number of bytes held back.
    pub fn pending(&self) -> u64 {
        self.lines.pending()
    }

    /// Takes the bytes held back. Used when the writer did not end its last line.
    pub fn take_rest(&mut self) -> Vec<u8> {
        self.lines.take_rest()
    }

    /// Reads what is new, once.
    ///
    /// # Errors
    /// Reading failed, or the path is no longer a regular file.
    pub fn look(&mut self) -> Result<Seen, OpenError> {
        let Some(file) = &self.file else {
            return self.look_for_a_new_one();
        };
        let known = usize::try_from(file.size.saturating_sub(self.read)).unwrap_or(usize::MAX);
        let size = known.max(self.expected).clamp(SMALL_READ, READ_SIZE);
        let mut bytes = room_to_read(size);
        let filled = read_at(&file.file, &mut bytes, self.read)?;
        // An unexpected full read: twice as much may come next.
        let is_surprise = known == 0 && filled == size;
        self.expected = if is_surprise { 2 * size } else { 0 };
        if filled > 0 {
            self.read += filled as u64;
            bytes.truncate(filled);
            let lines = self.lines.push(bytes);
            return Ok(if lines.is_empty() {
                Seen::Bytes
            } else {
                Seen::Lines(lines)
            });
        }
        // The old file is fully read; only now may reading move on to the new one.
        if file.file.metadata()?.len() < self.read {
            self.restart(0);
            return Ok(Seen::Switch(SwitchReason::Truncated));
        }
        match std::fs::symlink_metadata(&self.path) {
            Ok(metadata) if Identity::of(&metadata) == file.identity => Ok(Seen::Nothing),
            Ok(_) => {
                self.file = Some(open_safely(&self.path)?);
                self.restart(0);
                Ok(Seen::Switch(SwitchReason::Replaced))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.file = None;
                self.restart(0);
                Ok(Seen::Switch(SwitchReason::Deleted))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn look_for_a_new_one(&mut self) -> Result<Seen, OpenError> {
        match open_safely(&self.path) {
            Ok(file) => {
                self.file = Some(file);
                self.restart(0);
                Ok(Seen::Switch(SwitchReason::Replaced))
            }
            Err(OpenError::System(error)) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Seen::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    fn restart(&mut self, at: u64) {
        self.read = at;
        self.lines = Lines::default();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_whole_however_bytes_come(text in "[aé\\n]{0,40}", cut in 0_usize..80) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut lines = Lines::default();
            let mut seen = lines.push(first.to_vec());
            prop_assert!(seen.is_empty() || seen.ends_with(b"\n"));
            seen.extend(lines.push(second.to_vec()));
            prop_assert_eq!(lines.pending(), (bytes.len() - seen.len()) as u64);
            seen.extend(lines.take_rest());
            prop_assert_eq!(seen, bytes);
        }
    }

    fn append(path: &Path, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(bytes).unwrap();
    }

    #[test]
    fn a_file_may_grow_shrink_go_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "old\n").unwrap();
        let mut follower = Follower::new(open_safely(&path).unwrap(), 4);
        let lines = |text: &str| Seen::Lines(text.as_bytes().to_vec());
        assert_eq!(follower.look().unwrap(), Seen::Nothing);
        append(&path, b"a\nb");
        append(&path, b"\xc3");
        assert_eq!(follower.look().unwrap(), lines("a\n"));
        assert_eq!((follower.offset(), follower.pending()), (6, 2));
        append(&path, b"\xa9\n");
        assert_eq!(follower.look().unwrap(), lines("bé\n"));
        fs::write(&path, "c\n").unwrap();
        assert_eq!(
            follower.look().unwrap(),
            Seen::Switch(SwitchReason::Truncated)
        );
        assert_eq!(follower.look().unwrap(), lines("c\n"));
        fs::write(folder.path().join("other"), "d\n").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(
            follower.look().unwrap(),
            Seen::Switch(SwitchReason::Replaced)
        );
        assert_eq!(follower.look().unwrap(), lines("d\n"));
        fs::remove_file(&path).unwrap();
        assert_eq!(
            follower.look().unwrap(),
            Seen::Switch(SwitchReason::Deleted)
        );
        assert_eq!(follower.look().unwrap(), Seen::Nothing);
        fs::write(&path, "e\n").unwrap();
        assert_eq!(
            follower.look().unwrap(),
            Seen::Switch(SwitchReason::Replaced)
        );
        assert_eq!(follower.look().unwrap(), lines("e\n"));
    }

    #[test]
    fn what_was_written_before_the_end_is_read_before_leaving() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "").unwrap();
        let mut follower = Follower::new(open_safely(&path).unwrap(), 0);
        append(&path, b"last\n");
        fs::remove_file(&path).unwrap();
        assert_eq!(follower.look().unwrap(), Seen::Lines(b"last\n".to_vec()));
        assert_eq!(
            follower.look().unwrap(),
            Seen::Switch(SwitchReason::Deleted)
        );
    }
}
