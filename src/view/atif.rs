//! Conversations as trajectories in ATIF, version 1.7, of Harbor. `agent` reads them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::outline::{Subagent, started_subagent};
use crate::message::{
    Block, Call, Media, Message, Origin, Role, ToolResult, Usage, rounded_dollars,
};

/// Maximum number of steps that wait for results of their calls. Later results become steps.
const MAX_WAITING: usize = 256;

/// Types of images that the format allows.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Members that the format does not have.
type Extra = BTreeMap<&'static str, Value>;

/// The members of a trajectory before its steps.
#[derive(Debug, Default, Serialize)]
pub struct TrajectoryHead {
    /// The version of the format; set when it is written.
    pub schema_version: &'static str,
    /// The session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The id of an embedded trajectory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory_id: Option<String>,
    /// The agent.
    pub agent: TrajectoryAgent,
    /// Further facts.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

/// The agent of a trajectory.
#[derive(Debug, Default, Serialize)]
pub struct TrajectoryAgent {
    /// The name.
    pub name: &'static str,
    /// The version, which not all agents record.
    pub version: &'static str,
    /// The last model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// Further facts.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

#[derive(Serialize)]
struct Step {
    #[serde(rename = "step_id")]
    number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<String>,
    message: Content,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Observation::is_empty")]
    observation: Observation,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_copied_context: Option<bool>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
    /// The number of calls without a result.
    #[serde(skip)]
    waiting: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ContentPart {
    Text { text: String },
    Image { source: Source },
}

#[derive(Serialize)]
struct Source {
    media_type: String,
    path: String,
}

#[derive(Serialize)]
struct ToolCall {
    #[serde(rename = "tool_call_id")]
    id: String,
    function_name: String,
    arguments: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Value>,
}

#[derive(Default, Serialize)]
struct Observation {
    results: Vec<Observed>,
}

impl Observation {
    fn is_empty(&self) -> bool {
        self.results.is_empty()
    }
}

#[derive(Serialize)]
struct Observed {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_call_id: Option<String>,
    content: Content,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subagent_trajectory_ref: Vec<Value>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

#[derive(Serialize)]
struct Metrics {
    prompt_tokens: u64,
    completion_tokens: u64,
    cached_tokens: u64,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "rounded_dollars"
    )]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

#[derive(Serialize)]
struct FinalMetrics {
    total_prompt_tokens: u64,
    total_completion_tokens: u64,
    total_cached_tokens: u64,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "rounded_dollars"
    )]
    total_cost_usd: Option<f64>,
    total_steps: u64,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

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
    /// The tokens that no step has.
    remaining: Usage,
    /// The last reading of a meter.
    meter: Usage,
    /// Steps that wait for results, and the last step.
    steps: VecDeque<Step>,
    /// The number of the first of these, and of the next step, from 1.
    first: u64,
    next: u64,
    /// The steps of calls.
    calls: HashMap<String, u64>,
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
        })
    }

    /// Adds a message. Copied messages have no tokens of their own.
    ///
    /// # Errors
    /// Writing failed.
    pub fn message(&mut self, message: Message, is_copied: bool) -> io::Result<()> {
        if message.origin == Origin::Meter {
            if let Some(usage) = message.usage.filter(|_| !is_copied) {
                self.reading(usage, message.model.as_deref());
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
            self.result(result, time.clone())?;
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
        let metrics = usage.and_then(|usage| self.metrics(usage, message.model.as_deref()));
        let thinking = thinking.join("\n\n");
        let step = Step {
            timestamp: time,
            model_name: message.model.filter(|_| is_agent),
            message: self.content(spoken, "\n\n")?,
            reasoning_content: Some(thinking).filter(|text| is_agent && !text.is_empty()),
            metrics,
            is_copied_context: is_copied.then_some(true),
            extra,
            ..Step::new(source)
        };
        self.step(step, calls)
    }

    /// Writes the last steps and the totals. Returns the tokens that no step has.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(mut self, total: Option<&Usage>) -> io::Result<Usage> {
        if self.next == 1 {
            self.step(Step::new("system"), Vec::new())?;
        }
        self.write(0)?;
        self.out.write_all(b"]")?;
        let Some(total) = total else {
            return Ok(self.remaining);
        };
        let totals = FinalMetrics {
            total_prompt_tokens: total.total() - total.output,
            total_completion_tokens: total.output,
            total_cached_tokens: total.cache_read,
            total_cost_usd: total.cost,
            total_steps: self.next - 1,
            extra: extra_tokens("total_cache_creation_input_tokens", total),
        };
        let totals = serde_json::to_string(&totals)?;
        write!(self.out, ",\n\"final_metrics\":{totals}")?;
        Ok(self.remaining)
    }

    fn step(&mut self, mut step: Step, calls: Vec<Call>) -> io::Result<()> {
        step.number = self.next;
        step.waiting = calls.len();
        for call in &calls {
            self.calls.insert(call.id.clone(), self.next);
        }
        step.tool_calls = calls.into_iter().map(tool_call).collect();
        self.next += 1;
        self.steps.push_back(step);
        self.write(1)
    }

    /// Writes the first steps that are complete, but keeps this many.
    fn write(&mut self, kept: usize) -> io::Result<()> {
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
    fn result(&mut self, result: ToolResult, time: Option<String>) -> io::Result<()> {
        let number = self.calls.get(&result.id).copied();
        let place = number.and_then(|number| usize::try_from(number - self.first).ok());
        let text = result.text();
        let started = started_subagent(&result.id, &text, self.context.subagents);
        let mut extra = Extra::new();
        if result.failed {
            extra.insert("is_error", json!(true));
        }
        let blocks = result.parts.into_iter().map(Block::from).collect();
        let mut observed = Observed {
            source_call_id: Some(result.id),
            content: self.content(blocks, "\n")?,
            subagent_trajectory_ref: started
                .map(|id| json!({"trajectory_id": id}))
                .into_iter()
                .collect(),
            extra,
        };
        if let Some(step) = place.and_then(|place| self.steps.get_mut(place)) {
            if time != step.timestamp
                && let Some(time) = time
            {
                observed.extra.insert("timestamp", json!(time));
            }
            step.waiting = step.waiting.saturating_sub(1);
            step.observation.results.push(observed);
            return self.write(1);
        }
        let id = observed.source_call_id.take();
        observed.extra.insert("tool_call_id", json!(id));
        let mut step = Step::new("system");
        step.timestamp = time;
        step.observation.results.push(observed);
        self.step(step, Vec::new())
    }

    /// Adds the tokens since the last reading of a meter to the last reply, if it has none.
    fn reading(&mut self, usage: Usage, model: Option<&str>) {
        let spent = usage.since(&self.meter);
        self.meter = usage;
        let mut steps = self.steps.iter().rev();
        let Some(reply) = steps.position(|step| step.source == "agent") else {
            return;
        };
        let place = self.steps.len() - 1 - reply;
        if self.steps[place].metrics.is_none() {
            let model = self.steps[place]
                .model_name
                .clone()
                .or(model.map(str::to_owned));
            self.steps[place].metrics = self.metrics(spent, model.as_deref());
        }
    }

    /// Takes tokens from the remaining ones. Returns `None` if there are not as many: they count elsewhere.
    fn metrics(&mut self, usage: Usage, model: Option<&str>) -> Option<Metrics> {
        let rest = &mut self.remaining;
        let pairs = [
            (&mut rest.input, usage.input),
            (&mut rest.output, usage.output),
            (&mut rest.cache_read, usage.cache_read),
            (&mut rest.cache_write, usage.cache_write),
        ];
        if usage.is_empty() || pairs.iter().any(|(rest, count)| **rest < *count) {
            return None;
        }
        for (rest, count) in pairs {
            *rest -= count;
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

    /// Returns texts and images. Other attachments become a text with their type.
    fn content(&self, blocks: Vec<Block>, separator: &str) -> io::Result<Content> {
        let mut parts = Vec::new();
        let mut has_images = false;
        for block in blocks {
            let text = match block {
                Block::Text(text) => text,
                Block::Media(media) => {
                    let is_image = IMAGES.contains(&media.media_type.as_str());
                    let path = if is_image {
                        (self.context.save)(&media)?
                    } else {
                        None
                    };
                    let media_type = media.media_type;
                    if let Some(path) = path {
                        has_images = true;
                        let source = Source { media_type, path };
                        parts.push(ContentPart::Image { source });
                        continue;
                    }
                    match media_type.as_str() {
                        "" => "[attachment]".to_owned(),
                        media_type => format!("[{media_type}]"),
                    }
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

impl Step {
    fn new(source: &'static str) -> Self {
        Self {
            number: 0,
            timestamp: None,
            source,
            model_name: None,
            message: Content::Text(String::new()),
            reasoning_content: None,
            tool_calls: Vec::new(),
            observation: Observation::default(),
            metrics: None,
            is_copied_context: None,
            extra: Extra::new(),
            waiting: 0,
        }
    }
}

/// Returns a call, whose arguments must be an object.
fn tool_call(call: Call) -> ToolCall {
    let is_object = call.input.get().starts_with('{');
    let arguments = if is_object {
        None
    } else {
        let wrapped = BTreeMap::from([("input", &call.input)]);
        to_raw_value(&wrapped).ok()
    };
    ToolCall {
        id: call.id,
        function_name: call.name,
        extra: (!is_object).then(|| json!({"raw_input": call.input})),
        arguments: arguments.unwrap_or(call.input),
    }
}

/// Returns a time as every reader of ISO 8601 accepts it: unchanged, if it is written like that.
fn iso_time(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_digit() || b"-:.TZ+".contains(&byte);
    let time = match text.as_bytes().get(10) {
        Some(b'T') if text.bytes().all(is_plain) => text.to_owned(),
        _ => time.to_string(),
    };
    Some(time).filter(|time| time.starts_with(|first: char| first.is_ascii_digit()))
}

/// Returns the counts that the format does not have.
fn extra_tokens(cache_write: &'static str, usage: &Usage) -> Extra {
    let counts = [
        (cache_write, usage.cache_write),
        ("ephemeral_1h_input_tokens", usage.cache_write_1h),
        ("web_search_requests", usage.web_searches),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(name, count)| (name, json!(count))).collect()
}
