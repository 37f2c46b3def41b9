//! Files that commands may read but do not name exactly.

use std::path::Path;

use super::command::Command;
use super::named_file::NamedFile;
use super::outline::{names_in, outline};
use super::path_context::{PathContext, ResolvedPath};
use super::wildcard::{GLOB, Wildcard, escaped};

/// Whether the shell may expand a name with wildcards to a link in a directory.
fn may_match_link(name: &str, directory: &Path, context: &PathContext<'_>) -> bool {
    let pattern = Wildcard::parse(&escaped(name).replace(GLOB, "*"));
    let links = (context.request.links)(directory);
    links.is_none_or(|links| links.iter().any(|link| pattern.covers(link)))
}

impl Command<'_> {
    /// Whether reads are confined to the working directories and it may read elsewhere.
    pub(super) fn reads_outside(&self, context: &PathContext<'_>) -> bool {
        context.request.confines_reads && self.names_outside(context)
    }

    /// Whether it may name a file outside the working directories.
    pub(super) fn names_outside(&self, context: &PathContext<'_>) -> bool {
        let is_inside =
            |path: &ResolvedPath| path.name == Path::new("/dev/null") || context.is_inside(path);
        let leads_outside = |name: &str| {
            let files = NamedFile::of(name, &self.directories, context);
            NamedFile::is_unknown(name)
                || name.contains("{}")
                || files.iter().any(|file| match file {
                    NamedFile::Known(path) => !is_inside(path),
                    // A glob may match links, and in several directories.
                    NamedFile::Glob(path) => {
                        let (above, name) = path.rsplit_once('/').unwrap_or_default();
                        let above = Path::new(above);
                        above.to_string_lossy().contains(GLOB)
                            || !name.contains(GLOB)
                            || !is_inside(&context.resolve(above))
                            || may_match_link(name, above, context)
                    }
                })
        };
        let names = self.invocations().iter().flat_map(|one| {
            let words = one.files().map(|index| &one.outlines[index]);
            words.skip(1).cloned()
        });
        // Redirections of a loop or a group belong to no program.
        let redirected = self.levels.iter().flat_map(|level| &level.reads);
        let redirected = redirected.map(|word| outline(word, context));
        let directories = &self.directories;
        directories.is_open
            || self.takes_names()
            || !directories
                .known
                .iter()
                .all(|directory| is_inside(&context.resolve(directory)))
            || names.chain(redirected).any(|outline| {
                // Single letters in a word are options.
                let names = names_in(&outline).enumerate();
                let is_letter = |name: &str| name.len() == 1 && name != "/";
                let mut names = names.filter(|(index, name)| *index == 0 || !is_letter(name));
                names.any(|(_, name)| leads_outside(name))
            })
    }

    /// Whether it takes the names of files from its input or a file.
    fn takes_names(&self) -> bool {
        self.invocations().iter().any(|one| {
            let mut words = one.outlines.iter().skip(1);
            matches!(one.program(), "xargs" | "parallel" | "cpio" | "pax")
                || words.any(|word| {
                    ["--files0-from", "--files-from", "-T", "--stdin", "--batch"]
                        .iter()
                        .any(|option| word.starts_with(option))
                })
        })
    }
}
