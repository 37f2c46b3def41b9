//! Runs a search: walks the tree and searches each file with ripgrep's searcher.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use grep_searcher::sinks::Bytes;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink};
use ignore::overrides::Override;

use super::super::regular_file;
use super::super::walk::{self, Budget, Filters, NewestFiles, SearchEnd, UnreadableFiles};
use super::parameters::{Grep, OutputMode, Search};
use super::report::{ContentSink, CountSink, Cut, Lines, Report};
use crate::run::tools::builtin::Parameters;
use crate::run::tools::paths::display_path;
use crate::run::tools::{
    Assessment, CallContext, DecisionContext, PreparedCall, ToolContext, ToolFailure, ToolReply,
};

const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Maximum number of files in a list without a limit.
const MAX_FILES: usize = 100_000;

/// Maximum length of a searched line, or of a file with `multiline`, in bytes.
const MAX_HEAP_BYTES: usize = 64 << 20;

/// The source of a searched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Named in the call: matches in binary data are reported.
    Named,
    /// Found by the walk: binary data ends its search.
    Walked,
}

impl PreparedCall for Search {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        Assessment::reads(Grep::NAME, self.root(context))
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let root = self.root(call.session);
        regular_file::check_not_process_file(&root)?;
        let origin = match root.metadata() {
            Ok(metadata) if metadata.is_dir() => Origin::Walked,
            Ok(_) => Origin::Named,
            Err(error) => {
                let shown = root.display();
                return Err(ToolFailure(match error.kind() {
                    io::ErrorKind::NotFound => format!("Path does not exist: {shown}"),
                    _ => format!("{shown}: {error}"),
                }));
            }
        };
        let globs = self
            .globs(&root, &call.session.directory)
            .map_err(|error| ToolFailure(format!("invalid glob: {error}")))?;
        let report = Run::new(self, root, origin, call).run(globs);
        match (origin, &report.unread.first) {
            (Origin::Named, Some(reason)) => Err(ToolFailure(reason.clone())),
            (Origin::Named, None) | (Origin::Walked, _) => Ok(report.into_reply(self.bounds)),
        }
    }
}

struct Run<'a> {
    search: &'a Search,
    root: PathBuf,
    origin: Origin,
    session: &'a ToolContext,
    directory: &'a Path,
    searcher: Searcher,
    budget: Budget<'a>,
    unread: UnreadableFiles,
}

impl<'a> Run<'a> {
    fn new(search: &'a Search, root: PathBuf, origin: Origin, call: &CallContext<'a>) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(search.style.before)
            .after_context(search.style.after)
            .multi_line(search.style.multiline)
            .heap_limit(Some(MAX_HEAP_BYTES))
            .binary_detection(match origin {
                Origin::Named => BinaryDetection::convert(0),
                Origin::Walked => BinaryDetection::quit(0),
            })
            .build();
        Self {
            search,
            root,
            origin,
            session: call.session,
            directory: &call.session.directory,
            searcher,
            budget: Budget::new(call.cancel, TIME_LIMIT),
            unread: UnreadableFiles::default(),
        }
    }

    fn run(self, globs: Override) -> Report {
        match self.search.mode {
            OutputMode::Content => self.search_content(globs),
            OutputMode::FilesWithMatches => self.find_files(globs),
            OutputMode::Count => self.count_matches(globs),
        }
    }

    /// Lists matching lines with their context.
    fn search_content(mut self, globs: Override) -> Report {
        let mut lines = Lines::new(self.search.bounds);
        let end = self.visit_files(globs, &mut |run, path| {
            let name = match run.origin {
                Origin::Named => None,
                Origin::Walked => Some(display_path(path, run.directory)),
            };
            let sink = ContentSink {
                matcher: &run.search.matcher,
                style: run.search.style,
                name,
                lines: &mut lines,
                has_match: false,
                binary_at: None,
            };
            run.search_file(path, sink);
            if lines.is_full() {
                ControlFlow::Break(SearchEnd::Complete)
            } else {
                ControlFlow::Continue(())
            }
        });
        Report {
            end,
            unread: self.unread,
            ..Report::from_lines(OutputMode::Content, lines)
        }
    }

    /// Lists files with a match, newest first.
    fn find_files(mut self, globs: Override) -> Report {
        let bounds = self.search.bounds;
        let mut newest = NewestFiles::new(bounds.end().min(MAX_FILES));
        let end = self.visit_files(globs, &mut |run, path| {
            let mut has_match = false;
            let stop_at_first = |_, _: &[u8]| {
                has_match = true;
                Ok(false)
            };
            run.search_file(path, Bytes(stop_at_first));
            if has_match {
                newest.add_file(path.to_owned(), modification_time(path));
            }
            ControlFlow::Continue(())
        });
        let cut = if newest.count() > bounds.end() {
            Cut::Limit
        } else if newest.count() > MAX_FILES {
            Cut::Memory
        } else {
            Cut::Nothing
        };
        let entries = newest
            .into_paths()
            .skip(bounds.offset)
            .map(|path| display_path(&path, self.directory))
            .collect();
        Report {
            mode: OutputMode::FilesWithMatches,
            entries,
            files: 0,
            matches: 0,
            cut,
            end,
            unread: self.unread,
        }
    }

    /// Counts matches per file. The totals include all files.
    fn count_matches(mut self, globs: Override) -> Report {
        let mut lines = Lines::new(self.search.bounds);
        let (mut files, mut matches) = (0, 0);
        let end = self.visit_files(globs, &mut |run, path| {
            let mut count = 0;
            let sink = CountSink {
                matcher: &run.search.matcher,
                style: run.search.style,
                count: &mut count,
            };
            run.search_file(path, sink);
            if count > 0 {
                files += 1;
                matches += count;
                lines.push(format!("{}:{count}", display_path(path, run.directory)));
            }
            ControlFlow::Continue(())
        });
        Report {
            files,
            matches,
            end,
            unread: self.unread,
            ..Report::from_lines(OutputMode::Count, lines)
        }
    }

    /// Searches a file. Errors are added to `unread`.
    fn search_file(&mut self, path: &Path, sink: impl Sink<Error = io::Error>) {
        let budget = self.budget;
        let result = regular_file::open(path)
            .map_err(io::Error::other)
            .and_then(|found| {
                let file = StoppableFile {
                    file: found.file,
                    budget,
                };
                self.searcher
                    .search_reader(&self.search.matcher, file, sink)
            });
        // A stopped search is not an error of the file.
        if let (Err(error), Ok(())) = (result, budget.check()) {
            let name = display_path(path, self.directory);
            self.unread.add(format!("{name}: {error}"));
        }
    }

    fn visit_files(
        &mut self,
        globs: Override,
        visit: &mut dyn FnMut(&mut Self, &Path) -> ControlFlow<SearchEnd>,
    ) -> SearchEnd {
        let (root, budget) = (self.root.clone(), self.budget);
        let filters = Filters {
            globs,
            types: self.search.types.clone(),
        };
        let end = match self.origin {
            Origin::Named => {
                // There is no next file that a break would skip.
                let _ = visit(self, &root);
                SearchEnd::Complete
            }
            Origin::Walked => {
                let mut unread = UnreadableFiles::default();
                let end = walk::walk(
                    &root,
                    self.session,
                    filters,
                    budget,
                    &mut unread,
                    &mut |entry| {
                        if entry.file_type().is_some_and(|kind| kind.is_file()) {
                            visit(self, entry.path())
                        } else {
                            ControlFlow::Continue(())
                        }
                    },
                );
                self.unread.extend(unread);
                end
            }
        };
        // The walk does not detect a stop inside the last file.
        budget.check().err().unwrap_or(end)
    }
}

/// A file whose reads fail when the budget is used up.
struct StoppableFile<'a> {
    file: File,
    budget: Budget<'a>,
}

impl Read for StoppableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.budget
            .check()
            .map_err(|_| io::Error::other("the search was stopped"))?;
        self.file.read(buffer)
    }
}

fn modification_time(path: &Path) -> SystemTime {
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
