//! Conversations and runs as terminal text, Markdown, HTML and trajectories; lines and pages of commands, progress.

pub mod sessions;

mod atif;
mod atif_model;
mod columns;
mod command_pages;
mod cost_table;
mod csv_table;
mod decision_text;
mod dialog;
mod harmless_markdown;
mod hits;
mod html;
mod index_page;
mod limits_page;
mod markdown;
mod outline;
mod page;
mod progress;
mod recap_page;
mod report;
mod run_summary;
mod run_text;
mod selection;
mod session_table;
mod stats_page;
mod text;
mod timeline;
mod times;
mod word_index;

pub use atif::{TrajectoryContext, TrajectoryWriter};
pub use atif_model::{TrajectoryAgent, TrajectoryHead};
pub(crate) use columns::{format_table, wrap_text};
pub(crate) use command_pages::{
    archive_totals_line, archived_line, call_count_page, call_line, calls_heading, check_page,
    check_totals_line, doctor_page, hook_tests_page, hooks_page, removal_totals_line, removed_line,
};
pub(crate) use cost_table::{cost_cell, runs_cell, tokens_cell};
pub(crate) use csv_table::csv_table;
pub(crate) use decision_text::{decision_line, format_logged_decision, history_page, verdict_text};
pub(crate) use dialog::{DialogForm, DialogPrinter, Look, speaker_line, switch_line};
pub(crate) use hits::{hit_line, hits_heading};
pub use html::{Html, PageHead};
pub use index_page::{CostSlice, IndexRow, html_index, markdown_index, session_numbers};
pub(crate) use limits_page::{limits_page, window_name};
pub use markdown::{Markdown, markdown_head};
pub use outline::{Grouping, Outline, Position, Section, Subagent, ToolGroup, ToolUse};
pub(crate) use progress::{CountingReader, ProgressLine, ProgressRow};
pub(crate) use recap_page::{recap_page, recap_sums};
pub use report::{report_as_github_output, report_as_json, report_as_junit, report_as_markdown};
pub(crate) use run_summary::lane_name;
pub use run_text::{RunLook, RunText};
pub use selection::{DisplayOptions, InjectedDetail, MessageRange, ThinkingDisplay, ToolDetail};
pub(crate) use session_table::{TableLook, session_table};
pub(crate) use stats_page::{block_line, cost_page, end_of_block, stats_page, tool_page};
pub use text::{Density, Style, TerminalText};
pub use timeline::Timeline;
pub(crate) use times::format_duration;
pub use word_index::{WordIndex, page_words};
