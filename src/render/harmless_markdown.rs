//! Markdown from a session as part of a page: no HTML, no images, and links only to the web, to mail
//! addresses and to files.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::text::clean_with_tabs;
use crate::text::{terminal_safe, terminal_safe_line};

/// Escaping a tag can turn code into text with another tag. After this many rounds, code is escaped too.
const MAX_ROUNDS: usize = 4;

/// Allowed schemes of links in all pages.
pub(super) const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Escapes tags, images and other links outside code, and closes an open fence.
pub(super) fn harmless_markdown(text: &str) -> String {
    let mut text = close_fence(clean_with_tabs(text));
    for round in 0..=MAX_ROUNDS {
        let code = if round < MAX_ROUNDS {
            find_code(&text)
        } else {
            Vec::new()
        };
        let masked = escape_markup(&text, &code);
        if masked == text {
            break;
        }
        text = masked;
    }
    close_fence(text)
}

/// Formats a block quote. Code is escaped too, because parsers differ about code in quotes.
pub(super) fn harmless_quote(text: &str) -> String {
    let text = escape_markup(&terminal_safe(text), &[]);
    let lines = close_fence(text);
    lines.lines().flat_map(|line| ["> ", line, "\n"]).collect()
}

/// Escapes all markup in a line.
pub(super) fn harmless_line(text: &str) -> String {
    let mut line = String::new();
    for character in terminal_safe_line(text).chars() {
        if r"\`*_[]<>!#&~|".contains(character) {
            line.push('\\');
        }
        line.push(character);
    }
    line
}

/// Replaces the start of tags, images and links by character references. Unlike backslashes, these also
/// work after a backslash.
fn escape_markup(text: &str, code: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut code_ranges = code.iter().peekable();
    for (at, character) in text.char_indices() {
        while code_ranges.next_if(|range| range.end <= at).is_some() {}
        let is_code = code_ranges.peek().is_some_and(|range| range.start <= at);
        let next_text = &text[at + character.len_utf8()..];
        let next = next_text.chars().next();
        let is_tag_start =
            |next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
        let is_after_label = at > 0 && text.as_bytes()[at - 1] == b']';
        match character {
            '(' if !is_code && is_after_label && !is_link(next_text) => masked.push_str("&#40;"),
            ':' if !is_code && is_after_label && !is_link(next_text) => masked.push_str("&#58;"),
            '<' if !is_code && next.is_some_and(is_tag_start) => masked.push_str("&lt;"),
            '!' if !is_code && next == Some('[') => masked.push_str("&#33;"),
            '\t' if !is_code => masked.push(' '),
            other => masked.push(other),
        }
    }
    masked
}

fn parse_events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// Whether a link's target has an allowed scheme or none. Targets with character references or escapes
/// are rejected, since these could hide a scheme.
fn is_link(text: &str) -> bool {
    let target = text.trim_start_matches(|next: char| next.is_whitespace() || "<>".contains(next));
    let is_bracketed = text[..text.len() - target.len()].contains('<');
    let is_end = |next: char| "/?#)".contains(next) || (next.is_whitespace() && !is_bracketed);
    let head = target.split(is_end).next().unwrap_or_default();
    let is_allowed = |scheme: &&str| {
        let start = target.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().any(is_allowed) || !head.contains([':', '&', '\\'])
}

/// Returns the ranges that every parser treats as code, in order: code within a line, and blocks between
/// equal fences at the start of lines.
fn find_code(text: &str) -> Vec<Range<usize>> {
    parse_events(text)
        .filter(|(event, range)| match event {
            Event::Code(_) => !text[range.clone()].contains('\n'),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => is_plain(text, range),
            _ => false,
        })
        .map(|(_, range)| range)
        .collect()
}

/// Whether a fenced block starts at the start of a line, has at most one word after its first fence, and
/// ends with an equal fence.
fn is_plain(text: &str, block: &Range<usize>) -> bool {
    let starts_line = text[..block.start].is_empty() || text[..block.start].ends_with('\n');
    let mut lines = text[block.clone()].trim_end_matches('\n').lines();
    let (Some(first), Some(last)) = (lines.next(), lines.next_back()) else {
        return false;
    };
    let word = first.trim_start_matches(['`', '~']);
    let is_word = |next: char| next.is_alphanumeric() || "_#.+-".contains(next);
    starts_line && word.chars().all(is_word) && &first[..first.len() - word.len()] == last
}

/// Closes an open fence.
fn close_fence(text: String) -> String {
    match open_fence(&text) {
        Some(fence) => format!("{text}\n{fence}"),
        None => text,
    }
}

/// Returns the fence of a code block that is open at the end of the text.
fn open_fence(text: &str) -> Option<String> {
    let end = text.len();
    let longer = format!("{text}\n\nend");
    let (_, range) = parse_events(&longer).find(|(event, range)| {
        let is_fenced = matches!(
            event,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))
        );
        is_fenced && range.end > end + 2
    })?;
    let block = &longer[range];
    let mark = block.chars().next()?;
    Some(block.chars().take_while(|next| *next == mark).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn has_markup(text: &str) -> bool {
        parse_events(text).any(|(event, _)| {
            matches!(
                event,
                Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. })
            ) || matches!(event, Event::Start(Tag::Link { dest_url, .. }) if !is_safe(&dest_url))
        })
    }

    /// Whether browsers treat a target as a relative link, or as one with an allowed scheme.
    fn is_safe(target: &str) -> bool {
        let seen: String = target.chars().filter(|next| !next.is_control()).collect();
        let seen = seen.trim_start().to_ascii_lowercase();
        let scheme = seen.split(['/', '?', '#']).next().unwrap_or_default();
        !scheme.contains(':') || SCHEMES.iter().any(|scheme| seen.starts_with(scheme))
    }

    #[test]
    fn other_schemes_are_escaped() {
        let kept = [
            "[a](http://x) [b](HTTPS://x 'y: z') [c](mailto:x@y)",
            "[a](src/main.rs:12) [b](#c) [d](?e:f) [g](h)",
            "[a]: https://x/y",
            "- [ ] a: b",
            "`[a](javascript:b)`",
        ];
        for text in kept {
            assert_eq!(harmless_markdown(text), text);
        }
        let rows = [
            ("[a](javascript:b)", "[a]&#40;javascript:b)"),
            ("[a](\n> JavaScript:b)", "[a]&#40;\n> JavaScript:b)"),
            ("[a]( data:text/html,b)", "[a]&#40; data:text/html,b)"),
            ("[a](&#106;avascript:b)", "[a]&#40;&#106;avascript:b)"),
            ("[a](javascript\\:b)", "[a]&#40;javascript\\:b)"),
            ("[a](<\tj b:c>)", "[a]&#40;< j b:c>)"),
            ("[a]: vbscript:b", "[a]&#58; vbscript:b"),
        ];
        for (text, expected) in rows {
            assert_eq!(harmless_markdown(text), expected);
        }
    }

    #[test]
    fn code_that_parsers_may_treat_as_text_is_escaped() {
        let rows = [
            (
                "- a\n  ```html\n  <b>\n  ```",
                "- a\n  ```html\n  &lt;b>\n  ```",
            ),
            ("a `b\n<c>`", "a `b\n&lt;c>`"),
            ("```a b\n<c>\n```", "```a b\n&lt;c>\n```"),
            ("```\n<c>\n````", "```\n&lt;c>\n````"),
            ("    <c>", "    &lt;c>"),
            ("~~~\n<c>", "~~~\n<c>\n~~~"),
        ];
        for (text, expected) in rows {
            assert_eq!(harmless_markdown(text), expected);
        }
        assert_eq!(harmless_quote("```\n<c>"), "> ```\n> &lt;c>\n> ```\n");
    }

    #[test]
    fn tags_and_images_are_escaped() {
        let rows = [
            ("**a** < b\n\n- c", "**a** < b\n\n- c"),
            ("<script>x</script>", "&lt;script>x&lt;/script>"),
            (r"\<script>", r"\&lt;script>"),
            ("![x](http://a/b.png)", "&#33;[x](http://a/b.png)"),
            ("`<b>` and ![x][y]", "`<b>` and &#33;[x][y]"),
            ("```html\n<b>\n```", "```html\n<b>\n```"),
            ("```make\na:\n\tb\n```\n\tc", "```make\na:\n\tb\n```\n c"),
            ("<a t=\"`\"> `<b>` x", "&lt;a t=\"`\"> `&lt;b>` x"),
            ("<!-- a", "&lt;!-- a"),
            ("~~~~\nx", "~~~~\nx\n~~~~"),
            ("a\u{1b}[2J\u{202e}b", "ab"),
        ];
        for (text, expected) in rows {
            assert_eq!(harmless_markdown(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_becomes_html(
            said in prop::collection::vec("([<>a/= \"'!\\[\\]()`*_~|\n:#\\\\-]|\\]\\(a:|\\]: |&#97;){0,40}", 1..4)
        ) {
            let said: Vec<String> = said.iter().map(|text| harmless_markdown(text)).collect();
            let page = said.join("\n\n## User\n\n");
            prop_assert!(!has_markup(&page), "{page}");
        }

        #[test]
        fn a_line_has_no_markup(line in "[<>a/= \"'!\\[\\]()`*_~|:#&;-]{0,40}") {
            let line = format!("x{}", harmless_line(&line));
            let is_plain = |event: &Event<'_>| {
                matches!(event, Event::Text(_) | Event::Start(Tag::Paragraph) | Event::End(_))
            };
            prop_assert!(parse_events(&line).all(|(event, _)| is_plain(&event)), "{line}");
        }
    }
}
