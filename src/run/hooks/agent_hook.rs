//! A hook in the settings of an agent, and a trial run of it with the input of a call.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::agent_effect::HookAnswer;
use super::agent_protocol::AgentHookInput;
use super::settings::Matcher;
use super::settings_syntax::InstalledHook;
use crate::agent::{Agent, HookSettings, HookShell, SettingsSyntax};
use crate::io::{CancelToken, Environment};
use crate::message::Decision;
use crate::process::{Capture, Command, Ended, Finished, Limits, Spawners, Stdin};
use crate::records::{HookEffect, HookScope, HookStatusRecord, HookTestRecord};
use crate::session::describe_input;

/// A call of each agent for each event of its hooks, in the form of the agent. Their project is `/srv`.
const SAMPLES: &str = include_str!("samples.jsonl");

/// The timeout of a hook whose settings have none, in seconds. Agents wait longer.
const DEFAULT_TIMEOUT: f64 = 60.0;

/// Maximum size of an answer to read, in bytes.
const MAX_ANSWER: u64 = 1 << 20;

/// A hook of turnpipe in the settings of an agent.
#[derive(Debug)]
pub struct AgentHook {
    /// The agent.
    pub agent: Agent,
    pub(super) facts: &'static HookSettings,
    /// The owner of the settings.
    pub scope: HookScope,
    /// The path of the settings.
    pub path: String,
    pub(super) hook: InstalledHook,
}

/// Runs hooks as their agents do.
pub struct HookTrial {
    /// Starts them.
    pub spawners: Spawners,
    /// The environment of the agent.
    pub environment: Environment,
    /// The directory of the agent, for calls whose directory is not on this machine.
    pub directory: PathBuf,
}

/// A call of a built-in sample.
#[derive(Deserialize)]
struct Sample {
    agent: String,
    input: Value,
}

impl AgentHook {
    /// Returns the command that the agent runs.
    pub fn command(&self) -> &str {
        &self.hook.command
    }

    /// Returns the record about it, with the result of a trial if there was one.
    pub fn to_record(&self, trial: Option<HookTestRecord>) -> HookStatusRecord {
        HookStatusRecord {
            agent: self.agent.name().to_owned(),
            scope: self.scope,
            path: self.path.clone(),
            event: self.hook.event.to_owned(),
            command: self.hook.command.clone(),
            trusted: self.hook.is_trusted,
            works: trial.as_ref().map(|trial| trial.ok),
            problem: trial.and_then(|trial| trial.problem),
        }
    }

    /// Returns the built-in calls for the event of the hook, of a project in the directory of the trial.
    pub fn samples(&self, trial: &HookTrial) -> Vec<AgentHookInput> {
        let project = Value::from(trial.directory.display().to_string()).to_string();
        let samples = SAMPLES.lines().filter_map(|line| {
            let line = line.replace("\"/srv\"", &project);
            let sample: Sample = serde_json::from_str(&line).ok()?;
            let input = Some(sample.input).filter(|_| sample.agent == self.agent.name())?;
            AgentHookInput::parse(&input.to_string(), &trial.directory).ok()
        });
        samples.filter(|call| self.matches(call)).collect()
    }

    /// Whether a call may be one of the agent, and of the event of the hook.
    pub fn matches(&self, call: &AgentHookInput) -> bool {
        let is_script = matches!(self.facts.syntax, SettingsSyntax::Script(_));
        let is_event = if is_script {
            call.event == "PreToolUse"
        } else {
            call.event == self.hook.event
        };
        is_event && call.may_be_of(self.agent)
    }

    /// Runs it with the input of a call, as the agent does.
    pub fn run(&self, call: &AgentHookInput, trial: &HookTrial) -> HookTestRecord {
        let seconds = self.hook.timeout.map_or(DEFAULT_TIMEOUT, |limit| {
            limit * 10.0 / f64::from(self.facts.timeout)
        });
        let timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let command = self.build_command(call, timeout, trial);
        let outcome = trial.spawners.run(&command, &CancelToken::default());
        let status = outcome.as_ref().ok().and_then(exit_code);
        let answer = match (&outcome, status) {
            (Ok(finished), Some(status)) => {
                let text = |captured: &crate::process::Captured| captured.prefix_text(MAX_ANSWER);
                let texts = [text(&finished.stdout), text(&finished.stderr)];
                let [stdout, stderr] = texts.map(Result::unwrap_or_default);
                HookAnswer::from_output(self.agent, call.kind, status, (&stdout, &stderr))
            }
            (Ok(finished), None) if finished.ended == Ended::TimedOut => {
                HookAnswer::timeout(seconds)
            }
            (Ok(finished), None) => {
                let failure = format!("exit status {}", finished.status.shell_code());
                HookAnswer::failed(self.agent, failure)
            }
            (Err(error), _) => HookAnswer::failed(self.agent, error.to_string()),
        };
        let skip_reason = self.skip_reason(call);
        let is_run = skip_reason.is_none();
        let effect = if is_run {
            answer.effect
        } else {
            HookEffect::Skipped
        };
        HookTestRecord {
            agent: self.agent.name().to_owned(),
            path: self.path.clone(),
            event: call.event.clone(),
            agent_type: call.subagent(),
            tool: call.tool_name.clone(),
            about: (call.tool_input.as_ref())
                .map(|input| describe_input(input, call.cwd.to_str()))
                .unwrap_or_default(),
            decision: answer.decision,
            reason: answer.reason,
            exit_status: status,
            ok: answer.failure.is_none(),
            honored: match answer.decision {
                None => answer.failure.is_none() && is_run,
                Some(Decision::Allow) => effect == HookEffect::Runs,
                Some(Decision::Ask) => effect == HookEffect::Asks,
                Some(Decision::Deny) => effect == HookEffect::Denied,
            },
            effect,
            problem: answer.failure.or(skip_reason),
        }
    }

    /// Returns the program that the agent starts.
    fn build_command(
        &self,
        call: &AgentHookInput,
        timeout: Duration,
        trial: &HookTrial,
    ) -> Command {
        let cwd = Some(&call.cwd).filter(|cwd| cwd.is_dir());
        let agent_directory = cwd.unwrap_or(&trial.directory);
        let below = self.hook.directory.as_deref().unwrap_or_default();
        let project_names = self.facts.project_variables.iter();
        let project = project_names.map(|name| ((*name).into(), agent_directory.clone().into()));
        let settings = self.hook.environment.iter();
        let of_hook =
            settings.filter_map(|(name, value)| Some((name.into(), value.as_str()?.into())));
        let environment = trial.environment.iter();
        let variables = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let shell = match self.facts.shell {
            HookShell::Sh => "sh",
            HookShell::Bash => "bash",
        };
        Command {
            program: shell.into(),
            arguments: ["-c", &self.hook.command].map(OsString::from).into(),
            environment: variables.chain(project).chain(of_hook).collect(),
            directory: agent_directory.join(below),
            stdin: Stdin::Bytes(call.text.clone().into_bytes()),
            report: None,
            capture: Capture {
                total_bytes: MAX_ANSWER,
                ..Capture::default()
            },
            limits: Limits::with_timeout(timeout),
        }
    }

    /// Returns the reason why the agent does not run the hook for a call.
    fn skip_reason(&self, call: &AgentHookInput) -> Option<String> {
        let InstalledHook {
            is_trusted,
            disabled_by,
            matcher,
            ..
        } = &self.hook;
        let matcher = matcher.as_deref().unwrap_or_default();
        let is_matched =
            Matcher::parse(matcher).is_ok_and(|parsed| parsed.matches(&call.tool_name));
        if let Some(setting) = disabled_by {
            Some(format!("`{setting}` turns off all hooks"))
        } else if *is_trusted == Some(false) {
            Some("not trusted yet: enter `/hooks` in the agent and trust it".to_owned())
        } else {
            (!is_matched).then(|| format!("its matcher `{matcher}` leaves out the tool"))
        }
    }
}

/// Returns the exit status of a hook that ran to its end.
fn exit_code(finished: &Finished) -> Option<i32> {
    match finished.status {
        crate::process::ExitStatus::Code(code) if finished.ended == Ended::Exited => Some(code),
        _ => None,
    }
}
