//! Writes the reply of the main model while it arrives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use crate::assemble::{BlockBuilder, Output};
use crate::cmd::error::ModelFailures;
use crate::cmd::model_arguments::StopWatch;
use crate::cmd::run::guards::{hook_runner, read_hooks};
use crate::cmd::{Globals, RecordWriter, Status, UsageError};
use crate::config::PermissionFlags;
use crate::hooks::{HookContext, HookDecision, HookEvent, HookRunner, Merged, SessionHooks};
use crate::io::{CancelToken, Io};
use crate::jsonl::WriteResult;
use crate::message::{Block, Usage};
use crate::model::{Delivery, Failure, Provider, Reply, ReplyEvent, Request};
use crate::permission::Mode;
use crate::records::TurnResultRecord;
use crate::session::Prices;
use crate::turn::{Ending, FEEDBACK, Limit, RecordBuilder};

/// Writes one reply.
pub(crate) struct ReplyWriter {
    pub(crate) records: RecordBuilder,
    pub(crate) prices: Prices,
    pub(crate) writer: RecordWriter,
    /// Hooks that run after a reply without calls.
    pub(crate) stop_hooks: Option<StopHooks>,
    /// Whether deltas are written.
    pub(crate) partial: bool,
    /// Whether a delta has arrived.
    pub(crate) has_begun: bool,
    /// The text of the reply.
    pub(crate) text: String,
}

impl ReplyWriter {
    /// Reports that a limit prevents the request.
    ///
    /// # Errors
    /// Writing failed.
    pub(crate) fn limited(mut self, limit: Limit, io: &Io) -> anyhow::Result<Status> {
        io.messages.warn(&limit.to_string());
        let ending = Ending::Limited(limit);
        let record = self.records.result(&ending, None, Usage::default());
        self.writer.record(&record)?;
        self.writer.flush()?;
        Ok(Status::Done)
    }

    /// Sends the request and writes the reply.
    ///
    /// # Errors
    /// Writing failed.
    pub(crate) fn ask(
        mut self,
        provider: &Arc<dyn Provider>,
        request: &Request,
        delivery: Delivery,
        mut assembly: BlockBuilder,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let watch = StopWatch::listen(io.stdout_watch.take());
        let start = io.clock.elapsed();
        let mut written = Ok(());
        let reply = provider.ask(request, delivery, &watch.stop, &mut |event| {
            if written.is_ok() {
                written = self.delta(event, &mut assembly);
                if written.is_err() {
                    watch.stop.cancel();
                }
            }
        });
        written?;
        self.finish(&reply, assembly.finish(reply.is_ok()))?;
        if reply.as_ref().is_ok_and(|reply| reply.calls.is_empty()) {
            self.stop(&watch.stop, io)?;
        }
        let usage = usage_of(&reply);
        let took = io.clock.elapsed().saturating_sub(start);
        let text = (!self.text.is_empty()).then(|| std::mem::take(&mut self.text));
        let record = TurnResultRecord {
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            total_cost_usd: (!usage.is_empty())
                .then(|| self.prices.cost(&self.records.model, &usage))
                .flatten(),
            ..self.records.result(&Ending::of(&reply), text, usage)
        };
        self.writer.record(&record)?;
        self.writer.flush()?;
        let mut failures = ModelFailures::new(&io.messages, false);
        if let Err(failure) = &reply {
            failures.report(failure);
            if let Failure::NotRecorded { difference, .. } = failure
                && globals.verbose
            {
                difference.lines().for_each(|line| io.messages.log(line));
            }
        }
        Ok(watch.or(failures.outcome(0, false, Status::Done)))
    }

    /// Runs the hooks after a reply without calls.
    fn stop(&mut self, stop: &CancelToken, io: &Io) -> WriteResult {
        let Some(hooks) = self.stop_hooks.take() else {
            return Ok(());
        };
        // Readers get the reply before hooks run.
        self.writer.flush()?;
        let records = &self.records;
        match hooks.run(&records.session_id.0, &self.text, stop, &|text| {
            io.messages.warn(text);
        }) {
            Stopped::Over => Ok(()),
            Stopped::Continues(text) => self.writer.record(&records.feedback(text)),
            Stopped::Ended(reason) => self.writer.record(&records.ended(reason)),
        }
    }

    /// Writes the records of an event.
    fn delta(&mut self, event: ReplyEvent, assembly: &mut BlockBuilder) -> WriteResult {
        if let ReplyEvent::Retry {
            failures,
            wait_ms,
            failure,
        } = &event
        {
            let record = self.records.retry(*failures, *wait_ms, failure);
            self.writer.record(&record)?;
            return self.writer.flush();
        }
        if self.partial && (!self.has_begun || event == ReplyEvent::Restart) {
            self.writer.record(&self.records.begin())?;
        }
        self.has_begun = true;
        match event {
            ReplyEvent::Part(part) => {
                for output in assembly.take(part) {
                    self.output(output, None)?;
                }
            }
            ReplyEvent::Restart => assembly.restart(),
            ReplyEvent::Retry { .. } => {}
        }
        self.writer.flush()
    }

    /// Writes the remaining blocks; the last one carries the usage of the reply.
    fn finish(&mut self, reply: &Result<Reply, Failure>, outputs: Vec<Output>) -> WriteResult {
        let usage = usage_of(reply);
        let is_block = |output: &Output| matches!(output, Output::Block(_));
        let last = outputs.iter().rposition(is_block);
        for (position, output) in outputs.into_iter().enumerate() {
            let is_last = Some(position) == last && !usage.is_empty();
            self.output(output, is_last.then_some(usage))?;
        }
        if self.partial && self.has_begun {
            for record in self.records.end(Ending::of(reply).stop_reason(), &usage) {
                self.writer.record(&record)?;
            }
        }
        Ok(())
    }

    fn output(&mut self, output: Output, usage: Option<Usage>) -> WriteResult {
        match output {
            Output::Event(event) if self.partial => self.writer.record(&self.records.event(event)),
            Output::Event(_) => Ok(()),
            Output::Block(block) => {
                if let Block::Text(text) = &block {
                    self.text.push_str(text);
                }
                self.writer.record(&self.records.block(block, usage))
            }
        }
    }
}

fn usage_of(reply: &Result<Reply, Failure>) -> Usage {
    match reply {
        Ok(reply) => reply.usage,
        Err(failure) => failure.usage().copied().unwrap_or_default(),
    }
}

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
    let mut texts = merged.additional_context.clone();
    if let Some((HookDecision::Block, reason)) = &merged.decision {
        texts.insert(0, reason.clone());
    }
    (!texts.is_empty()).then(|| format!("{FEEDBACK}\n{}", texts.join("\n")))
}
