//! `model-call`: one request to a model, for tests and for trying a configuration.
//!
//! Hidden: what it reads and writes may change.

use std::io::{Read, Write};

use anyhow::Context;
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::Run;
use super::inputs::take_stdin;
use super::model_arguments::ModelArguments;
use super::{Globals, Outcome, UsageError, output};
use crate::dialog::Usage;
use crate::io::{Io, Output};
use crate::model::{
    Answer, Attempts, Delivery, Event, Failure, Function, Input, Model, PromptId, Reply, Request,
    Retryability, Stop, Turn,
};

/// Send one request to a model and print its reply
///
/// Reads a request from standard input: `{"system":…,"messages":[{"role":…,"content":…}],
/// "max_output_tokens":…,"temperature":…,"function":{…}}`.
#[derive(Debug, Args)]
pub(super) struct ModelCallArguments {
    /// Print the reply as it comes, one event per line
    #[arg(long)]
    stream: bool,
    /// Ask the model that is configured for labels, titles and recaps
    #[arg(long)]
    fast: bool,
    /// Try again after failures that may pass
    #[arg(long)]
    retry: bool,
    /// Which model.
    #[command(flatten)]
    model: ModelArguments,
}

/// A request as it is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRequest {
    #[serde(default)]
    system: String,
    messages: Vec<CallMessage>,
    #[serde(default = "usual_budget")]
    max_output_tokens: u32,
    temperature: Option<f64>,
    function: Option<CallFunction>,
    #[serde(default)]
    tools: Vec<CallFunction>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", tag = "role")]
enum CallMessage {
    User { content: String },
    Assistant { content: String },
}

#[derive(Debug, Deserialize)]
struct CallFunction {
    name: String,
    #[serde(default)]
    description: String,
    parameters: Value,
}

fn usual_budget() -> u32 {
    300
}

impl Run for ModelCallArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let models = self.model.models(globals, io)?;
        let chosen = if self.fast {
            models.fast()?
        } else {
            models.main()?
        };
        let Some(name) = chosen else {
            return Err(UsageError::new("no model was chosen")
                .with_hint("use `--model`")
                .into());
        };
        let Model::Provider(provider) = models.connect(&name).map_err(UsageError::from)? else {
            return Err(UsageError::new(format!("{name} answers no requests")).into());
        };
        let mut text = String::new();
        take_stdin(io)?
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        let request = self.request(&text)?;
        let delivery = if self.stream {
            Delivery::Streamed
        } else {
            Delivery::Whole
        };
        if self.model.dry_run {
            output::print(io, &format!("{}\n", provider.body(&request, delivery)))?;
            return Ok(Outcome::Done);
        }
        let stop = Stop::default();
        let outcome = if self.stream {
            let Output::Sink(stdout) = &mut io.stdout else {
                return Ok(Outcome::InputOutputFailed);
            };
            provider.stream(&request, &stop, &mut |event| {
                // A reader that went away does not need to hear of it.
                let _ = writeln!(stdout, "{}", event_record(&event));
            })
        } else {
            provider.complete(&request, &stop)
        };
        let (record, outcome) = match outcome {
            Ok(reply) => (reply_record(&reply, provider.name()), Outcome::Done),
            Err(failure) => {
                if let Failure::NotRecorded { difference, .. } = &failure {
                    for line in difference.lines() {
                        io.messages.note(line);
                    }
                }
                let outcome = match failure.retryability() {
                    Retryability::Permanent => Outcome::ProviderRefused,
                    Retryability::Temporary => Outcome::ProviderUnavailable,
                    Retryability::Stopped => Outcome::Interrupted,
                };
                let reason = failure.to_string();
                (
                    json!({"type": "reply", "ok": false, "reason": reason}),
                    outcome,
                )
            }
        };
        output::print(io, &format!("{record}\n"))?;
        Ok(outcome)
    }
}

impl ModelCallArguments {
    fn request(&self, text: &str) -> Result<Request, UsageError> {
        let call: CallRequest = serde_json::from_str(text)
            .map_err(|error| UsageError::new(format!("not a request: {error}")))?;
        let mut request = Request::new(PromptId::new("model_call"), call.max_output_tokens);
        request.system = call.system;
        request.temperature = call.temperature;
        request.turns = call
            .messages
            .into_iter()
            .map(|message| match message {
                CallMessage::User { content } => Turn::user(content),
                CallMessage::Assistant { content } => Turn::assistant(content),
            })
            .collect();
        request.answer = match (call.function, call.tools) {
            (Some(function), _) => Answer::Forced(function.into()),
            (None, tools) if tools.is_empty() => Answer::Text,
            (None, tools) => Answer::Tools(tools.into_iter().map(Function::from).collect()),
        };
        if self.retry {
            request.attempts = Attempts::ByPolicy;
        }
        Ok(request)
    }
}

impl From<CallFunction> for Function {
    fn from(function: CallFunction) -> Self {
        Self {
            name: function.name,
            description: function.description,
            parameters: function.parameters,
        }
    }
}

fn event_record(event: &Event) -> Value {
    match event {
        Event::Restart => json!({"type": "restart"}),
        Event::Text(text) => json!({"type": "text", "text": text}),
        Event::Thinking(text) => json!({"type": "thinking", "text": text}),
        Event::CallBegins { index, id, name } => {
            json!({"type": "call", "index": index, "id": id, "name": name})
        }
        Event::CallInput { index, fragment } => {
            json!({"type": "call_input", "index": index, "fragment": fragment})
        }
    }
}

fn reply_record(reply: &Reply, model: &str) -> Value {
    let calls: Vec<Value> = reply
        .calls
        .iter()
        .map(|call| match &call.input {
            Input::Object(raw) => {
                let input: Value = serde_json::from_str(raw.get()).unwrap_or_default();
                json!({"id": call.id, "name": call.name, "input": input})
            }
            Input::Unusable(text) => json!({"id": call.id, "name": call.name, "unusable": text}),
        })
        .collect();
    json!({
        "type": "reply",
        "ok": true,
        "text": reply.text,
        "thinking": reply.thinking,
        "calls": calls,
        "model_used": model,
        "usage": usage_record(&reply.usage),
    })
}

fn usage_record(usage: &Usage) -> Value {
    serde_json::to_value(crate::dialog::tokens(usage)).unwrap_or_default()
}
