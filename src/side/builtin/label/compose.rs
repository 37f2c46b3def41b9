//! Composes one line from what the calls of a batch did.

use std::cmp::Reverse;

use super::act::{Act, Effect, Failure, Object, Told, Verb};
use super::call::{Call, FinishedCall};
use super::tools::tell;
use crate::message::{Call as MessageCall, ToolResult};
use crate::side::builtin::clean::{clean, lower_first};
use crate::side::builtin::cut::cut;
use crate::side::builtin::names::{distinct, file_names, listed};
use crate::text::display_width;
use crate::view::ToolGroup;

/// Maximum width of a label, in cells.
pub(super) const MAX_CELLS: usize = 60;

/// Maximum number of names behind a verb: more do not fit.
const MAX_NAMES: usize = 20;

/// The end of a line that counts what it does not name.
const MORE_STEPS: &str = ", 99 more steps";

/// Writes the label of a batch; empty without finished calls. Paths are shown relative to `cwd`.
pub fn label(calls: &[FinishedCall<'_>], cwd: Option<&str>) -> String {
    let (mut acts, mut failures) = (Vec::new(), Vec::new());
    for call in calls {
        match tell(&Call::of(call, cwd)) {
            Told::Done(done) => acts.extend(done),
            Told::Failed(mut failure) => {
                acts.append(&mut failure.before);
                failures.push(failure);
            }
            Told::Cancelled => {}
        }
    }
    let bad = match (acts.as_slice(), failures.as_slice(), calls.len()) {
        ([], [], 0) => return String::new(),
        ([], [], 1) => return "Call cancelled".to_owned(),
        ([], [], count) => return format!("{count} calls cancelled"),
        _ => clean(&failed(&failures)),
    };
    let good = |cells| {
        let line = clean(&done(&acts, cwd, cells));
        cut(line.trim_end_matches(['.', ';', ':', ' ', ',']), cells)
    };
    match (acts.as_slice(), bad.as_str()) {
        (_, "") => return good(MAX_CELLS),
        ([], bad) => return bad.to_owned(),
        _ => {}
    }
    let count = format!(", {} failed", failures.len());
    let named = format!(", {}", lower_first(&bad));
    let left = MAX_CELLS.saturating_sub(display_width(&named));
    // The names of failures are shown if enough is left for the successes.
    let is_named = left >= MAX_CELLS / 3 || display_width(&good(MAX_CELLS)) <= left;
    if is_named {
        good(left) + &named
    } else {
        good(MAX_CELLS - count.len()) + &count
    }
}

/// Returns the label by rules of a group that has none; `None` if no call of it has a result.
pub(crate) fn group_label(group: &ToolGroup, cwd: Option<&str>) -> Option<String> {
    let answered = group.calls.iter();
    let answered = answered.filter_map(|tool| Some((&tool.call, &tool.result.as_ref()?.0)));
    let label = label_of_answered(&answered.collect::<Vec<_>>(), cwd);
    Some(label).filter(|label| !label.is_empty())
}

/// Writes the label of calls with their results.
pub(crate) fn label_of_answered(
    answered: &[(&MessageCall, &ToolResult)],
    cwd: Option<&str>,
) -> String {
    let texts: Vec<String> = answered.iter().map(|(_, result)| result.text()).collect();
    let calls = answered.iter().zip(&texts);
    let calls = calls.map(|((call, result), text)| FinishedCall {
        name: &call.name,
        input: &call.input,
        text,
        failed: result.failed,
    });
    label(&calls.collect::<Vec<_>>(), cwd)
}

/// Describes failures: by their names if these fit, else by their number.
fn failed(failures: &[Failure]) -> String {
    let [first, rest @ ..] = failures else {
        return String::new();
    };
    let is_alike = rest.iter().all(|failure| failure.how == first.how);
    let how = if is_alike { first.how } else { "failed" };
    let names = distinct(failures.iter().map(|failure| failure.name.clone()));
    let whole = format!("{} {how}", listed(&names));
    match names.as_slice() {
        [only] => {
            let ending = match rest.len() {
                0 => format!(" {how}"),
                more => format!(" {how} ({} times)", more + 1),
            };
            let phrase = cut(only, MAX_CELLS - ending.len()) + &ending;
            match first.topic.as_str() {
                topic if rest.is_empty() && !topic.is_empty() => {
                    cut(&format!("{phrase}: {topic}"), MAX_CELLS)
                }
                _ => phrase,
            }
        }
        _ if display_width(&whole) <= MAX_CELLS => whole,
        _ => format!("{} calls {how}", failures.len()),
    }
}

/// Describes acts in up to about `cells`, those that may have changed the most first.
fn done(acts: &[Act], cwd: Option<&str>, cells: usize) -> String {
    let most = acts.iter().map(|act| act.effect).max();
    let is_shown = |act: &&Act| act.effect > Effect::Notes || most == Some(Effect::Notes);
    let mut acts = distinct(acts.iter().filter(is_shown));
    acts.sort_by_key(|act| Reverse(act.effect));
    let mut groups: Vec<Vec<&Act>> = Vec::new();
    for act in acts {
        let kind = |act: &Act| (act.verb, act.has_error);
        match groups.iter_mut().find(|group| kind(group[0]) == kind(act)) {
            Some(group) => group.push(act),
            None => groups.push(vec![act]),
        }
    }
    let mut line = String::new();
    for (at, group) in groups.iter().enumerate() {
        let left: usize = groups[at..].iter().map(Vec::len).sum();
        let reserved = usize::from(left > group.len()) * MORE_STEPS.len();
        let phrase = described(group, cwd, cells - reserved.min(cells / 2));
        if line.is_empty() {
            line = phrase;
        } else if display_width(&line) + display_width(&phrase) + 2 + reserved <= cells {
            line = format!("{line}, {}", lower_first(&phrase));
        } else {
            let steps = if left == 1 { "step" } else { "steps" };
            return format!("{line}, {left} more {steps}");
        }
    }
    line
}

/// Describes acts with the same verb: their objects, as far as they fit into `cells`, and the number of the others.
fn described(acts: &[&Act], cwd: Option<&str>, cells: usize) -> String {
    let (mut paths, mut names, mut topics) = (Vec::new(), Vec::new(), Vec::new());
    for act in acts {
        match &act.object {
            Object::Files(files) => paths.extend(files.iter().cloned()),
            Object::Named(name) => names.push(name.clone()),
        }
        topics.push(act.topic.clone());
    }
    let (paths, mut names) = (distinct(paths.into_iter()), distinct(names.into_iter()));
    let mut topics = distinct(topics.into_iter());
    names.retain(|name| !name.is_empty());
    topics.retain(|topic| !topic.is_empty());
    if !paths.is_empty() {
        names.insert(0, file_names(&paths, cwd));
    }
    let mut verb = acts[0].verb.words().0.to_owned();
    let error = Some(", errors in output").filter(|_| acts[0].has_error);
    let ending = error.unwrap_or_default();
    match (names.as_mut_slice(), topics.as_slice()) {
        ([], []) => return verb + ending,
        ([], _) => {
            verb.push(':');
            names = topics;
        }
        ([name], [topic]) => *name = format!("{name}: {topic}"),
        _ => {}
    }
    let phrase = |count: usize| {
        let more = match names.len() - count {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let mut listed = listed(&names[..count]);
        if acts[0].verb == Verb::MayRun {
            listed = listed.replacen(" and ", " or ", 1);
        }
        (format!("{verb} {listed}"), more + ending)
    };
    let fits = |(shown, more): &(String, String)| display_width(shown) + more.len() <= cells;
    let counts = 1..=names.len().min(MAX_NAMES);
    let whole = counts.rev().map(phrase).find(fits);
    let (shown, more) = whole.unwrap_or_else(|| phrase(1));
    cut(&shown, cells.saturating_sub(more.len())) + &more
}
