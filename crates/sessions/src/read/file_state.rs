//! The text of files, as far as the changes of a session show it.

use std::collections::{BTreeMap, HashMap};

use turnpipe_formats::agent::{
    EditKind, FileEdit, Hunk, apply_hunks, diff_texts, format_hunks, parse_hunks,
};

/// The known lines of a file.
#[derive(Debug, Default)]
struct FileText {
    /// The lines, each with its terminator, by the number of lines before them.
    lines: BTreeMap<usize, String>,
    /// The number of lines.
    count: Option<usize>,
}

impl FileText {
    fn from_content(content: &str) -> Self {
        let lines: BTreeMap<_, _> = content
            .split_inclusive('\n')
            .map(str::to_owned)
            .enumerate()
            .collect();
        let count = Some(lines.len());
        Self { lines, count }
    }

    /// Returns the content if all lines are known.
    fn content(&self) -> Option<String> {
        let is_whole = self.count == Some(self.lines.len());
        is_whole.then(|| self.lines.values().map(String::as_str).collect())
    }

    /// Replaces lines. Agents show some lines without a carriage return, a byte order mark or the missing line
    /// feed at the end: the hunk gets them from the known lines. Returns false if known lines differ otherwise.
    fn replace(&mut self, hunk: &mut Hunk) -> bool {
        let (mut end, mut has_returns, mut is_cut) = (hunk.old_start, false, false);
        for (_, text) in hunk.lines.iter_mut().filter(|(mark, _)| *mark != '+') {
            let known = self.lines.get(&end);
            is_cut = known.is_some_and(|known| text.ends_with('\n') && !known.ends_with('\n'));
            if let Some(known) = known {
                if !is_shown_as(known, text) {
                    return false;
                }
                has_returns |= known.ends_with("\r\n") && !text.ends_with("\r\n");
                text.clone_from(known);
            }
            end += 1;
        }
        if self.count.is_some_and(|count| count < end) {
            return false;
        }
        end_lines(hunk, has_returns, is_cut);
        let rest = self.lines.split_off(&end);
        self.lines.split_off(&hunk.old_start);
        let mut new_end = hunk.old_start;
        for text in hunk.without('-') {
            self.lines.insert(new_end, text.to_owned());
            new_end += 1;
        }
        let is_end = hunk
            .without('-')
            .next_back()
            .is_some_and(|text| !text.ends_with('\n'));
        let count = self.count.map(|count| count - end + new_end);
        self.count = count.or(is_end.then_some(new_end));
        let rest = rest.into_iter();
        self.lines
            .extend(rest.map(|(at, text)| (at - end + new_end, text)));
        true
    }

    /// Undoes a change. Returns false if the change does not follow from the known lines.
    fn undo(&mut self, hunks: &str) -> bool {
        let mut hunks = parse_hunks(hunks);
        for hunk in &mut hunks {
            std::mem::swap(&mut hunk.old_start, &mut hunk.new_start);
            for (mark, _) in &mut hunk.lines {
                *mark = match *mark {
                    '+' => '-',
                    '-' => '+',
                    mark => mark,
                };
            }
        }
        self.apply(&format_hunks(&hunks)).is_some()
    }

    /// Applies hunks. Returns them with all bytes, or nothing if they do not follow from the known lines.
    fn apply(&mut self, hunks: &str) -> Option<String> {
        let mut hunks = parse_hunks(hunks);
        // Backwards, because the numbers of lines are those of the old text.
        let is_applied = hunks.iter_mut().rev().all(|hunk| self.replace(hunk));
        is_applied.then(|| format_hunks(&hunks))
    }
}

/// Whether an agent may show a line as this text.
fn is_shown_as(line: &str, shown: &str) -> bool {
    let [line, shown] = [line, shown].map(|text| text.trim_end_matches(['\r', '\n']));
    line == shown || line.strip_prefix('\u{feff}') == Some(shown)
}

/// Ends added lines like the lines that they replace.
fn end_lines(hunk: &mut Hunk, has_returns: bool, is_cut: bool) {
    for (_, text) in hunk.lines.iter_mut().filter(|(mark, _)| *mark == '+') {
        if has_returns && text.ends_with('\n') && !text.ends_with("\r\n") {
            text.insert(text.len() - 1, '\r');
        }
    }
    let old = hunk.without('+').next_back().unwrap_or_default().to_owned();
    let Some((_, new)) = hunk.lines.last_mut().filter(|(mark, _)| *mark == '+') else {
        return;
    };
    let text_length = new.trim_end_matches(['\r', '\n']).len();
    // If the line is the same, only the line feed at the end of the file was added or removed.
    let loses_line_feed = if old.ends_with('\n') {
        old == *new
    } else {
        is_cut && old != new[..text_length]
    };
    if loses_line_feed {
        new.truncate(text_length);
    }
}

/// The way a patch removes a file that a session changed before.
pub(crate) enum WholeRemoval {
    /// Removes nothing, because the session made the file.
    Nothing,
    /// Removes the file as it was at first.
    Whole(FileEdit),
    /// The text at first is unknown.
    Unknown,
}

/// Returns how a patch makes all these changes, the last of which removes the file.
pub(crate) fn find_whole_removal(edits: &[&FileEdit]) -> WholeRemoval {
    let Some(first) = edits.first().filter(|first| first.kind != EditKind::Add) else {
        return WholeRemoval::Nothing;
    };
    let mut text = FileText::from_content("");
    let mut later = edits.iter().rev();
    let is_undone = later.all(|edit| text.undo(&edit.hunks));
    match text.content().filter(|_| is_undone) {
        Some(content) => WholeRemoval::Whole(FileEdit {
            kind: EditKind::Remove,
            hunks: diff_texts(&content, ""),
            moved_to: None,
            ..(*first).clone()
        }),
        None => WholeRemoval::Unknown,
    }
}

/// The state of a file.
#[derive(Debug)]
enum FileState {
    /// The file exists.
    Present(FileText),
    /// The file was removed.
    Absent,
    /// The file was changed in a way that the session does not contain.
    Unknown,
}

/// The states of files while the changes of a session are read in order.
#[derive(Debug, Default)]
pub(crate) struct FileStates(HashMap<String, FileState>);

impl FileStates {
    /// Takes the text of a file that was read.
    pub(crate) fn add_text(&mut self, path: String, text: &str) {
        let state = || FileState::Present(FileText::from_content(text));
        self.0.entry(path).or_insert_with(state);
    }

    /// Returns the whole text of a file, if it is known.
    pub(crate) fn content(&self, path: &str) -> Option<String> {
        match self.0.get(path)? {
            FileState::Present(text) => text.content(),
            FileState::Absent | FileState::Unknown => None,
        }
    }

    /// Takes a change that is not in the session: no later change of the file applies.
    pub(crate) fn set_unknown(&mut self, path: String) {
        self.0.insert(path, FileState::Unknown);
    }

    /// Applies a change. Returns false if the change does not follow from the earlier changes.
    pub(crate) fn apply(&mut self, edit: &mut FileEdit) -> bool {
        let before = self.0.remove(&edit.path);
        let after = Self::apply_to(before, edit);
        let is_applied = !matches!(after, FileState::Unknown);
        match &edit.moved_to {
            Some(path) => {
                self.0.insert(edit.path.clone(), FileState::Absent);
                self.0.insert(path.clone(), after);
            }
            None => {
                self.0.insert(edit.path.clone(), after);
            }
        }
        is_applied
    }

    fn apply_to(before: Option<FileState>, edit: &mut FileEdit) -> FileState {
        let is_present = matches!(before, Some(FileState::Present(_)));
        match (edit.kind, before) {
            (_, Some(FileState::Unknown))
            | (EditKind::Change | EditKind::Context, Some(FileState::Absent)) => FileState::Unknown,
            (EditKind::Context, Some(FileState::Present(old))) if old.content().is_some() => {
                let old = old.content().unwrap_or_default();
                let Some(new) = apply_hunks(&old, &parse_hunks(&edit.hunks)) else {
                    return FileState::Unknown;
                };
                edit.kind = EditKind::Change;
                edit.hunks = diff_texts(&old, &new);
                FileState::Present(FileText::from_content(&new))
            }
            (EditKind::Context, _) => FileState::Present(FileText::default()),
            (EditKind::Add | EditKind::Replace, before) => {
                let mut new = FileText::from_content("");
                let content = new.apply(&edit.hunks).and_then(|_| new.content());
                let old = match before {
                    Some(FileState::Present(old)) => old.content(),
                    _ if edit.kind == EditKind::Replace => None,
                    _ => Some(String::new()),
                };
                let (Some(old), Some(content)) = (old, content) else {
                    return FileState::Unknown;
                };
                if is_present {
                    edit.kind = EditKind::Change;
                    edit.hunks = diff_texts(&old, &content);
                }
                FileState::Present(new)
            }
            (kind, before) => {
                let mut text = match before {
                    Some(FileState::Present(text)) => text,
                    _ => FileText::default(),
                };
                match text.apply(&edit.hunks) {
                    Some(hunks) => edit.hunks = hunks,
                    None => return FileState::Unknown,
                }
                if kind == EditKind::Remove {
                    return FileState::Absent;
                }
                FileState::Present(text)
            }
        }
    }
}
