//! The texts that people typed.

use crate::dialog::{Message, Origin, Role, Thread, is_remark, without_injected};

/// Beginnings of texts that agents put in as if a person had typed them.
const NOT_TYPED: &[&str] = &[
    "Caveat:",
    "This session is being continued",
    "Base directory for this skill",
    "# AGENTS.md instructions",
    "<environment_context>",
    "Operation stopped by hook",
    "Unknown slash command",
    "API Error",
];

/// The prompts of the main conversation, without what was put in. No text is blank.
pub(super) fn prompts(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .filter(|message| message.role == Role::User && message.thread == Thread::Main)
        .filter(|message| message.origin == Origin::Prompt || is_typed_after_all(message))
        .map(|message| without_injected(&message.text()).trim().to_owned())
        .filter(|text| !text.is_empty() && !is_remark(text))
        .filter(|text| !NOT_TYPED.iter().any(|start| text.starts_with(start)))
        .collect()
}

/// A command is typed by a person though the agent spells it; and what an editor puts in front of a
/// prompt makes it look as if the agent spoke.
fn is_typed_after_all(message: &Message) -> bool {
    let text = message.text();
    let starts = [
        "<command-name>",
        "<command-message>",
        "<ide_",
        "<system-reminder>",
    ];
    message.origin == Origin::Injected
        && starts
            .iter()
            .any(|start| text.trim_start().starts_with(start))
}
