//! The output streams of agents that have a vocabulary of their own, as records of stream-json.
//!
//! Codex (`codex exec --json`), Gemini CLI (`gemini --output-format stream-json`), pi (`--mode json`)
//! and opencode (`run --format json`). Claude Code and Qwen Code write stream-json themselves.

mod codex;
mod conversation;
mod gemini;
mod opencode;
mod pi;
mod translator;

pub(super) use translator::{Translation, Translator};

#[cfg(test)]
mod tests;
