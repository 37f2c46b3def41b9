//! The changes of files in records of agents, and their hunks.

use similar::group_diff_ops;

use turnpipe_core::text::{append, compare_lines, marked_diff, marked_lines};

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// The file did not exist.
    Add,
    /// The content changed.
    Change,
    /// The content changed at the lines that the hunks show; their numbers are not known.
    Context,
    /// The file existed, and the hunks are its new content.
    Replace,
    /// The file does not exist any more.
    Remove,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The call.
    pub call: Option<String>,
    /// The path, as stored.
    pub path: String,
    /// The new path, if the file was moved.
    pub moved_to: Option<String>,
    /// The kind.
    pub kind: EditKind,
    /// The hunks of a unified diff.
    pub hunks: String,
}

impl FileEdit {
    /// Returns the numbers of added and of removed lines.
    pub fn line_counts(&self) -> (u64, u64) {
        let count = |mark| {
            self.hunks
                .lines()
                .filter(|line| line.starts_with(mark))
                .count()
        };
        (count('+') as u64, count('-') as u64)
    }
}

/// Returns the file that the call with an id names.
pub(crate) type PathOfCall<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Returns a change, unless there are no hunks.
pub(super) fn new_edit(call: Option<String>, path: String, hunks: String) -> Option<FileEdit> {
    let kind = if hunks.starts_with("@@ -0,0 ") {
        EditKind::Add
    } else {
        EditKind::Change
    };
    (!hunks.is_empty()).then_some(FileEdit {
        call,
        path,
        moved_to: None,
        kind,
        hunks,
    })
}

/// Returns a new file.
pub fn new_file(call: Option<String>, path: String, content: &str) -> FileEdit {
    FileEdit {
        call,
        path,
        moved_to: None,
        kind: EditKind::Add,
        hunks: diff_texts("", content),
    }
}

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// A hunk: lines of a file that a change replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The number of lines before it in the old text.
    pub old_start: usize,
    /// The number of lines before it in the new text.
    pub new_start: usize,
    /// The line above which it belongs to, such as the start of a function, or empty.
    pub heading: String,
    /// The lines, each with its mark (a space, `-` or `+`) and its terminator.
    pub lines: Vec<(char, String)>,
}

impl Hunk {
    /// Returns an empty hunk at the start of a file.
    pub(super) fn new(heading: &str) -> Self {
        Self {
            old_start: 0,
            new_start: 0,
            heading: heading.to_owned(),
            lines: Vec::new(),
        }
    }

    /// Returns the lines of one side: without those that have this mark.
    pub fn without(&self, mark: char) -> impl DoubleEndedIterator<Item = &str> {
        let lines = self.lines.iter().filter(move |line| line.0 != mark);
        lines.map(|(_, text)| text.as_str())
    }

    /// Returns the number of context lines at the end.
    pub(super) fn count_trailing_context(&self) -> usize {
        let marks = self.lines.iter().rev();
        marks.take_while(|(mark, _)| *mark == ' ').count()
    }

    /// Compares its two sides again, as if their last lines had no line feed.
    pub(super) fn strip_last_line_feed(&self) -> Self {
        let [old, new] = ['+', '-'].map(|mark| {
            let text: String = self.without(mark).collect();
            text.strip_suffix('\n').unwrap_or(&text).to_owned()
        });
        let [old, new] = [&old, &new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let lines = marked_diff(&old, &new).into_iter();
        Self {
            lines: lines.map(|(mark, text)| (mark, text.to_owned())).collect(),
            ..self.clone()
        }
    }
}

/// Parses the hunks of a unified diff.
pub fn parse_hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in diff.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("@@ ") {
            let (numbers, heading) = rest.split_once("@@").unwrap_or((rest, ""));
            let mut starts = numbers.split([' ', '-', '+']).filter_map(parse_start);
            let (old_start, new_start) = (starts.next(), starts.next());
            hunks.push(Hunk {
                old_start: old_start.unwrap_or_default(),
                new_start: new_start.unwrap_or_default(),
                ..Hunk::new(heading.trim())
            });
        } else if let Some(hunk) = hunks.last_mut() {
            match (line.chars().next(), hunk.lines.last_mut()) {
                (Some(mark @ (' ' | '-' | '+')), _) => {
                    hunk.lines.push((mark, line[1..].to_owned()));
                }
                (Some('\\'), Some((_, last))) => {
                    last.truncate(last.strip_suffix('\n').unwrap_or(last).len());
                }
                (Some('\n'), _) => hunk.lines.push((' ', line.to_owned())),
                _ => {}
            }
        }
    }
    hunks
}

/// Returns the number of lines before a range such as `3,4`, where `3` is the first one unless the range is empty.
fn parse_start(range: &str) -> Option<usize> {
    let (first, count) = range.split_once(',').unwrap_or((range, "1"));
    let (first, count): (usize, usize) = (first.parse().ok()?, count.parse().ok()?);
    Some(first.saturating_sub(usize::from(count > 0)))
}

/// Returns hunks as a unified diff, without its head.
pub fn format_hunks(hunks: &[Hunk]) -> String {
    let mut diff = String::new();
    for hunk in hunks {
        let [old, new] = [(hunk.old_start, '+'), (hunk.new_start, '-')].map(|(start, other)| {
            let count = hunk.without(other).count();
            format!("{},{count}", start + usize::from(count > 0))
        });
        let heading = format!("@@ -{old} +{new} @@ {}", hunk.heading);
        append!(diff, "{}\n", heading.trim_end());
        for (mark, text) in &hunk.lines {
            diff.push(*mark);
            diff.push_str(text);
            if !text.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    diff
}

/// Returns the hunks that turn one text into another.
pub fn diff_texts(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let groups = group_diff_ops(compare_lines(&old, &new), CONTEXT_LINES);
    let hunks = groups.iter().filter_map(|group| {
        let lines = group
            .iter()
            .flat_map(|operation| marked_lines(operation, &old, &new));
        Some(Hunk {
            old_start: group.first()?.old_range().start,
            new_start: group.first()?.new_range().start,
            lines: lines.map(|(mark, text)| (mark, text.to_owned())).collect(),
            ..Hunk::new("")
        })
    });
    format_hunks(&hunks.collect::<Vec<_>>())
}

/// Returns the part of a unified diff after its head.
pub(super) fn strip_diff_head(diff: &str) -> String {
    let start = match diff.find("\n@@ ") {
        _ if diff.starts_with("@@ ") => 0,
        Some(at) => at + 1,
        None => return String::new(),
    };
    diff[start..].to_owned()
}

/// Returns the hunks of a diff that shows a line feed at the end of a file as an empty line, and no mark if there
/// is none.
pub(super) fn remove_end_line(diff: &str) -> String {
    let mut hunks = parse_hunks(&strip_diff_head(diff));
    if let Some(last) = hunks.last_mut() {
        if last.count_trailing_context() < CONTEXT_LINES {
            *last = last.strip_last_line_feed();
        } else {
            // It may be the end. No line after this context is needed.
            last.lines.pop();
        }
    }
    format_hunks(&hunks)
}

/// Returns the hunks of a diff whose lines have numbers: the mark, the number and a space before the text.
/// A line without a number stands for lines that are left out. The last line may have a line feed or not, so it is
/// omitted where the context suffices without it.
pub(super) fn convert_numbered_diff(diff: &str) -> String {
    let (mut hunks, mut shift) = (Vec::new(), 0);
    let lines: Vec<Option<(char, i64, &str)>> = diff.lines().map(parse_numbered_line).collect();
    for lines in lines.split(Option::is_none) {
        let lines: Vec<_> = lines.iter().flatten().collect();
        let Some((mark, first, _)) = lines.first() else {
            continue;
        };
        let old = if *mark == '+' { first - shift } else { *first };
        // Line numbers start at 1.
        let start = |line: i64| usize::try_from(line - 1).unwrap_or_default();
        let count = |mark| lines.iter().filter(|line| line.0 == mark).count();
        let (removed, added) = (count('-'), count('+'));
        let text = lines
            .iter()
            .map(|(mark, _, text)| (*mark, format!("{text}\n")));
        hunks.push(Hunk {
            old_start: start(old),
            new_start: start(old + shift),
            lines: text.collect(),
            ..Hunk::new("")
        });
        shift += i64::try_from(added).unwrap_or(0) - i64::try_from(removed).unwrap_or(0);
    }
    let is_end = lines.last().is_some_and(Option::is_some);
    if let Some(last) = hunks
        .last_mut()
        .filter(|last| is_end && last.count_trailing_context() > 1)
    {
        last.lines.pop();
    }
    format_hunks(&hunks)
}

fn parse_numbered_line(line: &str) -> Option<(char, i64, &str)> {
    let mark = line.chars().next().filter(|mark| " -+".contains(*mark))?;
    let rest = line[1..].trim_start();
    let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((mark, number.parse().ok()?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_lines_become_hunks() {
        let diff = " 1 a\n-2 b\n+2 B\n+3 C\n 3 d\n   ...\n 10 x\n-11 y\n 12 z";
        let hunks = "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n d\n@@ -10,3 +11,2 @@\n x\n-y\n z\n";
        assert_eq!(convert_numbered_diff(diff), hunks);
        // The last of several lines after a change is not needed, and may have no line feed.
        let hunks = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n";
        assert_eq!(convert_numbered_diff("-1 a\n+1 A\n 2 b\n 3 c"), hunks);
        assert_eq!(
            convert_numbered_diff("+1 first"),
            "@@ -0,0 +1,1 @@\n+first\n"
        );
    }

    #[test]
    fn a_whole_file_may_lack_the_last_line_feed() {
        assert_eq!(diff_texts("", ""), "");
        assert_eq!(diff_texts("a\n", ""), "@@ -1,1 +0,0 @@\n-a\n");
        let hunk = "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n";
        assert_eq!(diff_texts("", "a\nb"), hunk);
        assert_eq!(format_hunks(&parse_hunks(hunk)), hunk);
    }

    #[test]
    fn an_empty_line_may_stand_for_the_last_line_feed() {
        let found = |diff| remove_end_line(&format!("--- a\n+++ b\n{diff}"));
        let cut = "\n\\ No newline at end of file\n";
        assert_eq!(
            found("@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n \n"),
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
        );
        assert_eq!(
            found("@@ -1,2 +1,2 @@\n a\n-b\n+B\n"),
            format!("@@ -1,2 +1,2 @@\n a\n-b{cut}+B{cut}")
        );
        assert_eq!(
            found("@@ -1,2 +1,1 @@\n a\n-\n"),
            format!("@@ -1,1 +1,1 @@\n-a\n+a{cut}")
        );
        // Three lines may be the last ones or not.
        assert_eq!(
            found("@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n"),
            "@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n"
        );
    }
}
