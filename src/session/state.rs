//! Infers what sessions are doing, from the end of their files and from running processes.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::discover::subagent_files;
use super::listing::{InferredState, Listed, Sessions};
use super::open::Identity;
use super::session::Session;
use super::tail::last_messages;
use super::tree::Scope;
use crate::agent::{Agent, serves_sessions};
use crate::jsonl::Mapping;
use crate::message::{Block, Message, Origin, Role, Thread, is_interruption};
use crate::process::RunningProcesses;
use crate::records::SessionActivity;
use crate::tool_facts::{Purpose, agent_tool};

/// Number of messages at the end of a session that are read.
const LAST_MESSAGES: u64 = 12;

/// Age of the last change from which a call without a result waits for its permission, unless it started a process.
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

/// Infers the states of sessions.
pub fn infer_states(sessions: &mut Sessions, now: SystemTime) {
    let mut users = SessionUsers::read();
    let mut files: Vec<(usize, Option<Metadata>, SystemTime)> = sessions
        .iter()
        .enumerate()
        .map(|(at, session)| {
            let file = fs::symlink_metadata(&session.path).ok();
            let changed = file.as_ref().and_then(|file| file.modified().ok());
            let active = session.facts.last_activity.map(SystemTime::from);
            (
                at,
                file,
                changed.or(active).unwrap_or(SystemTime::UNIX_EPOCH),
            )
        })
        .collect();
    files.sort_by_key(|(_, file, changed)| {
        let is_open = file.as_ref().is_some_and(|file| users.work_on(file));
        std::cmp::Reverse((is_open, *changed))
    });
    for (at, file, changed) in files {
        let session = &mut sessions[at];
        let facts = &session.facts;
        let directories: Vec<&Path> = [&facts.cwd, &facts.first_cwd]
            .into_iter()
            .flatten()
            .map(Path::new)
            .collect();
        let used = users.take(session.agent, file.as_ref(), &directories, changed);
        let end = end_of(session).unwrap_or(End::Over("the end of the file cannot be read"));
        let age = now.duration_since(changed).unwrap_or_default();
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
                let since = changed.checked_sub(CLOCK_STEP).unwrap_or(changed);
                let works = age < CALL_START
                    || used
                        .processes()
                        .any(|pid| users.has_started_child(pid, since))
                    || is_subagent_call(&tool)
                    || has_active_subagent(session, now);
                let reason = format!("call {tool} without a result");
                (
                    if works {
                        SessionActivity::Working
                    } else {
                        SessionActivity::Waiting
                    },
                    reason,
                )
            }
            (End::Open(_) | End::Call(_), None) if !cfg!(target_os = "linux") && age < IN_USE => {
                (SessionActivity::Working, "changed recently".to_owned())
            }
            (End::Open(reason), None) => {
                (SessionActivity::Failed, format!("ended after a {reason}"))
            }
            (End::Call(tool), None) => (
                SessionActivity::Failed,
                format!("ended after call {tool} without a result"),
            ),
        };
        session.state = Some(Box::new(InferredState { state, reason, pid }));
    }
}

fn end_of(listed: &Listed) -> io::Result<End> {
    let Ok(session) = Session::open(&listed.path) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if session.is_document() {
        let messages: io::Result<Vec<Message>> = session.messages(Scope::Live)?.collect();
        return Ok(End::of(&messages?));
    }
    let mut bytes = session.bytes(Mapping::Allowed);
    for count in [LAST_MESSAGES, 1] {
        if let Some(messages) = last_messages(&mut bytes, count, session.format())? {
            return Ok(End::of(&messages));
        }
    }
    Err(io::ErrorKind::FileTooLarge.into())
}

impl End {
    fn of(messages: &[Message]) -> Self {
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

fn has_active_subagent(session: &Listed, now: SystemTime) -> bool {
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

/// A file that changed within this time may be in use.
pub(super) const IN_USE: Duration = Duration::from_mins(10);

/// The other processes that may use sessions.
#[derive(Debug, Default)]
pub struct SessionUsers {
    running: RunningProcesses,
    /// The process that has a file open.
    open: HashMap<Identity, i32>,
    /// The agents, and whether each serves many sessions.
    agents: HashMap<i32, (Agent, bool)>,
    /// The agents in each directory that were not started by another one there and serve a single session.
    in_directory: HashMap<(Agent, PathBuf), Vec<i32>>,
}

/// The processes that use a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SessionUse {
    /// The agent with which the user works on the session.
    pub(super) agent: Option<i32>,
    /// The server of the agent that has the session open.
    pub(super) server: Option<i32>,
}

impl SessionUse {
    pub(super) fn processes(self) -> impl Iterator<Item = i32> {
        self.agent.into_iter().chain(self.server)
    }
}

impl SessionUsers {
    /// Reads the processes of this user. Finds none where the system does not show them.
    pub fn read() -> Self {
        let running = RunningProcesses::read();
        let mut users = Self::default();
        for pid in running.ids() {
            let arguments = RunningProcesses::arguments(pid);
            if let Some(agent) = Agent::of_process(&arguments) {
                users
                    .agents
                    .insert(pid, (agent, serves_sessions(&arguments)));
            }
        }
        for pid in running.ids() {
            let is_agent = users.agents.contains_key(&pid);
            for file in RunningProcesses::open_files(pid).map(|file| Identity::of(&file)) {
                let other = users.open.entry(file).or_insert(pid);
                *other = if is_agent { pid } else { *other };
            }
            let Some((agent, false)) = users.agents.get(&pid) else {
                continue;
            };
            let is_started_by = |(parent, (other, _)): (&i32, &(Agent, bool))| {
                *parent != pid && other == agent && running.descends(pid, *parent)
            };
            if let Some(directory) = RunningProcesses::directory(pid)
                && !users.agents.iter().any(is_started_by)
            {
                let agents = users.in_directory.entry((*agent, directory));
                agents.or_default().push(pid);
            }
        }
        users.running = running;
        users
    }

    /// Whether an agent that serves only this session has the file open.
    pub(super) fn work_on(&self, file: &Metadata) -> bool {
        let open = self.open.get(&Identity::of(file));
        let agent = open.and_then(|pid| self.agents.get(pid));
        agent.is_some_and(|(_, serves_many)| !serves_many)
    }

    /// Whether a process has the file open.
    pub(super) fn have_open(&self, file: &Metadata) -> bool {
        self.open.contains_key(&Identity::of(file))
    }

    /// Returns the processes that use a session of this agent in these directories. An agent is taken only once: the
    /// caller starts with the session that was changed last. One that has the file open comes before one that only
    /// works in the directory, and the latter started before the last change.
    pub(super) fn take(
        &mut self,
        agent: Agent,
        file: Option<&Metadata>,
        directories: &[&Path],
        changed: SystemTime,
    ) -> SessionUse {
        let open = file.and_then(|file| self.open.get(&Identity::of(file)).copied());
        let open = open.filter(|pid| {
            self.agents
                .get(pid)
                .is_some_and(|(other, _)| *other == agent)
        });
        let server = open.filter(|pid| self.agents[pid].1);
        let holder = open.filter(|_| server.is_none());
        let running = &self.running;
        for directory in directories {
            let key = (agent, directory.to_path_buf());
            let Some(agents) = self.in_directory.get_mut(&key) else {
                continue;
            };
            let found = agents.iter().position(|pid| match holder {
                Some(holder) => running.descends(holder, *pid),
                None => running.started(*pid).is_some_and(|start| start <= changed),
            });
            if let Some(at) = found {
                let agent = Some(agents.swap_remove(at));
                return SessionUse { agent, server };
            }
        }
        SessionUse {
            agent: holder,
            server,
        }
    }

    /// Whether a process started another one at this time or later, and that one still runs.
    pub(super) fn has_started_child(&self, pid: i32, since: SystemTime) -> bool {
        let running = &self.running;
        running.ids().any(|other| {
            other != pid
                && running.started(other).is_some_and(|start| start >= since)
                && running.descends(other, pid)
        })
    }
}
