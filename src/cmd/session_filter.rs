//! Which sessions are wanted, by what is known of them.

use clap::Args;
use jiff::Timestamp;

use super::UsageError;
use super::times::parse_moment;
use crate::session::Filter;

/// Filters of commands that are about many sessions.
#[derive(Debug, Clone, Args)]
pub(super) struct FilterArguments {
    /// Only sessions active at this time or later (RFC 3339, a date, or an age like 2d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only sessions last active before this time
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Only sessions without a title
    #[arg(long)]
    untitled: bool,
}

impl FilterArguments {
    /// Narrows a filter.
    ///
    /// # Errors
    /// A time makes no sense.
    pub(super) fn apply(&self, filter: &mut Filter, now: Timestamp) -> Result<(), UsageError> {
        let moment = |option: &str, text: &Option<String>| {
            let moment = text.as_deref().map(|text| parse_moment(option, text, now));
            moment.transpose()
        };
        filter.since = moment("--since", &self.since)?;
        filter.before = moment("--before", &self.before)?;
        filter.untitled = self.untitled;
        Ok(())
    }
}
