//! Infers what sessions are doing, from the end of their files and from running processes.

use std::fs::{self, Metadata};
use std::io;
use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};

use crate::files::discover::{Candidate, subagent_files};
use crate::files::listed::{InferredState, ListedSession, Sessions};
use crate::list::in_use::{IN_USE, SessionUse, SessionUsers, directories};
use crate::list::listing::{Failures, Listing, list};
use crate::read::session::Session;
use crate::read::tail::read_last_messages;
use crate::read::tree::Scope;
use turnpipe_core::jsonl::Mapping;
use turnpipe_core::message::{Block, Message, Origin, Role, Thread, is_interruption};
use turnpipe_core::tool_facts::{Purpose, agent_tool};
use turnpipe_formats::agent::NamedRoots;
use turnpipe_formats::records::SessionActivity;

/// Number of messages at the end of a session that are read.
const LAST_MESSAGES: u64 = 12;

/// Minimum age of the last change of a session whose call waits for permission, unless the call started a process.
const CALL_START: Duration = Duration::from_secs(3);

/// Difference between the times of files and the start times of processes that is ignored.
const CLOCK_STEP: Duration = Duration::from_millis(500);

/// Maximum age of the last change of a working subagent's file.
const SUBAGENT_PAUSE: Duration = Duration::from_mins(1);

/// The end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// A complete turn, or nothing.
    Over(&'static str),
    /// The model has to reply.
    Open(&'static str),
    /// A call without a result.
    Call(String),
    /// A failed request.
    Failed,
}

/// Like [`list`], with the sessions in one of these states, or in any if there are none.
pub fn list_in_states(
    candidates: &[Candidate],
    listing: &Listing,
    wanted: &[SessionActivity],
    now: SystemTime,
) -> (Sessions, Failures) {
    // The limit applies after the filter of states. An agent that works on a session outside of the selection may be
    // taken for the agent of a selected session.
    let mut all = listing.clone();
    let limit = all.selection.limit.take_if(|_| !wanted.is_empty());
    let (mut listed, failed) = list(candidates, &all);
    infer_states(&mut listed, &listing.selection.named_roots, now);
    listed.retain(|session| {
        let state = session.state.as_ref().map(|state| state.state);
        wanted.is_empty() || state.is_some_and(|state| wanted.contains(&state))
    });
    listed.truncate(limit.map_or(usize::MAX, NonZeroUsize::get));
    (listed, failed)
}

/// The last change of a session.
struct LastChange {
    /// The index of the session in the list.
    index: usize,
    file: Option<Metadata>,
    time: SystemTime,
}

/// Infers the states of sessions.
fn infer_states(sessions: &mut Sessions, named: &NamedRoots, now: SystemTime) {
    let mut users = SessionUsers::read();
    for LastChange { index, file, time } in find_last_changes(sessions, &users) {
        let session = &mut sessions[index];
        let directories = directories(&session.facts);
        let used = users.take(session.agent, file.as_ref(), &directories, time);
        let end =
            find_end(session, named).unwrap_or(End::Over("the end of the file cannot be read"));
        let age = now.duration_since(time).unwrap_or_default();
        let since = time.checked_sub(CLOCK_STEP).unwrap_or(time);
        let is_working = |tool: &str| {
            age < CALL_START
                || used
                    .processes()
                    .any(|pid| users.has_started_child(pid, since))
                || is_subagent_call(tool)
                || has_active_subagent(session, now)
        };
        session.state = Some(Box::new(infer_state(end, used, age, is_working)));
    }
}

/// Returns the last changes of sessions. Those that an agent has open come first, then the latest.
fn find_last_changes(sessions: &Sessions, users: &SessionUsers) -> Vec<LastChange> {
    let changes = sessions.iter().enumerate().map(|(index, session)| {
        let file = fs::symlink_metadata(&session.path).ok();
        let changed = file.as_ref().and_then(|file| file.modified().ok());
        let active = session.facts.last_activity.map(SystemTime::from);
        let time = changed.or(active).unwrap_or(SystemTime::UNIX_EPOCH);
        LastChange { index, file, time }
    });
    let mut changes: Vec<LastChange> = changes.collect();
    changes.sort_by_key(|change| {
        let file = change.file.as_ref();
        std::cmp::Reverse((
            file.is_some_and(|file| users.is_open_in_agent(file)),
            change.time,
        ))
    });
    changes
}

/// Infers the state of a session whose file changed `age` ago. `is_working` tells whether a call of a tool still runs.
fn infer_state(
    end: End,
    used: SessionUse,
    age: Duration,
    is_working: impl FnOnce(&str) -> bool,
) -> InferredState {
    let pid = used.agent.or(used.server);
    let (state, reason) = match (end, pid) {
        (End::Failed, _) => (
            SessionActivity::Failed,
            "the last request failed".to_owned(),
        ),
        (End::Over(reason), Some(_)) if used.agent.is_some() => {
            (SessionActivity::Waiting, reason.to_owned())
        }
        (End::Over(reason), _) => (SessionActivity::Idle, reason.to_owned()),
        (End::Open(reason), Some(_)) => (SessionActivity::Working, reason.to_owned()),
        (End::Call(tool), Some(_)) => {
            let state = if is_working(&tool) {
                SessionActivity::Working
            } else {
                SessionActivity::Waiting
            };
            (state, format!("call {tool} without a result"))
        }
        (End::Open(_) | End::Call(_), None) if !cfg!(target_os = "linux") && age < IN_USE => {
            (SessionActivity::Working, "changed recently".to_owned())
        }
        (End::Open(reason), None) => (SessionActivity::Failed, format!("ended after a {reason}")),
        (End::Call(tool), None) => (
            SessionActivity::Failed,
            format!("ended after call {tool} without a result"),
        ),
    };
    InferredState { state, reason, pid }
}

fn find_end(listed: &ListedSession, named: &NamedRoots) -> io::Result<End> {
    let Ok(session) = Session::open_with(&listed.path, named) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if session.is_document() {
        let messages: io::Result<Vec<Message>> = session.messages(Scope::Live)?.collect();
        return Ok(End::from_messages(&messages?));
    }
    let mut bytes = session.bytes(Mapping::Allowed);
    for count in [LAST_MESSAGES, 1] {
        if let Some(messages) = read_last_messages(&mut bytes, count, session.format(), false)? {
            return Ok(End::from_messages(&messages));
        }
    }
    Err(io::ErrorKind::FileTooLarge.into())
}

impl End {
    fn from_messages(messages: &[Message]) -> Self {
        let mut end = Self::Over("no prompt");
        // Calls without a result, in order.
        let mut calls: Vec<(&str, &str)> = Vec::new();
        for message in messages {
            if message.thread == Thread::Subagent {
                continue;
            }
            if message.role == Role::User && is_interruption(&message.text()) {
                calls.clear();
                end = Self::Over("interrupted by the user");
                continue;
            }
            match message.origin {
                Origin::Prompt => {
                    calls.clear();
                    end = Self::Open("prompt without a reply");
                }
                Origin::Error => end = Self::Failed,
                Origin::Reply => end = Self::Over("the reply is complete"),
                _ => {}
            }
            for block in &message.blocks {
                match block {
                    Block::Call(call) => calls.push((&call.id, &call.name)),
                    Block::Result(result) => {
                        calls.retain(|(id, _)| *id != result.id);
                        end = Self::Open("result without a reply");
                    }
                    Block::Text(_) if message.origin == Origin::Reply => {
                        end = Self::Over("the reply is complete");
                    }
                    _ => {}
                }
            }
        }
        match (calls.last(), end) {
            (_, Self::Failed) => Self::Failed,
            (Some((_, tool)), _) => Self::Call((*tool).to_owned()),
            (None, end) => end,
        }
    }
}

fn is_subagent_call(tool: &str) -> bool {
    agent_tool(tool).is_some_and(|tool| tool.purpose == Purpose::Agent)
}

fn has_active_subagent(session: &ListedSession, now: SystemTime) -> bool {
    session.subagents > 0
        && subagent_files(&session.path, session.agent)
            .iter()
            .any(|file| {
                let changed = fs::metadata(file).and_then(|file| file.modified());
                let age = changed
                    .ok()
                    .and_then(|changed| now.duration_since(changed).ok());
                age.is_some_and(|age| age < SUBAGENT_PAUSE)
            })
}
