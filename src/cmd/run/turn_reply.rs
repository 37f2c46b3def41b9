//! Writes the reply of the main model while it arrives.

use std::sync::Arc;

use crate::assemble::{BlockBuilder, Output};
use crate::cmd::output::RecordWriter;
use crate::cmd::run::turn_stop::{StopHooks, Stopped};
use crate::cmd::side::model_failures::ModelFailures;
use crate::cmd::stop_watch::StopWatch;
use crate::cmd::{Globals, Status};
use crate::io::{CancelToken, Io};
use crate::jsonl::WriteResult;
use crate::message::{Block, Usage};
use crate::model::{Delivery, Failure, Provider, Reply, ReplyEvent, Request};
use crate::records::TurnResultRecord;
use crate::session::Prices;
use crate::turn::{Ending, Limit, RecordBuilder};

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
