//! Makes the label of a batch: by rules, or by asking a model.

use std::sync::Arc;

use super::ask::{Asker, Cost};
use super::batch::{Batch, Need};
use crate::model::{Delivery, Failure, Provider, Retryability};
use crate::side::builtin;
use crate::side::label::{FinishedCall, clean_label, label_question, label_request};
use crate::wire::ToolUseId;

/// Whether a model is asked about what the rules name as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shortcuts {
    /// It is.
    #[default]
    Off,
    /// It is not: one call that reads, lists, finds or searches is named by the rules.
    On,
}

/// See the module.
#[derive(Clone)]
pub enum LabelMaker {
    /// By rules.
    Rules,
    /// By a model.
    Model {
        /// Whom to ask.
        asker: Asker,
        /// What it is told first.
        instructions: String,
        /// Whether trivial batches go by the rules.
        shortcuts: Shortcuts,
    },
    /// Not at all: the labels are the bodies of the requests that would be made.
    Bodies {
        /// Who would be asked.
        provider: Arc<dyn Provider>,
        /// What it would be told first.
        instructions: String,
    },
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// The label; there may be none.
    pub label: Option<String>,
    /// The calls that it tells about.
    pub ids: Vec<ToolUseId>,
    /// The model; nothing if none was asked and no rule was used.
    pub model: Option<String>,
    /// What it cost.
    pub cost: Option<Cost>,
    /// Why there is none, for people who want to know.
    pub trouble: Option<String>,
    /// Whether another try may help, if the model failed.
    pub retryability: Option<Retryability>,
}

impl LabelMaker {
    /// What is needed of batches.
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

    /// Whether a label is there at once.
    pub fn is_immediate(&self, batch: &Batch) -> bool {
        match self {
            Self::Rules | Self::Bodies { .. } => true,
            Self::Model { shortcuts, .. } => *shortcuts == Shortcuts::On && is_trivial(batch),
        }
    }

    /// The question about a batch; nothing if a model would not be asked.
    pub fn question(batch: &Batch) -> Option<String> {
        let calls: Vec<FinishedCall<'_>> = batch
            .calls
            .iter()
            .filter(|call| call.is_shown())
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
    pub fn make(&self, batch: &Batch) -> Made {
        match self {
            Self::Rules => by_rules(batch),
            Self::Bodies {
                provider,
                instructions,
            } => Made {
                label: Self::question(batch).map(|question| {
                    let request = label_request(question, instructions);
                    provider.body(&request, Delivery::Whole)
                }),
                ..Made::default()
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

fn by_rules(batch: &Batch) -> Made {
    let label = builtin::label(&batch.finished_calls(), batch.cwd.as_deref());
    let ids = batch.calls.iter().filter(|call| call.result.is_some());
    Made {
        label: Some(label).filter(|label| !label.is_empty()),
        ids: ids.map(|call| call.id.clone()).collect(),
        model: Some(builtin::MODEL.to_owned()),
        ..Made::default()
    }
}

fn is_trivial(batch: &Batch) -> bool {
    matches!(batch.calls.as_slice(), [only] if only.is_shown() && builtin::is_look(&only.name))
}

fn by_model(batch: &Batch, asker: &Asker, instructions: &str) -> Made {
    let ids: Vec<ToolUseId> = batch
        .calls
        .iter()
        .filter(|call| call.is_shown())
        .map(|call| call.id.clone())
        .collect();
    let Some(question) = LabelMaker::question(batch) else {
        return Made::default();
    };
    let answer = asker.ask(&label_request(question, instructions));
    let retryability = answer.reply.as_ref().err().map(Failure::retryability);
    let (label, trouble) = match answer.reply {
        Ok(reply) => match clean_label(&reply.text) {
            Ok(label) => (Some(label), None),
            Err(rejection) => (
                None,
                Some(format!("unusable label: {rejection:?}").to_lowercase()),
            ),
        },
        Err(failure) => (None, Some(failure.to_string())),
    };
    Made {
        label,
        ids,
        model: Some(asker.provider.name().to_owned()),
        cost: answer.cost,
        trouble,
        retryability,
    }
}
