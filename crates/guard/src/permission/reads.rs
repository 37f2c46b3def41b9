//! Files that commands may read but do not name exactly.

use std::path::Path;

use super::command::Command;
use super::outline::{names_in, outline};
use super::path_context::{PathContext, ResolvedPath, has_gap};
use super::pattern::{GLOB, Pattern, UNKNOWN, escape};
use crate::shell::CommandPart;

/// Whether the shell may expand a name with wildcards to a link in a directory, or to `..`, as dash and old versions of
/// bash do with `.*`.
fn may_lead_elsewhere(name: &str, directory: &Path, context: &PathContext<'_>) -> bool {
    let pattern = Pattern::of_text(&escape(name).replace(GLOB, "*"));
    let links = (context.request.links)(directory);
    name.starts_with('.') && pattern.covers("..")
        || links.is_none_or(|links| links.iter().any(|link| pattern.covers(link)))
}

impl Command<'_> {
    /// Whether reads are confined to the working directories and it may read elsewhere.
    pub(super) fn reads_outside(&self) -> bool {
        self.context.request.confines_reads && self.names_outside()
    }

    /// Whether it may name a file outside the working directories.
    pub(super) fn names_outside(&self) -> bool {
        let context = self.context;
        let is_inside =
            |path: &ResolvedPath| path.name == Path::new("/dev/null") || context.is_inside(path);
        // The names that match a pattern may be printed only, and not opened.
        let leads_outside = |name: &str, is_opened: bool| {
            // A glob may match links, and in several directories.
            let is_elsewhere = |path: &Path| {
                let (above, name) = (path.parent(), path.file_name());
                let (above, name) = (above.unwrap_or(path), name.unwrap_or_default());
                !is_inside(&context.resolve(above))
                    || is_opened
                        && (!has_gap(path)
                            || may_lead_elsewhere(&name.to_string_lossy(), above, context))
            };
            let mut files = self.directories.files(name, context).into_iter();
            name.contains(UNKNOWN)
                || name.contains("{}")
                || files
                    .any(|file| !is_inside(&file) && (!file.has_gap || file.any_name(is_elsewhere)))
        };
        let names = self.invocations().iter().flat_map(|one| {
            let files: Vec<usize> = one.operands().collect();
            let words = one.outlines.iter().enumerate().skip(1);
            let words = words.map(move |(index, name)| (name.clone(), files.contains(&index)));
            let values = one.part.assignments.iter();
            let values = values.filter(|_| one.outlines.is_empty());
            let values = values.map(|set| (outline(&set.word, context), false));
            let names = words.chain(values);
            names.filter(|(name, is_opened)| *is_opened || name.contains(GLOB))
        });
        // Redirections of a loop or a group belong to no program.
        let redirected = self.levels.iter().flat_map(CommandPart::reads);
        let redirected = redirected.map(|word| (outline(word, context), true));
        let directories = &self.directories;
        directories.is_open
            || self.takes_names()
            || !directories
                .known
                .iter()
                .all(|directory| is_inside(&context.resolve(directory)))
            || names.chain(redirected).any(|(outline, is_opened)| {
                names_in(&outline).any(|name| leads_outside(name, is_opened))
            })
    }

    /// Whether it takes the names of files from its input or a file.
    fn takes_names(&self) -> bool {
        const OPTIONS: &str = "--files0-from -files0-from --files-from -T --stdin --batch";
        self.invocations().iter().any(|one| {
            let is_list = |word: &str| {
                // The lines of a list of checksums name files.
                let checks = one.program().ends_with("sum") && word.contains('c');
                OPTIONS.split(' ').any(|option| word.starts_with(option))
                    || word.starts_with('-') && checks
            };
            matches!(one.program(), "xargs" | "parallel" | "cpio" | "pax")
                || one.arguments().any(is_list)
        })
    }
}
