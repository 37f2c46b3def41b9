//! Labels by rules: a fact for each finished call, grouped by class and composed into one line.

mod compose;
mod fact;
mod facts;
mod files;
mod others;

use crate::message::CallOutcome;
use fact::{Fact, Outcome};
use serde_json::Value;
use serde_json::value::RawValue;

use super::clean::{clean, cut};
use crate::tool_facts::{Parameter, Purpose, parameters};

/// Maximum width of a label, in cells.
const MAX_CELLS: usize = 60;

/// A finished call of a batch.
#[derive(Debug, Clone, Copy)]
pub struct FinishedCall<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: a JSON object.
    pub input: &'a RawValue,
    /// The text of the result, or the start and the end of a long one.
    pub text: &'a str,
    /// Whether the call failed.
    pub failed: bool,
}

/// A parsed finished call.
#[derive(Debug)]
struct Call<'a> {
    name: &'a str,
    kind: Purpose,
    input: Value,
    text: &'a str,
    status: CallOutcome,
    cwd: Option<&'a str>,
}

impl Call<'_> {
    /// Returns the first file or directory in the arguments.
    fn path(&self) -> Option<&str> {
        self.argument(parameters(Parameter::Path))
    }

    /// Returns the first of these members that is a non-empty string.
    fn argument(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.input.get(name)?.as_str())
            .filter(|text| !text.trim().is_empty())
    }
}

/// Whether a tool of any agent reads, searches or lists files.
pub fn is_look(tool: &str) -> bool {
    matches!(
        Purpose::of(tool),
        Purpose::Read | Purpose::Search | Purpose::Find | Purpose::List
    )
}

/// Returns the maximum number of characters of a result of this tool that the rules need: the outcome is at the
/// start, and contents of files are not used.
pub fn needed_of_result(tool: &str) -> usize {
    match Purpose::of(tool) {
        Purpose::Read | Purpose::ReadMany | Purpose::Write | Purpose::Edit | Purpose::Patch => 768,
        _ => usize::MAX,
    }
}

/// Writes the label of a batch; empty without finished calls. Paths are shown relative to `cwd`.
pub fn label(calls: &[FinishedCall<'_>], cwd: Option<&str>) -> String {
    let facts: Vec<Fact> = calls
        .iter()
        .map(|call| {
            let call = Call {
                name: call.name,
                kind: Purpose::of(call.name),
                input: serde_json::from_str(call.input.get()).unwrap_or_default(),
                text: call.text,
                status: CallOutcome::of_result(call.text, call.failed),
                cwd,
            };
            facts::fact(&call)
        })
        .collect();
    finish(&compose::compose(&facts, cwd), &facts)
}

/// Cleans and cuts a label, and appends the number of failures unless the label mentions them.
fn finish(label: &str, facts: &[Fact]) -> String {
    let clean = clean(label);
    let clean = clean.trim_end_matches(['.', ';', ':', ' ', ',']);
    let failed = facts
        .iter()
        .filter(|fact| fact.outcome == Outcome::Bad)
        .count();
    let shown = cut(clean, MAX_CELLS);
    if failed == 0 || compose::names_failure(&shown) {
        return shown;
    }
    let count = format!(", {failed} failed");
    format!("{}{count}", cut(clean, MAX_CELLS - count.len()))
}

#[cfg(test)]
mod tests;
