//! Files named by the words of a command.

use std::path::{Component, Path, PathBuf};

use super::path_context::{PathContext, ResolvedPath};
use super::wildcard::{GAP, GLOB, Wildcard, escaped};

/// Maximum number of names that the start of a glob is expanded to.
const MAX_EXPANDED: usize = 256;

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
        let path = Path::new(name);
        if name.starts_with(GAP) {
            let mut files = vec![Self::Outlined(name.to_owned())];
            // `$PWD/link`
            if let Some(rest) = name.strip_prefix("\0/").filter(|_| !directories.is_empty()) {
                let there = Self::of(rest, directories, context).into_iter();
                files.extend(there.filter_map(Self::linked_somewhere));
            }
            return files;
        }
        if path.is_relative() && directories.is_empty() {
            return vec![Self::Outlined(format!("{GAP}/{name}"))];
        }
        if let Some((link, below)) = link_of_process(path) {
            let mut files = vec![Self::Outlined(format!("{GAP}/{below}"))];
            let below = if link == "root" {
                format!("/{below}")
            } else {
                below
            };
            files.extend(Self::of(&below, directories, context));
            return files;
        }
        let root = [PathBuf::from("/")];
        let directories = if path.is_absolute() {
            &root
        } else {
            directories
        };
        let mut files = Vec::new();
        for directory in directories {
            let path = directory.join(path);
            if name.contains([GAP, GLOB]) {
                let outline = normalised_outline(&path);
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

    /// Returns the file of the same name below an unknown directory, if this one is below `start`.
    pub(super) fn below(&self, start: &Path) -> Option<Self> {
        let path = self.resolved().name;
        let below = path.strip_prefix(start).ok()?;
        let is_below = !below.as_os_str().is_empty();
        is_below.then(|| Self::Outlined(format!("{GAP}/{}", below.display())))
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

/// Returns the files that an absolute path with gaps may name through links.
fn through_links(outline: &Path, context: &PathContext<'_>) -> Vec<NamedFile> {
    let linked = |name: &PathBuf| context.real(name).filter(|real| **real != **name);
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
        if reached.len() > MAX_EXPANDED {
            files.push(NamedFile::Outlined(format!("{GAP}/{}", rest.display())));
            return files;
        }
        let inside = reached
            .iter()
            .filter_map(linked)
            .map(|real| real.join(rest));
        files.extend(inside.map(|path| NamedFile::Outlined(path.to_string_lossy().into_owned())));
        let name = format!("/{name}");
        let is_filled_by = |path: &PathBuf| {
            let found = path.file_name().unwrap_or_default().to_string_lossy();
            Wildcard::parse(&escaped(&format!("/{found}"))).may_cover(&name)
        };
        let branches = reached
            .iter()
            .flat_map(|path| context.branches(path).to_vec());
        reached = branches.filter(is_filled_by).collect();
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

/// Splits a path at a directory link of procfs, as in `/proc/self/cwd/x` or `/dev/fd/3/x`. Gaps may match.
fn link_of_process(path: &Path) -> Option<(&'static str, String)> {
    let below = normalised_outline(path.strip_prefix("/").ok()?);
    let names: Vec<&str> = below.split('/').collect();
    let may_be = |name: &str, wanted: &str| Wildcard::parse(wanted).may_cover(name);
    let descriptor = match names.as_slice() {
        [dev, fd, _, below @ ..] if may_be(dev, "dev") && may_be(fd, "fd") => below,
        [dev, "stdin", below @ ..] if may_be(dev, "dev") => below,
        [proc, _, below @ ..] if may_be(proc, "proc") => {
            let at = below.iter().position(|name| may_be(name, "fd"));
            at.and_then(|at| below.get(at + 2..)).unwrap_or_default()
        }
        _ => &[],
    };
    if !descriptor.is_empty() {
        return Some(("fd", descriptor.join("/")));
    }
    if names.len() < 3 || !may_be(names[0], "proc") {
        return None;
    }
    ["cwd", "root"].into_iter().find_map(|link| {
        let at = names.iter().skip(2).position(|name| may_be(name, link))?;
        Some((link, names[at + 3..].join("/")))
    })
}

/// Removes `.` and `..` from a path with gaps. `..` after a gap becomes a gap.
fn normalised_outline(path: &Path) -> String {
    let mut result = PathBuf::new();
    let mut begins_anywhere = false;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                let last = result
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                if last.is_some_and(|name| name.contains(GAP)) {
                    begins_anywhere = true;
                    result.clear();
                } else {
                    result.pop();
                }
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                result.push(component);
            }
        }
    }
    let text = result.to_string_lossy();
    if begins_anywhere {
        format!("{GAP}/{text}")
    } else {
        text.into_owned()
    }
}
