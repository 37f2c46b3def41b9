//! How the reader thread, the workers and the signals reach the main loop.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::Prompter;
use super::answered::ReadAhead;
use super::completed::Completed;
use super::control::{ControlPrompter, OpenQuestions};
use super::hooking::Heard;
use super::intake::{Arrival, Credit, read_all};
use super::lifecycle::Prepared;
use super::schedule::CallIndex;
use super::turns::TurnNumber;
use crate::assemble::Decoder;
use crate::io::{Ids, Input};
use crate::jsonl::{Prefilter, Reader, UnwantedLines};
use crate::process::EndSignal;
use crate::records::{ControlCancelRecord, ControlRequestRecord, SideExtension};

/// What the main loop reacts to.
pub(super) enum RunnerEvent {
    /// Input.
    Arrival(Arrival),
    /// Somebody was asked about a call: it waits for its start as it is now, or has its result.
    Prepared {
        call: CallIndex,
        prepared: Box<Prepared>,
    },
    /// The program at the other end is asked something.
    Question(Box<ControlRequestRecord>),
    /// It need not answer any more.
    Withdrawn(ControlCancelRecord),
    /// A model was asked besides, at this cost.
    Spent(Box<SideExtension>),
    /// A call has done its work, but not what follows.
    Worked { call: CallIndex },
    /// The hooks after a turn have ended.
    Batched { turn: TurnNumber, heard: Heard },
    /// A call has ended.
    Finished {
        call: CallIndex,
        completed: Box<Completed>,
    },
    /// This process is asked to end.
    Signal(EndSignal),
    /// The reader of our output went away.
    OutputGone,
}

/// The main loop's end of a run's channels.
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

    /// Asks the program at the other end about calls, among the records and in the input.
    pub fn prompter(&self, ids: Arc<dyn Ids>) -> impl Prompter + use<> {
        ControlPrompter {
            open: self.questions.clone(),
            events: self.sender.clone(),
            ids,
        }
    }

    /// A function that reports to the run what a model cost that was asked besides.
    pub fn spent(&self) -> impl Fn(SideExtension) + Send + Sync + use<> {
        let sender = self.sender.clone();
        move |cost| {
            let _ = sender.send(RunnerEvent::Spent(Box::new(cost)));
        }
    }

    /// A function that reports signals to the run.
    pub fn signals(&self) -> impl Fn(EndSignal) + Send + use<> {
        let sender = self.sender.clone();
        move |signal| {
            let _ = sender.send(RunnerEvent::Signal(signal));
        }
    }

    /// A function that notifies the run that the reader of its output went away.
    pub fn output_gone(&self) -> impl FnOnce() + Send + use<> {
        let sender = self.sender.clone();
        move || {
            let _ = sender.send(RunnerEvent::OutputGone);
        }
    }

    /// Starts the thread that reads the input. `needles` and `decoder` are made once for each
    /// reading.
    ///
    /// # Errors
    /// The system grants no thread, or does not say what the input is.
    pub fn start_reading(
        &self,
        source: Input,
        needles: impl Fn() -> Prefilter + Send + 'static,
        unwanted: UnwantedLines,
        decoder: impl Fn() -> Decoder + Send + 'static,
    ) -> std::io::Result<()> {
        let (credit, sender) = (self.credit.clone(), self.sender.clone());
        let twice = match &source {
            Input::Descriptor(file) => ReadAhead::of(file)?,
            Input::Closed => None,
        };
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || {
                let waiting = source.readiness();
                let reader = Reader::new(source, needles()).with_unwanted(unwanted);
                let (first, again) = (decoder(), || decoder());
                let read_ahead = twice.map(|input| move || input.ledger(needles(), again()));
                let deliver = |arrival| sender.send(RunnerEvent::Arrival(arrival)).is_ok();
                read_all(reader, waiting, read_ahead, first, &credit, deliver);
            })?;
        Ok(())
    }
}

impl Default for Channels {
    fn default() -> Self {
        Self::new()
    }
}
