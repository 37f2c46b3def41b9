//! Short names of files, patterns and addresses: their most distinctive part, without home directories.

use std::collections::HashSet;
use std::hash::Hash;

use url::Url;

use super::cut::{MORE, cut_end};
use crate::text::display_width;

/// Maximum width of the name of a file, in cells.
const MAX_CELLS: usize = 36;

/// Maximum width of the names of several files, in cells.
const MAX_FILES_CELLS: usize = 50;

/// Maximum width of an address, and of a search with its place, in cells.
const MAX_PLACE_CELLS: usize = 44;

/// Generic stems of files, in lower case. Such files are shown with their directory.
const GENERIC: &str = "mod lib main index __init__ __main__ conftest setup readme claude agents qwen gemini changelog \
                       skill package cargo go pyproject tsconfig page layout route types utils config settings \
                       makefile dockerfile build pom cmakelists styles constants tests";

/// Maximum number of names in a list: more do not fit.
const MAX_NAMES: usize = 20;

/// Removes repeated items; keeps the order.
pub(super) fn distinct<Item: Clone + Eq + Hash>(items: impl Iterator<Item = Item>) -> Vec<Item> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}

/// Returns a path relative to the working directory if it is inside.
pub(super) fn relative_path<'a>(path: &'a str, cwd: Option<&str>) -> &'a str {
    let below = cwd.filter(|cwd| cwd.len() > 1).and_then(|cwd| {
        let rest = path.strip_prefix(cwd.trim_end_matches('/'))?;
        rest.strip_prefix('/').filter(|rest| !rest.is_empty())
    });
    below.unwrap_or(path)
}

/// Returns the parts of a path, relative to the working directory or a home directory.
pub(super) fn path_parts<'a>(path: &'a str, cwd: Option<&str>) -> Vec<&'a str> {
    let relative = relative_path(path, cwd);
    let mut homes = ["/home/", "/Users/", "C:\\Users\\"].into_iter();
    let below_home = homes.find_map(|root| {
        let rest = relative.strip_prefix(root)?;
        let below = rest.find(['/', '\\']).map_or("~", |at| &rest[at..]);
        Some(below).filter(|_| !rest.is_empty())
    });
    let path = below_home.unwrap_or(relative);
    let parts = path.split(['/', '\\']);
    parts.filter(|part| !matches!(*part, "" | ".")).collect()
}

/// Returns the last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Returns the name of a file, with its directory if the name is generic or a pattern. Returns the name of a directory if
/// the path ends with a slash.
pub(super) fn file_name(path: &str, cwd: Option<&str>) -> String {
    let parts = path_parts(path, cwd);
    let [parents @ .., base] = parts.as_slice() else {
        return directory_name(path, cwd);
    };
    if path.ends_with('/') || *base == ".." {
        return directory_name(path, cwd);
    }
    let stem = base.split('.').next().unwrap_or_default();
    let mut generic = GENERIC.split_whitespace();
    let is_generic = generic.any(|name| name.eq_ignore_ascii_case(stem));
    let is_pattern = base.contains(['*', '?', '[']);
    let parent = parents.last().filter(|_| is_generic || is_pattern);
    let both = parent.map(|parent| format!("{parent}/{base}"));
    let both = both.filter(|both| display_width(both) <= MAX_CELLS);
    both.unwrap_or_else(|| shorten(base))
}

/// Returns the name of a directory, with a slash.
pub(super) fn directory_name(path: &str, cwd: Option<&str>) -> String {
    match path_parts(path, cwd).last() {
        None => "working directory".to_owned(),
        Some(&"~") => "home directory".to_owned(),
        Some(&"..") => "parent directory".to_owned(),
        Some(base) => format!("{}/", shorten(base)),
    }
}

/// Cuts a part of a path to the maximum width; keeps its extension.
fn shorten(part: &str) -> String {
    if display_width(part) <= MAX_CELLS {
        return part.to_owned();
    }
    let dot = part.rfind('.').filter(|dot| part.len() - dot <= 9);
    let (stem, extension) = part.split_at(dot.unwrap_or(part.len()));
    cut_end(stem, MAX_CELLS.saturating_sub(display_width(extension))) + extension
}

/// Lists the names of several files in up to `cells`. Files with the same name are listed by their paths.
pub(super) fn list_files(paths: &[impl AsRef<str>], cwd: Option<&str>, cells: usize) -> String {
    let paths = || paths.iter().map(AsRef::as_ref);
    let mut names: Vec<String> = paths().map(|path| file_name(path, cwd)).collect();
    if distinct(names.iter()).len() < names.len() {
        let whole = paths().map(|path| path_parts(path, cwd).join("/"));
        names = whole.collect();
    }
    list_within(&names, cells.min(MAX_FILES_CELLS))
}

/// Joins distinct items as `a, b and c`. If not all fit into `cells`, counts the others: `a and 2 more`.
pub(super) fn list_within(items: &[String], cells: usize) -> String {
    let names = distinct(items.iter().cloned());
    let phrase = |count: usize| {
        let others = items.iter().filter(|item| !names[..count].contains(item));
        match others.count() {
            0 => (join_names(&names[..count]), String::new()),
            others => (names[..count].join(", "), format!(" and {others} more")),
        }
    };
    let fits = |(shown, more): &(String, String)| display_width(shown) + more.len() <= cells;
    let counts = (1..=names.len().min(MAX_NAMES)).rev();
    let longest = counts.map(phrase).find(fits);
    let (shown, more) = longest.unwrap_or_else(|| phrase(names.len().min(1)));
    cut_end(&shown, cells.saturating_sub(more.len())) + &more
}

/// Joins items as `a, b and c`. If an item is a list itself, joins all items by commas.
fn join_names(items: &[String]) -> String {
    let has_list = items.iter().any(|item| item.contains(" and "));
    match items.split_last() {
        Some((last, several @ [_, ..])) if !has_list => {
            format!("{} and {last}", several.join(", "))
        }
        _ => items.join(", "),
    }
}

/// Whether a path ends with the name of a file.
pub(super) fn is_file(path: &str) -> bool {
    let name = last_part(path);
    name.get(1..).is_some_and(|rest| rest.contains('.')) && !path.ends_with('/')
}

/// Names the searched text and, if it is short, the searched file or directory.
pub(super) fn name_search(noun: &str, place: &str, cwd: Option<&str>) -> String {
    let name = file_name(place, cwd);
    let is_whole = matches!(place.trim_end_matches('/'), "" | ".") || cwd == Some(place);
    let is_short = display_width(noun) + display_width(&name) < MAX_PLACE_CELLS;
    let is_named = !is_whole && is_short && !place.contains(['*', '$']);
    let place = if is_named { [" in ", &name] } else { [""; 2] };
    noun.to_owned() + &place.concat()
}

/// Maximum width of a pattern, in cells.
const PATTERN_CELLS: usize = 34;

/// Quotes a pattern on one line.
pub(super) fn quote_pattern(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut_end(&words.join(" "), PATTERN_CELLS)
}

/// Shortens a URL to its host and the end of its path; a pull request or an issue to `repository#1`.
pub(super) fn shorten_url(text: &str) -> String {
    let url = Url::parse(text).ok();
    let Some(host) = url.as_ref().and_then(Url::host_str) else {
        return cut_end(text, MAX_PLACE_CELLS);
    };
    let host = host.strip_prefix("www.").unwrap_or(host);
    let parts = url.iter().filter_map(Url::path_segments).flatten();
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let named = match parts.as_slice() {
        [_, repository, "pull" | "issues", number] => format!("{repository}#{number}"),
        [] => host.to_owned(),
        [part] => format!("{host}/{part}"),
        [.., last] => format!("{host}/{MORE}/{last}"),
    };
    let fits = display_width(&named) <= MAX_PLACE_CELLS;
    cut_end(if fits { &named } else { host }, MAX_PLACE_CELLS)
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
            (&["a/x.rs", "a/y.rs", "a/z.rs"], "x.rs, y.rs and z.rs"),
            (&["a/x.rs", "b/x.rs"], "a/x.rs and b/x.rs"),
            (
                &[
                    "a/a_very_long_name.rs",
                    "a/another_long_name.rs",
                    "a/one.rs",
                ],
                "a_very_long_name.rs and 2 more",
            ),
        ];
        for (paths, expected) in table {
            assert_eq!(list_files(paths, None, 60), expected);
        }
    }

    #[test]
    fn addresses_are_shortened() {
        let table = [
            ("https://github.com/o/r/pull/12", "r#12"),
            ("https://github.com/o/r/issues/7#note", "r#7"),
            ("https://github.com/o/r", "github.com/…/r"),
            (
                "https://u:p@docs.rs:443/serde/latest/serde?x=1",
                "docs.rs/…/serde",
            ),
            ("docs.rs", "docs.rs"),
        ];
        for (url, expected) in table {
            assert_eq!(shorten_url(url), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn any_name_can_be_shortened(text in "\\PC{0,80}") {
            let _ = (file_name(&text, None), directory_name(&text, Some("/")), quote_pattern(&text));
            let _ = shorten_url(&text);
            let _ = list_files(&[&text, "a/b", "a/c"], Some("/w"), 40);
        }
    }
}
