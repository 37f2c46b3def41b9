//! Selects a window of lines from a stream of text in bounded memory.
//!
//! A state machine over chunks of bytes, without I/O. Chunk boundaries do not matter.

use memchr::{memchr, memchr_iter};

use crate::text::{append, utf16_length};

/// Maximum length of a line, in characters. Longer lines are truncated.
pub(super) const MAX_LINE_CHARACTERS: usize = 2000;

/// Number of bytes of a line that are kept: enough for a line of maximum length.
const KEPT_LINE_BYTES: usize = 4 * (MAX_LINE_CHARACTERS + 1);

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The requested lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The first line, from 1.
    pub(super) first: u64,
    /// The maximum number of lines.
    pub(super) limit: u64,
    /// The maximum number of characters (UTF-16 units), with line numbers. The first line is always included.
    pub(super) characters: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Without line endings. Long lines are truncated with a note.
    pub(super) lines: Vec<String>,
    /// The number of truncated lines.
    pub(super) cut_lines: usize,
    /// The reason why the page ends.
    pub(super) end: PageEnd,
    /// The number of lines of the whole text.
    pub(super) total_lines: u64,
    /// Whether the last line of the text ends with a line feed.
    pub(super) ends_with_newline: bool,
}

/// The reason why a page ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PageEnd {
    /// The text ended, or the maximum number of lines was reached.
    #[default]
    Window,
    /// The next line would have exceeded the maximum number of characters.
    Characters,
}

/// Collects the lines of a window.
#[derive(Debug)]
pub(super) struct LineWindow {
    window: Window,
    page: Page,
    characters: usize,
    /// The first bytes of the current line.
    line: Vec<u8>,
    /// The number of bytes of the current line after `line`.
    dropped_bytes: u64,
    last_byte: Option<u8>,
}

impl LineWindow {
    pub(super) fn new(window: Window) -> Self {
        Self {
            window,
            page: Page::default(),
            characters: 0,
            line: Vec::new(),
            dropped_bytes: 0,
            last_byte: None,
        }
    }

    /// Reads the next chunk of the text.
    pub(super) fn push(&mut self, mut chunk: &[u8]) {
        self.last_byte = chunk.last().copied().or(self.last_byte);
        while !chunk.is_empty() {
            if self.is_full() {
                let lines = memchr_iter(b'\n', chunk).count();
                self.page.total_lines += lines as u64;
                return;
            }
            let end = memchr(b'\n', chunk);
            let (line, rest) = chunk.split_at(end.unwrap_or(chunk.len()));
            let is_wanted = self.page.total_lines + 1 >= self.window.first;
            if is_wanted {
                let length = line.len().min(KEPT_LINE_BYTES - self.line.len());
                self.line.extend_from_slice(&line[..length]);
                self.dropped_bytes += (line.len() - length) as u64;
            }
            if end.is_some() {
                if is_wanted {
                    self.end_line();
                }
                self.page.total_lines += 1;
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
    }

    /// Ends the text.
    pub(super) fn finish(mut self) -> Page {
        self.page.ends_with_newline = self.last_byte == Some(b'\n');
        if self.last_byte.is_some_and(|byte| byte != b'\n') {
            if !self.is_full() && self.page.total_lines + 1 >= self.window.first {
                self.end_line();
            }
            self.page.total_lines += 1;
        }
        self.page
    }

    fn is_full(&self) -> bool {
        let lines = self.page.lines.len() as u64;
        lines >= self.window.limit || self.page.end == PageEnd::Characters
    }

    fn end_line(&mut self) {
        let (text, is_cut) = self.format_line();
        let characters = NUMBER_WIDTH + 1 + utf16_length(&text);
        self.line.clear();
        self.dropped_bytes = 0;
        if !self.page.lines.is_empty() && self.characters + characters > self.window.characters {
            self.page.end = PageEnd::Characters;
            return;
        }
        self.characters += characters;
        self.page.cut_lines += usize::from(is_cut);
        self.page.lines.push(text);
    }

    fn format_line(&self) -> (String, bool) {
        let mut bytes = self.line.as_slice();
        if self.page.total_lines == 0 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        if self.dropped_bytes == 0 {
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        match text.char_indices().nth(MAX_LINE_CHARACTERS) {
            None => (text.into_owned(), false),
            Some((end, _)) => (
                format!(
                    "{}... [line cut after {MAX_LINE_CHARACTERS} characters]",
                    &text[..end]
                ),
                true,
            ),
        }
    }
}

/// The minimum width of a line number and the tab after it, in characters.
pub(super) const NUMBER_WIDTH: usize = 7;

/// Formats lines with numbers from `first`: right-aligned in six columns, then a tab. Without a line feed at the
/// end.
pub(super) fn number_lines<'a>(first: u64, lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (number, line) in (first..).zip(lines) {
        if !text.is_empty() {
            text.push('\n');
        }
        append!(text, "{number:>6}\t{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Window = Window {
        first: 1,
        limit: u64::MAX,
        characters: usize::MAX,
    };

    fn page(window: Window, chunks: &[&[u8]]) -> Page {
        let mut lines = LineWindow::new(window);
        for chunk in chunks {
            lines.push(chunk);
        }
        lines.finish()
    }

    #[test]
    fn lines_are_counted_as_usual() {
        let table: [(&str, &[&str]); 7] = [
            ("", &[]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\nb", &["a", "b"]),
            ("\n\n", &["", ""]),
            ("a\r\nb\r\n", &["a", "b"]),
            ("\u{feff}a\n\u{feff}b", &["a", "\u{feff}b"]),
        ];
        for (text, expected) in table {
            let page = page(ALL, &[text.as_bytes()]);
            assert_eq!(page.lines, expected, "{text:?}");
            assert_eq!(page.total_lines, expected.len() as u64, "{text:?}");
            assert_eq!(page.ends_with_newline, text.ends_with('\n'), "{text:?}");
        }
    }

    #[test]
    fn a_window_keeps_its_lines_and_counts_the_others() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let window = Window {
            first: 4,
            limit: 3,
            ..ALL
        };
        let page = page(window, &[text.as_bytes()]);
        assert_eq!(page.lines, ["4", "5", "6"]);
        assert_eq!(page.total_lines, 10);
        assert_eq!(page.end, PageEnd::Window);
    }

    #[test]
    fn a_page_ends_at_its_limit_of_characters() {
        let window = Window {
            characters: 2 * (NUMBER_WIDTH + 3),
            ..ALL
        };
        let page = page(window, &[b"ab\ncd\nef\ngh\n"]);
        assert_eq!(page.lines, ["ab", "cd"]);
        assert_eq!(page.end, PageEnd::Characters);
        assert_eq!(page.total_lines, 4);
    }

    #[test]
    fn long_lines_are_cut() {
        let fits = "ä".repeat(MAX_LINE_CHARACTERS);
        for long in [
            "ä".repeat(MAX_LINE_CHARACTERS + 1),
            "\u{10ffff}".repeat(1_000_000),
        ] {
            let text = format!("{fits}\r\n{long}\nend");
            let page = page(ALL, &[text.as_bytes()]);
            assert_eq!(page.lines[0], fits);
            let cut: String = long.chars().take(MAX_LINE_CHARACTERS).collect();
            assert_eq!(
                page.lines[1],
                format!("{cut}... [line cut after 2000 characters]")
            );
            assert_eq!(page.lines[2], "end");
            assert_eq!(page.cut_lines, 1);
        }
    }

    #[test]
    fn long_lines_are_truncated() {
        let mut window = LineWindow::new(ALL);
        let chunk = vec![b'x'; 64 << 10];
        for _ in 0..200 {
            window.push(&chunk);
            assert!(window.line.capacity() <= 2 * KEPT_LINE_BYTES);
        }
        assert_eq!(window.finish().cut_lines, 1);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            text in "([a\r\u{feff}ä]{0,4}\n){0,8}[a\r]{0,3}",
            cuts in proptest::collection::vec(0_usize..40, 0..6),
            first in 1_u64..6,
            limit in 1_u64..6,
            characters in 1_usize..60,
        ) {
            let window = Window { first, limit, characters };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut chunks: Vec<&[u8]> = Vec::new();
            let mut start = 0;
            for cut in cuts {
                chunks.push(&text.as_bytes()[start..cut]);
                start = cut;
            }
            chunks.push(&text.as_bytes()[start..]);
            prop_assert_eq!(page(window, &chunks), page(window, &[text.as_bytes()]));
        }

        #[test]
        fn a_window_is_a_slice_of_the_lines(
            text in "([a-c]{0,3}\r?\n){0,9}[a-c]{0,3}",
            first in 1_usize..12,
            limit in 1_usize..12,
        ) {
            let window = Window { first: first as u64, limit: limit as u64, ..ALL };
            let expected: Vec<&str> = text.lines().skip(first - 1).take(limit).collect();
            let page = page(window, &[text.as_bytes()]);
            prop_assert_eq!(page.lines, expected);
            prop_assert_eq!(page.total_lines, text.lines().count() as u64);
        }
    }

    #[test]
    fn numbers_are_right_aligned_in_six_columns() {
        assert_eq!(
            number_lines(1, ["a", "", "\tc"]),
            "     1\ta\n     2\t\n     3\t\tc"
        );
        assert_eq!(number_lines(999_999, ["x", "y"]), "999999\tx\n1000000\ty");
        assert_eq!(number_lines(1, []), "");
    }

    proptest! {
        #[test]
        fn numbered_lines_can_be_parsed(
            first in 1_u64..2_000_000,
            lines in proptest::collection::vec("[^\n]{0,12}", 1..20),
        ) {
            let text = number_lines(first, lines.iter().map(String::as_str));
            let back: Vec<(u64, String)> = text
                .split('\n')
                .map(|line| {
                    let (number, rest) = line.split_once('\t').unwrap();
                    (number.trim_start().parse().unwrap(), rest.to_owned())
                })
                .collect();
            let expected: Vec<(u64, String)> = (first..).zip(lines).collect();
            prop_assert_eq!(back, expected);
        }
    }
}
