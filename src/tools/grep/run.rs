//! One call while it runs: it walks, and collects in the mode asked for.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use grep_searcher::{Searcher, Sink};

use super::super::newest::Newest;
use super::super::walk::{self, Budget, SearchEnd, Stopped};
use super::super::{CallContext, paths};
use super::content::ContentSink;
use super::counts::{AnySink, CountSink};
use super::lines::{Lines, LinesEnd};
use super::report::{Found, Report, Unsearched};
use super::request::Request;
use super::search::{self, Origin};

const TIME_LIMIT: Duration = Duration::from_mins(1);

/// The most files that are kept for a list without a limit.
const MOST_FILES: usize = 100_000;

/// One call while it runs.
pub(super) struct Run<'a> {
    searcher: Searcher,
    budget: Budget<'a>,
    request: &'a Request,
    origin: Origin,
    directory: &'a Path,
    unsearched: Unsearched,
}

impl<'a> Run<'a> {
    pub(super) fn new(request: &'a Request, origin: Origin, call: &CallContext<'a>) -> Self {
        Self {
            searcher: search::searcher(&request.style, origin),
            budget: Budget::new(call.cancel, TIME_LIMIT),
            request,
            origin,
            directory: &call.session.directory,
            unsearched: Unsearched::default(),
        }
    }

    /// Matching lines with their context.
    pub(super) fn content(mut self) -> Report {
        let request = self.request;
        let mut lines = Lines::new(request.bounds);
        let end = self.each_file(&mut |run, path| {
            let name = match run.origin {
                Origin::Named => None,
                Origin::Walked => Some(paths::shown(path, run.directory)),
            };
            let name = name.as_deref();
            let sink = ContentSink::new(&request.matcher, request.style, name, &mut lines);
            run.search(path, sink);
            if lines.is_full() {
                ControlFlow::Break(SearchEnd::Complete)
            } else {
                ControlFlow::Continue(())
            }
        });
        let (lines, cut) = lines.finish();
        self.report(Found::Content(lines), cut, end)
    }

    /// Files that have a match, newest first.
    pub(super) fn files(mut self) -> Report {
        let bounds = self.request.bounds;
        let mut newest = Newest::new(bounds.end().min(MOST_FILES));
        let end = self.each_file(&mut |run, path| {
            let mut found = false;
            run.search(path, AnySink { found: &mut found });
            if found {
                newest.add(path.to_owned(), modified(path));
            }
            ControlFlow::Continue(())
        });
        let cut = if newest.seen() > bounds.end() {
            LinesEnd::Limit
        } else if newest.seen() > MOST_FILES {
            LinesEnd::Memory
        } else {
            LinesEnd::All
        };
        let files = bounds
            .part(newest.into_paths())
            .iter()
            .map(|path| paths::shown(path, self.directory))
            .collect();
        self.report(Found::Files(files), cut, end)
    }

    /// Files with their numbers of matches. The totals are those of the whole search.
    pub(super) fn counts(mut self) -> Report {
        let request = self.request;
        let mut lines = Lines::new(request.bounds);
        let (mut files, mut matches) = (0, 0);
        let end = self.each_file(&mut |run, path| {
            let mut count = 0;
            let sink = CountSink {
                matcher: &request.matcher,
                style: request.style,
                count: &mut count,
            };
            run.search(path, sink);
            if count > 0 {
                files += 1;
                matches += count;
                lines.push(format!("{}:{count}", paths::shown(path, run.directory)));
            }
            ControlFlow::Continue(())
        });
        let (lines, cut) = lines.finish();
        let found = Found::Counts {
            lines,
            files,
            matches,
        };
        self.report(found, cut, end)
    }

    fn report(self, found: Found, cut: LinesEnd, end: SearchEnd) -> Report {
        Report {
            found,
            cut,
            end,
            unsearched: self.unsearched,
        }
    }

    /// Searches one file; what keeps it from being searched is remembered.
    fn search(&mut self, path: &Path, sink: impl Sink<Error = io::Error>) {
        let matcher = &self.request.matcher;
        let result = search::search(&mut self.searcher, matcher, path, self.budget, sink);
        // A search that was stopped is no fault of the file.
        if let (Err(error), Ok(())) = (result, self.budget.check()) {
            let name = paths::shown(path, self.directory);
            self.unsearched.add(format!("{name}: {error}"));
        }
    }

    fn each_file(
        &mut self,
        visit: &mut dyn FnMut(&mut Self, &Path) -> ControlFlow<SearchEnd>,
    ) -> SearchEnd {
        let (request, budget) = (self.request, self.budget);
        let mut stopped = None;
        let mut search_one = |run: &mut Self, path: &Path| {
            let next = visit(run, path);
            // Stopped within the file: without this, a stop in the last one would go unnoticed.
            stopped = budget.check().err();
            next
        };
        let end = match self.origin {
            Origin::Named => {
                let _ = search_one(self, &request.root);
                SearchEnd::Complete
            }
            Origin::Walked => walk::walk(
                &request.root,
                request.filters.clone(),
                budget,
                &mut |entry| {
                    if entry.file_type().is_some_and(|kind| kind.is_file()) {
                        search_one(self, entry.path())
                    } else {
                        ControlFlow::Continue(())
                    }
                },
            ),
        };
        stopped.map_or(end, |stopped: Stopped| SearchEnd::Stopped(stopped))
    }
}

fn modified(path: &Path) -> SystemTime {
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
