//! Names under which a command line makes other files accessible: links, copies, moved directories,
//! unpacked archives.

use std::path::{Component, Path, PathBuf};

use super::directories::BaseDirectories;
use super::invocation::Invocation;
use super::named_file::NamedFile;
use super::path_context::{FILE_WORK, PathContext, normalised};
use super::programs;
use super::wildcard::{GAP, GLOB};

/// A path that a command line creates, alone or with everything below.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NewName {
    path: PathBuf,
    /// Target of the link, or source of the copy; `None` if unknown.
    source: Option<PathBuf>,
}

/// Names whose sources are created by the same command line have unknown sources. If there are too many to compare each
/// with all others, the line needs approval, and one is enough.
pub(super) fn linked(mut names: Vec<NewName>, context: &PathContext<'_>) -> Vec<NewName> {
    names.sort_unstable();
    names.dedup();
    if !context.spend(names.len() * names.len() * FILE_WORK) {
        names.truncate(1);
    }
    let all = names.clone();
    for name in &mut names {
        let is_new = |source: &PathBuf| {
            let mut others = all.iter().filter(|other| other.path != name.path);
            others.any(|other| {
                source.starts_with(&other.path)
                    || other.path.starts_with(source) && other.source.as_ref() != Some(source)
            })
        };
        if name.source.as_ref().is_some_and(is_new) {
            name.source = None;
        }
    }
    names
}

/// Returns the paths that a path may mean under new names. Its `..` are not removed.
pub(super) fn behind(names: &[NewName], path: &Path, context: &PathContext<'_>) -> Vec<NamedFile> {
    let mut files = Vec::new();
    let mut reached = PathBuf::new();
    for component in path.components() {
        let leaves = component == Component::ParentDir;
        if leaves && names.iter().any(|name| reached.starts_with(&name.path)) {
            files.push(NamedFile::anything());
        }
        reached = normalised(&reached.join(component));
    }
    for name in names {
        let Ok(below) = reached.strip_prefix(&name.path) else {
            continue;
        };
        let is_glob = below.to_string_lossy().contains([GAP, GLOB]);
        let source = name.source.as_ref().filter(|_| !is_glob);
        let source = source.map(|source| source.join(below));
        let source = source.map(|source| context.resolve(&source));
        // A relative link has another target after it is moved.
        match source {
            Some(source)
                if source
                    .real
                    .as_deref()
                    .is_none_or(|real| *real == *source.name) =>
            {
                let path = source.name.display();
                files.push(NamedFile::Outlined(format!("{GAP}{path}")));
            }
            _ => files.push(NamedFile::anything()),
        }
    }
    files
}

/// Returns the names that a program creates by relocating or unpacking files. `paths` are the starts of the paths that its
/// words may name.
pub(super) fn created_by(
    one: &Invocation,
    reached: &BaseDirectories,
    paths: impl FnOnce() -> Vec<PathBuf>,
) -> Vec<NewName> {
    pairs(one, reached).unwrap_or_else(|| {
        let here = reached.known.iter().filter(|_| unpacks_here(one));
        let paths = paths().into_iter().chain(here.cloned());
        paths.map(|path| NewName { path, source: None }).collect()
    })
}

/// Returns the names that a plain `cp`, `mv` or `ln` creates.
fn pairs(one: &Invocation, reached: &BaseDirectories) -> Option<Vec<NewName>> {
    let is_option = |word: &&str| word.starts_with('-');
    let words = one.words.iter().skip(1);
    let words: Vec<&str> = words
        .map(|word| word.value.as_deref())
        .collect::<Option<_>>()?;
    let (options, mut operands): (Vec<&str>, Vec<&str>) = words.into_iter().partition(is_option);
    let is_plain = |option: &&str| {
        let mut letters = option.chars().skip(1);
        letters.all(|letter| "LHPRadfhinprsvuxzT".contains(letter))
    };
    let is_path = |word: &&str| !word.contains([GAP, GLOB, ':']);
    let is_known = programs::COPIES.contains(one.program())
        && options.iter().all(is_plain)
        && operands.iter().all(is_path)
        && !reached.is_open;
    let to = if operands.len() == 1 {
        "."
    } else {
        operands.pop()?
    };
    let mut names = Vec::new();
    for from in operands.iter().filter(|_| is_known) {
        for directory in &reached.known {
            let to = normalised(&directory.join(to));
            let copy = |source: PathBuf| source.file_name().map(|name| to.join(name));
            // The target of a link is relative to the link.
            let beside = to.parent().unwrap_or(&to);
            for base in [directory.as_path(), beside, to.as_path()] {
                let source = normalised(&base.join(from));
                let is_target = base == to.as_path() && base != directory;
                let itself = Some(to.clone()).filter(|to| !is_target && !directory.starts_with(to));
                let inside = copy(source.clone());
                let is_whole = from.ends_with(['/', '.']);
                let whole = Some(to.clone()).filter(|_| is_whole);
                let paths = itself.into_iter().chain(inside).chain(whole);
                names.extend(paths.map(|path| NewName {
                    path,
                    source: Some(source.clone()),
                }));
                if one.program() != "ln" {
                    break;
                }
            }
        }
    }
    is_known.then_some(names)
}

/// Whether it unpacks an archive in its directory.
fn unpacks_here(one: &Invocation) -> bool {
    let is_elsewhere = |word: &str| {
        ["-C", "-d", "--dir", "--cd"]
            .iter()
            .any(|option| word.starts_with(option))
    };
    let mut words = one.words.iter().filter_map(|word| word.value.as_deref());
    programs::UNPACKS.contains(one.program()) && !words.any(is_elsewhere)
}
