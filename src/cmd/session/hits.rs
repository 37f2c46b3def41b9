//! Prints the hits of a search, or the sessions that match some words best.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::source::MatchArguments;
use crate::cmd::{Form, Globals, InputErrors, RecordWriter, Status, UsageError, output};
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::Role;
use crate::records::{HitBlock, SessionDescription, SessionPathRecord, SessionRankedRecord};
use crate::session::search::{ParentSession, QueryWords, RankedSession, SearchHit, rank_all};
use crate::session::{Depth, Listed, session_description};
use crate::text::{fitted, terminal_safe_line};
use crate::view::{ProgressLine, Style, recorded_minute};

/// The output for each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitDetail {
    /// Every hit.
    Hits,
    /// Its path.
    Sessions,
    /// Its path, and the number of hits.
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
    /// The session of the hits that follow.
    about: Option<SessionDescription>,
    /// The session that started it, if it is a subagent.
    parent: Option<ParentSession>,
    /// The file of that session.
    path: PathBuf,
    /// Whether the output is a terminal.
    is_terminal: bool,
    /// Hits so far; of that session, if only their number is printed.
    hits: u64,
}

/// Maximum width of the title above hits, in columns.
const TITLE_COLUMNS: usize = 70;

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
            writer: output::writer(form, io)?,
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

    /// Sets the session of the hits that follow.
    pub(crate) fn session(
        &mut self,
        session: Listed,
        parent: Option<ParentSession>,
    ) -> WriteResult {
        self.end_session()?;
        self.path.clone_from(&session.path);
        let mut about = session_description(session.path, session.agent, session.facts);
        self.parent = parent;
        if let Some(parent) = &self.parent {
            about.resume.clone_from(&parent.resume);
        }
        if self.form == Form::Text && self.detail == HitDetail::Hits {
            let title = fitted(&terminal_safe_line(about.heading()), TITLE_COLUMNS);
            let title = self.style.styled("1", &title);
            let path = self.style.styled("2", &terminal_safe_line(&about.path));
            let gap = if self.hits == 0 { "" } else { "\n" };
            let resume = about.resume.as_ref().map(|command| {
                let place = about.cwd.as_ref().map(|cwd| format!(" (in {cwd})"));
                let line = command.clone() + &place.unwrap_or_default();
                self.style.styled("2", &terminal_safe_line(&line)) + "\n"
            });
            let resume = resume.unwrap_or_default();
            let parent = self.parent.as_ref().map(|parent| {
                let name = parent.title.as_ref().unwrap_or(&parent.id);
                let name = fitted(&terminal_safe_line(name), TITLE_COLUMNS);
                format!(
                    "{}\n",
                    self.style.styled("2", &format!("subagent of {name}"))
                )
            });
            let parent = parent.unwrap_or_default();
            let head = format!("{gap}{title} · {}\n{parent}{path}\n{resume}", about.agent);
            self.writer.echo(head.as_bytes())?;
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
        self.writer.record(&SessionPathRecord {
            session_id: about.session_id,
            agent: Some(about.agent),
            path: about.path,
            title: about.title,
            title_source: about.title_source,
            resume: about.resume,
            matches,
        })
    }

    /// Prints a hit in the session, or counts it.
    pub(crate) fn hit(&mut self, found: SearchHit) -> WriteResult {
        self.hits += 1;
        match self.form {
            _ if self.detail != HitDetail::Hits => Ok(()),
            Form::Text => {
                let line = self.line(&found);
                self.writer.echo(line.as_bytes())
            }
            Form::Jsonl => {
                let about = self.about.clone().unwrap_or_default();
                self.writer
                    .record(&found.into_record(about, self.parent.clone()))
            }
        }
    }

    /// Ends the output.
    pub(crate) fn finish(mut self) -> WriteResult {
        self.end_session()?;
        self.writer.flush()
    }

    fn line(&self, found: &SearchHit) -> String {
        let who = match (found.place, found.role) {
            (HitBlock::Call, _) => found.tool.as_deref().unwrap_or("call"),
            (HitBlock::Result, _) => "result",
            (HitBlock::Thinking, _) => "thinking",
            (HitBlock::Text, Role::User) => "user",
            (HitBlock::Text, Role::Assistant) => "assistant",
            (HitBlock::Text, Role::System) => "system",
        };
        let line = found.line.map(|line| line.to_string()).unwrap_or_default();
        let time = recorded_minute(found.time.as_deref(), &self.zone);
        let who = terminal_safe_line(who);
        let head = self
            .style
            .styled("2", &format!("{line:>7}  {time:16}  {who:10} "));
        let lines = |text: &str| {
            text.split('\n')
                .map(safe_part)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let text = format!(
            "{}{}{}",
            lines(&found.excerpt.before),
            self.style
                .styled("1;31", &safe_part(&found.excerpt.matched)),
            lines(&found.excerpt.after)
        );
        if found.excerpt.has_lines {
            let text = text.replace('\n', "\n    ");
            return format!("{head}\n    {text}\n");
        }
        format!("{head} {}\n", text.replace('\n', " ").trim())
    }
}

/// Returns a terminal-safe part of a line. Blanks at either end become one blank.
fn safe_part(text: &str) -> String {
    let blank = |is_there: bool| if is_there { " " } else { "" };
    let inner = terminal_safe_line(text);
    if inner.is_empty() {
        return blank(text.contains(char::is_whitespace)).to_owned();
    }
    let starts = blank(text.starts_with(char::is_whitespace));
    let ends = blank(text.ends_with(char::is_whitespace));
    format!("{starts}{inner}{ends}")
}

/// Number of sessions, unless `--limit` is given.
const DEFAULT_LIMIT: usize = 10;

/// Prints the best sessions, at most `limit`.
///
/// # Errors
/// There are no words, or writing failed.
pub(crate) fn rank(
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
    let progress = ProgressLine::of_sessions("searching", candidates.len(), io);
    listing.examined = progress.done();
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let (ranked, failed) = rank_all(&candidates, &listing, &words, limit);
    drop(progress);
    errors.report_all(failed);
    if candidates.is_empty() && form == Form::Text {
        matching.source.note_none(0, io);
    }
    let status = errors.outcome(Status::negative_if(ranked.is_empty()));
    match form {
        Form::Text => {
            let mut printer = HitPrinter::new(form, HitDetail::Hits, globals, io)?;
            for RankedSession {
                session, passage, ..
            } in ranked
            {
                printer.session(*session, None)?;
                if let Some(passage) = passage {
                    printer.hit(passage)?;
                }
            }
            printer.finish()?;
        }
        Form::Jsonl => {
            let mut writer = output::writer(form, io)?;
            for (rank, ranked) in (1..).zip(ranked) {
                writer.record(&record(rank, ranked, words.as_slice()))?;
            }
            writer.flush()?;
        }
    }
    Ok(status)
}

fn record(rank: u64, ranked: RankedSession, words: &[String]) -> SessionRankedRecord {
    let session = *ranked.session;
    let time = session.facts.last_activity.map(|time| time.to_string());
    let hit = ranked.passage.as_ref();
    let found = ranked.words.into_iter().map(|word| words[word].clone());
    SessionRankedRecord {
        rank,
        score: (ranked.score * 1000.0).round() / 1000.0,
        words: found.collect(),
        about: session_description(session.path, session.agent, session.facts),
        last_activity: time,
        line: hit.and_then(|hit| hit.line),
        role: hit.map(|hit| hit.role),
        block: hit.map(|hit| hit.place),
        snippet: hit.map(|hit| hit.excerpt.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_lines_keep_the_blanks_between_them() {
        let rows = [
            ("a b", "a b"),
            ("\n a", " a"),
            ("a\t", "a "),
            (" \n", " "),
            ("", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(safe_part(text), expected, "{text:?}");
        }
        assert_eq!(safe_part("\u{1b}[31mx"), "x");
    }
}
