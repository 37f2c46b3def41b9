//! Follows sessions with their subagents, and hands their lines on as they arrive.

use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::discover::{Candidate, subagent_files, subagent_id};
use crate::files::open::{Head, SessionError, SessionFile, open_safely};
use crate::follow::file::{FollowEvent, Follower};
use crate::follow::watch::{WakeReason, Watch};
use crate::read::session::{Session, new_skipped_entry};
use crate::read::tail::{MessageLines, find_start_of_last, has_only_repeats};
use turnpipe_core::jsonl::{FixedFile, MAX_LINE_BYTES, Mapping, WriteError, WriteResult};
use turnpipe_core::message::{Message, MessageMerger, SessionId};
use turnpipe_formats::agent::{Agent, Format, NamedRoots};
use turnpipe_formats::records::{MessageContext, SwitchReason};

/// Interval between two searches for newer sessions and new subagents.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);

/// Receives what is new in followed files.
pub trait FollowOutput {
    /// Takes lines as they are in a file.
    ///
    /// # Errors
    /// Writing failed.
    fn write_raw(&mut self, lines: &[u8]) -> WriteResult;

    /// Takes a message.
    ///
    /// # Errors
    /// Writing failed.
    fn write_message(&mut self, message: Message, about: &MessageContext) -> WriteResult;

    /// Reports that the output continues with another file, or from the start of this file.
    ///
    /// # Errors
    /// Writing failed.
    fn report_switch(&mut self, reason: SwitchReason, path: &Path) -> WriteResult;

    /// Reports the end of the file, or of all output if `is_last`.
    ///
    /// # Errors
    /// Writing failed.
    fn report_end(&mut self, follower: &Follower, is_last: bool) -> WriteResult;
}

/// A session cannot be read, or its records cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: SessionError,
    },
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl PrintError {
    /// Creates the error of reading a file.
    pub fn read(path: &Path, error: impl Into<SessionError>) -> Self {
        Self::Read {
            path: path.to_owned(),
            error: error.into(),
        }
    }
}

/// Settings to follow sessions.
#[derive(Debug, Clone, Copy)]
pub struct FollowOptions {
    /// Whether lines are not read as messages.
    pub is_raw: bool,
    /// Whether subagents are followed too.
    pub with_subagents: bool,
    /// Whether files may be memory-mapped.
    pub mapping: Mapping,
    /// Ends after this long without anything new.
    pub idle: Option<Duration>,
    /// Ends after this long in any case.
    pub all: Option<Duration>,
}

impl FollowOptions {
    /// Returns the context of the messages of a session.
    ///
    /// # Errors
    /// Reading failed.
    pub fn read_context(&self, session: &Session) -> io::Result<MessageContext> {
        if self.is_raw {
            return Ok(MessageContext::default());
        }
        let facts = session.read_first_facts(self.mapping)?;
        Ok(MessageContext {
            session_id: facts.session_id.map(SessionId),
            cwd: facts.cwd,
            ..MessageContext::default()
        })
    }
}

/// A followed file, and the state of reading it.
struct FollowedFile {
    follower: Follower,
    /// `None` for raw lines.
    messages: Option<MessageLines>,
    about: MessageContext,
}

impl FollowedFile {
    /// Follows a file of this format; if it is not known yet, the first records decide.
    fn new(
        file: SessionFile,
        start: u64,
        format: Option<&'static Format>,
        about: MessageContext,
        options: &FollowOptions,
    ) -> io::Result<Self> {
        let mut messages = (!options.is_raw).then(|| MessageLines::new(format));
        if let (Some(messages), Some(format)) = (&mut messages, format) {
            messages.includes_repeats = has_only_repeats(&Head::read(&file)?, format);
        }
        // Only messages have to be held whole.
        let max_line = if options.is_raw {
            usize::MAX
        } else {
            MAX_LINE_BYTES
        };
        Ok(Self {
            follower: Follower::new(file, start, max_line)?,
            messages,
            about,
        })
    }

    fn read_new(&mut self) -> Result<FollowEvent, PrintError> {
        let event = self.follower.read_new();
        let path = self.follower.path();
        event.map_err(|error| PrintError::read(path, error))
    }

    /// Forwards whole lines, after the messages that `join` completes.
    fn forward(
        &mut self,
        event: &FollowEvent,
        join: &mut dyn FnMut(Message) -> Option<Message>,
        output: &mut impl FollowOutput,
    ) -> WriteResult {
        let Some(messages) = &mut self.messages else {
            return match event {
                FollowEvent::Lines(lines) => output.write_raw(lines),
                _ => Ok(()),
            };
        };
        let mut completed = Vec::new();
        match event {
            FollowEvent::Lines(lines) => {
                for line in lines.split_inclusive(|byte| *byte == b'\n') {
                    completed.extend(messages.parse_line(line));
                }
            }
            FollowEvent::LongLine(place) => {
                completed = messages.convert_entry(new_skipped_entry(*place));
            }
            FollowEvent::Nothing | FollowEvent::Bytes | FollowEvent::Switch(_) => {}
        }
        for message in completed.into_iter().filter_map(&mut *join) {
            output.write_message(message, &self.about)?;
        }
        Ok(())
    }

    /// Resets the state for a file that starts over, perhaps as another session.
    fn restart(&mut self) {
        if let Some(messages) = &mut self.messages {
            messages.restart();
        }
        if self.about.agent_id.is_none() {
            self.about = MessageContext::default();
        }
    }
}

/// A session that is followed, with its subagents if they are wanted.
pub struct FollowedSession {
    file: FollowedFile,
    subagents: Option<Subagents>,
}

impl FollowedSession {
    /// Follows a session from the offset `start`.
    ///
    /// # Errors
    /// Reading failed.
    pub fn new(
        file: SessionFile,
        start: u64,
        format: Option<&'static Format>,
        about: MessageContext,
        options: &FollowOptions,
    ) -> io::Result<Self> {
        let subagents = format.filter(|_| options.with_subagents);
        Ok(Self {
            subagents: subagents.map(|format| Subagents::new(&file.path, format.agent, options)),
            file: FollowedFile::new(file, start, format, about, options)?,
        })
    }

    /// Forwards what is in the file; a last line without a newline too, if it is a whole record. Records of
    /// one message are joined.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub fn read_to_end(self, output: &mut impl FollowOutput) -> Result<(), PrintError> {
        let mut file = self.file;
        let mut merger = MessageMerger::default();
        loop {
            match file.read_new()? {
                FollowEvent::Nothing | FollowEvent::Switch(_) => break,
                new => file.forward(&new, &mut |message| merger.push(message), output)?,
            }
        }
        let rest = file.follower.take_rest();
        file.forward(&rest, &mut |message| merger.push(message), output)?;
        if let Some(last) = merger.finish() {
            output.write_message(last, &file.about)?;
        }
        Ok(output.report_end(&file.follower, true)?)
    }

    /// Forwards what is new in the files of the session. Returns whether there is anything. `current` is the session
    /// that was forwarded last.
    fn forward_new(
        &mut self,
        place: usize,
        current: &mut usize,
        output: &mut impl FollowOutput,
    ) -> Result<bool, PrintError> {
        let mut is_new = false;
        let subagents = self.subagents.iter_mut().flat_map(|all| &mut all.known);
        for file in std::iter::once(&mut self.file).chain(subagents) {
            let event = file.read_new()?;
            is_new |= event != FollowEvent::Nothing;
            if matches!(event, FollowEvent::Lines(_) | FollowEvent::LongLine(_))
                && std::mem::replace(current, place) != place
            {
                output.report_switch(SwitchReason::Newer, file.follower.path())?;
            }
            match event {
                FollowEvent::Lines(_) | FollowEvent::LongLine(_) => {
                    file.forward(&event, &mut Some, output)?;
                }
                FollowEvent::Switch(reason) => {
                    file.restart();
                    *current = place;
                    output.report_switch(reason, file.follower.path())?;
                }
                FollowEvent::Bytes | FollowEvent::Nothing => {}
            }
        }
        Ok(is_new)
    }
}

/// The subagents of a session.
struct Subagents {
    session: PathBuf,
    agent: Agent,
    known: Vec<FollowedFile>,
}

impl Subagents {
    /// Returns the subagents of the session in this file; their messages so far are skipped.
    fn new(session: &Path, agent: Agent, options: &FollowOptions) -> Self {
        let mut subagents = Self {
            session: session.to_owned(),
            agent,
            known: Vec::new(),
        };
        subagents.follow_new(|file| file.size, options);
        subagents
    }

    /// Adds the files that are new, each from the offset `start`.
    fn follow_new(&mut self, start: fn(&SessionFile) -> u64, options: &FollowOptions) {
        for path in subagent_files(&self.session, self.agent) {
            let is_known = |file: &FollowedFile| file.follower.path() == path;
            if self.known.iter().any(is_known) {
                continue;
            }
            let Ok(file) = open_safely(&path) else {
                continue;
            };
            let about = MessageContext {
                agent_id: Some(subagent_id(self.agent, &path)),
                ..MessageContext::default()
            };
            let (start, format) = (start(&file), Some(self.agent.format()));
            let followed = FollowedFile::new(file, start, format, about, options);
            self.known.extend(followed.ok());
        }
    }
}

/// The sessions that are not followed yet.
pub struct NewerSessions<'a> {
    candidates: &'a dyn Fn() -> Vec<Candidate>,
    named_roots: &'a NamedRoots,
    /// Length of the part of each file that is not forwarded, in bytes; `None` for followed files.
    sizes: HashMap<PathBuf, Option<u64>>,
}

impl<'a> NewerSessions<'a> {
    /// Returns the sessions among `candidates` that start or continue from now on.
    pub fn new(candidates: &'a dyn Fn() -> Vec<Candidate>, named_roots: &'a NamedRoots) -> Self {
        let known = candidates().into_iter();
        Self {
            candidates,
            named_roots,
            sizes: known.map(|one| (one.path, Some(one.size))).collect(),
        }
    }

    /// Returns the sessions that started or continued. `first` is the file that was followed first.
    fn find(&mut self, first: &Path, options: &FollowOptions) -> Vec<FollowedSession> {
        let mut found = Vec::new();
        for candidate in (self.candidates)() {
            let known = self.sizes.get(&candidate.path).copied();
            let Some(size) = known.unwrap_or(Some(0)) else {
                continue;
            };
            if size == candidate.size {
                continue;
            }
            if is_same_file(&candidate.path, first) {
                self.sizes.insert(candidate.path, None);
            } else if let Some(session) = self.open(&candidate.path, size, options) {
                self.sizes.insert(candidate.path, None);
                found.push(session);
            }
        }
        found
    }

    /// Follows the session in a file starting at the line that extends beyond this size. A file that is
    /// not a session yet may become one.
    fn open(&self, path: &Path, size: u64, options: &FollowOptions) -> Option<FollowedSession> {
        let session = Session::open_with(path, self.named_roots)
            .ok()
            .filter(Session::is_appendable)?;
        let about = options.read_context(&session).ok()?;
        // A file that has become shorter was replaced.
        let size = if size <= session.file.size { size } else { 0 };
        let mut bytes = FixedFile::new(&session.file.file, size, Mapping::Refused);
        let is_whole = &mut |line: &[u8]| u64::from(line.ends_with(b"\n"));
        let start = find_start_of_last(&mut bytes, 0, is_whole).ok()?;
        let format = Some(session.format());
        FollowedSession::new(session.file, start, format, about, options).ok()
    }
}

/// Follows the subagents of sessions that are new, and watches for more.
fn follow_new_subagents(
    sessions: &mut [FollowedSession],
    watch: &mut Watch,
    options: &FollowOptions,
) {
    for subagents in sessions
        .iter_mut()
        .filter_map(|session| session.subagents.as_mut())
    {
        subagents.follow_new(|_| 0, options);
        // The directory may appear after the session started.
        let files = subagents.agent.format().layout.subagent_files();
        if let Some(folder) = files.and_then(|files| (files.directory)(&subagents.session)) {
            watch.add(&folder);
        }
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let read_identity = |path| open_safely(path).ok().map(|file| file.identity);
    one == other || read_identity(one).is_some_and(|one| Some(one) == read_identity(other))
}

/// Forwards what is appended until a limit is reached or the reader of the output is gone. Returns whether
/// `options.all` was reached.
///
/// # Errors
/// Reading or writing failed.
pub fn follow(
    session: FollowedSession,
    mut newer: Option<NewerSessions<'_>>,
    options: &FollowOptions,
    output: &mut impl FollowOutput,
    reader: Option<BorrowedFd<'_>>,
) -> Result<bool, PrintError> {
    let first = session.file.follower.path().to_owned();
    let mut watch = Watch::new(&first);
    let start = Instant::now();
    let (mut active, mut last_search) = (start, start);
    let mut sessions = vec![session];
    let mut current = 0;
    loop {
        let mut is_new = false;
        for place in 0..sessions.len() {
            if sessions[place].forward_new(place, &mut current, output)? {
                is_new = true;
                if sessions.len() > 1 {
                    output.report_end(&sessions[place].file.follower, false)?;
                }
            }
        }
        if is_new {
            active = Instant::now();
        }
        let time_left = |limit: Option<Duration>, since: Instant| {
            limit.map_or(Duration::MAX, |limit| limit.saturating_sub(since.elapsed()))
        };
        let (idle, all) = (
            time_left(options.idle, active),
            time_left(options.all, start),
        );
        let follower = &sessions[current].file.follower;
        if idle.is_zero() || all.is_zero() {
            output.report_end(follower, true)?;
            return Ok(all.is_zero());
        }
        if is_new {
            continue;
        }
        output.report_end(follower, false)?;
        if last_search.elapsed() >= SEARCH_INTERVAL {
            last_search = Instant::now();
            let more = match &mut newer {
                Some(newer) => newer.find(&first, options),
                None => Vec::new(),
            };
            for session in &more {
                if let Some(folder) = session.file.follower.path().parent() {
                    watch.add(folder);
                }
            }
            if !more.is_empty() {
                sessions.extend(more);
                continue;
            }
        }
        follow_new_subagents(&mut sessions, &mut watch, options);
        if watch.wait(idle.min(all), reader) == WakeReason::ReaderGone {
            return Ok(false);
        }
    }
}
