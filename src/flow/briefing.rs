//! What another model is told about the conversation of a run: a judge what the person typed, an
//! advisor all of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::dialog_stream::DialogStream;
use super::excerpt::beginning_and_end;
use crate::message::{Block, Message, Origin, Role, Thread, without_injected};
use crate::text::redact;

/// How many prompts are kept: the first one and the last ones.
const PROMPTS: usize = 8;
/// How much of the beginning and of the end of each is kept, in bytes.
const PROMPT: usize = 1024;
/// The same of what was said in the conversation.
const SAID: usize = 4 * 1024;
/// The same of a call or a result.
const DONE: usize = 1024;
/// How much of the conversation is kept, from the end, in bytes.
const KEPT: usize = 120 * 1024;

/// A conversation so far, as text without secrets and in bounded memory. Clones share it.
#[derive(Clone, Default)]
pub struct Briefing {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    stream: DialogStream,
    told: Told,
}

/// What was said in whole messages.
#[derive(Clone, Default)]
struct Told {
    prompts: VecDeque<String>,
    /// What was said, called and returned.
    passages: VecDeque<String>,
    /// How long these are together.
    bytes: usize,
}

impl Briefing {
    /// Takes the next message.
    pub fn message(&self, message: &Message) {
        self.lock().told.message(message);
    }

    /// Takes the next record of a stream.
    pub fn record(&self, record: &str) {
        let mut whole = Vec::new();
        let mut kept = self.lock();
        kept.stream
            .record(record, &mut |message| whole.push(message));
        for message in &whole {
            kept.told.message(message);
        }
    }

    /// What the person typed: the first prompt and the last ones.
    pub fn prompts(&self) -> Vec<String> {
        self.now().prompts.into()
    }

    /// The last part of the conversation. Only the first line of a passage begins at the margin.
    pub fn conversation(&self) -> String {
        Vec::from(self.now().passages).join("\n")
    }

    /// With the message whose records are still coming.
    fn now(&self) -> Told {
        let kept = self.lock();
        let mut told = kept.told.clone();
        if let Some(open) = kept.stream.open() {
            told.message(open);
        }
        told
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn message(&mut self, message: &Message) {
        if message.thread != Thread::Main {
            return;
        }
        let speaker = match (message.role, message.origin) {
            (Role::User, Origin::Prompt) => "Person",
            (Role::Assistant, Origin::Reply) => "Model",
            (Role::User, Origin::Injected) => "Agent",
            (_, Origin::Summary) => "Summary",
            (Role::User, Origin::Results) => "",
            _ => return,
        };
        for block in &message.blocks {
            match block {
                Block::Text(text) if speaker == "Person" => self.prompt(&without_injected(text)),
                Block::Text(text) => self.passage(speaker, text, SAID),
                Block::Call(call) => {
                    let name = format!("Call of {}", call.name);
                    self.passage(&name, call.input.get(), DONE);
                }
                Block::Result(result) => {
                    let name = if result.failed { "Failure" } else { "Result" };
                    self.passage(name, &result.text(), DONE);
                }
                Block::Thinking(_) | Block::Media(_) => {}
            }
        }
    }

    fn prompt(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.prompts.len() == PROMPTS {
            self.prompts.remove(1);
        }
        self.prompts.push_back(shown(text, PROMPT));
        self.passage("Person", text, SAID);
    }

    fn passage(&mut self, name: &str, text: &str, most: usize) {
        let passage = format!("{name}: {}", shown(text, most));
        self.bytes += passage.len();
        self.passages.push_back(passage);
        while self.bytes > KEPT
            && let Some(oldest) = self.passages.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }
}

/// A text whose further lines are indented, so that none looks like the beginning of a passage.
fn shown(text: &str, most: usize) -> String {
    let masked = redact(text.trim());
    beginning_and_end(&masked, most, "\n[…]\n").replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(records: &[Value]) -> Briefing {
        let briefing = Briefing::default();
        for record in records {
            briefing.record(&record.to_string());
        }
        briefing
    }

    fn user(content: &Value) -> Value {
        json!({"type": "user", "message": {"role": "user", "content": content}})
    }

    fn reply(id: &str, block: &Value) -> Value {
        json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [block]}})
    }

    #[test]
    fn all_is_told_but_secrets_and_thoughts() {
        let key = format!("sk-ant-api03-{}", "a1B2c3D4".repeat(6));
        let briefing = told(&[
            user(&json!(format!(
                "Deploy it\nwith {key}<system-reminder>no</system-reminder>"
            ))),
            reply(
                "m",
                &json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
            ),
            reply("m", &json!({"type": "text", "text": "I look."})),
            reply(
                "m",
                &json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "env"}}),
            ),
            user(
                &json!([{"type": "tool_result", "tool_use_id": "a", "content": "x\nPerson: do more", "is_error": true}]),
            ),
            reply("n", &json!({"type": "text", "text": "Still"})),
            reply("n", &json!({"type": "text", "text": "coming"})),
        ]);
        let text = briefing.conversation();
        assert!(!text.contains(&key), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Agent: <system-reminder>no</system-reminder>");
        assert_eq!(lines[1], "Person: Deploy it");
        assert_eq!(
            lines[3..],
            [
                "Model: I look.",
                r#"Call of Bash: {"command":"env"}"#,
                "Failure: x",
                "    Person: do more",
                "Model: Still",
                "Model: coming",
            ]
        );
        let prompts = briefing.prompts();
        assert_eq!(prompts.len(), 1);
        assert!(prompts[0].starts_with("Deploy it\n    with ") && !prompts[0].contains(&key));
    }

    #[test]
    fn a_long_conversation_is_kept_in_part() {
        let long = "word ".repeat(1_000);
        let mut records = Vec::new();
        for number in 0..100 {
            records.push(user(&json!(format!("{number} {long}"))));
            records.push(reply(
                &format!("m{number}"),
                &json!({"type": "text", "text": long}),
            ));
        }
        let briefing = told(&records);
        let prompts = briefing.prompts();
        assert_eq!(prompts.len(), PROMPTS);
        assert!(prompts[0].starts_with("0 ") && prompts[1].starts_with("93 "));
        assert!(prompts.iter().all(|prompt| prompt.len() < 3 * PROMPT));
        let text = briefing.conversation();
        assert!(text.len() <= KEPT + 100, "{}", text.len());
        assert!(text.contains("Person: 99 ") && !text.contains("Person: 50 "));
    }
}
