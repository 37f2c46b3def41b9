//! Checks whether commands may read files outside the working directories.

use std::path::Path;

use super::command::Command;
use super::outline::{find_names, outline};
use super::path_context::{PathContext, ResolvedPath, has_gap};
use super::pattern::{GLOB, Pattern, UNKNOWN, escape};
use crate::shell::CommandPart;

/// Whether the shell may expand a name with [`GLOB`] to a link in a directory, or to `..`, as dash and old versions of
/// bash do with `.*`.
fn may_expand_outside(name: &str, directory: &Path, context: &PathContext<'_>) -> bool {
    let pattern = Pattern::from_text(&escape(name).replace(GLOB, "*"));
    let links = (context.request.links)(directory);
    name.starts_with('.') && pattern.covers("..")
        || links.is_none_or(|links| links.iter().any(|link| pattern.covers(link)))
}

impl Command<'_> {
    /// Whether reads are confined to the working directories and the command may read elsewhere.
    pub(super) fn reads_outside(&self) -> bool {
        self.context.request.confines_reads && self.names_outside()
    }

    /// Whether it may name a file outside the working directories.
    pub(super) fn names_outside(&self) -> bool {
        let context = self.context;
        let is_inside =
            |path: &ResolvedPath| path.name == Path::new("/dev/null") || context.is_inside(path);
        // The expansion of a glob is not always opened: `echo *` only prints it.
        let leads_outside = |name: &str, is_opened: bool| {
            let is_elsewhere = |path: &Path| {
                let above = path.parent().unwrap_or(path);
                let name = path.file_name().unwrap_or_default();
                !is_inside(&context.resolve(above))
                    || is_opened
                        && (!has_gap(path)
                            || may_expand_outside(&name.to_string_lossy(), above, context))
            };
            let mut files = self.directories.files(name, context).into_iter();
            name.contains(UNKNOWN)
                || name.contains("{}")
                || files
                    .any(|file| !is_inside(&file) && (!file.has_gap || file.has_name(is_elsewhere)))
        };
        let names = self.invocations().iter().flat_map(|invocation| {
            let files: Vec<usize> = invocation.file_indexes().collect();
            let words = invocation.outlines.iter().enumerate().skip(1);
            let names = words.map(move |(index, name)| (name.clone(), files.contains(&index)));
            let assignments = invocation.part.assignments.iter();
            let unused = assignments.filter(|_| invocation.outlines.is_empty());
            let values = unused.map(|assignment| (outline(&assignment.word, context), false));
            let all = names.chain(values);
            all.filter(|(name, is_opened)| *is_opened || name.contains(GLOB))
        });
        // Redirections of a loop or a group belong to no invocation.
        let redirections = self.levels.iter().flat_map(CommandPart::input_targets);
        let redirected = redirections.map(|word| (outline(word, context), true));
        let mut directories = self.directories.known.iter();
        self.directories.has_unknown
            || self.reads_file_list()
            || directories.any(|directory| !is_inside(&context.resolve(directory)))
            || names.chain(redirected).any(|(outline, is_opened)| {
                find_names(&outline).any(|name| leads_outside(name, is_opened))
            })
    }

    /// Whether it may read the names of files from its input or from a list in a file.
    fn reads_file_list(&self) -> bool {
        const OPTIONS: &str = "--files0-from -files0-from --files-from -T --stdin --batch";
        self.invocations().iter().any(|invocation| {
            let is_list_option = |word: &str| {
                // `sha256sum -c LIST`
                let checks = invocation.program().ends_with("sum") && word.contains('c');
                OPTIONS.split(' ').any(|option| word.starts_with(option))
                    || word.starts_with('-') && checks
            };
            matches!(invocation.program(), "xargs" | "parallel" | "cpio" | "pax")
                || invocation.arguments().any(is_list_option)
        })
    }
}
