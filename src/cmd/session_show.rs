//! `session show`: the dialog of a session.

use std::ops::ControlFlow;

use clap::{Args, ValueEnum};

use super::session_range::MessageRange;
use super::session_source::{SourceArguments, about, unreadable};
use super::{Globals, Outcome, output};
use crate::dialog::{
    About, Density, Grouping, Markdown, Message, Origin, Outline, Piece, PlainText, Selection,
    Style, Thinking, ToolDetail, to_record,
};
use crate::io::Io;
use crate::jsonl::WriteError;
use crate::session::Scope;
use crate::text::terminal_safe_line;
use crate::wire::SessionId;
use crate::wire::records::{AboutSession, SessionStartRecord};

/// Show the dialog of a session
///
/// The conversation as it stands, without branches that were left. As records it begins with a
/// `system/session_start`, so that stages after it take it for history and run nothing.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Args)]
pub(super) struct SessionShowArguments {
    /// A file, an id or the beginning of one, a title, or `latest`
    #[arg(value_name = "SESSION")]
    session: String,
    #[command(flatten)]
    source: SourceArguments,
    /// What to print [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<DialogForm>,
    /// How much to show of tool calls and results [default: full in records, else summary]
    #[arg(long, value_enum, value_name = "HOW")]
    tools: Option<ToolsShown>,
    /// Show what the model thought (records always hold it, unless `--no-thinking`)
    #[arg(long, overrides_with = "no_thinking")]
    thinking: bool,
    /// Leave out what the model thought
    #[arg(long, overrides_with = "thinking")]
    no_thinking: bool,
    /// Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<MessageRange>,
    /// Branches that were left, too
    #[arg(long)]
    all_branches: bool,
    /// Put neighbouring tool calls under one heading
    #[arg(long)]
    compact: bool,
}

/// How a dialog is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DialogForm {
    /// For a terminal
    Text,
    /// Markdown
    Md,
    /// Records
    Jsonl,
}

/// How much is shown of calls and their results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ToolsShown {
    /// Nothing
    None,
    /// Calls, and the beginnings of results
    Summary,
    /// Everything
    Full,
}

impl SessionShowArguments {
    /// Shows it.
    ///
    /// # Errors
    /// There is no such session, or reading or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let session = self.source.open(&self.session, io)?;
        let path = session.file.path.clone();
        let failed = |error: std::io::Error| unreadable(&path, error.into());
        let facts = session.quick_facts(self.source.mapping()).map_err(failed)?;
        let about = about(&path, session.agent(), &facts);
        let form = match self.output {
            Some(form) => form,
            None if io.terminal.stdout => DialogForm::Text,
            None => DialogForm::Jsonl,
        };
        let scope = if self.all_branches {
            Scope::AllBranches
        } else {
            Scope::Live
        };
        let range = match self.range {
            Some(range) if range.counts_from_the_end() => {
                let mut total = 0;
                session.each_message(scope, &mut |message| {
                    total += u64::from(is_shown(&message));
                    ControlFlow::Continue(())
                })?;
                Some(range.of(total))
            }
            range => range,
        };
        let colored = globals.color.applies(io.terminal.stdout, &io.environment);
        let mut printer = Printer {
            form,
            selection: self.selection(form),
            outline: Outline::new(self.grouping()),
            text: PlainText {
                style: if colored { Style::Ansi } else { Style::Plain },
                density: self.density(),
            },
            markdown: Markdown {
                density: self.density(),
            },
            about: About {
                session_id: facts.session_id.clone().map(SessionId),
            },
            writer: output::record_writer(io)?,
        };
        printer.head(&about)?;
        let mut number = 0;
        let mut failure = None;
        let left_out = session
            .each_message(scope, &mut |message| {
                if !is_shown(&message) {
                    return ControlFlow::Continue(());
                }
                number += 1;
                if let Some(range) = range {
                    if range.is_before(number) {
                        return ControlFlow::Continue(());
                    }
                    if range.is_behind(number) {
                        return ControlFlow::Break(());
                    }
                }
                match printer.message(message) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        failure = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })
            .map_err(failed)?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        printer.finish()?;
        if left_out > 0 && !globals.quiet {
            io.messages.hint(&format!(
                "{left_out} messages of other branches, or from before a compaction, are left out: \
                 `--all-branches` shows them"
            ));
        }
        Ok(Outcome::Done)
    }

    fn selection(&self, form: DialogForm) -> Selection {
        let tools = match (self.tools, form) {
            (Some(ToolsShown::None), _) => ToolDetail::None,
            (Some(ToolsShown::Summary), _) | (None, DialogForm::Text | DialogForm::Md) => {
                ToolDetail::Summary
            }
            (Some(ToolsShown::Full), _) | (None, DialogForm::Jsonl) => ToolDetail::Full,
        };
        let is_usual = form == DialogForm::Jsonl && !self.no_thinking;
        let thinking = if self.thinking || is_usual {
            Thinking::Shown
        } else {
            Thinking::Hidden
        };
        Selection { tools, thinking }
    }

    fn grouping(&self) -> Grouping {
        if self.compact {
            Grouping::Merged
        } else {
            Grouping::Batches
        }
    }

    fn density(&self) -> Density {
        if self.compact {
            Density::Compact
        } else {
            Density::Full
        }
    }
}

/// Readings of meters are for sums.
fn is_shown(message: &Message) -> bool {
    message.origin != Origin::Meter
}

/// Prints messages in one of the forms.
struct Printer<Sink: std::io::Write> {
    form: DialogForm,
    selection: Selection,
    outline: Outline,
    text: PlainText,
    markdown: Markdown,
    about: About,
    writer: crate::jsonl::Writer<Sink>,
}

impl<Sink: std::io::Write> Printer<Sink> {
    fn head(&mut self, about: &AboutSession) -> Result<(), WriteError> {
        let title = about.title.as_deref().or(about.first_prompt.as_deref());
        let title = terminal_safe_line(title.unwrap_or("Session"));
        match self.form {
            DialogForm::Jsonl => self.writer.record(&SessionStartRecord::new(about.clone())),
            DialogForm::Md => self.writer.echo(format!("# {title}\n\n").as_bytes()),
            DialogForm::Text => self.writer.echo(format!("{title}\n\n").as_bytes()),
        }
    }

    fn message(&mut self, message: Message) -> Result<(), WriteError> {
        let Some(message) = self.selection.apply(message) else {
            return Ok(());
        };
        if self.form == DialogForm::Jsonl {
            return self.writer.record(&to_record(message, &self.about));
        }
        let pieces = self.outline.push(message);
        self.pieces(&pieces)
    }

    fn pieces(&mut self, pieces: &[Piece]) -> Result<(), WriteError> {
        for piece in pieces {
            let page = match self.form {
                DialogForm::Md => self.markdown.piece(piece),
                DialogForm::Text | DialogForm::Jsonl => self.text.piece(piece),
            };
            self.writer.echo(page.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        let pieces = self.outline.finish();
        self.pieces(&pieces)?;
        self.writer.flush()
    }
}
