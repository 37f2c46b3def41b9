//! `session export`: writes sessions as pages with an index.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::agent::Detail;
use crate::cmd::session::export_atif::Trajectories;
use crate::cmd::session::names::usable_paths;
use crate::cmd::session::printer::{DialogForm, Look, Printer};
use crate::cmd::session::show::{known, print_messages};
use crate::cmd::session::source::{SelectionArguments, about, candidates_at};
use crate::cmd::{Globals, InputErrors, Run, Status, UsageError};
use crate::io::{Environment, Io, Messages};
use crate::jsonl::Writer;
use crate::session::{
    Depth, ExportError, ExportFolder, Facts, Listed, Listing, Prices, Scope, Session, Sessions,
    TRAJECTORY_ENDING, Tally, each_in_order, list, subagent_files,
};
use crate::text::{counted, redact, terminal_safe_line};
use crate::view::{
    CostSlice, Density, DisplayOptions, Grouping, IndexRow, ProgressLine, Style, Subagent,
    ThinkingDisplay, ToolDetail, WordIndex, html_index, markdown_index, page_words,
    session_numbers,
};

/// Export sessions as pages with an index
///
/// Writes a page for each session, named by its id, and `index.html`, which searches and filters them
/// without a server or a network. Subagents have separate pages, listed below their session and linked from
/// the calls that started them. Pages of unchanged sessions are not written again. The page of a deleted
/// session stays in the index until you delete the page and export again. Other files in the directory are
/// not touched.
#[derive(Debug, Args)]
pub(crate) struct SessionExportArguments {
    /// The directory for the pages; it is created if needed
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only these sessions: paths, ids or their prefixes, titles, or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// The form of the pages
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "html")]
    output: PageForm,
    /// Replace text that looks like a key or a password with `[redacted]`
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    selection: SelectionArguments,
}

/// The form of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PageForm {
    /// Pages for browsers
    Html,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// Trajectories in ATIF 1.7 (Harbor), without an index
    Atif,
}

impl Run for SessionExportArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let prices = globals.prices(None, io)?;
        let mut errors = InputErrors::new(&io.messages);
        self.selection.matching.source.check_roots(&mut errors);
        let source = &self.selection.matching.source;
        let named = source.named_for_reading(&self.sessions, io)?;
        let candidates = if self.sessions.is_empty() {
            source.candidates(&io.environment)
        } else {
            candidates_at(usable_paths(&named, &mut errors).into_iter())
        };
        let mut listing = self.selection.listing(Depth::Ends, io.clock.as_ref());
        // A named session is exported even if it is empty.
        listing.selection.without_empty &= self.sessions.is_empty();
        let reading = ProgressLine::of_sessions("reading", candidates.len(), globals.quiet, io);
        listing.examined = reading.done();
        let has_spawned = self.sessions.is_empty() && listing.selection.limit.is_none();
        listing.selection.with_subagents = has_spawned;
        let (mut listed, failed) = list(&candidates, &listing);
        drop(reading);
        if self.redact {
            for session in &mut listed {
                redact_names(&mut session.facts);
            }
        }
        let is_spawned = |session: &mut Box<Listed>| session.facts.is_subagent && has_spawned;
        let spawned = listed.extract_if(.., is_spawned).collect();
        for (path, error) in &failed {
            errors.report(path.display(), &UsageError::reason(error));
        }
        let mut folder =
            ExportFolder::open(self.directory.clone(), self.suffix()).map_err(refused)?;
        // A session is exported with all its subagents.
        let all = Listing {
            selection: crate::session::Selection::default(),
            ..listing
        };
        let subagents = subagents(&listed, spawned, &all, &mut errors);
        let mut costs = costs_of(&listed, &subagents, &all, &prices);
        let outdated = self.outdated(&listed, &subagents, &mut costs, &mut folder);
        if !outdated.is_empty() {
            folder.save()?;
        }
        let progress = ProgressLine::of_sessions("writing", outdated.len(), globals.quiet, io);
        let pages = Pages {
            arguments: &self,
            prices: &prices,
            environment: &io.environment,
            messages: &io.messages,
            folder: &folder,
        };
        let mut written = Vec::new();
        each_in_order(
            &outdated,
            self.selection.matching.source.jobs().get(),
            |page| folder.write(&page.name, |file| pages.write(page, file)),
            |place, outcome| -> anyhow::Result<()> {
                progress.advance();
                let page = &outdated[place];
                match outcome {
                    Ok(()) => written.push(page),
                    Err(error) => match error.downcast::<UsageError>() {
                        Ok(error) => errors.report(page.listed.path.display(), &error),
                        Err(error) => return Err(error),
                    },
                }
                Ok(())
            },
        )?;
        drop(progress);
        for page in &written {
            folder.note_written(&page.name, &page.stamp);
        }
        let jobs = self.selection.matching.source.jobs().get();
        let (sessions, subagents) = folder.finish(|rows, directory| match self.output {
            PageForm::Html => {
                let words = words(rows, directory, jobs)?;
                Ok(Some(html_index(rows, &words)))
            }
            PageForm::Md => Ok(Some(markdown_index(rows))),
            PageForm::Atif => Ok(None),
        })?;
        if !globals.quiet {
            let index = match self.output {
                PageForm::Html | PageForm::Md => self.directory.join(folder.index()),
                PageForm::Atif => self.directory.clone(),
            };
            let mut counts = vec![counted(sessions as u64, "session", "sessions")];
            if subagents > 0 {
                counts.push(counted(subagents as u64, "subagent", "subagents"));
            }
            io.messages.line(&match sessions + subagents {
                0 => "no sessions to export".to_owned(),
                _ => format!(
                    "{}: {}, {} written",
                    terminal_safe_line(&index.display().to_string()),
                    counts.join(", "),
                    written.len()
                ),
            });
        }
        Ok(errors.outcome(Status::Done))
    }
}

impl SessionExportArguments {
    fn suffix(&self) -> &'static str {
        match self.output {
            PageForm::Html => ".html",
            PageForm::Md => ".md",
            PageForm::Atif => TRAJECTORY_ENDING,
        }
    }

    /// Assigns pages to all sessions and subagents. Returns the pages to write.
    fn outdated<'a>(
        &self,
        sessions: &'a Sessions,
        subagents: &'a HashMap<PathBuf, Sessions>,
        costs: &mut HashMap<String, Vec<CostSlice>>,
        folder: &mut ExportFolder,
    ) -> Vec<Outdated<'a>> {
        let look = format!(
            "{} {:?} {}",
            env!("CARGO_PKG_VERSION"),
            self.output,
            self.redact
        );
        let mut outdated = Vec::new();
        for session in sessions {
            let id = session.facts.session_id.clone();
            let id = id.unwrap_or_else(|| stem(session));
            let name = folder.name(&id, &session.path);
            let started = subagents.get(&session.path);
            let started = started.map_or(&[][..], Vec::as_slice);
            let links: Arc<[Subagent]> = started
                .iter()
                .map(|started| {
                    let stem = stem(started);
                    let page = folder.name(&format!("{id}-{stem}"), &started.path);
                    Subagent {
                        page: page.trim_end_matches(TRAJECTORY_ENDING).to_owned(),
                        id: stem.strip_prefix("agent-").unwrap_or(&stem).to_owned(),
                    }
                })
                .collect();
            let mut enter = |listed: &'a Listed, name: &str, parent: Option<&str>| {
                // What a session cost includes its subagents.
                let beside = match parent {
                    None => started.iter().map(|started| started.path.clone()).collect(),
                    Some(_) => Vec::new(),
                };
                let with_started = started.iter().map(|started| &**started);
                let families = std::iter::once(listed).chain(with_started);
                let ids = families.filter_map(|listed| listed.facts.session_id.as_deref());
                let row = IndexRow {
                    costs: match parent {
                        None => ids.filter_map(|id| costs.remove(id)).flatten().collect(),
                        Some(_) => Vec::new(),
                    },
                    ..row(listed, parent)
                };
                outdated.extend(folder.page(name, &listed.path, &beside, row, &look).map(
                    |stamp| Outdated {
                        listed,
                        name: name.to_owned(),
                        stamp,
                        parent: parent.map(str::to_owned),
                        subagents: Arc::clone(&links),
                        started,
                    },
                ));
            };
            enter(session, &name, None);
            // A trajectory contains the trajectories of its subagents.
            let pages = match self.output {
                PageForm::Html | PageForm::Md => started,
                PageForm::Atif => &[],
            };
            for (started, link) in pages.iter().zip(&*links) {
                enter(started, &link.page, Some(&name));
            }
        }
        outdated
    }
}

/// A page to write.
struct Outdated<'a> {
    listed: &'a Listed,
    name: String,
    /// Passed to the index when the page is written.
    stamp: String,
    /// The page of the session that started this subagent.
    parent: Option<String>,
    /// The subagents that its calls may have started, with their files.
    subagents: Arc<[Subagent]>,
    started: &'a [Box<Listed>],
}

/// Returns the subagents of these sessions, by the files of the sessions.
fn subagents(
    sessions: &Sessions,
    spawned: Sessions,
    all: &Listing,
    errors: &mut InputErrors,
) -> HashMap<PathBuf, Sessions> {
    let having = sessions.iter().filter(|session| session.subagents > 0);
    let started: HashMap<PathBuf, &PathBuf> = having
        .flat_map(|session| {
            let files = subagent_files(&session.path, session.agent);
            files.into_iter().map(|file| (file, &session.path))
        })
        .collect();
    let (listed, failed) = list(&candidates_at(started.keys().cloned()), all);
    for (path, error) in &failed {
        errors.report(path.display(), &UsageError::reason(error));
    }
    let mut by_session: HashMap<PathBuf, Sessions> = HashMap::new();
    for subagent in listed {
        if let Some(session) = started.get(&subagent.path) {
            let others = by_session.entry((*session).clone()).or_default();
            others.push(subagent);
        }
    }
    // Codex starts each subagent as a separate thread.
    for subagent in spawned {
        let parent = subagent.facts.forked_from.as_ref();
        let parent = sessions
            .iter()
            .find(|session| parent.is_some() && session.facts.session_id.as_ref() == parent);
        if let Some(parent) = parent {
            let others = by_session.entry(parent.path.clone()).or_default();
            others.push(subagent);
        }
    }
    by_session
}

/// Masks secrets in the title and the first prompt.
fn redact_names(facts: &mut Facts) {
    let texts = [
        facts.title.as_mut().map(|title| &mut title.text),
        facts.first_prompt.as_mut(),
    ];
    for text in texts.into_iter().flatten() {
        *text = redact(text).into_owned();
    }
}

/// Costs of sessions by time and model, including their subagents, by session id.
fn costs_of(
    sessions: &Sessions,
    subagents: &HashMap<PathBuf, Sessions>,
    all: &Listing,
    prices: &Prices,
) -> HashMap<String, Vec<CostSlice>> {
    let started = subagents.values().flatten();
    let paths = sessions
        .iter()
        .chain(started)
        .map(|listed| listed.path.clone());
    let mut tally = Tally::within(Timestamp::MIN..Timestamp::MAX, Detail::Costs);
    // Files that cannot be read are reported when their page is written.
    tally.add_all(&candidates_at(paths), all);
    tally.price(prices);
    let mut costs: HashMap<String, Vec<CostSlice>> = HashMap::new();
    for ((session, quarter, model), cost) in tally.quarters() {
        costs.entry(session).or_default().push(CostSlice {
            quarter,
            model,
            replies: cost.replies,
            micros: cost.usage.cost.map(micros),
            is_partial: !cost.unpriced_models.is_empty(),
        });
    }
    costs
}

/// Rounds dollars to millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
fn micros(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

/// Maximum size of the words in the index, as a fraction of the size of the pages.
const WORDS_SHARE: usize = 7;

/// Reads the words of pages in `directory`.
fn words(rows: &[(&str, &IndexRow)], directory: &Path, jobs: usize) -> io::Result<String> {
    let mut pages: Vec<(u32, PathBuf)> = session_numbers(rows)
        .into_iter()
        .map(|(name, number)| (number, directory.join(name)))
        .collect();
    pages.sort_unstable();
    let (mut index, mut size) = (WordIndex::default(), 0);
    each_in_order(
        &pages,
        jobs,
        |(_, path)| -> io::Result<_> {
            let page = File::open(path)?;
            let length = page.metadata()?.len();
            Ok((page_words(page)?, length))
        },
        |place, read| -> io::Result<()> {
            let (words, length) = read?;
            size += usize::try_from(length).unwrap_or_default();
            index.add(pages[place].0, words);
            Ok(())
        },
    )?;
    Ok(index.encoded(size / WORDS_SHARE))
}

/// Returns the name of a file without its extension.
fn stem(listed: &Listed) -> String {
    let stem = listed.path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The context of all pages.
struct Pages<'a> {
    arguments: &'a SessionExportArguments,
    prices: &'a Prices,
    environment: &'a Environment,
    messages: &'a Messages,
    folder: &'a ExportFolder,
}

impl Pages<'_> {
    /// Writes a page.
    fn write(&self, page: &Outdated<'_>, file: File) -> anyhow::Result<()> {
        let listed = page.listed;
        if self.arguments.output == PageForm::Atif {
            return self.write_trajectory(page, file);
        }
        let session = Session::open(&listed.path).map_err(UsageError::reason)?;
        let facts = &listed.facts;
        let source = &self.arguments.selection.matching.source;
        let about = about(listed.path.clone(), listed.agent, facts.clone());
        let head = known(&session, &about, facts, self.prices).map_err(UsageError::reason)?;
        let mut parts = source.ancestors(&session, facts, self.environment, self.messages);
        parts.push(session);
        let (form, index) = match self.arguments.output {
            PageForm::Md => (DialogForm::Md, "index.md"),
            PageForm::Html | PageForm::Atif => (DialogForm::Html, "index.html"),
        };
        let look = Look {
            form,
            selection: DisplayOptions {
                tools: ToolDetail::Full,
                thinking: ThinkingDisplay::Shown,
                redact: self.arguments.redact,
                ..form.options()
            },
            density: Density::Full,
            style: Style::Plain,
        };
        let mut printer = Printer::new(look, Grouping::Batches, Writer::new(Box::new(file)));
        printer.subagents = page.subagents.to_vec();
        let mut links = vec![("all sessions", index.to_owned())];
        links.extend(page.parent.clone().map(|parent| ("session", parent)));
        printer.head(&about, head, links)?;
        print_messages(&parts, Scope::Live, None, about.session_id, &mut printer)?;
        Ok(())
    }

    fn write_trajectory(&self, page: &Outdated<'_>, file: File) -> anyhow::Result<()> {
        let mut out = BufWriter::new(file);
        let trajectories = Trajectories {
            source: &self.arguments.selection.matching.source,
            prices: self.prices,
            environment: self.environment,
            messages: self.messages,
            folder: self.folder,
            redact: self.arguments.redact,
        };
        trajectories.write(page.listed, page.started, &page.subagents, &mut out)?;
        Ok(out.flush()?)
    }
}

fn refused(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Io(..) => error.into(),
        _ => UsageError::reason(error)
            .with_hint("name another directory; it is created if needed")
            .into(),
    }
}

/// Returns the row of the index for a session, or for a subagent of the session with the page `parent`.
fn row(session: &Listed, parent: Option<&str>) -> IndexRow {
    let facts = &session.facts;
    IndexRow {
        agent: session.agent.name().to_owned(),
        title: facts.title.as_ref().map(|title| title.text.clone()),
        first_prompt: facts.first_prompt.clone(),
        directory: facts.first_cwd.clone(),
        branch: facts.branch.clone(),
        model: facts.model.clone(),
        last_activity: facts.last_activity.map(|time| time.to_string()),
        parent: parent.map(str::to_owned),
        costs: Vec::new(),
    }
}
