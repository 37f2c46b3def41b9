//! The input and the result of a call of a session, and counts of calls by tool and program.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::calls::events::SessionCall;
use crate::list::selection::is_in_period;
use crate::read::gist::{describe_input, find_command, find_file_changes};
use crate::read::session::Session;
use turnpipe_core::json::text_or_json;
use turnpipe_core::message::CallOutcome;
use turnpipe_core::tool_facts::{Parameter, Purpose, texts};
use turnpipe_formats::agent::timestamp;
use turnpipe_formats::records::{
    FileChange, SessionCallCountRecord, SessionCallRecord, SessionDescription,
};
use turnpipe_guard::shell::{parse, parse_sandbox_call, program_and_subcommand};

/// Facts in the input and the result of a call.
pub struct SeenCall {
    /// The input; empty if it is not an object.
    pub input: Map<String, Value>,
    /// The directory of the session; empty if it is not known.
    cwd: PathBuf,
    /// The changes of files that the input names, whether or not they were made.
    pub files: Vec<FileChange>,
    /// The outcome, if it is known.
    pub outcome: Option<CallOutcome>,
}

impl SeenCall {
    /// Returns the facts of a call in a session that started in `cwd`.
    pub fn new(call: &SessionCall, cwd: Option<&str>) -> Self {
        let input = serde_json::from_str(call.call.input.get()).unwrap_or_default();
        let cwd = PathBuf::from(cwd.unwrap_or_default());
        let mut files = find_file_changes(&input);
        for file in &mut files {
            file.path = cwd.join(&file.path).display().to_string();
        }
        Self {
            input,
            cwd,
            files,
            outcome: call.outcome(),
        }
    }

    /// Returns the changes that were made.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        let is_done = self.outcome == Some(CallOutcome::Ok);
        self.files.iter().filter(move |_| is_done)
    }

    /// Whether the input names the file `path`, or a file below `path`. A relative path is relative to the directory of the
    /// session.
    pub fn has_path(&self, path: &Path) -> bool {
        let changed = self.files.iter().map(|file| PathBuf::from(&file.path));
        let paths = texts(&self.input, Parameter::Path).unwrap_or_default();
        let named = paths.into_iter().map(|path| self.cwd.join(path));
        let path = self.cwd.join(path);
        changed.chain(named).any(|named| named.starts_with(&path))
    }

    /// Returns the shell command that a call runs.
    pub fn command(&self, call: &SessionCall) -> Option<String> {
        if Purpose::from_tool(&call.call.name) != Purpose::Shell {
            return None;
        }
        find_command(&self.input)
    }
}

impl SessionCall {
    /// Whether the call was made in this period.
    pub fn is_within(&self, period: &Range<Timestamp>) -> bool {
        is_in_period(period, timestamp(self.time.as_deref()))
    }

    /// Returns the time from the call to its result, in milliseconds.
    pub fn duration_ms(&self) -> Option<u64> {
        let start = timestamp(self.time.as_deref())?;
        let end = timestamp(self.result.as_ref()?.time.as_deref())?;
        u64::try_from(end.duration_since(start).as_millis()).ok()
    }

    /// Returns the record of the call, with the member `field` of its input instead of all of it.
    pub fn to_record(
        self,
        seen: SeenCall,
        about: &SessionDescription,
        field: Option<&str>,
    ) -> SessionCallRecord {
        SessionCallRecord {
            session_id: about.session_id.clone(),
            agent: about.agent.clone(),
            path: about.path.clone(),
            cwd: about.cwd.clone(),
            subagent: self.is_subagent,
            duration_ms: self.duration_ms(),
            timestamp: self.time,
            tool_use_id: self.call.id,
            tool: self.call.name,
            about: describe_input(&seen.input, about.cwd.as_deref()),
            input: field.is_none().then(|| self.call.input.get().to_owned()),
            field: field.and_then(|name| seen.input.get(name).map(text_or_json)),
            outcome: seen.outcome,
            exit_status: self.result.as_ref().and_then(|result| result.exit_status),
            result_bytes: self.result.map(|result| result.bytes),
            files: seen.files,
        }
    }
}

impl Session {
    /// Whether a call of the session or of its subagents changed a file at the absolute `path` or below it.
    pub(crate) fn has_changed(&self, path: &Path, cwd: Option<&str>) -> io::Result<bool> {
        let mut flow = ControlFlow::Continue(());
        let mut check_session = |session: &Self| {
            session.visit_calls(&mut |call| {
                let seen = SeenCall::new(&call, cwd);
                if seen
                    .changes()
                    .any(|file| Path::new(&file.path).starts_with(path))
                {
                    flow = ControlFlow::Break(());
                }
                flow
            })
        };
        check_session(self)?;
        for subagent in self.subagents() {
            check_session(&subagent)?;
        }
        Ok(flow.is_break())
    }
}

/// Counts by tool and program.
#[derive(Default)]
pub struct CallCounts(BTreeMap<(String, Option<String>), SessionCallCountRecord>);

impl CallCounts {
    /// Adds a call, for each program that its command runs.
    pub fn add(&mut self, call: &SessionCall, seen: &SeenCall) {
        let tool = &call.call.name;
        let line = seen.command(call).unwrap_or_default();
        let inner_line = parse_sandbox_call(&line);
        let script = parse(inner_line.as_deref().unwrap_or(&line));
        let mut commands: Vec<Option<String>> = (script.commands.iter())
            .filter(|command| !command.context.is_substituted)
            .filter_map(|command| program_and_subcommand(&command.words).map(Some))
            .collect();
        commands.sort_unstable();
        commands.dedup();
        if commands.is_empty() {
            commands.push(None);
        }
        for command in commands {
            let count = self.0.entry((tool.clone(), command.clone()));
            let count = count.or_insert_with(|| SessionCallCountRecord {
                tool: tool.clone(),
                command,
                ..SessionCallCountRecord::default()
            });
            count.calls += 1;
            count.failed += u64::from(seen.outcome == Some(CallOutcome::Failed));
            let is_denied = seen.outcome.is_some_and(CallOutcome::is_denied);
            count.denied += u64::from(is_denied);
            count.duration_ms += call.duration_ms().unwrap_or_default();
            count.result_bytes += call.result.as_ref().map_or(0, |result| result.bytes);
        }
    }

    /// Returns the counts, largest first.
    pub fn into_sorted(self) -> Vec<SessionCallCountRecord> {
        let mut counts: Vec<_> = self.0.into_values().collect();
        counts.sort_by_key(|count| Reverse(count.calls));
        counts
    }
}
