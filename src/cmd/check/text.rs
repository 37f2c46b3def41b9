//! `check text`: cleans model output.

use clap::Args;

use super::input::{Check, CheckInput, CheckOutput};
use crate::cmd::{Form, Globals, Run, Status};
use crate::io::Io;
use crate::jsonl::{LineContext, TextLineForm};
use crate::records::{CheckTextRecord, TextCheck, TextKind};
use crate::side::label::{CallsEnded, clean_label};
use crate::side::recap::clean_recap;
use crate::side::title::{TitleStyle, clean_title};
use crate::text::terminal_safe_line;

/// Clean text that a model wrote
///
/// Reads one text per line: a JSON string, or an object with a `text`. Writes one record per line with the
/// cleaned `output`, or with an `error` if the line is neither. As text, prints one line per text, which
/// is empty if the text was rejected.
#[derive(Debug, Args)]
pub(crate) struct CheckTextArguments {
    /// The use of the text
    #[arg(long, alias = "as", value_enum, value_name = "KIND")]
    pub(crate) kind: TextKind,
    #[command(flatten)]
    pub(crate) input: CheckInput,
}

impl Run for CheckTextArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let prints = self.input.form.form(io.terminal);
        let check = Check {
            name: "text",
            prints,
            form: TextLineForm::Json {
                field: "text",
                context: LineContext::Ignored,
            },
            examine: &|line| {
                let record = cleaned(self.kind, &line.text);
                match prints {
                    Form::Text => CheckOutput::Text(record.output + "\n"),
                    Form::Jsonl => CheckOutput::Records(vec![record]),
                }
            },
        };
        self.input.check_each(&check, io)
    }
}

fn cleaned(kind: TextKind, text: &str) -> CheckTextRecord {
    let cleaned = match kind {
        TextKind::Terminal => Ok(terminal_safe_line(text)),
        TextKind::Label => clean_label(text, CallsEnded::Well),
        TextKind::Title => clean_title(text, TitleStyle::Sentence),
        TextKind::Recap => clean_recap(text),
    };
    CheckTextRecord {
        check: TextCheck::Only,
        kind,
        rejected: cleaned.as_ref().err().copied(),
        output: cleaned.unwrap_or_default(),
    }
}
