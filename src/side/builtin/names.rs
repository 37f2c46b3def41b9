//! Short names of files, patterns and addresses: their most distinctive part, without home directories.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::clean::{MORE, cut};
use crate::text::{display_width, pattern};

/// Maximum width of the name of a file, in cells.
const MAX_CELLS: usize = 36;

/// Maximum width of two names, in cells.
const MAX_PAIR_CELLS: usize = 44;

/// Maximum width of the name of a directory, in cells.
const MAX_DIRECTORY_CELLS: usize = 24;

/// File names that are shown with their directory.
static GENERIC: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("words/generic_files.txt")
        .split_whitespace()
        .collect()
});

/// Removes repeated items.
pub(super) fn distinct<Item: Clone + Eq + Hash>(items: impl Iterator<Item = Item>) -> Vec<Item> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}

/// Returns the parts of a path, relative to the working directory if it is inside.
fn parts<'a>(path: &'a str, cwd: Option<&str>) -> Vec<&'a str> {
    let below = cwd
        .filter(|cwd| cwd.len() > 1)
        .and_then(|cwd| path.strip_prefix(cwd.trim_end_matches('/')))
        .filter(|rest| rest.starts_with('/'));
    let path = below.unwrap_or_else(|| without_home(path));
    path.split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != ".")
        .collect()
}

/// Removes a home directory from the start of a path.
fn without_home(path: &str) -> &str {
    for root in ["/home/", "/Users/", "C:\\Users\\"] {
        if let Some(rest) = path.strip_prefix(root) {
            return rest.find(['/', '\\']).map_or("~", |at| &rest[at..]);
        }
    }
    path.strip_prefix("/root/").unwrap_or(path)
}

/// Returns the last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Returns the name of one file.
pub(super) fn file_name(path: &str, cwd: Option<&str>) -> String {
    let parts = parts(path, cwd);
    let Some((base, parents)) = parts.split_last() else {
        return String::new();
    };
    let name = shortened(base);
    match parents.last() {
        Some(parent) if is_generic(base) => {
            let both = format!("{}/{name}", shortened(parent));
            if display_width(&both) <= MAX_CELLS {
                both
            } else {
                name
            }
        }
        _ => name,
    }
}

/// Returns the name of a directory, with a slash.
pub(super) fn directory_name(path: &str, cwd: Option<&str>) -> String {
    match parts(path, cwd).last() {
        None => "working directory".to_owned(),
        Some(&"~") => "home directory".to_owned(),
        Some(&"..") => "parent directory".to_owned(),
        Some(base) => format!("{}/", shortened(base)),
    }
}

/// Returns the name of a file or directory.
pub(super) fn place_name(path: &str, cwd: Option<&str>) -> String {
    if is_file(path) {
        file_name(path, cwd)
    } else {
        directory_name(path, cwd)
    }
}

/// Whether a path is the working directory.
pub(super) fn is_working_directory(path: &str, cwd: Option<&str>) -> bool {
    let path = path.trim_end_matches('/');
    path.is_empty() || path == "." || cwd.is_some_and(|cwd| cwd.trim_end_matches('/') == path)
}

fn is_generic(base: &str) -> bool {
    GENERIC.contains(&*base.to_ascii_lowercase())
}

/// Cuts a part of a path to the maximum width.
fn shortened(part: &str) -> String {
    let (stem, extension) = match part.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= 8 => {
            (stem, &part[stem.len()..])
        }
        _ => (part, ""),
    };
    if is_opaque(stem) {
        return format!("{}{MORE}{extension}", &stem[..8]);
    }
    if display_width(part) <= MAX_CELLS {
        return part.to_owned();
    }
    let cells = MAX_CELLS.saturating_sub(display_width(extension));
    let stem = cut(&stem.replace(' ', "_"), cells);
    format!("{stem}{extension}")
}

/// Whether a name is a long identifier, such as a UUID.
fn is_opaque(stem: &str) -> bool {
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    stem.len() >= 20 && digits >= 4 && stem.bytes().all(hex)
}

/// Names several files. The paths are distinct.
pub(super) fn file_names(paths: &[&str], cwd: Option<&str>) -> String {
    let mut names: Vec<String> = paths.iter().map(|path| file_name(path, cwd)).collect();
    let bare = names.clone();
    for (number, path) in paths.iter().enumerate() {
        let is_shared = bare.iter().filter(|name| **name == bare[number]).count() > 1;
        if is_shared && let [.., parent, _] = parts(path, cwd).as_slice() {
            names[number] = format!("{parent}/{}", names[number]);
        }
    }
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] if display_width(one) + display_width(other) <= MAX_PAIR_CELLS => {
            format!("{one} and {other}")
        }
        [first, rest @ ..] => common_directory(paths, cwd).map_or_else(
            || format!("{first} and {} more", rest.len()),
            |(place, directory)| format!("{} files {place} {directory}", paths.len()),
        ),
    }
}

/// Returns the directory that all paths are in (`in`), or below (`under`).
fn common_directory(paths: &[&str], cwd: Option<&str>) -> Option<(&'static str, String)> {
    let split: Vec<Vec<&str>> = paths.iter().map(|path| parts(path, cwd)).collect();
    let first = split.first()?;
    let mut shared = 0;
    while first
        .get(shared)
        .is_some_and(|part| split.iter().all(|parts| parts.get(shared) == Some(part)))
        && split.iter().all(|parts| parts.len() > shared + 1)
    {
        shared += 1;
    }
    let directory = first.get(shared.checked_sub(1)?)?;
    let place = if split.iter().all(|parts| parts.len() == shared + 1) {
        "in"
    } else {
        "under"
    };
    let directory = format!("{directory}/");
    (display_width(&directory) <= MAX_DIRECTORY_CELLS).then_some((place, directory))
}

/// Joins items as `a, b and c`, and git commands as `git status, diff and log`.
pub(super) fn listed(items: &[String]) -> String {
    let [first, others @ ..] = items else {
        return String::new();
    };
    let are_git = items.iter().all(|item| item.starts_with("git "));
    let shown = |item: &String| match item.strip_prefix("git ") {
        Some(bare) if are_git => bare.to_owned(),
        _ => item.clone(),
    };
    match others {
        [] => first.clone(),
        [middle @ .., last] => {
            let middle = middle.iter().map(|item| format!(", {}", shown(item)));
            format!("{first}{} and {}", middle.collect::<String>(), shown(last))
        }
    }
}

/// Whether a path ends with the name of a file.
pub(super) fn is_file(path: &str) -> bool {
    let name = last_part(path);
    name.get(1..).is_some_and(|rest| rest.contains('.')) && !path.ends_with('/')
}

/// Names the searched text and, if it is short, the searched file or directory.
pub(super) fn sought(noun: &str, place: &str, cwd: Option<&str>) -> String {
    let name = place_name(place, cwd);
    let is_short = noun.len() + name.len() < 44 && (is_file(place) || name.len() <= 18);
    if is_working_directory(place, cwd) || place.contains(['*', '$']) || !is_short {
        return noun.to_owned();
    }
    format!("{noun} in {name}")
}

/// Returns the text that a pattern matches, without the syntax of patterns.
pub(super) fn pattern_noun(pattern: &str) -> Option<String> {
    let plain = plain_pattern(pattern);
    let words = |text: &str| {
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .count()
    };
    let trimmed = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.trim_matches(['"', '\'', '(', ')', ',', '{']);
        text.trim().to_owned()
    };
    let mut nouns = plain.split('\n').map(trimmed);
    let noun = nouns.find(|noun| words(noun) >= 2)?;
    if noun.contains(' ') && display_width(&noun) > 34 {
        let longest = noun.split(' ').max_by_key(|word| word.len())?;
        return Some(cut(longest, 34));
    }
    Some(cut(&noun, 34))
}

/// The syntax of patterns, and a class of one letter in two cases.
static SYNTAX: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?<line>\\?\|)|\[(?<letter>[a-zA-Z])[a-zA-Z]\]|(?<space>\\[snt]|\.[*+?]|\[.[^\]]*\])",
        r"|\\[bBwWdDSAz<>()]|\(\?[a-zA-Z!=<-]*[:>]?|\{[0-9][^}]*\}|[\^$()*+?]|\\(?<escaped>.)",
    ))
});

/// Removes the syntax of patterns. Each alternative becomes a line.
fn plain_pattern(pattern: &str) -> Cow<'_, str> {
    let plain = |found: &Captures<'_>| {
        let kept = ["letter", "escaped"]
            .into_iter()
            .find_map(|name| found.name(name));
        match kept {
            Some(kept) => kept.as_str(),
            None if found.name("line").is_some() => "\n",
            None if found.name("space").is_some() => " ",
            None => "",
        }
        .to_owned()
    };
    SYNTAX.replace_all(pattern, plain)
}

/// Returns the last two parts of a file pattern.
pub(super) fn glob_noun(pattern: &str) -> String {
    let parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != "**" && *part != ".")
        .collect();
    let start = parts.len().saturating_sub(2);
    cut(&parts[start..].join("/"), 30)
}

/// Shortens an address: no user, port, query or fragment. Pull requests and issues get their names.
pub(super) fn address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let named = match (host, parts.as_slice()) {
        ("github.com", [_, repository, "pull", pull, ..]) if number(pull) => {
            format!("{repository} PR #{pull}")
        }
        ("github.com", [_, repository, "issues", issue, ..]) if number(issue) => {
            format!("{repository} issue #{issue}")
        }
        ("github.com", [owner, repository]) => format!("github.com {owner}/{repository}"),
        (_, []) => host.to_owned(),
        (_, [one]) => format!("{host}/{one}"),
        (_, [.., last]) => format!("{host}/{MORE}/{last}"),
    };
    if display_width(&named) > 44 {
        cut(host, 44)
    } else {
        named
    }
}

/// Shortens the hashes in a revision to seven digits.
pub(super) fn revision(text: &str) -> String {
    static HASH: LazyLock<Regex> =
        LazyLock::new(|| pattern("(?-u:\\b)([0-9a-fA-F]{7})[0-9a-fA-F]+(?-u:\\b)"));
    cut(&HASH.replace_all(text, "$1"), 40)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_are_named_by_their_distinctive_part() {
        let cwd = Some("/home/me/app");
        let table = [
            ("/home/me/app/src/parser.rs", "parser.rs"),
            ("/home/me/app/src/net/mod.rs", "net/mod.rs"),
            ("/home/me/app/Cargo.toml", "Cargo.toml"),
            ("/home/me", "~"),
            (
                "/x/7c9e6679-7425-40de-944b-e07fc1f90ae7.json",
                "7c9e6679….json",
            ),
        ];
        for (path, expected) in table {
            assert_eq!(file_name(path, cwd), expected, "{path}");
        }
        let long = format!("/x/{}.rs", "very_long_name_".repeat(5));
        assert!(file_name(&long, cwd).ends_with("….rs"));
    }

    #[test]
    fn several_files_are_named_together() {
        let table: [(&[&str], &str); 4] = [
            (&["a/x.rs", "a/y.rs"], "x.rs and y.rs"),
            (&["a/x.rs", "a/y.rs", "a/z.rs"], "3 files in a/"),
            (&["a/b/x.rs", "a/c/y.rs", "a/z.rs"], "3 files under a/"),
            (&["x.rs", "b/y.rs", "c/z.rs"], "x.rs and 2 more"),
        ];
        for (paths, expected) in table {
            assert_eq!(file_names(paths, None), expected);
        }
        assert_eq!(file_names(&["a/x.rs", "b/x.rs"], None), "a/x.rs and b/x.rs");
    }

    #[test]
    fn patterns_lose_their_syntax() {
        let table = [
            ("^func Test", Some("func Test")),
            (r"plumbing\.", Some("plumbing.")),
            ("func.*open", Some("func open")),
            (r"a\.b\|c", Some("a.b")),
            ("[Tt]oken", Some("Token")),
            ("(?i)login(Form)?", Some("loginForm")),
            ("<<<<<<", None),
        ];
        for (pattern, expected) in table {
            assert_eq!(pattern_noun(pattern).as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn addresses_are_shortened() {
        let table = [
            ("https://github.com/o/r/pull/12", "r PR #12"),
            ("https://github.com/o/r/issues/7#note", "r issue #7"),
            ("https://github.com/o/r", "github.com o/r"),
            (
                "https://u:p@docs.rs:443/serde/latest/serde?x=1",
                "docs.rs/…/serde",
            ),
            ("docs.rs", "docs.rs"),
        ];
        for (url, expected) in table {
            assert_eq!(address(url), expected, "{url}");
        }
        assert_eq!(revision("2db227d0aaaaaaaa~5..main"), "2db227d~5..main");
        assert_eq!(glob_noun("**/src/**/*.rs"), "src/*.rs");
    }

    proptest! {
        #[test]
        fn any_name_can_be_shortened(text in "\\PC{0,80}") {
            let _ = (file_name(&text, None), directory_name(&text, Some("/")), pattern_noun(&text));
            let _ = (glob_noun(&text), address(&text), revision(&text));
            let _ = file_names(&[&text, "a/b", "a/c"], Some("/w"));
        }
    }
}
