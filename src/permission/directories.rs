//! Where the commands of a command line run.

use std::path::{Path, PathBuf};

use super::outline::outline;
use super::surroundings::{Surroundings, normalised};
use super::wildcard::{GAP, GLOB};
use crate::shell::CommandPart;

/// More directories than these are as good as unknown.
const MOST: usize = 16;

/// Where a command moves the shell to.
pub(super) enum Target {
    Known(PathBuf),
    Unknown,
}

/// For each command, the directories in which it may run; none if they are not known. A `cd` may fail,
/// or not come about, so that the directory before it stays possible, unless `&&` joins all.
pub(super) fn of(
    script: &str,
    parts: &[Vec<CommandPart>],
    surroundings: &Surroundings<'_>,
) -> Vec<Vec<PathBuf>> {
    let mut possible = vec![surroundings.request.directory.to_owned()];
    let targets: Vec<_> = parts
        .iter()
        .map(|levels| target(levels, surroundings))
        .collect();
    let may_repeat = ["for ", "while ", "until "]
        .iter()
        .any(|keyword| script.contains(keyword));
    if may_repeat && targets.iter().any(Option::is_some) {
        possible.clear();
    }
    let mut of_parts = Vec::new();
    for (levels, target) in parts.iter().zip(targets) {
        of_parts.push(possible.clone());
        let Some(target) = target else {
            continue;
        };
        let mut after: Vec<PathBuf> = match target {
            Target::Known(to) => possible
                .iter()
                .map(|from| normalised(&from.join(&to)))
                .collect(),
            Target::Unknown => Vec::new(),
        };
        if !after.is_empty() && !levels.first().is_some_and(|part| is_certain(script, part)) {
            after.append(&mut possible);
        }
        if after.len() > MOST {
            after.clear();
        }
        possible = after;
    }
    of_parts
}

/// Where a command moves the shell to, if it does.
pub(super) fn target(levels: &[CommandPart], surroundings: &Surroundings<'_>) -> Option<Target> {
    let words = &levels.last()?.words;
    match words.first()?.value.as_deref()? {
        "pushd" | "popd" => return Some(Target::Unknown),
        "cd" => {}
        _ => return None,
    }
    let operands = match words.get(1..).unwrap_or_default() {
        [first, rest @ ..] if first.value.as_deref() == Some("--") => rest,
        operands => operands,
    };
    let known = match operands {
        [] => surroundings.home().map(Path::to_owned),
        [_] if surroundings.finds_directories() => None,
        [to] => Some(outline(to, surroundings))
            .filter(|to| !to.starts_with('-') && !to.contains([GAP, GLOB]))
            .map(PathBuf::from),
        _ => None,
    };
    Some(known.map_or(Target::Unknown, Target::Known))
}

/// Whether the rest of the command line only runs in the directory that its first command moves to.
fn is_certain(script: &str, first: &CommandPart) -> bool {
    let before = script.get(..first.span.start).unwrap_or_default();
    let after = script.get(first.span.end..).unwrap_or_default();
    let joined_otherwise = after.replace("&&", "").replace(">&", "").replace("&>", "");
    before.trim().is_empty()
        && after.trim_start().starts_with("&&")
        && !joined_otherwise.contains([';', '\n', '&'])
        && !joined_otherwise.contains("||")
}
