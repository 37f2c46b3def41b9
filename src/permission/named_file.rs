//! What the words of a command name.

use std::path::{Component, Path, PathBuf};

use super::surroundings::{Place, Surroundings};
use super::wildcard::{GAP, GLOB, Wildcard};

/// A file that a word names.
#[derive(Debug, Clone)]
pub(super) enum NamedFile {
    /// This one.
    Known(Place),
    /// One whose path has gaps. It is absolute, or begins with a gap.
    Outlined(String),
}

impl NamedFile {
    /// Returns the file that `name`, a word or a part of it, means in each of these directories. With no
    /// directory, nothing is known of where relative paths lead.
    pub(super) fn of(
        name: &str,
        directories: &[PathBuf],
        surroundings: &Surroundings<'_>,
    ) -> Vec<Self> {
        let path = Path::new(name);
        if name.starts_with(GAP) {
            return vec![Self::Outlined(name.to_owned())];
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
            files.extend(Self::of(&below, directories, surroundings));
            return files;
        }
        let root = [PathBuf::from("/")];
        let directories = if path.is_absolute() {
            &root
        } else {
            directories
        };
        let files = directories.iter().map(|directory| {
            let path = directory.join(path);
            if name.contains([GAP, GLOB]) {
                Self::Outlined(normalised_outline(&path))
            } else {
                Self::Known(surroundings.place(&path))
            }
        });
        files.collect()
    }

    /// Whether anything at all may be in one of its gaps, and not only a part of the name of a file.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Outlined(path) if path.contains(GAP))
    }

    /// The file, as far as it is known.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Known(place) => place.clone(),
            Self::Outlined(path) => Place {
                name: path.into(),
                real: None,
            },
        }
    }
}

/// Splits a path at a link of a process to a directory: `/proc/self/cwd/x`, `/dev/fd/3/x`. What has gaps may be one.
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

/// Removes `.` and `..` from a path with gaps. Where `..` leads from a gap is a gap as well.
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
