//! `session search`: searches the messages of sessions.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};

use super::hits::{HitDetail, HitPrinter, print_ranked};
use super::names::{NamedSession, find_display_path, list_usable_paths};
use super::source::MatchArguments;
use crate::commands::{Form, FormArguments, Globals, InputErrors, Run, Status, UsageError, output};
use crate::io::Io;
use crate::jsonl::WriteError;
use crate::message::Role;
use crate::records::HitBlock;
use crate::render::ProgressLine;
use crate::session::search::{Case, ParentSession, PatternOptions, Query, SearchEvent, search_all};
use crate::session::{
    Candidate, Depth, discover_paths, find_subagent_candidates, find_subagents_beside,
};
use crate::text::format_count;

/// Search the messages of sessions
///
/// Searches the messages of all branches for a regular expression, matched against text, not JSON.
/// The most recently changed sessions come first. Prints a list on a terminal, otherwise one record
/// for each matching part of a message. Exits with 1 if nothing matches.
///
/// With `--rank`, finds the sessions that fit some words best, in any inflection and ignoring case: titles and
/// prompts weigh more than replies, replies more than calls and results, and rare words more than common ones.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe search -i parser
  turnpipe search --rank retry the parser
  turnpipe search -l -F parse_value --in all
  turnpipe search --role user --since 1w --json parser")]
pub(crate) struct SessionSearchArguments {
    /// The pattern to search for
    pattern: String,
    /// Search only these sessions: paths, ids or their prefixes, titles, `latest`, or `-`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Find the sessions that fit these words best, 10 unless `-n` is given
    #[arg(
        long,
        conflicts_with_all = [
            "fixed_strings", "word", "places", "role", "max_count", "files_with_matches", "count", "context",
        ]
    )]
    rank: bool,
    #[command(flatten)]
    matching: MatchArguments,
    /// Treat the pattern as plain text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Match only whole words
    #[arg(short, long, hide_short_help = true)]
    word: bool,
    /// Whether to search the conversations of subagents
    #[arg(
        long,
        value_name = "yes|no",
        value_parser = BoolishValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_value = "yes",
        default_missing_value = "yes",
        hide_possible_values = true,
        hide_short_help = true
    )]
    subagents: bool,
    /// The parts of messages to search [default: text]
    #[arg(long = "in", value_enum, value_delimiter = ',', value_name = "PART")]
    places: Vec<PlaceName>,
    /// Only messages of these roles
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "WHO",
        hide_short_help = true
    )]
    role: Vec<Role>,
    /// Print at most N matching parts of each session
    #[arg(short, long, value_name = "N", hide_short_help = true)]
    max_count: Option<NonZeroUsize>,
    /// Print at most N matching parts in total
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Print only the paths of the sessions that match
    #[arg(short = 'l', long, hide_short_help = true)]
    files_with_matches: bool,
    /// Print only the number of matching parts in each session
    #[arg(
        short,
        long,
        conflicts_with = "files_with_matches",
        hide_short_help = true
    )]
    count: bool,
    /// Show N lines of the message before and after the match
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        hide_short_help = true
    )]
    context: usize,
    /// Accepted for older scripts: the exit status is always 1 if nothing was found
    #[arg(long, hide = true)]
    exit_status: bool,
    #[command(flatten)]
    form: FormArguments,
}

/// A part of a message, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlaceName {
    /// Text of the user and the model
    Text,
    /// Thinking of the model
    Thinking,
    /// The input of calls
    Calls,
    /// The results of calls
    Results,
    /// Titles of sessions
    Title,
    /// All of these
    All,
}

impl Run for SessionSearchArguments {
    reads_sessions!(matching.source, sessions);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if self.rank {
            let words = std::iter::once(&self.pattern).chain(&self.sessions);
            let words: Vec<&str> = words.map(String::as_str).collect();
            let limit = self.limit.map(NonZeroUsize::get);
            let form = self.form.form(io.terminal);
            return print_ranked(&words.join(" "), &self.matching, limit, form, globals, io);
        }
        let query = self.query()?;
        let source = &self.matching.source;
        let mut listing = self.matching.listing(Depth::Ends, io.clock.as_ref());
        listing.selection.with_subagents = self.subagents;
        let mut errors = InputErrors::new(&io.messages);
        let sessions = source.resolve_for_reading(&self.sessions, io)?;
        let candidates = self.candidates(&sessions, &mut errors, io);
        let form = self.form.form(io.terminal);
        if form == Form::Text {
            if candidates.is_empty() && sessions.is_empty() {
                source.report_none_found(0, io);
                return Ok(errors.to_status(Status::Negative));
            }
            output::use_pager(globals, io);
        }
        let progress = ProgressLine::for_sessions("searching", candidates.len(), io);
        listing.examined = progress.counter();
        let detail = match (self.files_with_matches, self.count) {
            (true, _) => HitDetail::Sessions,
            (false, true) => HitDetail::Counts,
            (false, false) => HitDetail::Hits,
        };
        let mut printer = HitPrinter::new(form, detail, globals, io)?;
        let mut left = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut has_hits = false;
        let mut failure: Option<WriteError> = None;
        let messages = &io.messages;
        search_all(&candidates, &listing, &query, &mut |event| {
            let written = match event {
                SearchEvent::Session(mut listed) => {
                    listed.path = find_display_path(listed.path, &sessions);
                    let parent = ParentSession::find(&listed, &candidates, &source.named_roots);
                    printer.start_session(*listed, parent)
                }
                SearchEvent::Found(found) => {
                    has_hits = true;
                    left -= 1;
                    printer.add_hit(*found)
                }
                SearchEvent::TooLong { path, lines } => {
                    let path = path.display();
                    let lines = format_count(lines, "line is", "lines are");
                    messages.warn(&format!("{path}: {lines} too long to search"));
                    Ok(())
                }
                SearchEvent::Failed { path, error } => {
                    errors.report(path.display(), &UsageError::reason(error));
                    Ok(())
                }
            };
            failure = written.err();
            if failure.is_some() || left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if let Some(error) = failure {
            return Err(error.into());
        }
        printer.finish()?;
        drop(progress);
        if !has_hits && form == Form::Text && self.places.is_empty() {
            let case = if self.ignore_case {
                ""
            } else {
                "; `-i` ignores case"
            };
            let hint = format!("`--in all` also searches thinking, calls and results{case}");
            io.messages.hint(&hint);
        }
        Ok(errors.to_status(Status::negative_if(!has_hits)))
    }
}

impl SessionSearchArguments {
    fn query(&self) -> Result<Query, UsageError> {
        let options = PatternOptions {
            is_fixed: self.fixed_strings,
            case: if self.ignore_case {
                Case::Ignored
            } else {
                Case::Exact
            },
            whole_words: self.word,
        };
        let mut query = Query::new(&self.pattern, options).map_err(|error| {
            UsageError::new(format!("pattern {}: {error}", self.pattern))
                .with_hint("`-F` treats the pattern as plain text")
        })?;
        if !self.places.is_empty() {
            let places = self.places.iter().flat_map(|name| name.places());
            query.places = places.copied().collect();
        }
        query.max_hits = if self.files_with_matches {
            Some(NonZeroUsize::MIN)
        } else {
            self.max_count
        };
        query.without_copies = !self.files_with_matches && !self.count;
        query.context = self.context;
        query.roles.clone_from(&self.role);
        Ok(query)
    }

    /// Returns the files to search.
    fn candidates(
        &self,
        sessions: &[NamedSession],
        errors: &mut InputErrors,
        io: &Io,
    ) -> Vec<Candidate> {
        if self.sessions.is_empty() {
            self.matching.source.check_roots(errors);
            let mut candidates = self.matching.source.candidates(&io.environment);
            if self.subagents {
                let orphans = find_subagents_beside(&candidates);
                candidates.extend(
                    find_subagent_candidates(&candidates)
                        .into_iter()
                        .chain(orphans),
                );
                candidates.sort_by_key(|candidate| Reverse(candidate.modified));
            }
            return candidates;
        }
        let paths = list_usable_paths(sessions, errors).into_iter();
        let found = paths.flat_map(|path| {
            let mut session = discover_paths(std::iter::once(path));
            if self.subagents {
                session.extend(find_subagent_candidates(&session));
            }
            session
        });
        found.collect()
    }
}

impl PlaceName {
    fn places(self) -> &'static [HitBlock] {
        use HitBlock::{Call, Result, Text, Thinking, Title};
        match self {
            Self::Text => &[Text],
            Self::Thinking => &[Thinking],
            Self::Calls => &[Call],
            Self::Results => &[Result],
            Self::Title => &[Title],
            Self::All => &[Title, Text, Thinking, Call, Result],
        }
    }
}
