//! Names of sessions: a file, an id or a prefix of it, a title, `latest`, or a list on standard
//! input.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::{NamedTempFile, TempPath};

use crate::agent::NamedRoots;
use crate::commands::inputs::take_stdin;
use crate::commands::peers_words::find_hint;
use crate::commands::session::source::{SelectionArguments, SourceArguments};
use crate::commands::{Form, InputErrors, RecordWriter, UsageError};
use crate::io::{Environment, InputStream, Io, Messages, create_temporary};
use crate::jsonl::WriteResult;
use crate::records::SessionErrorRecord;
use crate::render::sessions::is_export_list;
use crate::session::{
    Candidate, CopiedHistory, Depth, Facts, FindError, Listing, Session, SessionFiles,
    discover_paths, find, find_subagents_beside,
};

/// The name of the session that was active last.
pub(crate) const LATEST: &str = "latest";

impl SourceArguments {
    /// Returns the sessions of these names. `-` reads standard input: records of `session list`, or
    /// one session file.
    ///
    /// # Errors
    /// Standard input cannot be read. Sessions that are not found are elements of the list.
    pub(crate) fn resolve(
        &self,
        names: &[String],
        io: &mut Io,
    ) -> anyhow::Result<Vec<NamedSession>> {
        self.resolve_in(&self.listing(Depth::Ends), names, io)
    }

    /// Like [`Self::resolve`], among the sessions of a listing.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub(crate) fn resolve_in(
        &self,
        listing: &Listing,
        names: &[String],
        io: &mut Io,
    ) -> anyhow::Result<Vec<NamedSession>> {
        let mut sessions = Vec::new();
        for name in names {
            // A glob of the shell also matches the list of an export.
            if names.len() > 1 && is_export_list(Path::new(name)) {
                continue;
            }
            if name != "-" {
                sessions.push(self.new_session(name, self.find(name, listing, io)));
                continue;
            }
            match self.read_stdin(io)? {
                StandardInput::List(listed) => sessions.extend(listed),
                StandardInput::Conversation(input) => {
                    sessions.push(NamedSession::store_input(
                        "-".to_owned(),
                        input,
                        &self.named_roots,
                    )?);
                }
            }
        }
        Ok(sessions)
    }

    /// Like [`Self::resolve`], for sessions that are only read.
    ///
    /// # Errors
    /// Standard input or a pipe cannot be read.
    pub(crate) fn resolve_for_reading(
        &self,
        names: &[String],
        io: &mut Io,
    ) -> anyhow::Result<Vec<NamedSession>> {
        let sessions = self.resolve(names, io)?.into_iter();
        sessions.map(NamedSession::prepare_for_reading).collect()
    }

    /// Returns the named sessions and their files, or without names all files and the files of their subagents. Files are
    /// in order of their last change, so that a copied call counts for the session that made it first. The sessions own
    /// copies of pipes. Reports unusable sessions.
    ///
    /// # Errors
    /// Standard input or a pipe cannot be read.
    pub(crate) fn resolve_or_all(
        &self,
        names: &[String],
        errors: &mut InputErrors,
        io: &mut Io,
    ) -> anyhow::Result<(Vec<NamedSession>, Vec<Candidate>)> {
        if names.is_empty() {
            self.check_roots(errors);
            let mut candidates = self.candidates(&io.environment);
            candidates.extend(find_subagents_beside(&candidates));
            candidates.sort_by_key(|candidate| candidate.modified);
            return Ok((Vec::new(), candidates));
        }
        let sessions = self.resolve_for_reading(names, io)?;
        let paths = list_usable_paths(&sessions, errors).into_iter();
        let candidates = paths.flat_map(|path| discover_paths(std::iter::once(path)));
        let candidates = candidates.collect();
        Ok((sessions, candidates))
    }

    /// Returns the sessions in these files.
    pub(crate) fn name_files(&self, sessions: Vec<SessionFiles>) -> Vec<NamedSession> {
        let sessions = sessions.into_iter();
        sessions
            .map(|files| self.new_session(&files.path.display().to_string(), Ok(files)))
            .collect()
    }

    /// Returns the session of this name.
    ///
    /// # Errors
    /// No session or several sessions have this name, or standard input cannot be read.
    pub(crate) fn resolve_one(&self, name: &str, io: &mut Io) -> anyhow::Result<NamedSession> {
        let mut sessions = self.resolve(&[name.to_owned()], io)?;
        match sessions.pop() {
            Some(session) if sessions.is_empty() => Ok(session),
            _ => Err(UsageError::new(format!("{name}: does not name exactly one session")).into()),
        }
    }

    /// Opens the session of this name, by default the latest, for reading.
    ///
    /// # Errors
    /// See [`Self::resolve_one`]; or the session does not exist or cannot be read.
    pub(crate) fn open_one(&self, name: Option<&str>, io: &mut Io) -> anyhow::Result<Session> {
        let named = self
            .resolve_one(name.unwrap_or(LATEST), io)?
            .prepare_for_reading()?;
        Ok(named.open().map_err(|error| named.name_error(&error))?)
    }

    /// Returns the sessions that this session continues, oldest first. Warns of sessions that are not found.
    pub(crate) fn ancestors(
        &self,
        session: &Session,
        facts: &Facts,
        environment: &Environment,
        messages: &Messages,
    ) -> Vec<Session> {
        let candidates = || self.candidates(environment);
        let warn_about_missing = |path: &Path, base: &CopiedHistory| {
            let (path, end, id) = (path.display(), base.end, &base.session_id);
            messages.warn(&format!(
                "{path}: continues the first {end} bytes of session {id}, which are not found in another file"
            ));
        };
        session.ancestors(
            facts,
            &self.listing(Depth::Ends),
            &candidates,
            &warn_about_missing,
        )
    }

    fn find(&self, name: &str, listing: &Listing, io: &Io) -> Result<SessionFiles, UsageError> {
        let is_file = fs::metadata(name).is_ok_and(|metadata| !metadata.is_dir());
        // `opencode.db#ses_1` is not a file, and a title may contain a slash too.
        let has_slash = name.contains('/');
        let is_path = || has_slash && Path::new(name).parent().is_some_and(Path::exists);
        if is_file || is_path() {
            return Ok(PathBuf::from(name).into());
        }
        find(name, &self.candidates(&io.environment), listing).or_else(|error| {
            let hint = match error {
                FindError::Nothing if has_slash => return Ok(PathBuf::from(name).into()),
                FindError::Nothing => {
                    let hint = find_hint(name, true);
                    return Err(UsageError::reason(error).with_hint(
                        hint.as_deref()
                            .unwrap_or("`turnpipe list` lists all sessions"),
                    ));
                }
                FindError::Several(_) => "give more of the id, or the path",
                FindError::Empty => "give an id, a title, a path or `latest`",
            };
            Err(UsageError::reason(error).with_hint(hint))
        })
    }
}

impl SelectionArguments {
    /// Returns the sessions of these names among the matching ones, or all selected sessions if there
    /// are no names.
    ///
    /// # Errors
    /// Standard input cannot be read. Sessions that are not found are elements of the list.
    pub(crate) fn resolve(
        &self,
        names: &[String],
        io: &mut Io,
    ) -> anyhow::Result<Vec<NamedSession>> {
        if !names.is_empty() {
            let listing = self.matching.listing(Depth::Ends, io.clock.as_ref());
            return self.matching.source.resolve_in(&listing, names, io);
        }
        let listing = self.listing(Depth::Ends, io.clock.as_ref());
        let source = &self.matching.source;
        Ok(source.name_files(source.sessions(&listing, io)))
    }
}

/// A session that was named by an argument or by a list on standard input.
pub(crate) struct NamedSession {
    /// The name that the user gave.
    pub(crate) name: String,
    files: Result<SessionFiles, UsageError>,
    /// The agents of the configuration.
    named_roots: NamedRoots,
    /// Whether a list on standard input names the session.
    pub(crate) is_listed: bool,
    /// A copy of standard input, or of a pipe.
    temporary: Option<TempPath>,
}

impl NamedSession {
    /// Returns the session for reading: follows a link, and reads a pipe to its end.
    ///
    /// # Errors
    /// The pipe cannot be read.
    pub(crate) fn prepare_for_reading(mut self) -> anyhow::Result<Self> {
        let Ok(SessionFiles { path, .. }) = &mut self.files else {
            return Ok(self);
        };
        let kind = fs::metadata(&*path).map(|metadata| metadata.file_type());
        if kind.is_ok_and(|kind| kind.is_fifo()) {
            let pipe = File::open(path).with_context(|| format!("cannot read {}", self.name))?;
            return Self::store_input(self.name, pipe, &self.named_roots);
        }
        if path.is_symlink()
            && let Ok(target) = fs::canonicalize(&*path)
        {
            *path = target;
        }
        Ok(self)
    }

    /// Copies a session file from a pipe to a temporary file, because it must be read from both ends.
    fn store_input(
        name: String,
        mut input: impl Read,
        named_roots: &NamedRoots,
    ) -> anyhow::Result<Self> {
        let file = create_temporary(|directory| NamedTempFile::new_in(directory));
        let mut file = file.context("cannot store the input")?;
        std::io::copy(&mut input, &mut file).context("cannot store the input")?;
        let copy = file.into_temp_path();
        Ok(Self {
            name,
            files: Ok(copy.to_path_buf().into()),
            named_roots: named_roots.clone(),
            is_listed: false,
            temporary: Some(copy),
        })
    }

    /// Returns the file, which may not exist.
    ///
    /// # Errors
    /// No session has that name.
    pub(crate) fn path(&self) -> Result<&Path, UsageError> {
        let files = self.files.as_ref().map_err(Clone::clone);
        files.map(|files| files.path.as_path())
    }

    /// Returns the file, if it is permanent and may be written to.
    ///
    /// # Errors
    /// The session does not exist, or came on standard input.
    pub(crate) fn permanent_path(&self) -> Result<&Path, UsageError> {
        match self.temporary {
            None => self.path(),
            Some(_) => Err(UsageError::new("standard input has no path")),
        }
    }

    /// Returns all files of the session, oldest first.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.files
            .as_ref()
            .map(SessionFiles::paths)
            .unwrap_or_default()
    }

    /// Opens the session.
    ///
    /// # Errors
    /// The session does not exist, or cannot be read.
    pub(crate) fn open(&self) -> Result<Session, UsageError> {
        let session = Session::open_with(self.path()?, &self.named_roots);
        let mut session = self.with_files(session.map_err(UsageError::reason)?);
        if self.temporary.is_some() {
            session.file.path = PathBuf::from(&self.name);
        }
        Ok(session)
    }

    /// Adds the other files of the session.
    pub(crate) fn with_files(&self, mut session: Session) -> Session {
        if let Ok(files) = &self.files {
            session.others.clone_from(&files.others);
            session.started.clone_from(&files.started);
        }
        session
    }

    /// Adds the name of the session to an error.
    pub(crate) fn name_error(&self, error: &UsageError) -> UsageError {
        error.about(&self.name)
    }
}

/// Returns the path of a session for output: for a copy of a pipe, the name that the user gave.
pub(crate) fn find_display_path(path: PathBuf, sessions: &[NamedSession]) -> PathBuf {
    let mut sessions = sessions.iter();
    let copied = sessions.find(|session| session.temporary.as_deref() == Some(&path));
    copied.map_or(path, |session| PathBuf::from(&session.name))
}

/// Returns the files of the sessions that can be opened. Reports other sessions.
pub(crate) fn list_usable_paths(
    sessions: &[NamedSession],
    errors: &mut InputErrors,
) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for session in sessions {
        match session.open() {
            Ok(_) => paths.extend(session.paths()),
            Err(error) => errors.report(&session.name, &error),
        }
    }
    paths
}

impl InputErrors {
    /// Reports a session. In the form `jsonl`, a bad line of a list is data, since the error is also a record.
    pub(crate) fn report_session(&mut self, named: &NamedSession, form: Form, error: &UsageError) {
        self.any |= !named.is_listed || form == Form::Text;
        named.name_error(error).report(&self.messages);
    }

    /// Reports a session, with a record among other records.
    ///
    /// # Errors
    /// Writing failed.
    pub(crate) fn record_session(
        &mut self,
        named: &NamedSession,
        form: Form,
        error: &UsageError,
        writer: &mut RecordWriter,
    ) -> WriteResult {
        self.report_session(named, form, error);
        match form {
            Form::Text => Ok(()),
            Form::Jsonl => writer.record(&SessionErrorRecord {
                path: named.name.clone(),
                error: error.to_string(),
            }),
        }
    }
}

/// The content of standard input.
pub(crate) enum StandardInput {
    /// Records of `session list`; no sessions if the input is empty.
    List(Vec<NamedSession>),
    /// One conversation.
    Conversation(BufReader<InputStream>),
}

/// A record that names a session.
#[derive(serde::Deserialize)]
struct ListRecord {
    r#type: String,
    path: String,
    error: Option<String>,
}

impl ListRecord {
    fn parse(line: &[u8]) -> Option<Self> {
        let record: Self = serde_json::from_slice(line).ok()?;
        let kinds = ["session", "session_error", "session_path"];
        kinds.contains(&record.r#type.as_str()).then_some(record)
    }
}

impl SourceArguments {
    /// Reads standard input as a list if one of its first lines is a record of `session list`.
    ///
    /// # Errors
    /// Standard input is a terminal, or reading failed.
    pub(crate) fn read_stdin(&self, io: &mut Io) -> anyhow::Result<StandardInput> {
        let mut stdin = BufReader::new(take_stdin(io)?);
        let start = stdin.fill_buf().context("cannot read standard input")?;
        // Lines of a list are short, so the first buffer contains one.
        let mut lines = start.split(|byte| *byte == b'\n');
        if !start.is_empty() && !lines.any(|line| ListRecord::parse(line).is_some()) {
            return Ok(StandardInput::Conversation(stdin));
        }
        let mut sessions = Vec::new();
        for line in stdin.lines() {
            let line = line.context("cannot read standard input")?;
            if line.trim().is_empty() {
                continue;
            }
            let Some(record) = ListRecord::parse(line.as_bytes()) else {
                let error = UsageError::new("not a record of `session list`");
                sessions.push(self.new_listed_session("", Err(error)));
                continue;
            };
            let path = match record.error {
                None => Ok(PathBuf::from(&record.path)),
                Some(error) => Err(UsageError::new(error)),
            };
            sessions.push(self.new_listed_session(&record.path, path));
        }
        Ok(StandardInput::List(sessions))
    }

    fn new_session(&self, name: &str, files: Result<SessionFiles, UsageError>) -> NamedSession {
        NamedSession {
            name: name.to_owned(),
            files,
            named_roots: self.named_roots.clone(),
            is_listed: false,
            temporary: None,
        }
    }

    fn new_listed_session(&self, path: &str, found: Result<PathBuf, UsageError>) -> NamedSession {
        NamedSession {
            is_listed: true,
            ..self.new_session(path, found.map(SessionFiles::from))
        }
    }
}
