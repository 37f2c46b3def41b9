//! Conversations as terminal text, Markdown and HTML.

mod gist;
mod harmless_markdown;
mod html;
mod index_page;
mod markdown;
mod outline;
mod page;
mod selection;
mod text;
mod timeline;

pub use gist::{changed_files, input_gist};
pub use html::{Html, PageHead};
pub use index_page::{IndexRow, html_index, markdown_index};
pub use markdown::{Markdown, markdown_head};
pub use outline::{Grouping, Outline, Position, Section, Subagent, ToolGroup, ToolUse};
pub use selection::{DisplayOptions, InjectedDetail, Thinking, ToolDetail};
pub use text::{Density, Style, TerminalText};
pub use timeline::Timeline;
