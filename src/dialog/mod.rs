//! A conversation as messages, whatever format it came from.
//!
//! Also how a conversation is shown to people. File formats are in `session`.

mod block;
mod exit_code;
mod gist;
mod harmless_markdown;
mod html;
mod index_page;
mod injected;
mod join;
mod markdown;
mod message;
mod outline;
mod pairs;
mod rich_text;
mod selection;
mod text;
mod timeline;
mod to_record;
mod usage;

pub use block::{Block, Call, CallResult, Media, Part, Thought};
pub use exit_code::exit_code;
pub use gist::input_gist;
pub use html::{Html, PageHead};
pub use index_page::{IndexRow, html_index, markdown_index};
pub use injected::{is_remark, split_typed, typed, without_injected};
pub use join::Joiner;
pub use markdown::{Markdown, markdown_head};
pub use message::{Message, Origin, Role, Thread};
pub use outline::{Grouping, Outline, Piece, Place, Subagent, ToolGroup, ToolUse};
pub use pairs::Pairs;
pub use selection::{Injected, Selection, Thinking, ToolDetail};
pub use text::{Density, PlainText, Style};
pub use timeline::Timeline;
pub use to_record::{About, DialogRecord, to_record};
pub use usage::Usage;
