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
use crate::message::{Block, Role, Usage};
use crate::model::{Delivery, Failure, Provider, Reply, ReplyEvent, Request, Retryability, Turn};
use crate::permission::Mode;
use crate::records::TurnResultRecord;
use crate::session::Prices;
use crate::turn::{
    Ending, FEEDBACK, Limit, MAX_CORRECTIONS, OutputCheck, RecordBuilder, Spent, TurnLimits,
};

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
    /// The schema of replies without calls.
    pub(crate) output: Option<OutputCheck>,
    pub(crate) limits: TurnLimits,
    /// The use of the conversation so far.
    pub(crate) spent: Spent,
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

    /// Sends the request and writes the reply. A reply that does not fit the schema is corrected by more
    /// requests.
    ///
    /// # Errors
    /// Writing failed.
    pub(crate) fn ask(
        mut self,
        provider: &Arc<dyn Provider>,
        mut request: Request,
        delivery: Delivery,
        assembly: &BlockBuilder,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let watch = StopWatch::listen(io.stdout_watch.take());
        let start = io.clock.elapsed();
        let (mut usage, mut cost, mut replies) = (Usage::default(), None, 0);
        let (reply, output) = loop {
            let reply = self.reply(provider, &request, delivery, assembly.clone(), &watch)?;
            let spent = usage_of(&reply);
            let dollars = self.prices.cost(&self.records.model, &spent);
            if !spent.is_empty() {
                cost = dollars.map(|dollars| dollars + cost.unwrap_or_default());
            }
            usage += spent;
            self.spent.add(&spent, dollars);
            replies += 1;
            self.spent.turns += 1;
            let is_last = reply.as_ref().is_ok_and(|reply| reply.calls.is_empty());
            let output = self.output.as_ref().filter(|_| is_last);
            let may_correct =
                replies <= MAX_CORRECTIONS && self.limits.reached(&self.spent).is_none();
            match output.map(|output| (output, output.value(&self.text))) {
                Some((output, Err(problems))) if may_correct => {
                    let correction = output.correction(&problems);
                    self.correct(correction, &mut request)?;
                }
                output => break (reply, output.map(|(_, value)| value).transpose()),
            }
        };
        if reply.as_ref().is_ok_and(|reply| reply.calls.is_empty()) && output.is_ok() {
            self.stop(&watch.stop, io)?;
        }
        let took = io.clock.elapsed().saturating_sub(start);
        let text = (!self.text.is_empty()).then(|| std::mem::take(&mut self.text));
        let ending = match &output {
            Ok(_) => Ending::of(&reply),
            Err(problems) => Ending::Misfit(problems),
        };
        let record = TurnResultRecord {
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            num_turns: replies as u64,
            total_cost_usd: cost,
            structured_output: output.clone().unwrap_or_default(),
            ..self.records.result(&ending, text, usage)
        };
        self.writer.record(&record)?;
        self.writer.flush()?;
        if let Err(problems) = &output {
            let problems = problems.replace('\n', "; ");
            io.messages.error(&format!(
                "the last reply does not fit the schema: {problems}"
            ));
            return Ok(watch.or(Status::OutputMismatch));
        }
        let mut failures = ModelFailures::new(&io.messages);
        if let Err(failure) = &reply {
            if failure.retryability() != Retryability::Stopped {
                io.messages.log(&failure.to_string());
            }
            failures.report(failure);
        }
        Ok(watch.or(failures.outcome(0, false, Status::Done)))
    }

    /// Sends one request and writes its reply.
    fn reply(
        &mut self,
        provider: &Arc<dyn Provider>,
        request: &Request,
        delivery: Delivery,
        mut assembly: BlockBuilder,
        watch: &StopWatch,
    ) -> anyhow::Result<Result<Reply, Failure>> {
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
        Ok(reply)
    }

    /// Writes the message that asks for a correction of the reply, and adds both to the request.
    fn correct(&mut self, correction: String, request: &mut Request) -> WriteResult {
        let text = std::mem::take(&mut self.text);
        request.turns.push(Turn::new(Role::Assistant, text));
        request.turns.push(Turn::user(correction.clone()));
        if let Some(output) = &mut request.output {
            output.is_retry = true;
        }
        self.writer.record(&self.records.feedback(correction))?;
        self.records.next_reply();
        self.has_begun = false;
        self.writer.flush()
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
