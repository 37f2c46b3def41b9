//! Labels that an earlier run recorded. They are not requested again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use super::CallsEnded;
use super::batch::Batch;
use super::labeler::{Label, LabelSource};
use crate::json::{elements, has_text, non_empty, object, text};
use crate::message::ToolUseId;
use crate::session::record::visit_side_records;
use crate::summaries::Text;

object! {
    /// A label.
    LabelRecord { kind = "type", summary, ids = "preceding_tool_use_ids", uuid, turnpipe }
}

object! {
    /// Its extension.
    Extension { model, calls }
}

/// The labels in the side file of a session.
#[derive(Debug, Default)]
pub struct RecordedLabels {
    labels: Vec<RecordedLabel>,
    by_call: HashMap<ToolUseId, Vec<usize>>,
}

#[derive(Debug)]
struct RecordedLabel {
    label: Label,
    /// The digest of its calls.
    digest: Option<String>,
}

impl RecordedLabels {
    /// Reads the side file of the session file at `path`. A missing file has no labels.
    ///
    /// # Errors
    /// Reading failed.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut labels = Self::default();
        visit_side_records(path, &mut |record| labels.add(record))?;
        Ok(labels)
    }

    fn add(&mut self, record: &str) {
        let Some(record) = LabelRecord::read(record) else {
            return;
        };
        let Some(summary) =
            non_empty(record.summary).filter(|_| has_text(record.kind, "tool_use_summary"))
        else {
            return;
        };
        let ids = elements(record.ids).into_iter();
        let ids: Vec<ToolUseId> = ids
            .filter_map(|id| Some(ToolUseId(text(Some(id))?.into_owned())))
            .collect();
        for id in ids.iter().collect::<HashSet<_>>() {
            let of_call = self.by_call.entry(id.clone()).or_default();
            of_call.push(self.labels.len());
        }
        let extension = Extension::from_raw(record.turnpipe).unwrap_or_default();
        let text_of = |member| non_empty(member).map(Cow::into_owned);
        self.labels.push(RecordedLabel {
            label: Label {
                ids,
                result: Some(Ok(Text {
                    text: summary.into_owned(),
                    model: text_of(extension.model).unwrap_or_default(),
                    cost: None,
                })),
                source: LabelSource::Recorded(text_of(record.uuid).unwrap_or_default()),
            },
            digest: text_of(extension.calls),
        });
    }

    /// Returns the labels of a batch, and removes their calls from it.
    pub(super) fn take(&self, batch: &mut Batch) -> Vec<Label> {
        let mut found = Vec::new();
        while let Some(label) = self.label_of(batch) {
            batch.calls.retain(|call| !label.ids.contains(&call.id));
            found.push(label.clone());
        }
        // Labels of successful calls omit the failed ones of their message.
        if !found.is_empty() && batch.shown_calls().1 == CallsEnded::Badly {
            batch.calls.clear();
        }
        found
    }

    fn label_of(&self, batch: &Batch) -> Option<&Label> {
        let calls = batch.calls.iter();
        let mut recorded = calls.filter_map(|call| self.by_call.get(&call.id));
        recorded.find_map(|of_call| {
            let mut labels = of_call.iter().rev().map(|at| &self.labels[*at]);
            let found = labels.find(|recorded| {
                let has = |id: &ToolUseId| batch.calls.iter().any(|call| call.id == *id);
                let is_same = match &recorded.digest {
                    Some(digest) => *digest == batch.digest(&recorded.label.ids),
                    // Another label of that id would be of another call.
                    None => of_call.len() == 1,
                };
                recorded.label.ids.iter().all(has) && is_same
            });
            found.map(|recorded| &recorded.label)
        })
    }
}
