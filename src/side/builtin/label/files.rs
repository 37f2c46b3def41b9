//! Facts about files: reading, writing, editing, searching, finding, listing.

use super::Call;
use super::fact::{About, Class, Fact, ending};
use crate::message::{CallOutcome, start_of_result};
use crate::side::builtin::names::{
    directory_name, distinct, file_name, file_names, glob_noun, is_working_directory, pattern_noun,
};
use crate::tool_facts::{Parameter, Purpose, parameters, patched_files, texts};

/// Maximum length of a directory that is named with a search, in bytes.
const MAX_DIRECTORY_BYTES: usize = 18;

fn path<'a>(call: &'a Call<'_>) -> &'a str {
    call.path().unwrap_or_default()
}

fn name(call: &Call<'_>) -> String {
    let name = file_name(path(call), call.cwd);
    if name.is_empty() {
        "a file".to_owned()
    } else {
        name
    }
}

/// Returns the fact about a change or a read. A declined call is `rejected`.
fn done(call: &Call<'_>, class: Class, did: String, doing: &str) -> Fact {
    match call.status {
        CallOutcome::Ok => Fact::good(class, did),
        CallOutcome::Declined => Fact::bad(class, format!("{doing} rejected")),
        other => Fact::bad(class, format!("{doing} {}", ending(other))),
    }
}

pub(super) fn read(call: &Call<'_>) -> Fact {
    if call.kind == Purpose::ReadMany {
        let held = |held| texts(call.input.as_object()?, held);
        let paths = [Parameter::Path, Parameter::Glob]
            .into_iter()
            .filter_map(held);
        let paths: Vec<&str> = paths.flatten().collect();
        let names = match paths.as_slice() {
            [] => "files".to_owned(),
            paths => file_names(paths, call.cwd),
        };
        let doing = format!("Read of {names}");
        return done(call, Class::Read, format!("Read {names}"), &doing);
    }
    let name = name(call);
    let doing = format!("Read of {name}");
    let mut fact = done(call, Class::Read, format!("Read {name}"), &doing);
    if call.status == CallOutcome::Failed {
        fact.phrase = failed_read(&name, call.text);
    }
    fact.counted("Read", "read")
        .about(About::File(path(call).to_owned()))
}

fn failed_read(name: &str, text: &str) -> String {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["does not exist", "ENOENT", "File not found", "No such file"]) {
        format!("{name} not found")
    } else if has(&["EISDIR", "is a directory"]) {
        format!("Read failed: {name} is a directory")
    } else if has(&["exceeds maximum", "too large"]) {
        format!("Read failed: {name} too large")
    } else {
        format!("Read of {name} failed")
    }
}

pub(super) fn write(call: &Call<'_>) -> Fact {
    let name = name(call);
    let start = start_of_result(call.text).to_lowercase();
    let verb = if start.contains("created") {
        "Created"
    } else if start.contains("updated") || start.contains("overwr") {
        "Rewrote"
    } else {
        "Wrote"
    };
    let doing = format!("Write of {name}");
    done(call, Class::Write, format!("{verb} {name}"), &doing)
        .counted(verb, "write")
        .about(About::File(path(call).to_owned()))
}

pub(super) fn edit(call: &Call<'_>) -> Fact {
    let patch = call
        .argument(parameters(Parameter::Patch))
        .filter(|_| call.kind == Purpose::Patch);
    let patched = distinct(patch.into_iter().flat_map(patched_files));
    let names = match patched.as_slice() {
        [] => name(call),
        several => file_names(several, call.cwd),
    };
    let doing = format!("Edit of {names}");
    let fact = done(call, Class::Edit, format!("Edited {names}"), &doing);
    match patched.as_slice() {
        [] => fact.about(About::File(path(call).to_owned())),
        [one] => fact.about(About::File((*one).to_owned())),
        _ => fact,
    }
    .counted("Edited", "edit")
}

pub(super) fn search(call: &Call<'_>) -> Fact {
    let pattern = call
        .argument(&["pattern", "query", "regex"])
        .unwrap_or_default();
    let noun = pattern_noun(pattern).unwrap_or_else(|| pattern.chars().take(30).collect());
    let found = !finds_nothing(call.text);
    let did = if found {
        let place = searched_path(call).filter(|place| place.len() + noun.len() < 46);
        let place = place.map_or_else(String::new, |place| format!(" in {place}"));
        format!("Searched for {noun}{place}")
    } else {
        format!("No matches for {noun}")
    };
    let doing = format!("Search for {noun}");
    let mut fact = done(call, Class::Search, did, &doing);
    if call.status == CallOutcome::Failed && call.text.contains("does not exist") {
        fact.phrase = format!("Search failed: {} not found", name(call));
    }
    fact.counted("Searched for", "search")
        .about(About::Sought { noun, found })
}

/// Returns the searched file or directory, if it is short.
fn searched_path(call: &Call<'_>) -> Option<String> {
    let path = path(call);
    if is_working_directory(path, call.cwd) {
        return None;
    }
    let base = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    if base.get(1..).is_some_and(|rest| rest.contains('.')) {
        return Some(file_name(path, call.cwd));
    }
    let directory = directory_name(path, call.cwd);
    (directory.len() <= MAX_DIRECTORY_BYTES).then_some(directory)
}

fn finds_nothing(text: &str) -> bool {
    let text = text.trim();
    let nothing = [
        "No matches found",
        "No files found",
        "No files match",
        "Found 0 ",
    ];
    nothing.iter().any(|words| text.starts_with(words))
        || text.contains("Found 0 total occurrences")
        || text.is_empty()
}

pub(super) fn find(call: &Call<'_>) -> Fact {
    let pattern = call
        .argument(&["pattern", "query", "glob"])
        .unwrap_or_default();
    let noun = glob_noun(pattern);
    let is_note = |line: &&str| {
        ["Found ", "(", "---"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let lines = call.text.lines().map(str::trim);
    let (notes, files): (Vec<&str>, Vec<&str>) =
        lines.filter(|line| !line.is_empty()).partition(is_note);
    let is_cut = |line: &&str| line.to_lowercase().contains("truncated");
    let found = !finds_nothing(call.text) && !files.is_empty();
    let did = match files.as_slice() {
        _ if !found => format!("No files match {noun}"),
        files if notes.iter().chain(files).any(is_cut) => format!("Listed files for {noun}"),
        [one] => format!("Found {}", file_name(one, call.cwd)),
        files => format!("Found {} files for {noun}", files.len()),
    };
    let doing = format!("File search for {noun}");
    done(call, Class::Find, did, &doing)
        .counted("Looked for", "file search")
        .about(About::Sought { noun, found })
}

pub(super) fn list(call: &Call<'_>) -> Fact {
    let directory = directory_name(path(call), call.cwd);
    let doing = format!("Listing {directory}");
    done(call, Class::List, format!("Listed {directory}"), &doing)
        .counted("Listed", "listing")
        .about(About::Named(directory))
}
