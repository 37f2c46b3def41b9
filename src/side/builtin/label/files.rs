//! Facts about files: reading, writing, editing, searching, finding, listing.

use super::Call;
use super::fact::{About, Class, Fact};
use super::status::Status;
use super::tool_kind::ToolKind;
use crate::side::builtin::names::{
    directory_name, file_name, file_names, glob_noun, is_working_directory, pattern_noun,
};

/// Arguments that name a file.
pub(super) const PATHS: [&str; 8] = [
    "file_path",
    "path",
    "absolute_path",
    "notebook_path",
    "filePath",
    "target_file",
    "dir_path",
    "filename",
];

/// The widest directory that is told with a search, in bytes.
const WIDEST_PLACE: usize = 18;

fn path<'a>(call: &'a Call<'_>) -> &'a str {
    call.argument(&PATHS).unwrap_or_default()
}

fn name(call: &Call<'_>) -> String {
    let name = file_name(path(call), call.cwd);
    if name.is_empty() {
        "a file".to_owned()
    } else {
        name
    }
}

pub(super) fn read(call: &Call<'_>) -> Fact {
    if call.kind == ToolKind::ReadMany {
        return read_many(call);
    }
    let name = name(call);
    let fact = match call.status {
        Status::Ok => Fact::good(Class::Read, format!("Read {name}")),
        Status::Failed => Fact::bad(Class::Read, failed_read(&name, call.text)),
        other => Fact::bad(Class::Read, format!("Read of {name} {}", ending(other))),
    };
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

fn read_many(call: &Call<'_>) -> Fact {
    let listed = call
        .input
        .get("paths")
        .and_then(serde_json::Value::as_array);
    let paths: Vec<&str> = listed
        .into_iter()
        .flatten()
        .filter_map(serde_json::Value::as_str)
        .collect();
    let names = if paths.is_empty() {
        "files".to_owned()
    } else {
        file_names(&paths, call.cwd)
    };
    match call.status {
        Status::Ok => Fact::good(Class::Read, format!("Read {names}")),
        Status::Failed => Fact::bad(Class::Read, format!("Read of {names} failed")),
        other => Fact::bad(Class::Read, format!("Read of {names} {}", ending(other))),
    }
}

/// Files are `rejected` where a person declined.
fn ending(status: Status) -> &'static str {
    match status {
        Status::Declined => "rejected",
        other => other.ending(),
    }
}

pub(super) fn write(call: &Call<'_>) -> Fact {
    let name = name(call);
    let lowered: String = call
        .text
        .chars()
        .take(300)
        .collect::<String>()
        .to_lowercase();
    let verb = if lowered.contains("created") {
        "Created"
    } else if lowered.contains("updated") || lowered.contains("overwr") {
        "Rewrote"
    } else {
        "Wrote"
    };
    let fact = match call.status {
        Status::Ok => Fact::good(Class::Write, format!("{verb} {name}")),
        other => Fact::bad(Class::Write, format!("Write of {name} {}", ending(other))),
    };
    fact.counted(verb, "write")
        .about(About::File(path(call).to_owned()))
}

pub(super) fn edit(call: &Call<'_>) -> Fact {
    let patched = (call.kind == ToolKind::Patch)
        .then(|| call.argument(&["patch", "input", "diff", "content"]))
        .flatten()
        .map(patched_files)
        .unwrap_or_default();
    let (name, path) = match patched.as_slice() {
        [] => (name(call), path(call)),
        [one] => (file_name(one, call.cwd), *one),
        several => {
            let names = file_names(several, call.cwd);
            return match call.status {
                Status::Ok => Fact::good(Class::Edit, format!("Edited {names}")),
                other => Fact::bad(Class::Edit, format!("Edit of {names} {}", ending(other))),
            }
            .counted("Edited", "edit");
        }
    };
    let fact = match call.status {
        Status::Ok => Fact::good(Class::Edit, format!("Edited {name}")),
        other => Fact::bad(Class::Edit, format!("Edit of {name} {}", ending(other))),
    };
    fact.counted("Edited", "edit")
        .about(About::File(path.to_owned()))
}

/// The files that a patch names.
fn patched_files(patch: &str) -> Vec<&str> {
    let mut files: Vec<&str> = Vec::new();
    for line in patch.lines() {
        let named = [
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "+++ b/",
        ]
        .iter()
        .find_map(|prefix| line.strip_prefix(prefix));
        if let Some(file) = named.map(str::trim)
            && !files.contains(&file)
        {
            files.push(file);
        }
    }
    files
}

pub(super) fn search(call: &Call<'_>) -> Fact {
    let pattern = call
        .argument(&["pattern", "query", "regex"])
        .unwrap_or_default();
    let noun = pattern_noun(pattern).unwrap_or_else(|| pattern.chars().take(30).collect());
    let found = !finds_nothing(call.text);
    let fact = match call.status {
        Status::Ok if found => {
            let place = place(call).filter(|place| place.len() + noun.len() < 46);
            let place = place.map_or_else(String::new, |place| format!(" in {place}"));
            Fact::good(Class::Search, format!("Searched for {noun}{place}"))
        }
        Status::Ok => Fact::good(Class::Search, format!("No matches for {noun}")),
        Status::Failed if call.text.contains("does not exist") => Fact::bad(
            Class::Search,
            format!("Search failed: {} not found", name(call)),
        ),
        Status::Failed => Fact::bad(Class::Search, format!("Search for {noun} failed")),
        other => Fact::bad(
            Class::Search,
            format!("Search for {noun} {}", ending(other)),
        ),
    };
    fact.counted("Searched for", "search")
        .about(About::Sought { noun, found })
}

/// Where was searched, if it says something.
fn place(call: &Call<'_>) -> Option<String> {
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
    (directory.len() <= WIDEST_PLACE).then_some(directory)
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
    let lines: Vec<&str> = call
        .text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let truncated = lines
        .iter()
        .any(|line| line.to_lowercase().contains("truncated"));
    let files: Vec<&str> = lines
        .into_iter()
        .filter(|line| {
            !line.starts_with("Found ") && !line.starts_with('(') && !line.starts_with("---")
        })
        .collect();
    let found = !finds_nothing(call.text) && !files.is_empty();
    let fact = match call.status {
        Status::Ok if !found => Fact::good(Class::Find, format!("No files match {noun}")),
        Status::Ok if truncated => Fact::good(Class::Find, format!("Listed files for {noun}")),
        Status::Ok => match files.as_slice() {
            [one] => Fact::good(Class::Find, format!("Found {}", file_name(one, call.cwd))),
            several => Fact::good(
                Class::Find,
                format!("Found {} files for {noun}", several.len()),
            ),
        },
        Status::Failed => Fact::bad(Class::Find, format!("File search for {noun} failed")),
        other => Fact::bad(
            Class::Find,
            format!("File search for {noun} {}", ending(other)),
        ),
    };
    fact.counted("Looked for", "file search")
        .about(About::Sought { noun, found })
}

pub(super) fn list(call: &Call<'_>) -> Fact {
    let directory = directory_name(path(call), call.cwd);
    let fact = match call.status {
        Status::Ok => Fact::good(Class::List, format!("Listed {directory}")),
        other => Fact::bad(
            Class::List,
            format!("Listing {directory} {}", ending(other)),
        ),
    };
    fact.counted("Listed", "listing")
        .about(About::Named(directory))
}
