//! Writes the reply of the main model while it arrives, and runs the `Stop` hooks after it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::history::FEEDBACK;
use super::limits::{Consumption, Limit, TurnLimits};
use super::output::{MAX_CORRECTIONS, OutputCheck};
use super::records::{Ending, RecordBuilder};
use crate::assemble::{BlockBuilder, Output};
use crate::client::model::{Delivery, Failure, Provider, Reply, ReplyEvent, Request, Turn};
use crate::io::{CancelToken, to_millis};
use crate::jsonl::{RecordWriter, WriteError, WriteResult};
use crate::message::{Block, Role, Usage};
use crate::permission::Mode;
use crate::records::{ContentReplacementRecord, Replacement, TurnInitRecord, TurnResultRecord};
use crate::run::hooks::{HookContext, HookDecision, HookEvent, MergedResponse, SessionHooks};
use crate::session::Prices;

/// Writes one reply.
pub struct ReplyWriter {
    /// Builds the records.
    pub records: RecordBuilder,
    /// The prices of models.
    pub prices: Prices,
    /// The output.
    pub writer: RecordWriter,
    /// Ends requests and hooks.
    pub stop: CancelToken,
    /// Hooks that run after a reply without calls.
    pub stop_hooks: Option<StopHooks>,
    /// Whether deltas are written.
    pub partial: bool,
    /// Whether a delta has arrived.
    pub has_begun: bool,
    /// The text of the reply.
    pub text: String,
    /// The schema of replies without calls.
    pub(crate) output: Option<OutputCheck>,
    /// The limits of the conversation.
    pub limits: TurnLimits,
    /// The use of the conversation so far.
    pub spent: Consumption,
}

/// The end of a reply that was written.
pub struct WrittenReply {
    /// The last reply.
    pub reply: Result<Reply, Failure>,
    /// The reasons why it does not fit the schema, one a line.
    pub misfit: Option<String>,
}

impl ReplyWriter {
    /// Writes the records before the reply: the first one, the prompt, and the replacements of results.
    ///
    /// # Errors
    /// Writing failed.
    pub fn start(
        &mut self,
        init: &TurnInitRecord,
        prompt: Option<String>,
        replacements: Vec<Replacement>,
    ) -> WriteResult {
        let records = &self.records;
        self.writer.record(init)?;
        if let Some(prompt) = prompt {
            self.writer.record(&records.prompt_record(prompt))?;
        }
        if !replacements.is_empty() {
            self.writer.record(&ContentReplacementRecord {
                session_id: records.session_id.clone(),
                replacements,
                uuid: records.moment.uuid(),
                timestamp: records.moment.now(),
            })?;
        }
        self.writer.flush()
    }

    /// Reports that a limit prevents the request.
    ///
    /// # Errors
    /// Writing failed.
    pub fn report_limit(mut self, limit: Limit) -> WriteResult {
        let ending = Ending::Limited(limit);
        let record = self.records.result_record(&ending, None, Usage::default());
        self.writer.record(&record)?;
        self.writer.flush()
    }

    /// Sends the request and writes the reply. A reply that does not fit the schema is corrected by more
    /// requests. `note` receives messages to the user.
    ///
    /// # Errors
    /// Writing failed.
    pub fn ask(
        mut self,
        provider: &Arc<dyn Provider>,
        mut request: Request,
        delivery: Delivery,
        assembly: &BlockBuilder,
        note: &dyn Fn(&str),
    ) -> Result<WrittenReply, WriteError> {
        let start = self.records.moment.clock.elapsed();
        let (mut usage, mut cost, mut replies) = (Usage::default(), None, 0);
        let (reply, output) = loop {
            let reply = self.request_reply(provider, &request, delivery, assembly.clone())?;
            let spent = Reply::usage_of(&reply).unwrap_or_default();
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
                replies <= MAX_CORRECTIONS && self.limits.find_reached(&self.spent).is_none();
            match output.map(|output| (output, output.value(&self.text))) {
                Some((output, Err(problems))) if may_correct => {
                    let correction = output.correction(&problems);
                    self.add_correction(correction, &mut request)?;
                }
                output => break (reply, output.map(|(_, value)| value).transpose()),
            }
        };
        if reply.as_ref().is_ok_and(|reply| reply.calls.is_empty()) && output.is_ok() {
            self.run_stop_hooks(note)?;
        }
        let duration = self.records.moment.clock.elapsed().saturating_sub(start);
        let text = (!self.text.is_empty()).then(|| std::mem::take(&mut self.text));
        let ending = match &output {
            Ok(_) => Ending::new(&reply),
            Err(problems) => Ending::SchemaMismatch(problems),
        };
        let record = TurnResultRecord {
            duration_ms: to_millis(duration),
            num_turns: replies as u64,
            total_cost_usd: cost,
            structured_output: output.clone().unwrap_or_default(),
            ..self.records.result_record(&ending, text, usage)
        };
        self.writer.record(&record)?;
        self.writer.flush()?;
        let misfit = output.err();
        Ok(WrittenReply { reply, misfit })
    }

    /// Sends one request and writes its reply.
    fn request_reply(
        &mut self,
        provider: &Arc<dyn Provider>,
        request: &Request,
        delivery: Delivery,
        mut assembly: BlockBuilder,
    ) -> Result<Result<Reply, Failure>, WriteError> {
        let stop = self.stop.clone();
        let mut result = Ok(());
        let reply = provider.ask(request, delivery, &stop, &mut |event| {
            if result.is_ok() {
                result = self.write_event(event, &mut assembly);
                if result.is_err() {
                    stop.cancel();
                }
            }
        });
        result?;
        self.finish(&reply, assembly.finish(reply.is_ok()))?;
        Ok(reply)
    }

    /// Writes the message that asks for a correction, and adds the reply and the message to the request.
    fn add_correction(&mut self, correction: String, request: &mut Request) -> WriteResult {
        let text = std::mem::take(&mut self.text);
        request.turns.push(Turn::new(Role::Assistant, text));
        request.turns.push(Turn::user(correction.clone()));
        if let Some(output) = &mut request.output {
            output.is_retry = true;
        }
        self.writer
            .record(&self.records.feedback_record(correction))?;
        self.records.start_reply();
        self.has_begun = false;
        self.writer.flush()
    }

    /// Runs the hooks after a reply without calls.
    fn run_stop_hooks(&mut self, note: &dyn Fn(&str)) -> WriteResult {
        let Some(hooks) = self.stop_hooks.take() else {
            return Ok(());
        };
        // Readers get the reply before hooks run.
        self.writer.flush()?;
        let records = &self.records;
        match hooks.run(&records.session_id.0, &self.text, &self.stop, note) {
            StopOutcome::Over => Ok(()),
            StopOutcome::Continues(text) => self.writer.record(&records.feedback_record(text)),
            StopOutcome::Ended(reason) => self.writer.record(&records.hook_stop_record(reason)),
        }
    }

    /// Writes the records of an event.
    fn write_event(&mut self, event: ReplyEvent, assembly: &mut BlockBuilder) -> WriteResult {
        if let ReplyEvent::Retry {
            failures,
            wait_ms,
            failure,
        } = &event
        {
            let record = self.records.retry_record(*failures, *wait_ms, failure);
            self.writer.record(&record)?;
            return self.writer.flush();
        }
        if self.partial && (!self.has_begun || event == ReplyEvent::Restart) {
            self.writer.record(&self.records.begin_event())?;
        }
        self.has_begun = true;
        match event {
            ReplyEvent::Part(part) => {
                for output in assembly.take(part) {
                    self.write_output(output, None)?;
                }
            }
            ReplyEvent::Restart => assembly.restart(),
            ReplyEvent::Retry { .. } => {}
        }
        self.writer.flush()
    }

    /// Writes the remaining blocks; the last one carries the usage of the reply.
    fn finish(&mut self, reply: &Result<Reply, Failure>, outputs: Vec<Output>) -> WriteResult {
        let usage = Reply::usage_of(reply).unwrap_or_default();
        let is_block = |output: &Output| matches!(output, Output::Block(_));
        let last = outputs.iter().rposition(is_block);
        for (position, output) in outputs.into_iter().enumerate() {
            let is_last = Some(position) == last && !usage.is_empty();
            self.write_output(output, is_last.then_some(usage))?;
        }
        if self.partial && self.has_begun {
            for record in self
                .records
                .end_events(Ending::new(reply).stop_reason(), &usage)
            {
                self.writer.record(&record)?;
            }
        }
        Ok(())
    }

    fn write_output(&mut self, output: Output, usage: Option<Usage>) -> WriteResult {
        match output {
            Output::Event(event) if self.partial => {
                self.writer.record(&self.records.event_record(event))
            }
            Output::Event(_) => Ok(()),
            Output::Block(block) => {
                if let Block::Text(text) = &block {
                    self.text.push_str(text);
                }
                self.writer.record(&self.records.block_record(block, usage))
            }
        }
    }
}

/// The `Stop` hooks of a run.
pub struct StopHooks {
    /// The hooks, with their runner.
    pub hooks: SessionHooks,
    /// The permission mode.
    pub mode: Mode,
    /// The working directory.
    pub directory: PathBuf,
    /// Maximum number of continuations in a row; `None` for no limit.
    pub cap: Option<u64>,
    /// Number of continuations so far.
    pub continuations: u64,
}

/// The outcome of `Stop` hooks.
enum StopOutcome {
    /// The turn is over.
    Over,
    /// The model continues after this feedback.
    Continues(String),
    /// A hook stopped the conversation for this reason.
    Ended(String),
}

impl StopHooks {
    /// Runs the hooks after a reply with the text `reply`, until `stop`. `note` receives messages to the
    /// user.
    fn run(
        &self,
        session_id: &str,
        reply: &str,
        stop: &CancelToken,
        note: &dyn Fn(&str),
    ) -> StopOutcome {
        let context = HookContext {
            session_id,
            directory: &self.directory,
            mode: self.mode,
            cancel: stop,
        };
        let members = json!({
            "stop_hook_active": self.continuations > 0, "last_assistant_message": reply,
        });
        let merged = self.hooks.run(HookEvent::Stop, None, members, &context);
        for message in &merged.messages {
            note(message);
        }
        if let Some(reason) = merged.stop {
            return StopOutcome::Ended(reason);
        }
        match format_feedback(&merged) {
            Some(_) if self.cap.is_some_and(|cap| self.continuations >= cap) => {
                note("Stop hooks continued the turn too often in a row");
                StopOutcome::Over
            }
            Some(text) => StopOutcome::Continues(text),
            None => StopOutcome::Over,
        }
    }
}

/// Returns the feedback for the model.
fn format_feedback(merged: &MergedResponse) -> Option<String> {
    let mut texts = merged.additional_context.clone();
    if let Some((HookDecision::Block, reason)) = &merged.decision {
        texts.insert(0, reason.clone());
    }
    (!texts.is_empty()).then(|| format!("{FEEDBACK}\n{}", texts.join("\n")))
}
