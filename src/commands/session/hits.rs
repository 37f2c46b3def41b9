//! Prints the hits of a search, or the sessions that match some words best.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::source::MatchArguments;
use crate::commands::{Form, Globals, InputErrors, RecordWriter, Status, UsageError, output};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::records::{SessionDescription, SessionPathRecord};
use crate::render::{ProgressLine, Style, hit_line, hits_heading};
use crate::session::search::{ParentSession, QueryWords, RankedSession, SearchHit, rank_all};
use crate::session::{Depth, ListedSession, describe_session};
use crate::text::terminal_safe_line;

/// The output for each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitDetail {
    /// Every hit.
    Hits,
    /// The path of the session.
    Sessions,
    /// The path of the session, and its number of hits.
    Counts,
}

/// Prints hits, session by session.
pub(crate) struct HitPrinter {
    writer: RecordWriter,
    form: Form,
    detail: HitDetail,
    style: Style,
    /// The time zone of the user.
    zone: TimeZone,
    /// The current session, whose hits follow.
    about: Option<SessionDescription>,
    /// The session that started the current one, if that is a subagent.
    parent: Option<ParentSession>,
    /// The file of the current session.
    path: PathBuf,
    /// Whether the output is a terminal.
    is_terminal: bool,
    /// Number of hits: in all sessions so far, or in the current session if hits are not printed.
    hits: u64,
}

impl HitPrinter {
    /// Returns a printer to standard output.
    ///
    /// # Errors
    /// The output cannot be opened.
    pub(crate) fn new(
        form: Form,
        detail: HitDetail,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            writer: output::open_writer(form, io)?,
            form,
            detail,
            style: globals.style(io),
            zone: io.clock.time_zone(),
            about: None,
            parent: None,
            path: PathBuf::new(),
            is_terminal: io.terminal.stdout,
            hits: 0,
        })
    }

    /// Starts a session; its hits follow.
    pub(crate) fn start_session(
        &mut self,
        session: ListedSession,
        parent: Option<ParentSession>,
    ) -> WriteResult {
        self.end_session()?;
        self.path.clone_from(&session.path);
        let mut about = describe_session(session.path, session.agent, session.facts);
        self.parent = parent;
        if let Some(parent) = &self.parent {
            about.resume.clone_from(&parent.resume);
        }
        if self.form == Form::Text && self.detail == HitDetail::Hits {
            let parent = self.parent.as_ref();
            let parent = parent.map(|parent| parent.title.as_ref().unwrap_or(&parent.id).as_str());
            let gap = if self.hits == 0 { "" } else { "\n" };
            let heading = hits_heading(&about, parent, self.style);
            self.writer.echo(format!("{gap}{heading}").as_bytes())?;
        }
        self.about = Some(about);
        Ok(())
    }

    /// Prints the path or the count at the end of a session.
    fn end_session(&mut self) -> WriteResult {
        let Some(about) = self.about.take().filter(|_| self.detail != HitDetail::Hits) else {
            return Ok(());
        };
        let hits = std::mem::take(&mut self.hits);
        let matches = (self.detail == HitDetail::Counts).then_some(hits);
        if self.form == Form::Text {
            let mut line = if self.is_terminal {
                terminal_safe_line(&about.path).into_bytes()
            } else {
                self.path.as_os_str().as_bytes().to_vec()
            };
            let count = matches.map(|hits| format!(":{hits}"));
            line.extend(count.unwrap_or_default().bytes());
            line.push(b'\n');
            return self.writer.echo(&line);
        }
        self.writer.record(&SessionPathRecord::new(about, matches))
    }

    /// Prints a hit in the current session, or only counts it.
    pub(crate) fn add_hit(&mut self, found: SearchHit) -> WriteResult {
        self.hits += 1;
        if self.detail != HitDetail::Hits {
            return Ok(());
        }
        let excerpt = found.excerpt.clone();
        let about = self.about.clone().unwrap_or_default();
        let hit = found.into_record(about, self.parent.clone());
        match self.form {
            Form::Text => {
                let line = hit_line(&hit, &excerpt, self.style, &self.zone);
                self.writer.echo(line.as_bytes())
            }
            Form::Jsonl => self.writer.record(&hit),
        }
    }

    /// Ends the output.
    pub(crate) fn finish(mut self) -> WriteResult {
        self.end_session()?;
        self.writer.flush()
    }
}

/// Default of `--limit`, a number of sessions.
const DEFAULT_LIMIT: usize = 10;

/// Prints the sessions that match `words` best, at most `limit`.
///
/// # Errors
/// There are no words, or writing failed.
pub(crate) fn print_ranked(
    words: &str,
    matching: &MatchArguments,
    limit: Option<usize>,
    form: Form,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let Some(words) = QueryWords::new(words) else {
        return Err(UsageError::new("no words to search for").into());
    };
    let mut listing = matching.listing(Depth::Ends, io.clock.as_ref());
    let mut errors = InputErrors::new(&io.messages);
    matching.source.check_roots(&mut errors);
    let candidates = matching.source.candidates(&io.environment);
    let progress = ProgressLine::for_sessions("searching", candidates.len(), io);
    listing.examined = progress.counter();
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let (ranked, failed) = rank_all(&candidates, &listing, &words, limit);
    drop(progress);
    errors.report_all(failed);
    if candidates.is_empty() && form == Form::Text {
        matching.source.report_none_found(0, io);
    }
    let status = errors.to_status(Status::negative_if(ranked.is_empty()));
    match form {
        Form::Text => {
            let mut printer = HitPrinter::new(form, HitDetail::Hits, globals, io)?;
            for RankedSession {
                session, passage, ..
            } in ranked
            {
                printer.start_session(*session, None)?;
                if let Some(passage) = passage {
                    printer.add_hit(passage)?;
                }
            }
            printer.finish()?;
        }
        Form::Jsonl => {
            let mut writer = output::open_writer(form, io)?;
            for (rank, ranked) in (1..).zip(ranked) {
                writer.record(&ranked.into_record(rank, words.as_slice()))?;
            }
            writer.flush()?;
        }
    }
    Ok(status)
}
