//! Files that the texts of a command mention.

use std::path::{Path, PathBuf};

use super::command::Command;
use super::invocation::Invocation;
use super::named_file::NamedFile;
use super::path_context::{FILE_WORK, PathContext, normalised};
use super::wildcard::GAP;

/// Maximum number of directories above the working directory that are looked at.
const MAX_DIRECTORIES: usize = 8;

/// Words of code for the home directory, to which names are appended: `Path.home() / ".ssh"`.
const HOMES: [&str; 9] = [
    "HOME",
    ".home",
    "homedir",
    "HomeDir",
    "home_dir",
    "getpw",
    "expanduser",
    "cd;",
    "cd &&",
];

impl Command<'_> {
    /// Returns the files that its texts mention, in the known base directories: files that may be read, and
    /// files that may be changed.
    pub(super) fn mentioned(&self, context: &PathContext<'_>) -> &[Vec<NamedFile>; 2] {
        let of = |name: &String| {
            let mut files = self.file(name, context);
            let is_path = name.contains(['/', '.']);
            files.retain(|file| is_path || !file.is_anything());
            files
        };
        let files = || {
            let mentions = self.mentions(context);
            let directories = self.mentioned_directories(context);
            let remounts = self.invocations.iter().any(Invocation::remounts);
            let below = |name: &String| {
                let is_relative = Path::new(name).is_relative() && !name.starts_with([GAP, '-']);
                let names = if is_relative {
                    vec![name.as_str()]
                } else {
                    ends(name, remounts)
                };
                let bases = self.reached.known.iter().filter(|_| !is_relative);
                let bases = directories.iter().chain(bases);
                let pairs = bases.flat_map(|base| names.iter().map(move |name| (name, base)));
                let pairs = pairs.filter(|_| context.spend(FILE_WORK));
                let files = pairs.flat_map(|(name, directory)| {
                    NamedFile::of(name, std::slice::from_ref(directory), context)
                });
                files.collect::<Vec<_>>()
            };
            let names = mentions.names().map(|names| {
                let inside = names.iter().flat_map(below);
                names.iter().flat_map(of).chain(inside).collect::<Vec<_>>()
            });
            let [mut read, changed] = names;
            read.extend(mentions.operands().iter().flat_map(below));
            [read, changed]
        };
        self.mentioned.get_or_init(files)
    }

    /// Returns the directories among its words, in which a program may work: `patch -d x`, `vim +'cd x'`.
    fn mentioned_directories(&self, context: &PathContext<'_>) -> Vec<PathBuf> {
        let operands = self.mentions(context).operands().iter();
        let remounts = self.invocations.iter().any(Invocation::remounts);
        let names =
            operands.flat_map(|name| std::iter::once(name.as_str()).chain(ends(name, remounts)));
        let paths = names.flat_map(|name| {
            let bases = self.reached.known.iter();
            bases.map(move |base| normalised(&base.join(name)))
        });
        // `mkdir x; patch -d x`
        let mut names = ["mkdir", "makedirs", "Mkdir"].iter();
        let makes = names.any(|name| context.script().contains(name));
        let is_directory = |path: &PathBuf| makes || context.is_directory(path);
        let mut found: Vec<PathBuf> = paths
            .filter(|path| context.spend(FILE_WORK) && is_directory(path))
            .filter(|path| !self.reached.known.contains(path))
            .collect();
        found.sort_unstable();
        found.dedup();
        let mut homes = HOMES
            .iter()
            .filter(|home| context.script().contains(**home));
        found.extend(homes.next().and(context.request.home).map(Path::to_owned));
        // Git starts commands at the top of the work tree.
        let is_git = |one: &Invocation| one.program() == "git" && one.begins_anywhere();
        if self.invocations.iter().any(is_git) {
            let above = self.reached.known.iter();
            let above = above.flat_map(|base| base.ancestors().skip(1).take(MAX_DIRECTORIES));
            found.extend(above.map(Path::to_owned));
        }
        found
    }
}

/// Returns the ends of an absolute path that may lead to the same file from another directory.
fn ends(name: &str, remounts: bool) -> Vec<&str> {
    let starts = name
        .match_indices('/')
        .filter(|_| remounts && name.starts_with('/'));
    let ends = starts.map(|(at, _)| name[at..].trim_start_matches('/'));
    ends.filter(|end| !end.is_empty()).collect()
}
