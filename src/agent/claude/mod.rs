//! Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`. turnpipe's own files have the same
//! form.

mod files;
mod line_class;
pub mod own_record;
mod record;

pub(super) use files::CLAUDE;
