//! Side services for conversations: labels for finished batches of calls, titles and recaps of
//! sessions, judgements of calls, advice, reports.

mod advisor;
mod ask;
mod briefing;
mod budget;
pub mod builtin;
mod clean;
mod driver;
mod excerpt;
mod generator;
mod judge;
pub mod label;
mod language;
mod outcome;
pub mod recap;
mod session_report;
mod staleness;
pub mod title;

pub use advisor::{ADVISOR, Advisor};
pub use ask::{Asker, Consultant, probe_model};
pub use briefing::Briefing;
pub use budget::{CostLimit, Estimate, format_amount};
pub use driver::{Auto, Driver, GeneratedText, SessionExcerpt};
pub use excerpt::{Excerpt, MessageTexts, StreamedConversation, TextCollector};
pub use generator::{Generator, Kind, TextEngine};
pub use judge::ModelJudge;
pub use language::{Language, LanguageChoice, dominant_language};
pub use outcome::{Cost, NoText, Reason, Text, extension};
pub use session_report::{
    FailOn, ReportBuilder, check_changed_files, check_cost, check_events, check_forbidden_calls,
    check_tokens, forbidding_rules,
};

#[cfg(test)]
mod vectors_tests;
