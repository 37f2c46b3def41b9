//! Makes the label of a batch, by rules or by asking a model.

use std::sync::Arc;

use super::ask::{Asker, Cost};
use super::batch::{Batch, Need};
use crate::message::ToolUseId;
use crate::model::{Delivery, Failure, Provider};
use crate::side::builtin;
use crate::side::label::{CallsEnded, FinishedCall, clean_label, label_question, label_request};

/// Whether trivial batches get labels by rules although there is a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shortcuts {
    /// They do not.
    #[default]
    Off,
    /// They do: a single call that reads, lists, finds or searches.
    On,
}

/// Makes labels.
#[derive(Clone)]
pub enum LabelMaker {
    /// By rules.
    Rules,
    /// By a model.
    Model {
        /// Asks the model.
        asker: Asker,
        /// The system prompt.
        instructions: String,
        /// Whether trivial batches get labels by rules.
        shortcuts: Shortcuts,
    },
    /// Not at all: prints the bodies of the requests instead.
    Bodies {
        /// The model that would be asked.
        provider: Arc<dyn Provider>,
        /// The system prompt.
        instructions: String,
    },
}

/// The label of a batch, or why there is none.
#[derive(Debug, Clone, Default)]
pub struct LabelOutcome {
    /// The label; there may be none.
    pub label: Option<String>,
    /// The calls that it describes.
    pub ids: Vec<ToolUseId>,
    /// What made the label, if anything did.
    pub model: Option<String>,
    /// What it cost.
    pub cost: Option<Cost>,
    /// Why there is no label, if the model failed.
    pub failure: Option<Box<Failure>>,
}

impl LabelMaker {
    /// Which parts of batches are needed.
    pub fn need(&self) -> Need {
        match self {
            Self::Rules => Need::Rules,
            Self::Model {
                shortcuts: Shortcuts::Off,
                ..
            }
            | Self::Bodies { .. } => Need::Model,
            Self::Model { .. } => Need::Both,
        }
    }

    /// Whether a label takes no time.
    pub fn is_immediate(&self, batch: &Batch) -> bool {
        match self {
            Self::Rules | Self::Bodies { .. } => true,
            Self::Model { shortcuts, .. } => *shortcuts == Shortcuts::On && is_trivial(batch),
        }
    }

    /// The question about a batch; `None` if there is nothing to ask a model.
    pub fn question(batch: &Batch) -> Option<String> {
        let (calls, _) = batch.shown_calls();
        let calls: Vec<FinishedCall<'_>> = calls
            .into_iter()
            .filter_map(|call| {
                Some(FinishedCall {
                    name: &call.name,
                    input: &call.input_shown,
                    output: &call.result.as_ref()?.shown,
                })
            })
            .collect();
        (!calls.is_empty()).then(|| label_question(&calls, &batch.said))
    }

    /// Makes the label.
    pub fn make(&self, batch: &Batch) -> LabelOutcome {
        match self {
            Self::Rules => by_rules(batch),
            Self::Bodies {
                provider,
                instructions,
            } => LabelOutcome {
                label: Self::question(batch).map(|question| {
                    let request = label_request(question, instructions);
                    provider.body(&request, Delivery::Whole)
                }),
                ..LabelOutcome::default()
            },
            Self::Model { .. } if self.is_immediate(batch) => by_rules(batch),
            Self::Model {
                asker,
                instructions,
                ..
            } => by_model(batch, asker, instructions),
        }
    }
}

fn by_rules(batch: &Batch) -> LabelOutcome {
    let label = builtin::label(&batch.finished_calls(), batch.cwd.as_deref());
    let ids = batch.calls.iter().filter(|call| call.result.is_some());
    LabelOutcome {
        label: Some(label).filter(|label| !label.is_empty()),
        ids: ids.map(|call| call.id.clone()).collect(),
        model: Some(builtin::MODEL.to_owned()),
        ..LabelOutcome::default()
    }
}

fn is_trivial(batch: &Batch) -> bool {
    let (shown, ended) = batch.shown_calls();
    let is_single = batch.calls.len() == 1 && ended == CallsEnded::Well;
    is_single && shown.iter().all(|only| builtin::is_look(&only.name))
}

fn by_model(batch: &Batch, asker: &Asker, instructions: &str) -> LabelOutcome {
    let (calls, ended) = batch.shown_calls();
    let ids = calls.iter().map(|call| call.id.clone()).collect();
    let Some(question) = LabelMaker::question(batch) else {
        return LabelOutcome::default();
    };
    let (reply, cost) = asker.ask(&label_request(question, instructions));
    let label = reply.and_then(|reply| {
        clean_label(&reply.text, ended).map_err(|rejection| Failure::Malformed {
            reason: rejection.to_string(),
        })
    });
    let failure = label.as_ref().err().cloned().map(Box::new);
    LabelOutcome {
        label: label.ok(),
        ids,
        model: Some(asker.provider.name().to_owned()),
        cost,
        failure,
    }
}
