//! What a model is asked that gives advice on a conversation.

use crate::model::{Attempts, PromptId, Request, Thinking, Turn};

/// The token budget of advice, thinking included.
const MOST_TOKENS: u32 = 8192;

/// The request for advice on a conversation, in which a person typed these prompts.
pub fn advice_request(
    prompts: &[String],
    conversation: &str,
    question: Option<&str>,
    instructions: &str,
) -> Request {
    let mut text = typed(prompts);
    text += "The conversation so far, or its last part:\n";
    text += conversation;
    text += "\n\nThe model asks: ";
    text += question.unwrap_or("What should I do next?");
    Request {
        system: instructions.to_owned(),
        turns: vec![Turn::user(text)],
        thinking: Thinking::Unspecified,
        attempts: Attempts::ByPolicy,
        ..Request::new(PromptId::ADVISOR, MOST_TOKENS)
    }
}

/// What a person typed, as the first part of a question; empty if nothing is known of it.
pub(super) fn typed(prompts: &[String]) -> String {
    if prompts.is_empty() {
        return String::new();
    }
    let prompts = prompts.iter().map(|prompt| format!("- {prompt}\n"));
    format!(
        "What the person typed, the first and the last prompts:\n{}\n",
        prompts.collect::<String>()
    )
}
