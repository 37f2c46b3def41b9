//! Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`. Newer files wrap each item in a
//! `payload`; older files have bare items.

mod files;
mod item;
mod names;
mod record;
pub(super) mod stream;

pub(super) use files::CODEX;
