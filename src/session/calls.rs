//! The tool calls of sessions, each with its result.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::copies::CopyKeys;
use super::discover::Candidate;
use super::distinct::Key;
use super::listed::Listed;
use super::listing::{Listing, Report};
use super::open::SessionError;
use super::session::Session;
use super::title::NameIndexes;
use super::tree::Scope;
use crate::agent::{Detail, Entry, exit_code, timestamp};
use crate::message::{Call, CallOutcome, Message, Thread, ToolResult};

/// Maximum number of calls of one file that wait for a result. Beyond it, the first ones count as having none.
const MAX_WAITING: usize = 1024;

/// A tool call in a session file.
#[derive(Debug, Clone)]
pub struct SessionCall {
    /// The call.
    pub call: Call,
    /// Its timestamp, as stored.
    pub time: Option<String>,
    /// Whether a subagent made it.
    pub is_subagent: bool,
    /// Facts about its result, if the file has one.
    pub result: Option<ResultFacts>,
    /// A key that copies of this call in other files share.
    key: Option<Key>,
}

/// Facts about the result of a call.
#[derive(Debug, Clone)]
pub struct ResultFacts {
    /// The timestamp, as stored.
    pub time: Option<String>,
    /// The outcome.
    pub outcome: CallOutcome,
    /// The exit status of the command, if the result states it.
    pub exit_status: Option<i64>,
    /// The length of the text in bytes.
    pub bytes: u64,
}

impl ResultFacts {
    fn new(result: &ToolResult, time: Option<&String>) -> Self {
        let text = result.text();
        Self {
            time: time.cloned(),
            outcome: result.outcome(),
            exit_status: exit_code(&text),
            bytes: text.len() as u64,
        }
    }
}

/// Calls in order, until their results are known.
#[derive(Debug, Default)]
struct Waiting {
    /// The number of calls that left the queue.
    left: usize,
    queue: VecDeque<SessionCall>,
    /// The number of each call, counted from the first one of the file.
    numbers: HashMap<String, usize>,
}

impl Waiting {
    fn result(&mut self, result: &ToolResult, message: &Message) {
        let place = self.numbers.remove(&result.id);
        let place = place.and_then(|number| number.checked_sub(self.left));
        if let Some(call) = place.and_then(|place| self.queue.get_mut(place)) {
            call.result = Some(ResultFacts::new(result, message.time.as_ref()));
        }
    }

    fn call(&mut self, call: SessionCall) {
        let number = self.left + self.queue.len();
        self.numbers.insert(call.call.id.clone(), number);
        self.queue.push_back(call);
    }

    /// Takes the first call if its result is known, or if too many calls wait.
    fn next(&mut self) -> Option<SessionCall> {
        let is_known = self.queue.front()?.result.is_some();
        (is_known || self.queue.len() > MAX_WAITING).then(|| self.take())?
    }

    fn take(&mut self) -> Option<SessionCall> {
        let call = self.queue.pop_front()?;
        self.left += 1;
        Some(call)
    }
}

impl Session {
    /// Calls `visit` with each tool call of all branches, in order, until it breaks.
    ///
    /// # Errors
    /// Reading failed.
    pub fn each_call(
        &self,
        visit: &mut dyn FnMut(SessionCall) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let keys = RefCell::new(CopyKeys::of(self));
        let mut seen = |entry: &mut Entry| keys.borrow_mut().note(entry);
        let mut waiting = Waiting::default();
        for message in self.messages_of(Scope::AllBranches, Detail::Full, Some(&mut seen))? {
            let message = message?;
            let time = timestamp(message.time.as_deref());
            for call in message.calls() {
                waiting.call(SessionCall {
                    call: call.clone(),
                    time: message.time.clone(),
                    is_subagent: message.thread == Thread::Subagent,
                    result: None,
                    key: keys.borrow().call(&message, call, time),
                });
            }
            for result in message.results() {
                waiting.result(result, &message);
            }
            while let Some(call) = waiting.next() {
                if visit(call).is_break() {
                    return Ok(());
                }
            }
        }
        while let Some(call) = waiting.take() {
            if visit(call).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// An event while the calls of many sessions are read.
#[derive(Debug)]
pub enum CallEvent {
    /// The session of the calls that follow.
    Session(Box<Listed>),
    /// A call.
    Call(Box<SessionCall>),
    /// A file that could not be read.
    Failed {
        /// The file.
        path: PathBuf,
        /// The error.
        error: SessionError,
    },
}

/// Reads the calls of the sessions among `candidates` that `listing` admits, in order, until `visit` breaks.
/// A call that a fork copied is reported once, for the first of the files. Skips files that are not sessions.
pub fn calls_of_all(
    candidates: &[Candidate],
    listing: &Listing,
    visit: &mut dyn FnMut(CallEvent) -> ControlFlow<()>,
) {
    let names = NameIndexes::default();
    let read = |candidate: &Candidate, report: &mut Report<'_, CallEvent>| {
        calls_of(candidate, listing, &names, report)
    };
    let failed = |path, error| CallEvent::Failed { path, error };
    let mut seen = HashSet::new();
    listing.stream(candidates, read, failed, &mut |event| match event {
        CallEvent::Call(call) if call.key.is_some_and(|key| !seen.insert(key)) => {
            ControlFlow::Continue(())
        }
        event => visit(event),
    });
}

/// Reports the calls of one session and of its subagents.
fn calls_of(
    candidate: &Candidate,
    listing: &Listing,
    names: &NameIndexes,
    report: &mut Report<'_, CallEvent>,
) -> Result<ControlFlow<()>, SessionError> {
    let Some(session) = listing.open(candidate)? else {
        return Ok(ControlFlow::Continue(()));
    };
    let Some(listed) = listing.examine(&session, candidate.context, names)? else {
        return Ok(ControlFlow::Continue(()));
    };
    let is_subagent = listed.facts.is_subagent;
    let mut flow = report(CallEvent::Session(listed));
    let mut read = |session: &Session, is_subagent: bool, flow: &mut ControlFlow<()>| {
        session.each_call(&mut |mut call| {
            call.is_subagent |= is_subagent;
            *flow = report(CallEvent::Call(Box::new(call)));
            *flow
        })
    };
    if flow.is_continue() {
        read(&session, is_subagent, &mut flow)?;
    }
    for subagent in session.subagents() {
        if flow.is_continue() {
            read(&subagent, true, &mut flow)?;
        }
    }
    Ok(flow)
}
