//! Follows a file that others write to: returns complete lines as they arrive, and reports when the
//! file is replaced, truncated or rewritten.
//!
//! Bytes are held back until their newline arrives. Therefore a record that is
//! written in two steps, or cut inside a character, never appears broken.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};

use crate::files::lines::Place;
use crate::files::open::{Identity, SessionError, SessionFile, open_safely, open_to_follow, watch};
use turnpipe_core::json::{object, text};
use turnpipe_core::jsonl::{FixedFile, Mapping, fill_at, take_buffer, visit_lines_backward};
use turnpipe_formats::agent::DatabaseWatch;
use turnpipe_formats::records::SwitchReason;

/// Number of bytes to read at once.
const READ_SIZE: usize = 256 * 1024;

/// Number of bytes before the current offset that are compared each time, to notice a rewrite in place.
const COMPARED_SIZE: usize = 4 * 1024;

/// Adds bytes to the unfinished line. Returns the lines that they complete, with their newlines.
fn take_complete_lines(held: &mut Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let Some(newline) = memrchr(b'\n', bytes) else {
        held.extend_from_slice(bytes);
        return Vec::new();
    };
    held.extend_from_slice(&bytes[..=newline]);
    std::mem::replace(held, bytes[newline + 1..].to_vec())
}

/// Maximum size of the part before the first offset that is read for its records, in bytes. It is read
/// in any case when the path names another file.
const MAX_SKIPPED_SIZE: u64 = 64 * 1024 * 1024;

object! {
    /// The member that identifies a record.
    Identifiers { uuid }
}

/// The records of the file so far, by hashes.
#[derive(Debug, Default)]
struct KnownRecords {
    hashes: HashSet<u64>,
    /// Records before this offset are not included yet.
    skipped: u64,
}

impl KnownRecords {
    /// Adds the record on a line, which its id identifies, else its text. Returns whether it is new.
    fn add(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        let json = std::str::from_utf8(line).ok();
        let record = json.and_then(Identifiers::read).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        match text(record.uuid) {
            Some(id) => id.hash(&mut hasher),
            None => line.hash(&mut hasher),
        }
        line.is_empty() || self.hashes.insert(hasher.finish())
    }

    /// Adds the records before the first offset.
    fn add_skipped(&mut self, file: &File) -> io::Result<()> {
        let mut bytes = FixedFile::new(file, std::mem::take(&mut self.skipped), Mapping::Refused);
        visit_lines_backward(&mut bytes, &mut |_, line| {
            line.is_none_or(|line| {
                self.add(line);
                true
            })
        })
    }
}

/// The result of [`Follower::read_new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowEvent {
    /// Nothing new.
    Nothing,
    /// Complete lines.
    Lines(Vec<u8>),
    /// More bytes, but no complete line.
    Bytes,
    /// A complete line that is too long to hold.
    LongLine(Place),
    /// Reading starts over.
    Switch(SwitchReason),
}

/// Follows one file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// The open file, if the path exists.
    file: Option<SessionFile>,
    /// The current offset, in bytes.
    read: u64,
    /// The last bytes that were read.
    last: Vec<u8>,
    /// The bytes of a line whose newline is still missing.
    held: Vec<u8>,
    /// The number of bytes of that line that are no longer held, because it is too long.
    dropped: u64,
    /// Maximum length of a line, in bytes.
    max_line: usize,
    /// The database that the session is in.
    database: Option<DatabaseWatch>,
    known: KnownRecords,
    /// Whether the file started over, so that lines may repeat records.
    started_over: bool,
}

impl Follower {
    /// Follows `file` from the offset `start`. Longer lines than `max_line` bytes are skipped.
    ///
    /// # Errors
    /// Reading failed.
    pub fn new(file: SessionFile, start: u64, max_line: usize) -> io::Result<Self> {
        let length = start.min(COMPARED_SIZE as u64);
        let mut last = take_buffer(usize::try_from(length).unwrap_or(COMPARED_SIZE));
        let filled = fill_at(&file.file, &mut last, start - length)?;
        // A file that was truncated meanwhile is detected as such.
        last.truncate(filled);
        Ok(Self {
            database: watch(&file.path).transpose()?,
            path: file.path.clone(),
            file: Some(file),
            read: start,
            last,
            held: Vec::new(),
            dropped: 0,
            max_line,
            known: KnownRecords {
                skipped: start,
                ..KnownRecords::default()
            },
            started_over: false,
        })
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the offset after the last complete line that was returned.
    pub fn offset(&self) -> u64 {
        self.read - self.pending_bytes()
    }

    /// Returns the number of bytes held back.
    pub fn pending_bytes(&self) -> u64 {
        self.held.len() as u64 + self.dropped
    }

    /// Takes the bytes held back, as the last line if its writer did not end it.
    pub fn take_rest(&mut self) -> FollowEvent {
        if self.dropped > 0 {
            return self.take_long_line();
        }
        FollowEvent::Lines(std::mem::take(&mut self.held))
    }

    /// Returns the line that was dropped.
    fn take_long_line(&mut self) -> FollowEvent {
        let length = std::mem::take(&mut self.dropped);
        FollowEvent::LongLine(Place {
            offset: self.read - length,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            index: 0,
        })
    }

    /// Drops the next part of a line that is too long. Returns `None` if the line is not.
    fn drop_long(&mut self, new: &[u8]) -> Option<(usize, FollowEvent)> {
        let newline = memchr(b'\n', new);
        let length = newline.map_or(new.len(), |at| at + 1);
        if self.dropped == 0 && self.held.len() + length <= self.max_line {
            return None;
        }
        self.dropped += (std::mem::take(&mut self.held).len() + length) as u64;
        self.read += length as u64;
        Some((
            length,
            newline.map_or(FollowEvent::Bytes, |_| self.take_long_line()),
        ))
    }

    /// Reads what is new, once. After a switch, records that the file had before are omitted.
    ///
    /// # Errors
    /// Reading failed, or the path is no longer a regular file.
    pub fn read_new(&mut self) -> Result<FollowEvent, SessionError> {
        let Some(file) = &self.file else {
            return self.open_new_file();
        };
        let known_bytes = self.last.len();
        let mut bytes = take_buffer(known_bytes + READ_SIZE);
        let filled = fill_at(&file.file, &mut bytes, self.read - known_bytes as u64)?;
        bytes.truncate(filled);
        let Some(new_bytes) = filled.checked_sub(known_bytes) else {
            self.restart();
            return Ok(FollowEvent::Switch(SwitchReason::Truncated));
        };
        if !bytes.starts_with(&self.last) {
            self.restart();
            return Ok(FollowEvent::Switch(SwitchReason::Rewritten));
        }
        if new_bytes > 0 {
            if let Some((length, event)) = self.drop_long(&bytes[known_bytes..]) {
                bytes.truncate(known_bytes + length);
                self.last = bytes.split_off(bytes.len().saturating_sub(COMPARED_SIZE));
                return Ok(event);
            }
            self.read += new_bytes as u64;
            self.last = bytes[bytes.len().saturating_sub(COMPARED_SIZE)..].to_vec();
            let mut lines = take_complete_lines(&mut self.held, &bytes[known_bytes..]);
            self.remove_known(&mut lines);
            return Ok(if lines.is_empty() {
                FollowEvent::Bytes
            } else {
                FollowEvent::Lines(lines)
            });
        }
        if (1..=MAX_SKIPPED_SIZE).contains(&self.known.skipped) {
            self.known.add_skipped(&file.file)?;
        }
        if let Some(database) = &mut self.database {
            if !database.has_changed()? {
                return Ok(FollowEvent::Nothing);
            }
            self.file = Some(open_to_follow(&self.path)?);
            return self.read_new();
        }
        // The old file is fully read; only now may reading continue with the new one.
        self.read_replacement()
    }

    /// Reads what is new in the file that the path names now, if that is another one.
    fn read_replacement(&mut self) -> Result<FollowEvent, SessionError> {
        let Some(file) = &self.file else {
            return self.open_new_file();
        };
        match std::fs::symlink_metadata(&self.path) {
            Ok(metadata) if Identity::from_metadata(&metadata) == file.identity => {
                Ok(FollowEvent::Nothing)
            }
            Ok(_) => {
                let new_file = open_safely(&self.path)?;
                let is_continued = self.is_continued_by(&new_file)?;
                if !is_continued {
                    self.known.add_skipped(&file.file)?;
                }
                self.file = Some(new_file);
                if is_continued {
                    self.started_over = false;
                    return self.read_new();
                }
                self.restart();
                Ok(FollowEvent::Switch(SwitchReason::Replaced))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.known.add_skipped(&file.file)?;
                self.file = None;
                self.restart();
                Ok(FollowEvent::Switch(SwitchReason::Deleted))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn open_new_file(&mut self) -> Result<FollowEvent, SessionError> {
        match open_safely(&self.path) {
            Ok(file) => {
                self.file = Some(file);
                self.restart();
                Ok(FollowEvent::Switch(SwitchReason::Replaced))
            }
            Err(SessionError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                Ok(FollowEvent::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a new file starts with the bytes read from the old one.
    fn is_continued_by(&self, new: &SessionFile) -> io::Result<bool> {
        let Some(old) = self
            .file
            .as_ref()
            .filter(|_| self.read > 0 && new.size >= self.read)
        else {
            return Ok(false);
        };
        let mut buffers = [take_buffer(READ_SIZE), take_buffer(READ_SIZE)];
        let mut at = 0;
        while at < self.read {
            let length =
                usize::try_from(self.read - at).map_or(READ_SIZE, |left| left.min(READ_SIZE));
            for (buffer, file) in buffers.iter_mut().zip([old, new]) {
                buffer.resize(length, 0);
                if fill_at(&file.file, buffer, at)? < length {
                    return Ok(false);
                }
            }
            if buffers[0] != buffers[1] {
                return Ok(false);
            }
            at += length as u64;
        }
        Ok(true)
    }

    /// Removes lines whose records the file had before it started over.
    fn remove_known(&mut self, lines: &mut Vec<u8>) {
        let mut new = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if self.known.add(line) || !self.started_over {
                new.extend_from_slice(line);
            }
        }
        *lines = new;
    }

    /// Restarts at the beginning of the file.
    fn restart(&mut self) {
        self.started_over = true;
        self.read = 0;
        self.last.clear();
        self.held.clear();
        self.dropped = 0;
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
        fn lines_are_whole_however_bytes_arrive(text in "[aé\\n]{0,40}", cut in 0_usize..80) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut held = Vec::new();
            let mut seen = take_complete_lines(&mut held, first);
            prop_assert!(seen.is_empty() || seen.ends_with(b"\n"));
            seen.extend(take_complete_lines(&mut held, second));
            prop_assert!(seen.is_empty() || seen.ends_with(b"\n"));
            prop_assert!(!held.contains(&b'\n'));
            seen.extend(held);
            prop_assert_eq!(seen, bytes);
        }
    }

    fn append(path: &Path, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(bytes).unwrap();
    }

    #[test]
    fn an_empty_file_is_not_continued_by_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("s.jsonl"), folder.path().join("o"));
        fs::write(&path, "").unwrap();
        let mut follower = Follower::new(open_safely(&path).unwrap(), 0, 1000).unwrap();
        fs::write(&other, "a\n").unwrap();
        fs::rename(&other, &path).unwrap();
        let replaced = FollowEvent::Switch(SwitchReason::Replaced);
        assert_eq!(follower.read_new().unwrap(), replaced);
    }

    #[test]
    fn a_file_may_grow_shrink_disappear_and_reappear() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "old\n").unwrap();
        let mut follower = Follower::new(open_safely(&path).unwrap(), 4, 1000).unwrap();
        let lines = |text: &str| FollowEvent::Lines(text.as_bytes().to_vec());
        assert_eq!(follower.read_new().unwrap(), FollowEvent::Nothing);
        append(&path, b"a\nb");
        append(&path, b"\xc3");
        assert_eq!(follower.read_new().unwrap(), lines("a\n"));
        assert_eq!((follower.offset(), follower.pending_bytes()), (6, 2));
        append(&path, b"\xa9\n");
        assert_eq!(follower.read_new().unwrap(), lines("bé\n"));
        fs::write(&path, "c\n").unwrap();
        assert_eq!(
            follower.read_new().unwrap(),
            FollowEvent::Switch(SwitchReason::Truncated)
        );
        assert_eq!(follower.read_new().unwrap(), lines("c\n"));
        fs::write(folder.path().join("other"), "d\n").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(
            follower.read_new().unwrap(),
            FollowEvent::Switch(SwitchReason::Replaced)
        );
        assert_eq!(follower.read_new().unwrap(), lines("d\n"));
        // A writer that replaces the file at each change.
        fs::write(folder.path().join("other"), "d\nd\n").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(follower.read_new().unwrap(), lines("d\n"));
        fs::remove_file(&path).unwrap();
        assert_eq!(
            follower.read_new().unwrap(),
            FollowEvent::Switch(SwitchReason::Deleted)
        );
        assert_eq!(follower.read_new().unwrap(), FollowEvent::Nothing);
        fs::write(&path, "e\n").unwrap();
        assert_eq!(
            follower.read_new().unwrap(),
            FollowEvent::Switch(SwitchReason::Replaced)
        );
        assert_eq!(follower.read_new().unwrap(), lines("e\n"));
    }

    #[test]
    fn lines_that_are_too_long_are_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let long = "x".repeat(3 * READ_SIZE);
        fs::write(&path, format!("a\n{long}\nb\n{long}")).unwrap();
        let mut follower = Follower::new(open_safely(&path).unwrap(), 0, 1000).unwrap();
        let (mut seen, mut most) = (Vec::new(), 0);
        loop {
            match follower.read_new().unwrap() {
                FollowEvent::Nothing => break,
                FollowEvent::Bytes => {}
                other => seen.push(other),
            }
            most = most.max(follower.held.len());
        }
        let offset = follower.offset();
        seen.push(follower.take_rest());
        let length = long.len() as u64;
        let place = |offset, length| {
            FollowEvent::LongLine(Place {
                offset,
                length: u32::try_from(length).unwrap(),
                index: 0,
            })
        };
        let lines = |text: &str| FollowEvent::Lines(text.as_bytes().to_vec());
        let expected = [
            lines("a\n"),
            place(2, length + 1),
            lines("b\n"),
            place(length + 5, length),
        ];
        assert_eq!((seen, offset), (expected.to_vec(), length + 5));
        assert!(most <= READ_SIZE, "{most}");
    }

    #[test]
    fn the_rest_of_a_replaced_file_is_read_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "").unwrap();
        let mut follower = Follower::new(open_safely(&path).unwrap(), 0, 1000).unwrap();
        append(&path, b"last\n");
        fs::remove_file(&path).unwrap();
        assert_eq!(
            follower.read_new().unwrap(),
            FollowEvent::Lines(b"last\n".to_vec())
        );
        assert_eq!(
            follower.read_new().unwrap(),
            FollowEvent::Switch(SwitchReason::Deleted)
        );
    }

    /// A change to a file between two reads.
    #[derive(Debug, Clone)]
    enum Change {
        Append(u8),
        /// The first part of a row; the next append ends it.
        Part,
        RewriteInPlace(u8),
        Replace(u8),
        Delete,
        Look,
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            4 => (1_u8..20).prop_map(Change::Append),
            1 => Just(Change::Part),
            2 => (0_u8..40).prop_map(Change::RewriteInPlace),
            1 => (0_u8..20).prop_map(Change::Replace),
            1 => Just(Change::Delete),
            4 => Just(Change::Look),
        ]
    }

    /// A follower and what it returned since it last started over.
    struct Bench {
        path: PathBuf,
        follower: Follower,
        seen: Vec<u8>,
        rows: usize,
    }

    impl Bench {
        /// Returns distinct rows, whose lengths may be equal.
        fn rows(&mut self, count: u8) -> Vec<u8> {
            let mut rows = Vec::new();
            for _ in 0..count {
                self.rows += 1;
                let row = format!("{:0width$}\n", self.rows, width = 8 + self.rows % 3 * 200);
                rows.extend(row.into_bytes());
            }
            rows
        }

        fn read_new(&mut self) {
            loop {
                match self.follower.read_new().unwrap() {
                    FollowEvent::Nothing => return,
                    FollowEvent::Bytes | FollowEvent::LongLine(_) => {}
                    FollowEvent::Lines(lines) => self.seen.extend(lines),
                    FollowEvent::Switch(_) => self.seen.clear(),
                }
            }
        }

        fn make(&mut self, change: &Change) {
            match change {
                Change::Append(count) => {
                    let rows = self.rows(*count);
                    let mut options = fs::OpenOptions::new();
                    let file = options.create(true).append(true).open(&self.path);
                    file.unwrap().write_all(&rows).unwrap();
                }
                Change::Part if self.path.exists() => append(&self.path, b"part "),
                Change::Part => {}
                Change::RewriteInPlace(count) => {
                    let rows = self.rows(*count);
                    fs::write(&self.path, rows).unwrap();
                }
                Change::Replace(count) => {
                    let other = self.path.with_extension("other");
                    let rows = self.rows(*count);
                    fs::write(&other, rows).unwrap();
                    fs::rename(other, &self.path).unwrap();
                }
                Change::Delete => {
                    let _ = fs::remove_file(&self.path);
                }
                Change::Look => self.read_new(),
            }
        }
    }

    proptest! {
        /// Since the last switch, every whole row of the file was returned once and in order.
        #[test]
        fn every_row_is_returned_once_after_any_change(
            changes in prop::collection::vec(change(), 1..30),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s.jsonl");
            fs::write(&path, "").unwrap();
            let follower = Follower::new(open_safely(&path).unwrap(), 0, 1000).unwrap();
            let mut bench = Bench { path, follower, seen: Vec::new(), rows: 0 };
            for change in &changes {
                bench.make(change);
            }
            bench.read_new();
            let mut content = fs::read(&bench.path).unwrap_or_default();
            content.truncate(memrchr(b'\n', &content).map_or(0, |newline| newline + 1));
            prop_assert_eq!(
                String::from_utf8(bench.seen).unwrap(),
                String::from_utf8(content).unwrap()
            );
        }
    }
}
