//! Prints what a search of sessions found.

use std::io::Write;

use super::session_source::about;
use crate::dialog::{Role, Thread, message_origin};
use crate::jsonl::{WriteError, Writer};
use crate::session::Listed;
use crate::session::search::{Found, FoundIn};
use crate::text::terminal_safe_line;
use crate::wire::records::{AboutSession, HitPlace, HitRole, SessionHitRecord};

/// The beginning of a time that people are shown: `2026-01-02T03:04`.
const MINUTES: usize = 16;

/// Prints finds, session by session.
pub(super) trait HitPrinter {
    /// The finds that follow are in this session.
    ///
    /// # Errors
    /// Writing failed.
    fn session(&mut self, session: Listed) -> Result<(), WriteError>;

    /// Something was found.
    ///
    /// # Errors
    /// Writing failed.
    fn found(&mut self, found: Found) -> Result<(), WriteError>;

    /// That was all.
    ///
    /// # Errors
    /// Writing failed.
    fn finish(&mut self) -> Result<(), WriteError>;
}

/// As records.
pub(super) struct HitRecords<Sink: Write> {
    writer: Writer<Sink>,
    about: AboutSession,
}

impl<Sink: Write> HitRecords<Sink> {
    pub(super) fn new(writer: Writer<Sink>) -> Self {
        Self {
            writer,
            about: AboutSession::default(),
        }
    }
}

impl<Sink: Write> HitPrinter for HitRecords<Sink> {
    fn session(&mut self, session: Listed) -> Result<(), WriteError> {
        self.about = about(session.path, session.agent, session.facts);
        Ok(())
    }

    fn found(&mut self, found: Found) -> Result<(), WriteError> {
        let about = &self.about;
        self.writer.record(&SessionHitRecord {
            session_id: about.session_id.clone(),
            agent: about.agent.clone(),
            path: about.path.clone(),
            title: about.title.clone(),
            line: found.line,
            role: match found.role {
                Role::User => HitRole::User,
                Role::Assistant => HitRole::Assistant,
                Role::System => HitRole::System,
            },
            origin: message_origin(found.origin),
            subagent: found.thread == Thread::Subagent,
            place: match found.place {
                FoundIn::Text => HitPlace::Text,
                FoundIn::Thinking => HitPlace::Thinking,
                FoundIn::Call => HitPlace::Call,
                FoundIn::Result => HitPlace::Result,
            },
            snippet: found.excerpt.text(),
            matched: found.excerpt.matched,
            matches: found.matches,
            uuid: found.uuid,
            timestamp: found.time,
            tool: found.tool,
        })
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }
}

/// For people: a heading a session, and a line a find.
pub(super) struct HitText<Sink: Write> {
    writer: Writer<Sink>,
    colored: bool,
    any: bool,
}

impl<Sink: Write> HitText<Sink> {
    pub(super) fn new(writer: Writer<Sink>, colored: bool) -> Self {
        Self {
            writer,
            colored,
            any: false,
        }
    }

    fn styled(&self, style: &str, text: &str) -> String {
        if self.colored && !text.is_empty() {
            format!("\u{1b}[{style}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

impl<Sink: Write> HitPrinter for HitText<Sink> {
    fn session(&mut self, session: Listed) -> Result<(), WriteError> {
        let facts = &session.facts;
        let title = facts.title.as_ref().map(|title| title.text.as_str());
        let title = title.or(facts.first_prompt.as_deref()).unwrap_or("Session");
        let title = self.styled("1", &terminal_safe_line(title));
        let path = terminal_safe_line(&session.path.display().to_string());
        let path = self.styled("2", &path);
        let break_before = if std::mem::replace(&mut self.any, true) {
            "\n"
        } else {
            ""
        };
        let agent = session.agent.name();
        let head = format!("{break_before}{title} · {agent}\n{path}\n");
        self.writer.echo(head.as_bytes())
    }

    fn found(&mut self, found: Found) -> Result<(), WriteError> {
        let who = match (found.place, found.role) {
            (FoundIn::Call, _) => found.tool.as_deref().unwrap_or("call"),
            (FoundIn::Result, _) => "result",
            (FoundIn::Thinking, _) => "thinking",
            (FoundIn::Text, Role::User) => "user",
            (FoundIn::Text, Role::Assistant) => "assistant",
            (FoundIn::Text, Role::System) => "system",
        };
        let line = found.line.map(|line| line.to_string()).unwrap_or_default();
        let time = found.time.as_deref().unwrap_or_default();
        let time = time.get(..MINUTES).unwrap_or(time).replace('T', " ");
        let head = format!(
            "{line:>7}  {:16}  {:10} ",
            terminal_safe_line(&time),
            terminal_safe_line(who)
        );
        let head = self.styled("2", &head);
        let matched = self.styled("1;31", &safe_part(&found.excerpt.matched));
        let before = safe_part(&found.excerpt.before);
        let after = safe_part(&found.excerpt.after);
        let text = format!(
            "{head} {}{matched}{}\n",
            before.trim_start(),
            after.trim_end()
        );
        self.writer.echo(text.as_bytes())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }
}

/// A part of a line, harmless, that keeps the blanks at its ends as one blank.
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
