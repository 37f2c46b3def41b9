//! `session search`: where something was said.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::session_filter::FilterArguments;
use super::session_hits::{HitPrinter, HitRecords, HitText};
use super::session_source::{ListForm, SourceArguments, not_found};
use super::{Globals, Outcome, UsageError, output};
use crate::dialog::Role;
use crate::io::Io;
use crate::jsonl::WriteError;
use crate::session::search::{
    Case, FoundIn, PatternKind, PatternOptions, Query, SearchEvent, Words, search_all,
};
use crate::session::{Candidate, Depth, Root, discover};

/// Find what was said in sessions
///
/// The pattern (a regular expression) is matched against the text of messages as it was said, not as
/// it is written in the file; branches that were left count too. The last changed sessions come
/// first. On a terminal a list for people, else one record for each part of a message that matches.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Args)]
pub(super) struct SessionSearchArguments {
    /// What to look for
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Look in these only: files, ids or beginnings of ids, titles, or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    filter: FilterArguments,
    /// The pattern is the text itself
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Do not tell small and capital letters apart
    #[arg(short, long)]
    ignore_case: bool,
    /// Only whole words
    #[arg(short, long)]
    word: bool,
    /// The parts of messages to look in [default: text]
    #[arg(long = "in", value_enum, value_delimiter = ',', value_name = "PART")]
    places: Vec<PlaceName>,
    /// Only messages of these
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHO")]
    role: Vec<RoleName>,
    /// No more than this many in each session
    #[arg(short, long, value_name = "N")]
    max_count: Option<NonZeroUsize>,
    /// No more than this many in all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Exit 1 if nothing was found
    #[arg(long)]
    exit_status: bool,
    /// What to print [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<ListForm>,
}

/// A part of a message, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlaceName {
    /// What was said
    Text,
    /// What the model thought
    Thinking,
    /// The input of calls
    Calls,
    /// The results of calls
    Results,
    /// All of these
    All,
}

/// Who speaks, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RoleName {
    /// A person, and the agent on their behalf
    User,
    /// The model
    Assistant,
    /// The agent, to whoever reads the file
    System,
}

impl SessionSearchArguments {
    /// Searches.
    ///
    /// # Errors
    /// The pattern makes no sense, there is no such session, or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let query = self.query()?;
        let mut listing = self.source.listing(Depth::Ends);
        self.filter.apply(&mut listing.filter, io.clock.now())?;
        let candidates = self.candidates(io)?;
        let writer = output::record_writer(io)?;
        let mut printer: Box<dyn HitPrinter> = match ListForm::or_usual(self.output, io) {
            ListForm::Text => Box::new(HitText::new(
                writer,
                globals.color.applies(io.terminal.stdout, &io.environment),
            )),
            ListForm::Jsonl => Box::new(HitRecords::new(writer)),
        };
        let mut left = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut any = false;
        let mut failure: Option<WriteError> = None;
        let messages = &io.messages;
        search_all(&candidates, &listing, &query, &mut |event| {
            let written = match event {
                SearchEvent::Session(listed) => printer.session(*listed),
                SearchEvent::Found(found) => {
                    any = true;
                    left -= 1;
                    printer.found(*found)
                }
                SearchEvent::TooLong { path, lines } => {
                    let path = path.display();
                    messages.note(&format!("{path}: {lines} lines are too long to look into"));
                    Ok(())
                }
                SearchEvent::Failed { path, error } => {
                    messages.note(&format!("{}: {error}", path.display()));
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
        Ok(if self.exit_status && !any {
            Outcome::AnswerIsNo
        } else {
            Outcome::Done
        })
    }

    fn query(&self) -> Result<Query, UsageError> {
        let options = PatternOptions {
            kind: if self.fixed_strings {
                PatternKind::Fixed
            } else {
                PatternKind::Regex
            },
            case: if self.ignore_case {
                Case::Ignored
            } else {
                Case::Exact
            },
            words: if self.word {
                Words::Whole
            } else {
                Words::Parts
            },
        };
        let mut query = Query::new(&self.pattern, options).map_err(|error| {
            UsageError::new(format!("pattern {}: {error}", self.pattern))
                .with_hint("-F takes the pattern as the text itself")
        })?;
        if !self.places.is_empty() {
            query = query.in_places(self.places.iter().flat_map(|name| name.places()).collect());
        }
        if let Some(most) = self.max_count {
            query = query.at_most(most);
        }
        Ok(query.by_roles(self.role.iter().map(|name| name.role()).collect()))
    }

    fn candidates(&self, io: &Io) -> anyhow::Result<Vec<Candidate>> {
        if self.sessions.is_empty() {
            return Ok(self.source.candidates(io));
        }
        let mut candidates = Vec::new();
        for name in &self.sessions {
            let path = self.source.find(name, io);
            let path = path.map_err(|error| not_found(name, &error))?;
            let found = discover(&[Root {
                agent: None,
                path: path.clone(),
            }]);
            if found.is_empty() {
                return Err(no_file(&path).into());
            }
            candidates.extend(found);
        }
        Ok(candidates)
    }
}

fn no_file(path: &Path) -> UsageError {
    UsageError::new(format!("{}: is no file", path.display()))
}

impl PlaceName {
    fn places(self) -> Vec<FoundIn> {
        match self {
            Self::Text => vec![FoundIn::Text],
            Self::Thinking => vec![FoundIn::Thinking],
            Self::Calls => vec![FoundIn::Call],
            Self::Results => vec![FoundIn::Result],
            Self::All => vec![
                FoundIn::Text,
                FoundIn::Thinking,
                FoundIn::Call,
                FoundIn::Result,
            ],
        }
    }
}

impl RoleName {
    fn role(self) -> Role {
        match self {
            Self::User => Role::User,
            Self::Assistant => Role::Assistant,
            Self::System => Role::System,
        }
    }
}
