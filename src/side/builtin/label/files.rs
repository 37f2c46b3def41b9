//! Facts about files: reading, writing, editing, searching, finding, listing.

use super::fact::{About, Call, Class, Fact};
use crate::message::{CallOutcome, start_of_result};
use crate::side::builtin::clean::upper_first;
use crate::side::builtin::names::{
    directory_name, distinct, file_name, file_names, glob_noun, pattern_noun, sought,
};
use crate::tool_facts::{Parameter, Purpose, parameters, patched_files, texts};

/// Returns the fact about a call on files: the verb and the names, else `doing` and the ending.
fn on_files(call: &Call<'_>, class: Class, verb: &str, noun: &'static str, paths: &[&str]) -> Fact {
    let names = match file_names(paths, call.cwd) {
        names if names.is_empty() => "a file".to_owned(),
        names => names,
    };
    let doing = format!("{} of {names}", upper_first(noun));
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    let fact = Fact::of(call, class, &format!("{verb} {names}"), &doing);
    let fact = fact.counted(verb, noun, About::Files(paths));
    let is_missing = |words: &&str| call.text.contains(*words);
    let missing = ["does not exist", "ENOENT", "File not found", "No such file"];
    if (class, call.status) == (Class::Read, CallOutcome::Failed) && missing.iter().any(is_missing)
    {
        return Fact {
            phrase: format!("{names} not found"),
            ..fact
        };
    }
    fact
}

pub(super) fn read(call: &Call<'_>) -> Fact {
    let held = |held| texts(call.input.as_object()?, held);
    let paths = [Parameter::Path, Parameter::Glob].into_iter();
    let paths: Vec<&str> = match call.kind {
        Purpose::ReadMany => paths.filter_map(held).flatten().collect(),
        _ => call.path().into_iter().collect(),
    };
    on_files(call, Class::Read, "Read", "read", &paths)
}

pub(super) fn write(call: &Call<'_>) -> Fact {
    let start = start_of_result(&call.text).to_lowercase();
    let verb = match &*start {
        start if start.contains("created") => "Created",
        start if start.contains("updated") || start.contains("overwr") => "Rewrote",
        _ => "Wrote",
    };
    let paths: Vec<&str> = call.path().into_iter().collect();
    on_files(call, Class::Write, verb, "write", &paths)
}

pub(super) fn edit(call: &Call<'_>) -> Fact {
    let patch = call.argument(parameters(Parameter::Patch));
    let patch = patch.filter(|_| call.kind == Purpose::Patch);
    let mut paths = distinct(patch.into_iter().flat_map(patched_files));
    if paths.is_empty() {
        paths.extend(call.path());
    }
    let has = |change: &str| patch.is_some_and(|patch| patch.contains(change));
    let is_kept = has("*** Update File: ") || has("*** Add File: ");
    if has("*** Delete File: ") && !is_kept {
        return on_files(call, Class::Edit, "Deleted", "deletion", &paths);
    }
    on_files(call, Class::Edit, "Edited", "edit", &paths)
}

pub(super) fn delete(call: &Call<'_>) -> Fact {
    let paths: Vec<&str> = call.path().into_iter().collect();
    on_files(call, Class::Edit, "Deleted", "deletion", &paths)
}

pub(super) fn search(call: &Call<'_>) -> Fact {
    let pattern = call.argument(&["pattern", "query", "regex"]);
    let pattern = pattern.unwrap_or_default();
    let noun = pattern_noun(pattern).unwrap_or_else(|| pattern.chars().take(30).collect());
    let place = call.path().unwrap_or_default();
    let (verb, did) = if finds_nothing(&call.text) {
        ("No matches for", noun.clone())
    } else {
        let place = sought(&noun, place, call.cwd);
        ("Searched for", place)
    };
    let did = format!("{verb} {did}");
    let fact = Fact::of(call, Class::Search, &did, &format!("Search for {noun}"));
    fact.counted(verb, "search", About::Named(noun))
}

fn finds_nothing(text: &str) -> bool {
    let text = text.trim();
    let nothing = ["No matches found", "No files ", "Found 0 "];
    nothing.iter().any(|words| text.starts_with(words))
        || text.contains("Found 0 total occurrences")
        || text.is_empty()
}

pub(super) fn find(call: &Call<'_>) -> Fact {
    let pattern = call.argument(&["pattern", "query", "glob"]);
    let noun = glob_noun(pattern.unwrap_or_default());
    let notes = ["Found ", "(", "---"];
    let is_file =
        |line: &&str| !line.is_empty() && !notes.iter().any(|note| line.starts_with(note));
    let files: Vec<&str> = call.text.lines().map(str::trim).filter(is_file).collect();
    let is_cut = call.text.to_lowercase().contains("truncated");
    let (verb, did) = match files.as_slice() {
        files if files.is_empty() || finds_nothing(&call.text) => {
            ("No files match", format!("No files match {noun}"))
        }
        [one] => ("Looked for", format!("Found {}", file_name(one, call.cwd))),
        _ if is_cut => ("Looked for", format!("Listed files for {noun}")),
        files => (
            "Looked for",
            format!("Found {} files for {noun}", files.len()),
        ),
    };
    let fact = Fact::of(call, Class::Find, &did, &format!("File search for {noun}"));
    fact.counted(verb, "file search", About::Named(noun))
}

pub(super) fn list(call: &Call<'_>) -> Fact {
    let directory = directory_name(call.path().unwrap_or_default(), call.cwd);
    let did = format!("Listed {directory}");
    let fact = Fact::of(call, Class::List, &did, &format!("Listing {directory}"));
    fact.counted("Listed", "listing", About::Named(directory))
}
