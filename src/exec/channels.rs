//! The events of a run, and the channels that carry them to the main loop from the reader thread, the
//! workers and the signal handlers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::call::CallState;
use super::intake::{Credit, InputEvent, ReadAhead, read_all};
use super::prompting::{ControlPrompter, ControlRecord, OpenQuestions, Prompter};
use super::result::{CallResult, HookFeedback};
use super::turns::CallIndex;
use super::turns::TurnNumber;
use crate::assemble::Decoder;
use crate::io::{Ids, Input};
use crate::jsonl::{Prefilter, Reader, UnwantedLines};
use crate::process::EndSignal;
use crate::records::SideExtension;

/// An event that the main loop handles.
pub(super) enum RunnerEvent {
    Input(InputEvent),
    /// A call was resolved or checked: it is queued, or it has its result.
    Prepared {
        call: CallIndex,
        state: Box<CallState>,
    },
    /// A question to the user, or its withdrawal, is to be written.
    Control(ControlRecord),
    /// Another model was asked, at this cost.
    ModelCost(Box<SideExtension>),
    /// The tool of a call has ended, and hooks follow.
    ToolDone {
        call: CallIndex,
    },
    /// The hooks after a turn have ended.
    TurnHooksDone {
        turn: TurnNumber,
        feedback: HookFeedback,
    },
    /// A call has ended.
    Finished {
        call: CallIndex,
        result: Box<CallResult>,
    },
    /// A signal asks this process to end.
    Signal(EndSignal),
    /// The reader of the output is gone.
    OutputClosed,
}

/// The receiving end of a run's channels.
pub struct Channels {
    pub(super) sender: Sender<RunnerEvent>,
    pub(super) events: Receiver<RunnerEvent>,
    pub(super) credit: Credit,
    pub(super) questions: OpenQuestions,
}

impl Channels {
    /// Fresh channels.
    pub fn new() -> Self {
        let (sender, events) = channel();
        Self {
            sender,
            events,
            credit: Credit::new(),
            questions: OpenQuestions::default(),
        }
    }

    /// A prompter that writes questions among the records and reads answers from the input.
    pub fn prompter(&self, ids: Arc<dyn Ids>) -> impl Prompter + use<> {
        let sender = self.sender.clone();
        let write = move |record| {
            let _ = sender.send(RunnerEvent::Control(record));
        };
        ControlPrompter {
            open: self.questions.clone(),
            write,
            ids,
        }
    }

    /// A function that reports the cost of asking another model.
    pub fn spent(&self) -> impl Fn(SideExtension) + Send + Sync + use<> {
        let sender = self.sender.clone();
        move |cost| {
            let _ = sender.send(RunnerEvent::ModelCost(Box::new(cost)));
        }
    }

    /// A function that reports signals.
    pub fn signals(&self) -> impl Fn(EndSignal) + Send + use<> {
        let sender = self.sender.clone();
        move |signal| {
            let _ = sender.send(RunnerEvent::Signal(signal));
        }
    }

    /// A function that reports that the reader of the output is gone.
    pub fn output_gone(&self) -> impl FnOnce() + Send + use<> {
        let sender = self.sender.clone();
        move || {
            let _ = sender.send(RunnerEvent::OutputClosed);
        }
    }

    /// Starts the thread that reads the input. A file is read twice, with separate prefilters and decoders.
    ///
    /// # Errors
    /// The system grants no thread, or cannot tell what the input is.
    pub fn start_reading(
        &self,
        source: Input,
        needles: impl Fn() -> Prefilter + Send + 'static,
        unwanted: UnwantedLines,
        decoder: impl Fn() -> Decoder + Send + 'static,
    ) -> std::io::Result<()> {
        let (credit, sender) = (self.credit.clone(), self.sender.clone());
        let file = match &source {
            Input::Descriptor(file) => ReadAhead::of(file)?,
            Input::Closed => None,
        };
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || {
                let has_input = source.readiness();
                let reader = Reader::new(source, needles()).with_unwanted(unwanted);
                let (first, again) = (decoder(), || decoder());
                let read_ahead = file.map(|file| move || file.ledger(needles(), again()));
                let deliver = |event| sender.send(RunnerEvent::Input(event)).is_ok();
                read_all(reader, has_input, read_ahead, first, &credit, deliver);
            })?;
        Ok(())
    }
}

impl Default for Channels {
    fn default() -> Self {
        Self::new()
    }
}
