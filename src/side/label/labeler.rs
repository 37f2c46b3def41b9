//! Labels of batches, by rules or by a model.

use std::sync::Arc;

use super::batch::{Batch, Need};
use super::{CallsEnded, ShownCall, clean_label, label_question, label_request};
use crate::message::ToolUseId;
use crate::model::{Delivery, Provider, Request};
use crate::side::ask::Asker;
use crate::side::builtin;
use crate::side::outcome::{NoText, Text};

/// Writes labels.
#[derive(Clone)]
pub enum Labeler {
    /// Rules.
    Rules,
    /// A model.
    Model {
        /// The model.
        asker: Asker,
        /// The system prompt.
        instructions: String,
        /// Whether rules label a single call that reads, lists, finds or searches.
        shortcuts: bool,
    },
    /// The bodies of the requests are written instead.
    DryRun {
        /// The model.
        provider: Arc<dyn Provider>,
        /// The system prompt.
        instructions: String,
    },
}

/// The label of a batch.
#[derive(Debug, Clone)]
pub struct Label {
    /// The calls that it describes.
    pub ids: Vec<ToolUseId>,
    /// The text, or the reason for having none; `None` if there is nothing to label.
    pub result: Option<Result<Text, NoText>>,
}

impl Labeler {
    /// Returns the parts of batches that are needed.
    pub(super) fn need(&self) -> Need {
        match self {
            Self::Rules => Need::Rules,
            Self::Model {
                shortcuts: false, ..
            }
            | Self::DryRun { .. } => Need::Model,
            Self::Model { .. } => Need::Both,
        }
    }

    /// Whether the label of this batch takes no time.
    pub(super) fn is_immediate(&self, batch: &Batch) -> bool {
        match self {
            Self::Rules | Self::DryRun { .. } => true,
            Self::Model { shortcuts, .. } => *shortcuts && is_trivial(batch),
        }
    }

    /// Writes the label.
    pub(super) fn label(&self, batch: &Batch) -> Label {
        match self {
            Self::DryRun {
                provider,
                instructions,
            } => Label {
                ids: Vec::new(),
                result: request(batch, instructions)
                    .map(|request| Ok(Text::builtin(provider.body(&request, Delivery::Whole)))),
            },
            Self::Model {
                asker,
                instructions,
                ..
            } if !self.is_immediate(batch) => by_model(batch, asker, instructions),
            Self::Rules | Self::Model { .. } => by_rules(batch),
        }
    }
}

fn by_rules(batch: &Batch) -> Label {
    let label = builtin::label(&batch.finished_calls(), batch.cwd.as_deref());
    let ids = batch.calls.iter().filter(|call| call.result.is_some());
    Label {
        ids: ids.map(|call| call.id.clone()).collect(),
        result: (!label.is_empty()).then(|| Ok(Text::builtin(label))),
    }
}

fn by_model(batch: &Batch, asker: &Asker, instructions: &str) -> Label {
    let (calls, ended) = batch.shown_calls();
    Label {
        ids: calls.iter().map(|call| call.id.clone()).collect(),
        result: request(batch, instructions)
            .map(|request| asker.text(&request, |reply| Ok(clean_label(&reply.text, ended)?))),
    }
}

/// Returns the request for a label; `None` if there is nothing to ask.
fn request(batch: &Batch, instructions: &str) -> Option<Request> {
    let (calls, _) = batch.shown_calls();
    let shown = calls.into_iter().filter_map(|call| {
        Some(ShownCall {
            name: &call.name,
            input: &call.input_shown,
            output: &call.result.as_ref()?.shown,
        })
    });
    let calls: Vec<ShownCall<'_>> = shown.collect();
    let question = (!calls.is_empty()).then(|| label_question(&calls, &batch.said))?;
    Some(label_request(question, instructions))
}

fn is_trivial(batch: &Batch) -> bool {
    let (shown, ended) = batch.shown_calls();
    let is_single = batch.calls.len() == 1 && ended == CallsEnded::Well;
    is_single && shown.iter().all(|only| builtin::is_look(&only.name))
}
