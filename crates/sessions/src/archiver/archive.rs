//! A directory of archived sessions.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::de::IgnoredAny;

use super::bundle::Bundle;
use super::copy::{Comparison, Copy, Problem, compare, open, parent, remove_unfinished};
use crate::files::open::SessionFile;
use crate::files::origin::ArchiveOrigin;
use crate::list::in_use::IN_USE;
use crate::read::title::read_names;
use crate::state::{lock_within, open_private};
use turnpipe_core::jsonl::{FixedFile, Mapping, fill_at, visit_lines_backward};
use turnpipe_core::message::SessionId;
use turnpipe_formats::agent::{ManualTitle, NewRecord, Root, Title, TitleStore};
use turnpipe_formats::records::{ArchiveOutcome, SessionArchivedRecord};

/// The file that is locked while sessions are archived.
const LOCK: &str = ".turnpipe.lock";

/// Maximum time to wait for another process that archives sessions.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// A directory cannot be an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A root of sessions contains the archive, or the archive a root.
    #[error("{}: is not separate from {}, which is searched for sessions", .0.display(), .1.display())]
    Nested(PathBuf, PathBuf),
    /// Another process archives sessions there.
    #[error("{}: another process archives sessions in it", .0.display())]
    Locked(PathBuf),
    /// The system reported an error.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

/// The outcome for one session. Its files are archived independently.
#[derive(Debug, Default)]
pub struct Archived {
    /// The number of files that were written, or would be.
    pub written: u64,
    /// The number of files that were already there.
    pub unchanged: u64,
    /// The size of all these files, in bytes.
    pub bytes: u64,
    /// The size of these files in the archive, without files that would be written.
    pub stored_bytes: u64,
    /// The files that could not be archived.
    pub problems: Vec<Problem>,
}

impl Archived {
    /// Returns the record of the session.
    pub fn to_record(&self, bundle: &Bundle, dir: &ArchiveDir) -> SessionArchivedRecord {
        let outcome = match self {
            Self { problems, .. } if !problems.is_empty() => ArchiveOutcome::Failed,
            Self { written: 0, .. } => ArchiveOutcome::Unchanged,
            _ if dir.is_dry_run => ArchiveOutcome::WouldArchive,
            _ => ArchiveOutcome::Archived,
        };
        SessionArchivedRecord {
            session_id: bundle.facts.session_id.clone().map(SessionId),
            agent: Some(bundle.agent.name().to_owned()),
            path: bundle.path.display().to_string(),
            archive: Some(bundle.target(&dir.dir).display().to_string()),
            outcome,
            reason: self.problems.first().map(ToString::to_string),
            files: self.written + self.unchanged,
            bytes: self.bytes,
            stored_bytes: self.stored_bytes,
        }
    }
}

/// The outcome for one file.
struct ArchivedFile {
    /// The size in bytes.
    bytes: u64,
    /// The size in the archive, in bytes; 0 if the file would be written.
    stored_bytes: u64,
    is_unchanged: bool,
}

/// A directory of archived sessions.
#[derive(Debug)]
pub struct ArchiveDir {
    dir: PathBuf,
    is_dry_run: bool,
    now: SystemTime,
    /// Released when it is dropped.
    _lock: Option<File>,
}

impl ArchiveDir {
    /// Opens a directory for sessions in `roots`. Unless it is a dry run, creates it with mode 0700 if it is
    /// missing, locks it, and removes unfinished files of killed runs.
    ///
    /// # Errors
    /// See [`ArchiveError`].
    pub fn open(
        dir: &Path,
        roots: &[Root],
        now: SystemTime,
        is_dry_run: bool,
    ) -> Result<Self, ArchiveError> {
        let to_error = |error| ArchiveError::Io(dir.to_owned(), error);
        if !is_dry_run {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(dir)
                .map_err(to_error)?;
        }
        let found = fs::canonicalize(dir).or_else(|_| std::path::absolute(dir));
        let dir = found.map_err(to_error)?;
        for root in roots {
            let root = fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone());
            if dir.starts_with(&root) || root.starts_with(&dir) {
                return Err(ArchiveError::Nested(dir, root));
            }
        }
        let mut lock = None;
        if !is_dry_run {
            let to_lock_error = |error| ArchiveError::Io(dir.join(LOCK), error);
            let file = open_private(&dir.join(LOCK)).map_err(to_lock_error)?;
            if !lock_within(&file, LOCK_TIMEOUT).map_err(to_lock_error)? {
                return Err(ArchiveError::Locked(dir));
            }
            lock = Some(file);
            remove_unfinished(&dir);
        }
        Ok(Self {
            dir,
            is_dry_run,
            now,
            _lock: lock,
        })
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Archives the files of a session that changed, the session itself last.
    pub fn archive(&self, bundle: &Bundle) -> Archived {
        let mut archived = Archived {
            problems: bundle.problems.clone(),
            ..Archived::default()
        };
        for file in bundle.shared.iter().chain(&bundle.files) {
            match self.archive_file(bundle, file) {
                Ok(file) => {
                    archived.bytes += file.bytes;
                    archived.stored_bytes += file.stored_bytes;
                    archived.unchanged += u64::from(file.is_unchanged);
                    archived.written += u64::from(!file.is_unchanged);
                }
                Err(problem) => archived.problems.push(problem),
            }
        }
        archived
    }

    /// Archives a file, unless it is unchanged.
    fn archive_file(&self, bundle: &Bundle, file: &Path) -> Result<ArchivedFile, Problem> {
        let target = bundle.file_target(file, &self.dir);
        let dir = parent(&target);
        if fs::canonicalize(dir).is_ok_and(|found| found != dir) {
            return Err(Problem::for_output(
                &target,
                "is reached by a symbolic link",
            ));
        }
        let stored_size = || fs::symlink_metadata(&target).map(|file| file.len()).ok();
        let (mut size, modified, opened) = if let Some((size, changed)) = bundle.stored {
            (size, changed, None)
        } else {
            let opened = open(file)?;
            let modified = opened.file.metadata().and_then(|file| file.modified());
            let modified = modified.map_err(|error| Problem::new(file, error))?;
            (opened.size, modified, Some(opened))
        };
        // A writer may change the file after the start of this run.
        let age = self.now.duration_since(modified);
        let is_settled = age.is_ok_and(|age| age >= IN_USE);
        if let Some(opened) =
            opened.filter(|_| !is_settled && file.extension().is_some_and(|end| end == "jsonl"))
        {
            size = find_end_of_records(&opened).map_err(|error| Problem::new(file, error))?;
        }
        let origin = ArchiveOrigin::new(file, size, modified);
        let is_packed = bundle.is_packed(file);
        let old_origin = ArchiveOrigin::read(&target).filter(|_| is_packed);
        let is_unchanged = match &old_origin {
            Some(old_origin) if *old_origin == origin => true,
            Some(old_origin) if old_origin.scope != origin.scope => {
                match compare(&target, true, &mut *open_source(bundle, file, size)?)? {
                    Comparison::Same | Comparison::Shorter => true,
                    Comparison::Longer => false,
                    Comparison::Different => {
                        let problem =
                            format!("contains another session of this name, {}", old_origin.path);
                        return Err(Problem::new(&target, problem));
                    }
                }
            }
            Some(_) => false,
            None if is_packed && stored_size().is_some() => {
                return Err(Problem::new(&target, "was not written by turnpipe"));
            }
            None => fs::symlink_metadata(&target).is_ok_and(|copy| {
                copy.is_file()
                    && copy.len() == size
                    && copy.modified().is_ok_and(|time| time == modified)
            }),
        };
        if is_unchanged || self.is_dry_run {
            let stored_bytes = stored_size().filter(|_| is_unchanged);
            return Ok(ArchivedFile {
                bytes: size,
                stored_bytes: stored_bytes.unwrap_or_default(),
                is_unchanged,
            });
        }
        let copy = Copy {
            open: &|| open_source(bundle, file, size),
            root: &self.dir,
            target: &target,
            origin: is_packed.then_some(&origin),
            modified,
        };
        Ok(ArchivedFile {
            bytes: size,
            stored_bytes: copy.write()?,
            is_unchanged,
        })
    }

    /// Returns the first file of a session that is not in the archive as it is now.
    pub(super) fn check_archived(&self, bundle: &Bundle) -> Result<(), Problem> {
        for file in &bundle.files {
            let size = open(file)?.size;
            let target = bundle.file_target(file, &self.dir);
            let is_packed = bundle.is_packed(file);
            if compare(&target, is_packed, &mut *open_source(bundle, file, size)?)?
                != Comparison::Same
            {
                return Err(Problem::new(file, "is not in the archive as it is now"));
            }
        }
        Ok(())
    }

    /// Writes the titles of sessions whose agents keep them in an index.
    ///
    /// # Errors
    /// Writing failed.
    pub fn write_names<'a>(
        &self,
        bundles: impl Iterator<Item = &'a Bundle>,
    ) -> Result<(), Problem> {
        let mut indexes: BTreeMap<PathBuf, (HashMap<String, Title>, Vec<u8>)> = BTreeMap::new();
        for bundle in bundles.filter(|_| !self.is_dry_run) {
            let format = bundle.agent.format();
            let id = bundle.facts.session_id.as_ref();
            if let TitleStore::Index(index) = format.titles.store
                && let Some(path) = (index.path)(&bundle.target(&self.dir))
                && let (Some(id), Some(title)) = (id, &bundle.facts.title)
                && let Some(new_record) = format.titles.new_title
            {
                let known = || (read_names(index, &path), Vec::new());
                let (names, lines) = indexes.entry(path.clone()).or_insert_with(known);
                if names.get(id).is_some_and(|known| known.text == title.text) {
                    continue;
                }
                let context = NewRecord {
                    session_id: id,
                    directory: bundle.facts.cwd.as_deref().unwrap_or_default(),
                    branch: None,
                    parent: None,
                    uuid: "",
                    timestamp: &bundle.facts.last_activity_or_min().to_string(),
                };
                let record = new_record(&context, title, ManualTitle::Keep);
                writeln!(lines, "{record}").map_err(|error| Problem::new(&path, error))?;
            }
        }
        for (path, (_, lines)) in indexes.iter().filter(|(_, (_, lines))| !lines.is_empty()) {
            let mut text = Vec::new();
            if fs::symlink_metadata(path).is_ok() {
                let read = open(path)?.file.read_to_end(&mut text);
                read.map_err(|error| Problem::new(path, error))?;
            }
            text.extend(lines);
            let copy = Copy {
                open: &|| Ok(Box::new(io::Cursor::new(text.clone()))),
                root: &self.dir,
                target: path,
                origin: None,
                modified: self.now,
            };
            copy.write()?;
        }
        Ok(())
    }
}

/// Opens the first `size` bytes of a file, or the rows of a session in a database.
fn open_source(bundle: &Bundle, file: &Path, size: u64) -> Result<Box<dyn Read>, Problem> {
    let opened = open(file)?;
    let mut source = opened.file;
    source
        .seek(SeekFrom::Start(0))
        .map_err(|error| Problem::new(file, error))?;
    let size = if bundle.is_stored() {
        opened.size
    } else {
        size
    };
    Ok(Box::new(source.take(size)))
}

/// Returns the end of the last whole record. The last one needs no line feed.
fn find_end_of_records(file: &SessionFile) -> io::Result<u64> {
    let mut last = [0];
    fill_at(&file.file, &mut last, file.size.saturating_sub(1))?;
    let mut end = file.size;
    if last != *b"\n" {
        let mut bytes = FixedFile::new(&file.file, file.size, Mapping::Refused);
        visit_lines_backward(&mut bytes, &mut |place, line| {
            let json = line.and_then(|line| serde_json::from_slice::<IgnoredAny>(line).ok());
            if json.is_none() {
                end = place.start;
            }
            false
        })?;
    }
    Ok(end)
}
