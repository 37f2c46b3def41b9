//! `check text`: what is left of a model's text after cleaning.

use clap::{Args, ValueEnum};

use super::check_input::{Check, CheckInput, Reply};
use super::check_line::Surroundings;
use super::{Globals, Outcome};
use crate::io::Io;
use crate::side::Rejection;
use crate::side::label::clean_label;
use crate::side::recap::clean_recap;
use crate::side::title::{TitleStyle, clean_title};
use crate::text::terminal_safe_line;
use crate::wire::records::{self, CheckTextRecord};

/// Clean text that a model wrote
///
/// Reads one text a line, as a JSON string or an object with a `text`, and writes one record a line
/// with the cleaned `output`. A line that is neither yields a record with an `error`.
#[derive(Debug, Args)]
pub(super) struct CheckTextArguments {
    /// What the text is to be used as
    #[arg(long = "as", value_name = "KIND")]
    pub(super) kind: TextKind,
    /// Where it comes from.
    #[command(flatten)]
    pub(super) input: CheckInput,
}

/// What a text is to be used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TextKind {
    /// One line that is harmless on a terminal
    Terminal,
    /// A label for a batch of tool calls
    Label,
    /// A session title
    Title,
    /// A session recap, in the tags that the prompt asks for
    Recap,
}

impl CheckTextArguments {
    /// Cleans every line.
    ///
    /// # Errors
    /// The kind is not available, or reading or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let clean: fn(&str) -> CheckTextRecord = match self.kind {
            TextKind::Terminal => clean_for_terminal,
            TextKind::Label => |text| cleaned(records::TextKind::Label, clean_label(text)),
            TextKind::Title => |text| {
                cleaned(
                    records::TextKind::Title,
                    clean_title(text, TitleStyle::Sentence),
                )
            },
            TextKind::Recap => |text| cleaned(records::TextKind::Recap, clean_recap(text)),
        };
        let check = Check {
            name: "text",
            field: "text",
            surroundings: Surroundings::Ignored,
            answer: &|question| Reply::Record(clean(&question.text)),
        };
        self.input.answer_each(&check, globals, io)
    }
}

fn clean_for_terminal(text: &str) -> CheckTextRecord {
    CheckTextRecord::passed(records::TextKind::Terminal, terminal_safe_line(text))
}

fn cleaned(kind: records::TextKind, text: Result<String, Rejection>) -> CheckTextRecord {
    match text {
        Ok(text) => CheckTextRecord::passed(kind, text),
        Err(rejection) => CheckTextRecord::rejected(kind, rejection.into()),
    }
}
