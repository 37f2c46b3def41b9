//! The tool calls of sessions, each with its result.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::count::copies::CopyKeys;
use crate::files::discover::Candidate;
use crate::files::distinct::Key;
use crate::files::listed::ListedSession;
use crate::files::open::SessionError;
use crate::list::listing::{Listing, Report};
use crate::read::session::Session;
use crate::read::title::NameIndexes;
use crate::read::tree::Scope;
use turnpipe_core::message::{
    Call, CallOutcome, Message, Role, Thread, ToolResult, is_interruption,
};
use turnpipe_formats::agent::{Detail, Entry, parse_exit_code, timestamp};

/// Maximum number of sections, steps or calls that wait for results. Later results are shown apart from their calls.
pub const MAX_WAITING: usize = 1024;

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
    /// Whether the user interrupted the turn before the result.
    is_interrupted: bool,
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
            exit_status: result.status().or_else(|| parse_exit_code(&text)),
            bytes: text.len() as u64,
        }
    }
}

/// Calls in order, until their results are known.
#[derive(Debug, Default)]
struct Waiting(VecDeque<SessionCall>);

impl Waiting {
    /// Adds the calls and the results of a message. A result belongs to the last call with its id: some ids are used
    /// again. Without ids, results are in the order of the calls.
    fn add(&mut self, message: &Message, keys: &CopyKeys) {
        let time = timestamp(message.time.as_deref());
        self.0.extend(message.calls().map(|call| SessionCall {
            call: call.clone(),
            time: message.time.clone(),
            is_subagent: message.thread == Thread::Subagent,
            result: None,
            is_interrupted: false,
            key: keys.key_call(message, call, time),
        }));
        for result in message.results() {
            let mut waiting = self.0.iter_mut();
            let is_answered =
                |call: &&mut SessionCall| call.result.is_none() && call.call.id == result.id;
            let call = match result.id.as_str() {
                "" => waiting.find(is_answered),
                _ => waiting.rfind(is_answered),
            };
            if let Some(call) = call {
                call.result = Some(ResultFacts::new(result, message.time.as_ref()));
            }
        }
        if message.role == Role::User && is_interruption(&message.text()) {
            let is_subagent = message.thread == Thread::Subagent;
            for call in self
                .0
                .iter_mut()
                .filter(|call| call.is_subagent == is_subagent)
            {
                call.is_interrupted = true;
            }
        }
    }

    /// Takes the first call if its result is known, or if too many calls wait.
    fn next(&mut self) -> Option<SessionCall> {
        let is_known = self.0.front()?.result.is_some();
        (is_known || self.0.len() > MAX_WAITING).then(|| self.0.pop_front())?
    }
}

impl SessionCall {
    /// Returns the outcome; `None` if it has no result and was not interrupted.
    pub fn outcome(&self) -> Option<CallOutcome> {
        let outcome = self.result.as_ref().map(|result| result.outcome);
        outcome.or_else(|| self.is_interrupted.then_some(CallOutcome::Interrupted))
    }
}

impl Session {
    /// Calls `visit` with each tool call of all branches, in order, until it breaks.
    ///
    /// # Errors
    /// Reading failed.
    pub fn visit_calls(
        &self,
        visit: &mut dyn FnMut(SessionCall) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let keys = RefCell::new(CopyKeys::for_session(self));
        let mut note_entry = |entry: &mut Entry| keys.borrow_mut().read_entry(entry);
        let mut waiting = Waiting::default();
        for message in
            self.read_messages_with(Scope::AllBranches, Detail::Full, Some(&mut note_entry))?
        {
            waiting.add(&message?, &keys.borrow());
            while let Some(call) = waiting.next() {
                if visit(call).is_break() {
                    return Ok(());
                }
            }
        }
        // No calls are left, so a break changes nothing.
        let _ = waiting.0.into_iter().try_for_each(visit);
        Ok(())
    }
}

/// An event while the calls of many sessions are read.
#[derive(Debug)]
pub enum CallEvent {
    /// The session of the calls that follow.
    Session(Box<ListedSession>),
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
pub fn visit_all_calls(
    candidates: &[Candidate],
    listing: &Listing,
    visit: &mut dyn FnMut(CallEvent) -> ControlFlow<()>,
) {
    let names = NameIndexes::default();
    let read = |candidate: &Candidate, report: &mut Report<'_, CallEvent>| {
        read_calls(candidate, listing, &names, report)
    };
    let to_failure = |path, error| CallEvent::Failed { path, error };
    let mut seen = HashSet::new();
    listing.stream(candidates, read, to_failure, &mut |event| match event {
        CallEvent::Call(call) if call.key.is_some_and(|key| !seen.insert(key)) => {
            ControlFlow::Continue(())
        }
        event => visit(event),
    });
}

/// Reports the calls of one session and of its subagents.
fn read_calls(
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
        session.visit_calls(&mut |mut call| {
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
