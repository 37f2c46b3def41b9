//! The pages of an export: the sessions and subagents that have one, and the rows of their index.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::export_folder::ExportFolder;
use crate::agent::Detail;
use crate::render::{CostSlice, IndexRow, Subagent, WordIndex, page_words, session_numbers};
use crate::session::Prices;
use crate::session::TRAJECTORY_ENDING;
use crate::session::Tally;
use crate::session::open_safely;
use crate::session::process_in_order;
use crate::session::{Failures, Listing, list};
use crate::session::{ListedSession, Sessions};
use crate::session::{discover_paths, subagent_files, subagent_id};

/// The sessions of an export.
#[derive(Debug)]
pub struct ExportPlan<'a> {
    /// The sessions.
    pub sessions: &'a Sessions,
    /// Their subagents, by the files of the sessions.
    pub subagents: &'a HashMap<PathBuf, Sessions>,
    /// Everything else that determines the pages.
    pub look: String,
    /// Whether subagents have pages.
    pub has_subagent_pages: bool,
}

/// A page to write.
#[derive(Debug)]
pub struct OutdatedPage<'a> {
    /// The session or subagent.
    pub listed: &'a ListedSession,
    /// The name of the page.
    pub name: String,
    /// Passed to the index when the page is written.
    pub stamp: String,
    /// The page of the session that started this subagent.
    pub parent: Option<String>,
    /// The subagents that its calls may have started, with their files.
    pub subagents: Arc<[Subagent]>,
    /// The sessions of `subagents`, in the same order.
    pub started: &'a [Box<ListedSession>],
}

impl<'a> ExportPlan<'a> {
    /// Assigns pages to all sessions and subagents. Returns the pages to write.
    pub fn outdated_pages(
        &self,
        mut costs: HashMap<String, Vec<CostSlice>>,
        folder: &mut ExportFolder,
    ) -> Vec<OutdatedPage<'a>> {
        let mut outdated = Vec::new();
        for session in self.sessions {
            let id = session
                .facts
                .session_id
                .clone()
                .unwrap_or_else(|| stem(session));
            let name = folder.choose_name(&id, &session.path);
            let started = self
                .subagents
                .get(&session.path)
                .map_or(&[][..], Vec::as_slice);
            let links: Arc<[Subagent]> = started
                .iter()
                .map(|started| {
                    let (stem, own_id) = (stem(started), subagent_id(started.agent, &started.path));
                    // The files of some agents have the same names in other directories.
                    let part = if stem.contains(&own_id) {
                        &stem
                    } else {
                        &own_id
                    };
                    let page = folder.choose_name(&format!("{id}-{part}"), &started.path);
                    Subagent {
                        page: page.trim_end_matches(TRAJECTORY_ENDING).to_owned(),
                        id: own_id,
                    }
                })
                .collect();
            let mut add_page = |listed: &'a ListedSession, name: &str, parent: Option<&str>| {
                // The cost of a session includes its subagents.
                let related_files = match parent {
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
                    ..index_row(listed, parent)
                };
                outdated.extend(
                    folder
                        .add_page(name, &listed.path, &related_files, row, &self.look)
                        .map(|stamp| OutdatedPage {
                            listed,
                            name: name.to_owned(),
                            stamp,
                            parent: parent.map(str::to_owned),
                            subagents: Arc::clone(&links),
                            started,
                        }),
                );
            };
            add_page(session, &name, None);
            // A trajectory contains the trajectories of its subagents.
            let pages = if self.has_subagent_pages {
                started
            } else {
                &[]
            };
            for (started, link) in pages.iter().zip(&*links) {
                add_page(started, &link.page, Some(&name));
            }
        }
        outdated
    }

    /// Returns the costs of sessions by time and model, with their subagents, by the ids of the sessions.
    pub fn costs(&self, all: &Listing, prices: &Prices) -> HashMap<String, Vec<CostSlice>> {
        let started = self.subagents.values().flatten();
        let paths = self
            .sessions
            .iter()
            .chain(started)
            .map(|listed| listed.path.clone());
        let mut tally = Tally::new(Detail::Costs);
        // Files that cannot be read are reported when their page is written.
        tally.add_all(&discover_paths(paths), all);
        tally.price(prices);
        let mut costs: HashMap<String, Vec<CostSlice>> = HashMap::new();
        for ((session, quarter, model), cost) in tally.sum_quarters() {
            costs.entry(session).or_default().push(CostSlice {
                quarter,
                model,
                replies: cost.replies,
                micros: cost.spending.usage.cost.map(to_micros),
                is_partial: !cost.spending.unpriced_models.is_empty(),
            });
        }
        costs
    }
}

/// Returns the subagents of these sessions, by the files of the sessions, and the files that could not be
/// read. `spawned` are sessions that other sessions may have started.
pub fn subagents_of(
    sessions: &Sessions,
    spawned: Sessions,
    all: &Listing,
) -> (HashMap<PathBuf, Sessions>, Failures) {
    let having = sessions.iter().filter(|session| session.subagents > 0);
    let started: HashMap<PathBuf, &PathBuf> = having
        .flat_map(|session| {
            let files = subagent_files(&session.path, session.agent);
            files.into_iter().map(|file| (file, &session.path))
        })
        .collect();
    let (listed, failed) = list(&discover_paths(started.keys().cloned()), all);
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
    (by_session, failed)
}

/// Rounds dollars to millionths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
fn to_micros(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

/// Maximum size of the words in the index, as a fraction of the size of the pages.
const WORDS_SHARE: usize = 7;

/// Returns the words of pages in `directory`, for the search on their index page.
///
/// # Errors
/// A page cannot be read.
pub fn words_of_pages(
    rows: &[(&str, &IndexRow)],
    directory: &Path,
    jobs: usize,
) -> io::Result<String> {
    let mut pages: Vec<(u32, PathBuf)> = session_numbers(rows)
        .into_iter()
        .map(|(name, number)| (number, directory.join(name)))
        .collect();
    pages.sort_unstable();
    let (mut index, mut size) = (WordIndex::default(), 0);
    process_in_order(
        &pages,
        jobs,
        |(_, path)| -> io::Result<_> {
            let page = open_safely(path).map_err(io::Error::other)?;
            Ok((page_words(page.file)?, page.size))
        },
        |position, read| -> io::Result<()> {
            let (words, length) = read?;
            size += usize::try_from(length).unwrap_or_default();
            index.add(pages[position].0, words);
            Ok(())
        },
    )?;
    Ok(index.encode(size / WORDS_SHARE))
}

/// Returns the name of a file without its extension.
fn stem(listed: &ListedSession) -> String {
    let stem = listed.path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Returns the row of the index for a session, or for a subagent of the session with the page `parent`.
fn index_row(session: &ListedSession, parent: Option<&str>) -> IndexRow {
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
