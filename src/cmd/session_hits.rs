//! Prints what a search of sessions found.

use super::output::{Form, RecordWriter};
use super::session_source::about;
use crate::dialog::{Role, Thread, message_origin};
use crate::jsonl::WriteError;
use crate::session::Listed;
use crate::session::search::{Found, FoundIn};
use crate::text::terminal_safe_line;
use crate::wire::records::{AboutSession, HitPlace, HitRole, SessionHitRecord};

/// The length of the part of a time that is shown to people: `2026-01-02T03:04`.
const MINUTES: usize = 16;

/// Prints what was found, session by session.
pub(super) struct HitPrinter {
    writer: RecordWriter,
    form: Form,
    colored: bool,
    /// The session of the hits that follow.
    about: Option<AboutSession>,
}

impl HitPrinter {
    /// Prints to `writer`; only text is coloured.
    pub(super) fn new(writer: RecordWriter, form: Form, colored: bool) -> Self {
        Self {
            writer,
            form,
            colored,
            about: None,
        }
    }

    /// The hits that follow are in this session.
    pub(super) fn session(&mut self, session: Listed) -> Result<(), WriteError> {
        let about = about(session.path, session.agent, session.facts);
        let is_first = self.about.is_none();
        if self.form == Form::Text {
            let title = about.title.as_deref().or(about.first_prompt.as_deref());
            let title = self.styled("1", &terminal_safe_line(title.unwrap_or("Session")));
            let path = self.styled("2", &terminal_safe_line(&about.path));
            let gap = if is_first { "" } else { "\n" };
            let head = format!("{gap}{title} · {}\n{path}\n", about.agent);
            self.writer.echo(head.as_bytes())?;
        }
        self.about = Some(about);
        Ok(())
    }

    /// A hit in the session.
    pub(super) fn hit(&mut self, found: Found) -> Result<(), WriteError> {
        match self.form {
            Form::Text => {
                let line = self.line(&found);
                self.writer.echo(line.as_bytes())
            }
            Form::Jsonl => {
                let about = self.about.clone().unwrap_or_default();
                self.writer.record(&record(found, about))
            }
        }
    }

    /// There are no more hits.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }

    fn line(&self, found: &Found) -> String {
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
        let (time, who) = (terminal_safe_line(&time), terminal_safe_line(who));
        let head = self.styled("2", &format!("{line:>7}  {time:16}  {who:10} "));
        let before = safe_part(&found.excerpt.before);
        let matched = self.styled("1;31", &safe_part(&found.excerpt.matched));
        let after = safe_part(&found.excerpt.after);
        format!(
            "{head} {}{matched}{}\n",
            before.trim_start(),
            after.trim_end()
        )
    }

    fn styled(&self, style: &str, text: &str) -> String {
        if self.colored && !text.is_empty() {
            format!("\u{1b}[{style}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

fn record(found: Found, about: AboutSession) -> SessionHitRecord {
    SessionHitRecord {
        session_id: about.session_id,
        agent: about.agent,
        path: about.path,
        title: about.title,
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
    }
}

/// A terminal-safe part of a line, in which blanks at either end become one blank.
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
