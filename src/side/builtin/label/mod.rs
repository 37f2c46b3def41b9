//! Labels by rules: a fact for each finished call, facts of one kind together, one line of them.

mod compose;
mod fact;
mod facts;
mod files;
mod mcp;
mod others;
mod status;

use serde_json::Value;
use serde_json::value::RawValue;

use super::clean::{clean, cut};
use fact::{Fact, Outcome};
use status::{Status, status};

use crate::tool_facts::{Parameter, Purpose, parameters};

/// The widest label, in cells.
const WIDEST: usize = 60;

/// How many calls of a batch are read.
const MOST_CALLS: usize = 64;

/// A call of a batch, and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: a JSON object.
    pub input: &'a RawValue,
    /// The text of the result; of a long one the beginning and the end.
    pub text: &'a str,
    /// Whether it says that it failed.
    pub failed: bool,
}

/// A finished call, read.
#[derive(Debug)]
struct Call<'a> {
    name: &'a str,
    kind: Purpose,
    input: Value,
    text: &'a str,
    status: Status,
    cwd: Option<&'a str>,
}

impl Call<'_> {
    /// The first file or directory that it names.
    fn path(&self) -> Option<&str> {
        self.argument(parameters(Parameter::Path))
    }

    /// The first of these members that is a text and not empty.
    fn argument(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.input.get(name)?.as_str())
            .filter(|text| !text.trim().is_empty())
    }
}

/// Whether a tool reads, searches or lists files, whichever agent it belongs to.
pub fn is_look(tool: &str) -> bool {
    matches!(
        Purpose::of(tool),
        Purpose::Read | Purpose::Search | Purpose::Find | Purpose::List
    )
}

/// How many characters of a result of this tool the rules need at most: what became of a file stands
/// at the beginning, its contents are of no interest.
pub fn needed_of_result(tool: &str) -> usize {
    match Purpose::of(tool) {
        Purpose::Read | Purpose::ReadMany | Purpose::Write | Purpose::Edit | Purpose::Patch => 768,
        _ => usize::MAX,
    }
}

/// The label of a batch; empty if no call is finished. Paths in it are shown below `cwd`.
pub fn label(calls: &[FinishedCall<'_>], cwd: Option<&str>) -> String {
    let facts: Vec<Fact> = calls
        .iter()
        .take(MOST_CALLS)
        .map(|call| {
            let call = Call {
                name: call.name,
                kind: Purpose::of(call.name),
                input: serde_json::from_str(call.input.get()).unwrap_or_default(),
                text: call.text,
                status: status(call.text, call.failed),
                cwd,
            };
            facts::fact(&call)
        })
        .collect();
    finish(&compose::compose(&facts, cwd), &facts)
}

/// The last step: nothing secret, nothing that a terminal executes, not too wide, and a word about
/// what failed.
fn finish(label: &str, facts: &[Fact]) -> String {
    let clean = clean(label);
    let clean = clean.trim_end_matches(['.', ';', ':', ' ', ',']);
    let failed = facts
        .iter()
        .filter(|fact| fact.outcome == Outcome::Bad)
        .count();
    let shown = cut(clean, WIDEST);
    if failed == 0 || compose::names_failure(&shown) {
        return shown;
    }
    let count = format!(", {failed} failed");
    format!("{}{count}", cut(clean, WIDEST - count.len()))
}

#[cfg(test)]
mod tests;
