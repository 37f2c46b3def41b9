//! Prints a dialog in one of its forms.

use clap::ValueEnum;

use super::output::RecordWriter;
use crate::dialog::{
    About, Density, Grouping, Html, Markdown, Message, Outline, PageHead, Piece, PlainText,
    Selection, Style, markdown_title, to_record,
};
use crate::jsonl::WriteError;
use crate::text::terminal_safe_line;
use crate::wire::records::{AboutSession, SessionStartRecord};

/// How a dialog is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DialogForm {
    /// For a terminal
    Text,
    /// Markdown
    Md,
    /// Records
    Jsonl,
    /// A page for browsers
    #[value(skip)]
    Html,
}

/// How a dialog looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) form: DialogForm,
    pub(super) selection: Selection,
    pub(super) density: Density,
    pub(super) style: Style,
}

/// Prints messages in one of the forms.
pub(super) struct Printer {
    pub(super) look: Look,
    outline: Outline,
    pub(super) writer: RecordWriter,
}

impl Printer {
    /// Prints to `writer`.
    pub(super) fn new(look: Look, grouping: Grouping, writer: RecordWriter) -> Self {
        Self {
            look,
            outline: Outline::new(grouping),
            writer,
        }
    }

    /// What comes before the first message.
    pub(super) fn head(&mut self, about: &AboutSession) -> Result<(), WriteError> {
        let title = about.title.as_deref().or(about.first_prompt.as_deref());
        let title = title.unwrap_or("Session");
        match self.look.form {
            DialogForm::Jsonl => self.writer.record(&SessionStartRecord::new(about.clone())),
            DialogForm::Md => self.writer.echo(markdown_title(title).as_bytes()),
            DialogForm::Text => {
                let title = terminal_safe_line(title);
                self.writer.echo(format!("{title}\n\n").as_bytes())
            }
            DialogForm::Html => {
                let facts = [
                    ("agent", Some(about.agent.clone())),
                    (
                        "session",
                        about.session_id.as_ref().map(ToString::to_string),
                    ),
                    ("directory", about.cwd.clone()),
                    ("branch", about.git_branch.clone()),
                    ("model", about.model.clone()),
                ];
                let facts = facts
                    .into_iter()
                    .filter_map(|(name, value)| Some((name, value?)))
                    .collect();
                let head = Html.head(&PageHead {
                    title: title.to_owned(),
                    facts,
                });
                self.writer.echo(head.as_bytes())
            }
        }
    }

    /// A whole message of the session or subagent `about`.
    pub(super) fn message(&mut self, message: Message, about: &About) -> Result<(), WriteError> {
        let Some(message) = self.look.selection.apply(message) else {
            return Ok(());
        };
        if self.look.form == DialogForm::Jsonl {
            return self.writer.record(&to_record(message, about));
        }
        let pieces = self.outline.push(message);
        self.pieces(&pieces)
    }

    fn pieces(&mut self, pieces: &[Piece]) -> Result<(), WriteError> {
        let Look {
            density,
            style,
            selection: Selection { tools, .. },
            ..
        } = self.look;
        for piece in pieces {
            let page = match self.look.form {
                DialogForm::Md => Markdown { density, tools }.piece(piece),
                DialogForm::Html => Html.piece(piece),
                DialogForm::Text | DialogForm::Jsonl => PlainText {
                    style,
                    density,
                    tools,
                }
                .piece(piece),
            };
            self.writer.echo(page.as_bytes())?;
        }
        Ok(())
    }

    /// What comes after the last message.
    pub(super) fn finish(&mut self) -> Result<(), WriteError> {
        let pieces = self.outline.finish();
        self.pieces(&pieces)?;
        if self.look.form == DialogForm::Html {
            self.writer.echo(Html.foot().as_bytes())?;
        }
        self.writer.flush()
    }
}
