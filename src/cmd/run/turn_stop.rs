//! Hooks after a reply without calls, which may tell the model to go on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use crate::cmd::run::guards::{hook_runner, read_hooks};
use crate::cmd::{Globals, UsageError};
use crate::config::{PermissionFlags, PermissionSettings};
use crate::hooks::{HookDecision, HookEvent, HookInput, HookRunner, Hooks, Merged, merge};
use crate::io::{CancelToken, Io};
use crate::process::Spawners;
use crate::turn::FEEDBACK;

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// Run the `Stop` hooks of a settings file of Claude Code or Qwen Code after a reply without
    /// calls; repeatable
    #[arg(long, value_name = "FILE")]
    settings: Vec<PathBuf>,
}

/// The `Stop` hooks of a run.
pub(crate) struct StopHooks {
    hooks: Hooks,
    runner: HookRunner,
    settings: PermissionSettings,
    directory: PathBuf,
    /// How often in a row they may tell the model to go on; without end if it is none.
    cap: Option<u64>,
    /// How often they did already.
    before: u64,
}

/// What becomes of the conversation.
pub(crate) enum Stopped {
    /// It is the person's turn.
    Over,
    /// The model has to hear this, and goes on.
    Continues(String),
    /// A hook ends it for this reason.
    Ended(String),
}

impl StopArguments {
    /// The hooks; none if there are none for this event.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(crate) fn hooks(
        &self,
        directory: PathBuf,
        transcript: Option<&Path>,
        before: u64,
        globals: &Globals,
        io: &Io,
    ) -> Result<Option<StopHooks>, UsageError> {
        if self.settings.is_empty() {
            return Ok(None);
        }
        let flags = PermissionFlags {
            settings: self.settings.clone(),
            // It decides about no calls.
            ignore_unknown_settings: true,
            ..PermissionFlags::default()
        };
        let config = globals.config(&io.environment)?;
        let settings = config
            .permissions(&flags, &directory)
            .map_err(UsageError::reason)?;
        let hooks = read_hooks(&settings, globals, io)?;
        if !hooks.any(HookEvent::Stop) {
            return Ok(None);
        }
        let variables = io.environment.with(&settings.environment);
        let spawners = Arc::new(Spawners::new(1));
        Ok(Some(StopHooks {
            runner: HookRunner {
                transcript: transcript.and_then(|path| std::path::absolute(path).ok()),
                ..hook_runner(&spawners, &variables, &directory, globals, io)?
            },
            hooks,
            cap: config.stop_hook_cap(),
            settings,
            directory,
            before,
        }))
    }
}

impl StopHooks {
    /// Runs the hooks after a reply that says this, until `stop`. What people should know goes to
    /// `note`.
    pub(crate) fn run(
        &self,
        session_id: &str,
        said: &str,
        stop: &CancelToken,
        note: &dyn Fn(&str),
    ) -> Stopped {
        let input = HookInput {
            session_id,
            transcript: self.runner.transcript.as_deref(),
            directory: &self.directory,
            mode: self.settings.mode.name(),
        };
        let members = json!({
            "stop_hook_active": self.before > 0, "last_assistant_message": said,
        });
        let input = input.of(HookEvent::Stop, members);
        let handlers = self.hooks.fired(HookEvent::Stop, &[], None);
        let runs = self.runner.run(&handlers, &input, &self.directory, stop);
        let merged = merge(runs.into_iter().map(|run| (run.name, run.answer)));
        for message in &merged.messages {
            note(message);
        }
        if let Some(reason) = merged.stop {
            return Stopped::Ended(reason);
        }
        match feedback(&merged) {
            Some(_) if self.cap.is_some_and(|cap| self.before >= cap) => {
                note("Stop hooks told the model to go on too often in a row");
                Stopped::Over
            }
            Some(text) => Stopped::Continues(text),
            None => Stopped::Over,
        }
    }
}

/// What the model has to hear.
fn feedback(merged: &Merged) -> Option<String> {
    let block = match &merged.decision {
        Some((HookDecision::Block, reason)) => Some(reason),
        _ => None,
    };
    let texts: Vec<&str> = block
        .into_iter()
        .chain(&merged.additional_context)
        .map(String::as_str)
        .collect();
    (!texts.is_empty()).then(|| format!("{FEEDBACK}\n{}", texts.join("\n")))
}
