//! Files named by the words of a command.

use std::path::{Component, Path, PathBuf};

use super::path_context::{FILE_WORK, PathContext, ResolvedPath, path_work};
use super::wildcard::{GAP, GLOB, Wildcard};

/// Maximum number of names that the start of a glob is expanded to.
const MAX_EXPANDED: usize = 256;

/// Maximum number of components that an unknown start of a path may span.
const MAX_TAILS: usize = 8;

/// A file named by a word.
#[derive(Debug, Clone)]
pub(super) enum NamedFile {
    /// A known path.
    Known(ResolvedPath),
    /// A path with gaps. It is absolute or starts with a gap.
    Outlined(String),
}

impl NamedFile {
    /// Returns the file that `name`, a word or part of one, names in each directory. Without
    /// directories, relative paths are unknown.
    pub(super) fn of(name: &str, directories: &[PathBuf], context: &PathContext<'_>) -> Vec<Self> {
        // `file://$PWD/x`
        let rest = name.trim_start_matches('/');
        let name = if rest.starts_with(GAP) { rest } else { name };
        let path = Path::new(name);
        if name.starts_with(GAP) {
            let mut files = linked_below(name, directories, context);
            files.push(Self::Outlined(name.to_owned()));
            return files;
        }
        if path.is_relative() && directories.is_empty() {
            return vec![Self::Outlined(format!("{GAP}/{name}"))];
        }
        let given = directories;
        let root = [PathBuf::from("/")];
        let directories = if path.is_absolute() {
            &root
        } else {
            directories
        };
        let mut files = Vec::new();
        // A program, or another shell, may expand it.
        if let Some(below) = name.strip_prefix("~/") {
            let home = context
                .home()
                .map(|home| home.to_string_lossy().into_owned());
            let home = home.unwrap_or(GAP.to_string());
            files.extend(Self::of(&format!("{home}/{below}"), directories, context));
        }
        for directory in directories {
            let path = directory.join(path);
            if let Some((link, below)) = link_of_process(&path) {
                files.extend(Self::of(&format!("{GAP}/{below}"), directories, context));
                let root = if link == "root" { "/" } else { "" };
                let is_elsewhere = |base: &&PathBuf| link_of_process(&base.join("x")).is_none();
                let bases: Vec<PathBuf> = given.iter().filter(is_elsewhere).cloned().collect();
                files.extend(Self::of(&format!("{root}{below}"), &bases, context));
                continue;
            }
            if name.contains([GAP, GLOB]) {
                let outline = normalised_outline(&path);
                if outline.starts_with(GAP) {
                    files.extend(linked_below(
                        &outline,
                        std::slice::from_ref(directory),
                        context,
                    ));
                }
                files.extend(through_links(Path::new(&outline), context));
                files.push(Self::Outlined(outline));
            } else {
                files.push(Self::Known(context.resolve(&path)));
            }
        }
        files
    }

    /// Whether it has a gap that may span several path components.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Outlined(path) if path.contains(GAP))
    }

    /// Returns the path up to the first component with a gap.
    pub(super) fn known_start(&self) -> PathBuf {
        let path = self.resolved().name;
        let has_gap =
            |part: &Component<'_>| part.as_os_str().to_string_lossy().contains([GAP, GLOB]);
        path.components()
            .take_while(|part| !has_gap(part))
            .collect()
    }

    /// Returns a file that may be any.
    pub(super) fn anything() -> Self {
        Self::Outlined(GAP.to_string())
    }

    /// Returns the file that it may be through links, if its directory is only one of several possible ones.
    fn linked_somewhere(self) -> Option<Self> {
        let path = match self {
            Self::Known(ResolvedPath { name, real }) => {
                real.filter(|real| **real != *name)?.to_path_buf()
            }
            Self::Outlined(path) => path.into(),
        };
        Some(Self::Outlined(format!("{}{GAP}", path.display())))
    }

    /// Whether nothing of it is known.
    pub(super) fn is_anything(&self) -> bool {
        matches!(self, Self::Outlined(path) if path.chars().eq([GAP]))
    }

    /// Returns the known part of the path.
    pub(super) fn resolved(&self) -> ResolvedPath {
        match self {
            Self::Known(path) => path.clone(),
            Self::Outlined(path) => ResolvedPath {
                name: path.into(),
                real: None,
            },
        }
    }
}

/// Returns the files behind links that a path with an unknown start may name, such as `$PWD/link`:
/// links in and just below the directories.
fn linked_below(name: &str, directories: &[PathBuf], context: &PathContext<'_>) -> Vec<NamedFile> {
    let name = normalised_outline(Path::new(name));
    let rest = name.trim_start_matches(GAP);
    let mut tails = vec![rest.trim_start_matches('/').to_owned()];
    if let Some(below) = rest.strip_prefix('/') {
        let starts = below.match_indices('/').take(MAX_TAILS);
        tails.extend(starts.map(|(at, _)| below[at + 1..].to_owned()));
    } else {
        tails.push(name.clone());
    }
    tails.retain(|tail| !tail.trim_matches([GAP, GLOB]).is_empty());
    if tails.is_empty() {
        return Vec::new();
    }
    let own = context.request.directory;
    let others = directories.iter().filter(|directory| *directory != own);
    let mut bases: Vec<PathBuf> = others.cloned().collect();
    bases.insert(0, own.to_owned());
    let mut children: Vec<PathBuf> = Vec::new();
    for base in &bases {
        let branches = context.branches(base);
        let left = MAX_EXPANDED - children.len();
        children.extend(branches.iter().take(left).cloned());
    }
    bases.extend(children);
    let paths = bases
        .iter()
        .flat_map(|base| tails.iter().map(|tail| base.join(tail)));
    let paths = paths.take_while(|path| context.spend(1 + path_work(path)));
    let files = paths.flat_map(|path| {
        if path.to_string_lossy().contains([GAP, GLOB]) {
            through_links(&path, context)
        } else {
            vec![NamedFile::Known(context.resolve(&path))]
        }
    });
    files.filter_map(NamedFile::linked_somewhere).collect()
}

/// Returns the files that an absolute path with gaps may name through links, as far as there is work left.
fn through_links(outline: &Path, context: &PathContext<'_>) -> Vec<NamedFile> {
    let linked = |name: &PathBuf| context.real(name).filter(|real| **real != **name);
    let has_gap = |path: &Path| path.to_string_lossy().contains([GAP, GLOB]);
    let mut files = Vec::new();
    let mut reached = vec![PathBuf::new()];
    let mut is_known = true;
    let mut components = outline.components();
    loop {
        let rest = components.as_path();
        let Some(component) = components.next() else {
            break;
        };
        let name = component.as_os_str().to_string_lossy();
        if !name.contains([GAP, GLOB]) {
            for path in &mut reached {
                path.push(component);
            }
            continue;
        }
        is_known &= !name.contains(GAP);
        let inside = reached
            .iter()
            .filter_map(linked)
            .map(|real| real.join(rest))
            .take_while(|path| context.spend(path_work(path)));
        files.extend(inside.map(|path| NamedFile::Outlined(path.to_string_lossy().into_owned())));
        let rest = components.as_path();
        let limit = if has_gap(rest) {
            MAX_EXPANDED
        } else {
            usize::MAX
        };
        let Some(filling) = filling(&name, &reached, limit, context) else {
            files.push(NamedFile::Outlined(format!("{GAP}/{}", rest.display())));
            return files;
        };
        reached = filling;
    }
    files.extend(reached.into_iter().filter_map(|name| {
        let real = linked(&name)?;
        Some(if is_known {
            let real = Some(real);
            NamedFile::Known(ResolvedPath { name, real })
        } else {
            NamedFile::Outlined(format!("{}{GAP}", real.display()))
        })
    }));
    files
}

/// Returns the links and directories in directories whose names may fill a name with gaps; `None` if there are more than
/// `limit`, or too many to look at.
fn filling(
    name: &str,
    directories: &[PathBuf],
    limit: usize,
    context: &PathContext<'_>,
) -> Option<Vec<PathBuf>> {
    let visible = Wildcard::of_gaps(name);
    let hidden = Wildcard::of_gaps(name.trim_start_matches(GLOB));
    let mut filling = Vec::new();
    for directory in directories {
        for branch in &*context.branches(directory) {
            let found = branch.file_name().unwrap_or_default().to_string_lossy();
            let is_hidden = found.starts_with('.');
            let pattern = if is_hidden { &hidden } else { &visible };
            let fills = pattern.covers(&found);
            let kept = if fills {
                FILE_WORK + path_work(branch)
            } else {
                0
            };
            if !context.spend(1 + name.len() / 16 + kept) || fills && filling.len() == limit {
                return None;
            }
            filling.extend(fills.then(|| branch.clone()));
        }
    }
    Some(filling)
}

/// Splits a path at a directory link of procfs, as in `/proc/self/cwd/x` or `/dev/fd/3/x`. Gaps may match. `..` behind
/// the link is the directory above its target.
fn link_of_process(path: &Path) -> Option<(&'static str, String)> {
    let below = path.strip_prefix("/").ok()?.to_string_lossy();
    let mut names: Vec<&str> = Vec::new();
    let mut rest = below.split('/').filter(|name| !["", "."].contains(name));
    while let Some(name) = rest.next() {
        if name == ".." {
            names.pop();
            continue;
        }
        names.push(name);
        let is_last = rest.clone().next().is_none();
        if let Some(link) = link_at_end(&names).filter(|link| *link != "fd" || !is_last) {
            return Some((link, rest.collect::<Vec<_>>().join("/")));
        }
    }
    None
}

/// Whether the last of some names below `/` is a directory link of procfs.
fn link_at_end(names: &[&str]) -> Option<&'static str> {
    let may_be = |name: &str, wanted: &str| Wildcard::parse(wanted).may_cover(name);
    match names {
        [dev, fd, _] if may_be(dev, "dev") && may_be(fd, "fd") => Some("fd"),
        [dev, "stdin"] if may_be(dev, "dev") => Some("fd"),
        [proc, _, .., fd, _] if may_be(proc, "proc") && may_be(fd, "fd") => Some("fd"),
        [proc, _, .., link] if may_be(proc, "proc") => {
            let mut links = ["cwd", "root"].into_iter();
            links.find(|name| may_be(link, name))
        }
        _ => None,
    }
}

/// Removes `.` and `..` from a path with gaps. `..` after a gap becomes a gap.
fn normalised_outline(path: &Path) -> String {
    let mut result = PathBuf::new();
    let mut begins_anywhere = false;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // A name that is not known may be a link.
                if result.to_string_lossy().contains([GAP, GLOB]) {
                    begins_anywhere = true;
                    result.clear();
                } else {
                    result.pop();
                }
            }
            name => result.push(name),
        }
    }
    let text = result.to_string_lossy();
    if begins_anywhere {
        format!("{GAP}/{text}")
    } else {
        text.into_owned()
    }
}
