//! The use of session files by other processes.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::files::open::Identity;
use crate::files::running::RunningProcesses;
use crate::read::session::Session;
use turnpipe_formats::agent::{Agent, Facts, is_session_server};

/// A file that changed within this time may be in use.
pub(crate) const IN_USE: Duration = Duration::from_mins(10);

/// The other processes that may use sessions.
#[derive(Debug, Default)]
pub(crate) struct SessionUsers {
    running: RunningProcesses,
    /// The process that has a file open.
    open: HashMap<Identity, i32>,
    agents: HashMap<i32, AgentProcess>,
    /// The agents in each directory that were not started by another one there and serve a single session.
    in_directory: HashMap<(Agent, PathBuf), Vec<i32>>,
}

/// A process of an agent.
#[derive(Debug)]
struct AgentProcess {
    agent: Agent,
    /// Whether it serves many sessions.
    is_server: bool,
}

/// Whether an agent works on a session, or may do so where processes are not shown.
pub fn has_agent(session: &Session, facts: &Facts, now: SystemTime) -> bool {
    let file = fs::symlink_metadata(&session.file.path).ok();
    let changed = file.as_ref().and_then(|file| file.modified().ok());
    let Some(changed) = changed else {
        return false;
    };
    if !cfg!(target_os = "linux") {
        return now.duration_since(changed).is_ok_and(|age| age < IN_USE);
    }
    let mut users = SessionUsers::read();
    let used = users.take(session.agent(), file.as_ref(), &directories(facts), changed);
    used.processes().next().is_some()
}

/// Returns the directories where the agent of a session may run.
pub(crate) fn directories(facts: &Facts) -> Vec<&Path> {
    let directories = [&facts.cwd, &facts.first_cwd].into_iter().flatten();
    directories.map(Path::new).collect()
}

/// The processes that use a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SessionUse {
    /// The agent with which the user works on the session.
    pub(crate) agent: Option<i32>,
    /// The server of the agent that has the session open.
    pub(crate) server: Option<i32>,
}

impl SessionUse {
    /// Returns the ids of both.
    pub(crate) fn processes(self) -> impl Iterator<Item = i32> {
        self.agent.into_iter().chain(self.server)
    }
}

impl SessionUsers {
    /// Reads the processes of this user. Finds none where the system does not show them.
    pub(crate) fn read() -> Self {
        let running = RunningProcesses::read();
        let mut users = Self::default();
        for pid in running.ids() {
            let arguments = RunningProcesses::read_arguments(pid);
            if let Some(agent) = Agent::from_process(&arguments) {
                let is_server = is_session_server(&arguments);
                users.agents.insert(pid, AgentProcess { agent, is_server });
            }
        }
        for pid in running.ids() {
            let process = users.agents.get(&pid);
            for file in RunningProcesses::list_open_files(pid) {
                let identity = Identity::from_metadata(&file);
                let holder = users.open.entry(identity).or_insert(pid);
                if process.is_some() {
                    *holder = pid;
                }
            }
            let Some(process) = process.filter(|process| !process.is_server) else {
                continue;
            };
            let is_started_by = |(parent, other): (&i32, &AgentProcess)| {
                *parent != pid
                    && other.agent == process.agent
                    && running.is_descendant(pid, *parent)
            };
            if let Some(directory) = RunningProcesses::read_directory(pid)
                && !users.agents.iter().any(is_started_by)
            {
                let agents = users.in_directory.entry((process.agent, directory));
                agents.or_default().push(pid);
            }
        }
        users.running = running;
        users
    }

    /// Whether an agent that serves only this session has the file open.
    pub(crate) fn is_open_in_agent(&self, file: &Metadata) -> bool {
        let holder = self.open.get(&Identity::from_metadata(file));
        let process = holder.and_then(|pid| self.agents.get(pid));
        process.is_some_and(|process| !process.is_server)
    }

    /// Whether a process has the file open.
    pub(crate) fn is_open(&self, file: &Metadata) -> bool {
        self.open.contains_key(&Identity::from_metadata(file))
    }

    /// Returns the processes that use a session of this agent in these directories. An agent is taken only once: the
    /// caller starts with the session that was changed last. Prefers an agent that has the file open. Another agent in
    /// these directories must have started before the last change.
    pub(crate) fn take(
        &mut self,
        agent: Agent,
        file: Option<&Metadata>,
        directories: &[&Path],
        changed: SystemTime,
    ) -> SessionUse {
        let open = file.and_then(|file| self.open.get(&Identity::from_metadata(file)).copied());
        let process = open.and_then(|pid| Some((pid, self.agents.get(&pid)?)));
        let (server, holder) = match process {
            Some((pid, process)) if process.agent == agent && process.is_server => {
                (Some(pid), None)
            }
            Some((pid, process)) if process.agent == agent => (None, Some(pid)),
            _ => (None, None),
        };
        let running = &self.running;
        for directory in directories {
            let key = (agent, directory.to_path_buf());
            let Some(agents) = self.in_directory.get_mut(&key) else {
                continue;
            };
            let found = agents.iter().position(|pid| match holder {
                Some(holder) => running.is_descendant(holder, *pid),
                None => running
                    .start_time(*pid)
                    .is_some_and(|start| start <= changed),
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

    /// Whether a running process descends from `pid` and started at `since` or later.
    pub(crate) fn has_started_child(&self, pid: i32, since: SystemTime) -> bool {
        let running = &self.running;
        running.ids().any(|other| {
            other != pid
                && running
                    .start_time(other)
                    .is_some_and(|start| start >= since)
                && running.is_descendant(other, pid)
        })
    }
}
