//! Prints the output of `summarize-batch`.

use std::io;
use std::sync::Arc;

use crate::cmd::output::RecordWriter;
use crate::cmd::side::model_failures::ModelFailures;
use crate::io::{Ids, Messages};
use crate::jsonl::Damage;
use crate::message::{SessionId, ToolUseId};
use crate::records::{ToolUseSummaryRecord, UsageRecord};
use crate::session::record::Transcript;
use crate::side::label::{Label, LabelSink};
use crate::side::{Text, extension};

/// The part of the output that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printing {
    /// The input and our records.
    Everything,
    /// Our records.
    OwnRecords,
    /// The labels as text.
    Text { dim: bool },
    /// The bodies of the requests that would be sent.
    Bodies,
}

/// Prints labels between the lines of the input, and records them.
pub(crate) struct LabelPrinter {
    pub(crate) writer: RecordWriter,
    pub(crate) printing: Printing,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) messages: Messages,
    pub(crate) verbose: bool,
    pub(crate) quiet: bool,
    /// The side file of the session, to which labels are appended.
    pub(crate) recorder: Option<Transcript>,
    pub(crate) failures: ModelFailures,
    /// Number of printed labels.
    pub(crate) labels: usize,
}

impl LabelSink for LabelPrinter {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.printing != Printing::Everything {
            return Ok(());
        }
        Ok(self.writer.echo(bytes)?)
    }

    fn label(&mut self, label: Label, session: Option<&SessionId>) -> io::Result<()> {
        let no_text = match label.result {
            None => return Ok(()),
            Some(Ok(text)) => {
                self.labels += 1;
                return self.print(label.ids, text, session);
            }
            Some(Err(no_text)) => no_text,
        };
        if let Some(failure) = &no_text.failure {
            if self.verbose {
                self.messages.log(&format!("[TOOL_USE_SUMMARY] {failure}"));
            }
            self.failures.report(failure);
        }
        let Some(cost) = no_text.cost else {
            return Ok(());
        };
        let turnpipe = extension(None, Some(&cost));
        let uuid = self.ids.uuid().to_string();
        self.write_own(&UsageRecord::new(uuid, session.cloned(), turnpipe))
    }

    fn late(&mut self, batch: u64) {
        if self.verbose {
            self.messages.log(&format!(
                "[TOOL_USE_SUMMARY] the label of batch {} was not ready in time and is dropped",
                batch + 1
            ));
        }
    }

    fn stopped_asking(&mut self) {
        self.messages
            .warn("the model is too slow for `--hold-ms`, so it is not asked for further labels");
    }

    fn damage(&mut self, damage: &Damage) {
        if !self.quiet {
            self.messages.warn(&damage.to_string());
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.writer.flush()?)
    }
}

impl LabelPrinter {
    fn print(
        &mut self,
        ids: Vec<ToolUseId>,
        label: Text,
        session: Option<&SessionId>,
    ) -> io::Result<()> {
        let text = &label.text;
        match self.printing {
            Printing::Bodies => return self.line(text),
            Printing::Text { dim: true } => self.line(&format!("\u{1b}[2m● {text}\u{1b}[0m"))?,
            Printing::Text { dim: false } => self.line(&format!("● {text}"))?,
            Printing::Everything | Printing::OwnRecords => {}
        }
        let record = ToolUseSummaryRecord {
            summary: label.text,
            preceding_tool_use_ids: ids,
            uuid: self.ids.uuid().to_string(),
            session_id: session.cloned(),
            turnpipe: extension(Some(label.model), label.cost.as_ref()),
        };
        self.write_own(&record)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.writer.echo(format!("{text}\n").as_bytes())?;
        self.flush()
    }

    /// Records one of our records, then prints it.
    fn write_own(&mut self, record: &impl serde::Serialize) -> io::Result<()> {
        if let Some(recorder) = &mut self.recorder {
            let record = serde_json::to_value(record)?;
            recorder.record(record).map_err(io::Error::other)?;
        }
        if matches!(self.printing, Printing::Text { .. } | Printing::Bodies) {
            return Ok(());
        }
        self.writer.record(record)?;
        self.flush()
    }
}
