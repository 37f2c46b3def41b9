//! Composes one line from what the calls of a batch did.

use std::cmp::Reverse;

use super::act::{Act, Effect, Failure, Object, quote};
use super::call::{Call, FinishedCall};
use super::tools::describe_call;
use crate::message::{Call as MessageCall, ToolResult};
use crate::render::ToolGroup;
use crate::summaries::builtin::clean::{clean, lower_first};
use crate::summaries::builtin::cut::{MORE, cut_end};
use crate::summaries::builtin::names::{distinct, list_files, list_within};
use crate::text::{display_width, format_count};

/// Maximum width of a label, in cells.
pub(super) const MAX_CELLS: usize = 60;

/// Minimum width of the successes of a batch before its failures, in cells.
const MIN_CELLS: usize = 20;

/// Widest end of a label that counts omitted acts.
const MORE_STEPS: &str = ", 99 more steps";

/// Writes the label of a batch; empty without finished calls. Paths are shown relative to `cwd`.
pub fn write_label(calls: &[FinishedCall<'_>], cwd: Option<&str>) -> String {
    let (mut acts, mut failures) = (Vec::new(), Vec::new());
    for call in calls {
        let end = describe_call(&Call::parse(call, cwd));
        acts.extend(end.acts);
        failures.extend(end.failure);
    }
    let first = failures.first().map_or("", |first| first.ending.as_str());
    let are_alike = failures.iter().all(|failure| failure.ending == first);
    let ending = if are_alike { first } else { "did not succeed" };
    let failed = |cells| clean(&list_failures(&failures, ending, cells));
    let succeeded = |cells| cut_end(&clean(&describe(&acts, cwd, cells)), cells);
    match (acts.is_empty(), failures.len(), calls.len()) {
        (true, 0, 0) => String::new(),
        (true, 0, _) => "Cancelled".to_owned(),
        (true, ..) => failed(MAX_CELLS),
        (_, 0, _) => succeeded(MAX_CELLS),
        _ => {
            let named = format!(", {}", lower_first(&failed(MAX_CELLS)));
            let left = MAX_CELLS.saturating_sub(display_width(&named));
            if left >= MIN_CELLS {
                return succeeded(left) + &named;
            }
            // What failed says more than what succeeded.
            let steps = format_count(acts.len() as u64, "more step", "more steps");
            let short = failed(MAX_CELLS - steps.len() - 2);
            let is_whole = !short.contains(MORE);
            if is_whole {
                format!("{short}, {steps}")
            } else {
                failed(MAX_CELLS)
            }
        }
    }
}

/// Writes the label of a group by rules; `None` if no call in the group has a result.
pub(crate) fn label_group(group: &ToolGroup, cwd: Option<&str>) -> Option<String> {
    let answered = group.calls.iter();
    let answered = answered.filter_map(|tool| Some((&tool.call, &tool.result.as_ref()?.0)));
    let label = label_answered_calls(&answered.collect::<Vec<_>>(), cwd);
    Some(label).filter(|label| !label.is_empty())
}

/// Writes the label of calls with their results.
pub(crate) fn label_answered_calls(
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
        status: result.status(),
    });
    write_label(&calls.collect::<Vec<_>>(), cwd)
}

/// Lists the failed parts of calls with their common ending, in up to `cells`.
fn list_failures(failures: &[Failure], ending: &str, cells: usize) -> String {
    let names = failures.iter().map(|failure| failure.name.clone());
    let room = cells - ending.len() - 1;
    format!("{} {ending}", list_within(&names.collect::<Vec<_>>(), room))
}

/// Describes acts in up to about `cells`. Acts with the greatest effect come first.
fn describe(acts: &[Act], cwd: Option<&str>, cells: usize) -> String {
    let effect = |act: &Act| act.verb.effect();
    let most = acts.iter().map(effect).max();
    let is_shown = |act: &&Act| effect(act) > Effect::Notes || most == Some(Effect::Notes);
    let mut acts: Vec<&Act> = acts.iter().filter(is_shown).collect();
    acts.sort_by_key(|act| Reverse(effect(act)));
    let mut groups: Vec<Vec<&Act>> = Vec::new();
    for act in acts {
        let is_alike = |group: &&mut Vec<&Act>| group[0].verb.words() == act.verb.words();
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(act),
            None => groups.push(vec![act]),
        }
    }
    let (mut line, mut omitted) = (String::new(), 0);
    for (at, group) in groups.iter().enumerate() {
        let left: usize = groups[at + 1..].iter().map(Vec::len).sum();
        let reserved = usize::from(left + omitted > 0) * MORE_STEPS.len();
        let whole = describe_alike(group, cwd, cells - reserved.min(cells / 2));
        if line.is_empty() {
            line = whole;
            continue;
        }
        let room = cells.saturating_sub(display_width(&line) + 2 + reserved);
        let short = Some(describe_alike(group, cwd, room)).filter(|short| !short.contains(MORE));
        let mut phrases = [whole].into_iter().chain(short);
        match phrases.find(|phrase| display_width(phrase) <= room) {
            Some(phrase) => line = format!("{line}, {}", lower_first(&phrase)),
            None => omitted += group.len(),
        }
    }
    if omitted > 0 {
        let steps = format_count(omitted as u64, "more step", "more steps");
        line = format!("{line}, {steps}");
    }
    line
}

/// Describes acts with the same words: their objects, as far as they fit into `cells`, and the number of the others.
fn describe_alike(acts: &[&Act], cwd: Option<&str>, cells: usize) -> String {
    let (mut paths, mut names) = (Vec::new(), Vec::new());
    for act in acts {
        match &act.object {
            Object::Files(files) => paths.extend(files.iter().cloned()),
            Object::Named(name) => {
                // Leaves room for the verb, a blank and quotes.
                let room = cells.saturating_sub(display_width(name) + 12);
                let detail = Some(&*act.detail).filter(|_| acts.len() == 1 && room > 20);
                let detail = quote(&cut_end(detail.unwrap_or_default(), room));
                names.push(format!("{name} {detail}"));
            }
        }
    }
    let trimmed = names.iter().map(|name| name.trim().to_owned());
    let mut objects: Vec<String> = trimmed.filter(|name| !name.is_empty()).collect();
    let verb = acts[0].verb.words().0;
    let room = cells.saturating_sub(verb.len() + 1);
    if !paths.is_empty() {
        objects.insert(0, list_files(&distinct(paths.into_iter()), cwd, room));
    }
    let listed = list_within(&objects, room);
    format!("{verb} {listed}").trim_end().to_owned()
}
