//! Prints what `summarize-batch` makes.

use std::io;
use std::sync::Arc;

use crate::cmd::output::RecordWriter;
use crate::cmd::side::model_failures::ModelFailures;
use crate::cmd::side::side_arguments::extension;
use crate::flow::{LabelOutcome, LabelSink};
use crate::io::{Ids, Messages};
use crate::jsonl::Damage;
use crate::message::SessionId;
use crate::records::{ToolUseSummaryRecord, UsageRecord};
use crate::session::record::Transcript;

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printing {
    /// The input and our records.
    Everything,
    /// Our records.
    OwnRecords,
    /// The labels, for people.
    Text { dim: bool },
    /// The bodies of the requests that would be sent.
    Bodies,
}

/// Prints labels among the input, and records them.
pub(crate) struct LabelPrinter {
    pub(crate) writer: RecordWriter,
    pub(crate) printing: Printing,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) messages: Messages,
    pub(crate) verbose: bool,
    pub(crate) quiet: bool,
    /// The file beside the session that labels are appended to.
    pub(crate) recorder: Option<Transcript>,
    pub(crate) failures: ModelFailures,
    /// How many labels were printed.
    pub(crate) labels: usize,
}

impl LabelSink for LabelPrinter {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.printing != Printing::Everything {
            return Ok(());
        }
        Ok(self.writer.echo(bytes)?)
    }

    fn label(&mut self, made: &LabelOutcome, session: Option<&SessionId>) -> io::Result<()> {
        if let Some(failure) = &made.failure {
            if self.verbose {
                self.messages.note(&format!("[TOOL_USE_SUMMARY] {failure}"));
            }
            self.failures.report(failure);
        }
        match (&made.label, &made.cost) {
            (Some(label), _) => {
                self.labels += 1;
                self.print(label, made, session)
            }
            (None, Some(cost)) => {
                let turnpipe = extension(None, Some(cost));
                let uuid = self.ids.uuid().to_string();
                self.own(&UsageRecord::new(uuid, session.cloned(), turnpipe))
            }
            (None, None) => Ok(()),
        }
    }

    fn late(&mut self, batch: u64) {
        if self.verbose {
            self.messages.note(&format!(
                "[TOOL_USE_SUMMARY] the label of batch {} was not ready in time and is dropped",
                batch + 1
            ));
        }
    }

    fn damage(&mut self, damage: &Damage) {
        if !self.quiet {
            self.messages.note(&damage.to_string());
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.writer.flush()?)
    }
}

impl LabelPrinter {
    fn print(
        &mut self,
        label: &str,
        made: &LabelOutcome,
        session: Option<&SessionId>,
    ) -> io::Result<()> {
        match self.printing {
            Printing::Bodies => return self.line(label),
            Printing::Text { dim: true } => self.line(&format!("\u{1b}[2m● {label}\u{1b}[0m"))?,
            Printing::Text { dim: false } => self.line(&format!("● {label}"))?,
            Printing::Everything | Printing::OwnRecords => {}
        }
        let record = ToolUseSummaryRecord {
            summary: label.to_owned(),
            preceding_tool_use_ids: made.ids.clone(),
            uuid: self.ids.uuid().to_string(),
            session_id: session.cloned(),
            turnpipe: extension(made.model.clone(), made.cost.as_ref()),
        };
        self.own(&record)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.writer.echo(format!("{text}\n").as_bytes())?;
        self.flush()
    }

    /// Records one of our records, then prints it.
    fn own(&mut self, record: &impl serde::Serialize) -> io::Result<()> {
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
