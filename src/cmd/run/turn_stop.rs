//! `Stop` hooks, which run after a reply without calls and can continue the turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use crate::cmd::run::guards::{hook_runner, read_hooks};
use crate::cmd::{Globals, UsageError};
use crate::config::PermissionFlags;
use crate::hooks::{HookContext, HookDecision, HookEvent, HookRunner, Merged, SessionHooks};
use crate::io::{CancelToken, Io};
use crate::permission::Mode;
use crate::turn::FEEDBACK;

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// Run the `Stop` hooks of a settings file of Claude Code or Qwen Code after a reply without calls;
    /// repeatable
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    settings: Vec<PathBuf>,
}

/// The `Stop` hooks of a run.
pub(crate) struct StopHooks {
    hooks: SessionHooks,
    mode: Mode,
    directory: PathBuf,
    /// Maximum number of continuations in a row; `None` for no limit.
    cap: Option<u64>,
    /// Continuations so far.
    before: u64,
}

/// The outcome of `Stop` hooks.
pub(crate) enum Stopped {
    /// The turn is over.
    Over,
    /// The model continues after this feedback.
    Continues(String),
    /// A hook stopped the conversation for this reason.
    Ended(String),
}

impl StopArguments {
    /// Returns the `Stop` hooks; `None` if none is configured.
    ///
    /// # Errors
    /// A file is unreadable or invalid.
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
            // No calls are decided here.
            ignore_unknown_settings: true,
            ..PermissionFlags::default()
        };
        let config = globals.config(&io.environment)?;
        let settings = config
            .permissions(&flags, &directory)
            .map_err(UsageError::reason)?;
        let hooks = read_hooks(&settings, io)?;
        if !hooks.has(HookEvent::Stop) {
            return Ok(None);
        }
        let variables = io.environment.with(&settings.environment);
        let spawners = Arc::new(globals.children.spawners(1));
        let runner = HookRunner {
            transcript: transcript.and_then(|path| std::path::absolute(path).ok()),
            ..hook_runner(&spawners, &variables, &directory, globals, io)?
        };
        Ok(Some(StopHooks {
            hooks: SessionHooks { hooks, runner },
            cap: config.stop_hook_cap(),
            mode: settings.mode,
            directory,
            before,
        }))
    }
}

impl StopHooks {
    /// Runs the hooks after a reply with the text `said`, until `stop`. `note` receives messages to the
    /// user.
    pub(crate) fn run(
        &self,
        session_id: &str,
        said: &str,
        stop: &CancelToken,
        note: &dyn Fn(&str),
    ) -> Stopped {
        let context = HookContext {
            session_id,
            directory: &self.directory,
            mode: self.mode,
            cancel: stop,
        };
        let members = json!({
            "stop_hook_active": self.before > 0, "last_assistant_message": said,
        });
        let merged = self.hooks.run(HookEvent::Stop, None, members, &context);
        for message in &merged.messages {
            note(message);
        }
        if let Some(reason) = merged.stop {
            return Stopped::Ended(reason);
        }
        match feedback(&merged) {
            Some(_) if self.cap.is_some_and(|cap| self.before >= cap) => {
                note("Stop hooks continued the turn too often in a row");
                Stopped::Over
            }
            Some(text) => Stopped::Continues(text),
            None => Stopped::Over,
        }
    }
}

/// Returns the feedback for the model.
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
