//! Conversations as trajectories in ATIF, version 1.7, of Harbor, which `agent` reads. Each step is written when
//! the results of its calls are known.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};

use serde_json::json;

use super::atif_model::{
    Content, ContentPart, Extra, FinalMetrics, Metrics, Observation, ObservationResult, Source,
    Step, TrajectoryHead, extra_tokens, iso_time, tool_call,
};
use super::outline::{Subagent, find_subagent_page, is_image, media_placeholder};
use crate::message::{Block, Call, Media, Message, Origin, Role, ToolResult, Usage};
use crate::session::MAX_WAITING;

/// The context of the steps of a trajectory.
#[derive(Clone, Copy)]
pub struct TrajectoryContext<'a> {
    /// The embedded trajectories.
    pub subagents: &'a [Subagent],
    /// Saves an image of an allowed type. Returns its path, or `None` if it has no content.
    pub save: &'a dyn Fn(&Media) -> io::Result<Option<String>>,
    /// Returns the cost of a request to a model in US dollars.
    pub price: &'a dyn Fn(&str, &Usage) -> Option<f64>,
}

/// Writes a trajectory, except its end: [`Self::finish`] leaves the object open for subagents.
pub struct TrajectoryWriter<'a> {
    out: &'a mut dyn Write,
    context: TrajectoryContext<'a>,
    /// The tokens that are not assigned to a step.
    remaining: Usage,
    /// The last reading of a meter.
    meter: Usage,
    /// Steps that wait for results, and the last step.
    steps: VecDeque<Step>,
    /// The number of the first step in `steps`, from 1.
    first: u64,
    /// The number of the next step, from 1.
    next: u64,
    /// The steps of calls.
    calls: HashMap<String, u64>,
    /// The trajectories that contain the messages of subagents, by the calls that started them.
    embedded: HashMap<String, &'static str>,
}

impl<'a> TrajectoryWriter<'a> {
    /// Starts a trajectory whose steps have at most the tokens of `total`.
    ///
    /// # Errors
    /// Writing failed.
    pub fn new(
        out: &'a mut dyn Write,
        mut head: TrajectoryHead,
        total: Usage,
        context: TrajectoryContext<'a>,
    ) -> io::Result<Self> {
        head.schema_version = "ATIF-v1.7";
        let head = serde_json::to_string(&head)?;
        let open = head.strip_suffix('}').unwrap_or(&head);
        write!(out, "{open},\"steps\":[")?;
        Ok(Self {
            out,
            context,
            remaining: total,
            meter: Usage::default(),
            steps: VecDeque::new(),
            first: 1,
            next: 1,
            calls: HashMap::new(),
            embedded: HashMap::new(),
        })
    }

    /// Notes that the trajectory with this id contains the messages of the subagent that a call started.
    pub fn add_subagent_reference(&mut self, call: String, trajectory: &'static str) {
        self.embedded.insert(call, trajectory);
    }

    /// Adds a message. The tokens of copied messages do not count.
    ///
    /// # Errors
    /// Writing failed.
    pub fn add_message(&mut self, message: Message, is_copied: bool) -> io::Result<()> {
        if message.origin == Origin::Meter {
            if let Some(usage) = message.usage.filter(|_| !is_copied) {
                self.add_reading(usage, message.model.as_deref());
            }
            return Ok(());
        }
        let time = message.time.as_deref().and_then(iso_time);
        let is_empty = message.blocks.is_empty();
        let (mut thinking, mut calls, mut spoken) = (Vec::new(), Vec::new(), Vec::new());
        let mut results = Vec::new();
        for block in message.blocks {
            match block {
                Block::Thinking(thought) => thinking.push(thought.text().to_owned()),
                Block::Call(call) => calls.push(call),
                Block::Result(result) => results.push(result),
                block @ (Block::Text(_) | Block::Media(_)) => spoken.push(block),
            }
        }
        for result in results {
            self.add_result(result, time.clone())?;
        }
        if !is_empty && thinking.is_empty() && calls.is_empty() && spoken.is_empty() {
            return Ok(());
        }
        let source = match message.role {
            Role::User => "user",
            Role::Assistant => "agent",
            Role::System => "system",
        };
        let is_agent = message.role == Role::Assistant;
        let mut extra = Extra::new();
        if !matches!(message.origin, Origin::Prompt | Origin::Reply) {
            extra.insert("origin", json!(message.origin));
        }
        if message.origin == Origin::Compaction {
            let boundary = json!({"type": "compaction", "boundary": "replace"});
            extra.insert("context_management", boundary);
        }
        let usage = message.usage.filter(|_| is_agent && !is_copied);
        let metrics = usage.and_then(|usage| self.take_metrics(usage, message.model.as_deref()));
        let thinking = thinking.join("\n\n");
        let step = Step {
            timestamp: time,
            source,
            model_name: message.model.filter(|_| is_agent),
            message: self.convert_blocks(spoken, "\n\n")?,
            reasoning_content: Some(thinking).filter(|text| is_agent && !text.is_empty()),
            metrics,
            is_copied_context: is_copied.then_some(true),
            extra,
            ..Step::default()
        };
        self.write_step(step, calls)
    }

    /// Writes the last steps, the totals, and the number of omitted messages. Returns the tokens that are not assigned to a step.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(mut self, total: Option<&Usage>, omitted_messages: u64) -> io::Result<Usage> {
        if self.next == 1 {
            self.add_system_step(None, Vec::new())?;
        }
        self.write_complete_steps(0)?;
        self.out.write_all(b"]")?;
        let Some(total) = total else {
            return Ok(self.remaining);
        };
        let mut extra = extra_tokens("total_cache_creation_input_tokens", total);
        if omitted_messages > 0 {
            extra.insert("omitted_messages", json!(omitted_messages));
        }
        let totals = FinalMetrics {
            total_prompt_tokens: total.total() - total.output,
            total_completion_tokens: total.output,
            total_cached_tokens: total.cache_read,
            total_cost_usd: total.cost,
            total_steps: self.next - 1,
            extra,
        };
        let totals = serde_json::to_string(&totals)?;
        write!(self.out, ",\n\"final_metrics\":{totals}")?;
        Ok(self.remaining)
    }

    fn write_step(&mut self, mut step: Step, calls: Vec<Call>) -> io::Result<()> {
        step.number = self.next;
        step.waiting = calls.len();
        for call in &calls {
            self.calls.insert(call.id.clone(), self.next);
        }
        step.tool_calls = calls.into_iter().map(tool_call).collect();
        self.next += 1;
        self.steps.push_back(step);
        self.write_complete_steps(1)
    }

    /// Writes the complete steps before the first incomplete one, except the last `kept` steps. With 0, writes all steps.
    fn write_complete_steps(&mut self, kept: usize) -> io::Result<()> {
        let is_last = kept == 0;
        while self.steps.len() > kept
            && (is_last || self.steps[0].waiting == 0 || self.steps.len() > MAX_WAITING)
            && let Some(step) = self.steps.pop_front()
        {
            let comma = if step.number > 1 { "," } else { "" };
            write!(self.out, "{comma}\n{}", serde_json::to_string(&step)?)?;
            self.first = step.number + 1;
            for call in &step.tool_calls {
                if self.calls.get(&call.id) == Some(&step.number) {
                    self.calls.remove(&call.id);
                }
            }
        }
        Ok(())
    }

    /// Adds a result to the step of its call.
    fn add_result(&mut self, result: ToolResult, time: Option<String>) -> io::Result<()> {
        let number = self.calls.get(&result.id).copied();
        let index = number.and_then(|number| usize::try_from(number - self.first).ok());
        let text = result.text();
        let started = find_subagent_page(&result.id, &text, self.context.subagents)
            .or_else(|| self.embedded.get(&result.id).copied());
        let mut extra = Extra::new();
        if result.failed {
            extra.insert("is_error", json!(true));
        }
        let blocks = result.parts.into_iter().map(Block::from).collect();
        let mut observation = ObservationResult {
            source_call_id: Some(result.id),
            content: self.convert_blocks(blocks, "\n")?,
            subagent_trajectory_ref: started
                .map(|id| json!({"trajectory_id": id}))
                .into_iter()
                .collect(),
            extra,
        };
        if let Some(step) = index.and_then(|index| self.steps.get_mut(index)) {
            if time != step.timestamp
                && let Some(time) = time
            {
                observation.extra.insert("timestamp", json!(time));
            }
            step.waiting = step.waiting.saturating_sub(1);
            step.observation.results.push(observation);
            return self.write_complete_steps(1);
        }
        let id = observation.source_call_id.take();
        observation.extra.insert("tool_call_id", json!(id));
        self.add_system_step(time, vec![observation])
    }

    fn add_system_step(
        &mut self,
        timestamp: Option<String>,
        results: Vec<ObservationResult>,
    ) -> io::Result<()> {
        let step = Step {
            timestamp,
            source: "system",
            observation: Observation { results },
            ..Step::default()
        };
        self.write_step(step, Vec::new())
    }

    /// Adds the tokens since the last reading of a meter to the last reply, if it has none.
    fn add_reading(&mut self, usage: Usage, model: Option<&str>) {
        let spent = usage.since(&self.meter);
        self.meter = usage;
        let mut steps = self.steps.iter().rev();
        let Some(reply) = steps.position(|step| step.source == "agent") else {
            return;
        };
        let index = self.steps.len() - 1 - reply;
        if self.steps[index].metrics.is_none() {
            let model = self.steps[index]
                .model_name
                .clone()
                .or(model.map(str::to_owned));
            self.steps[index].metrics = self.take_metrics(spent, model.as_deref());
        }
    }

    /// Takes tokens from the remaining ones. Returns `None` if fewer remain, because they were counted
    /// elsewhere.
    fn take_metrics(&mut self, usage: Usage, model: Option<&str>) -> Option<Metrics> {
        let remaining = &mut self.remaining;
        let pairs = [
            (&mut remaining.input, usage.input),
            (&mut remaining.output, usage.output),
            (&mut remaining.cache_read, usage.cache_read),
            (&mut remaining.cache_write, usage.cache_write),
        ];
        if usage.is_empty() || pairs.iter().any(|(left, count)| **left < *count) {
            return None;
        }
        for (left, count) in pairs {
            *left -= count;
        }
        let recorded = usage.cost.filter(|cost| *cost > 0.0);
        let usage = Usage {
            cost: recorded,
            ..usage
        };
        Some(Metrics {
            prompt_tokens: usage.total() - usage.output,
            completion_tokens: usage.output,
            cached_tokens: usage.cache_read,
            cost_usd: (self.context.price)(model.unwrap_or_default(), &usage),
            extra: extra_tokens("cache_creation_input_tokens", &usage),
        })
    }

    /// Converts texts and images, and saves the images. Other attachments become a text with their type.
    fn convert_blocks(&self, blocks: Vec<Block>, separator: &str) -> io::Result<Content> {
        let mut parts = Vec::new();
        let mut has_images = false;
        for block in blocks {
            let text = match block {
                Block::Text(text) => text,
                Block::Media(media) => {
                    let path = if is_image(&media) {
                        (self.context.save)(&media)?
                    } else {
                        None
                    };
                    if let Some(path) = path {
                        has_images = true;
                        let media_type = media.media_type;
                        let source = Source { media_type, path };
                        parts.push(ContentPart::Image { source });
                        continue;
                    }
                    media_placeholder(&media)
                }
                Block::Thinking(_) | Block::Call(_) | Block::Result(_) => continue,
            };
            parts.push(ContentPart::Text { text });
        }
        if has_images {
            return Ok(Content::Parts(parts));
        }
        let texts = parts.into_iter().filter_map(|part| match part {
            ContentPart::Text { text } => Some(text),
            ContentPart::Image { .. } => None,
        });
        Ok(Content::Text(texts.collect::<Vec<_>>().join(separator)))
    }
}

#[cfg(test)]
#[path = "atif_tests.rs"]
mod tests;
