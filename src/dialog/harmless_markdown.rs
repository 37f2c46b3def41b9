//! Markdown that somebody else wrote, as a part of a page: it stays Markdown, but brings no HTML and
//! loads no images.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::text::{terminal_safe, terminal_safe_line};

/// Masking one tag can turn code into text that holds another one. After this many rounds code is
/// no longer spared.
const MOST_ROUNDS: usize = 4;

/// Text of several lines, in which tags and images outside of code show as they were typed. A fence
/// that was left open is closed.
pub(super) fn harmless_markdown(text: &str) -> String {
    let mut text = terminal_safe(text);
    for round in 0..=MOST_ROUNDS {
        let code = if round < MOST_ROUNDS {
            code_in(&text)
        } else {
            Vec::new()
        };
        let masked = without_markup(&text, &code);
        if masked == text {
            break;
        }
        text = masked;
    }
    if let Some(fence) = open_fence(&text) {
        text = format!("{text}\n{fence}");
    }
    text
}

/// One line, in which nothing is markup.
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

/// Character references stand in for what begins a tag or an image: other than a backslash, they
/// mean the same after a backslash.
fn without_markup(text: &str, code: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut code = code.iter().peekable();
    for (at, character) in text.char_indices() {
        while code.next_if(|range| range.end <= at).is_some() {}
        let is_code = code.peek().is_some_and(|range| range.start <= at);
        let next = text[at + character.len_utf8()..].chars().next();
        let begins_tag = |next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
        match character {
            '<' if !is_code && next.is_some_and(begins_tag) => masked.push_str("&lt;"),
            '!' if !is_code && next == Some('[') => masked.push_str("&#33;"),
            other => masked.push(other),
        }
    }
    masked
}

fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// Where code stands, in order.
fn code_in(text: &str) -> Vec<Range<usize>> {
    events(text)
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

/// The fence of a code block that what follows the text would belong to.
fn open_fence(text: &str) -> Option<String> {
    let end = text.len();
    let longer = format!("{text}\n\nend");
    let (_, range) = events(&longer).find(|(event, range)| {
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
        events(text).any(|(event, _)| {
            matches!(
                event,
                Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. })
            )
        })
    }

    #[test]
    fn tags_and_images_are_text_and_the_rest_is_markdown() {
        let rows = [
            ("**a** < b\n\n- c", "**a** < b\n\n- c"),
            ("<script>x</script>", "&lt;script>x&lt;/script>"),
            (r"\<script>", r"\&lt;script>"),
            ("![x](http://a/b.png)", "&#33;[x](http://a/b.png)"),
            ("`<b>` and ![x][y]", "`<b>` and &#33;[x][y]"),
            ("```html\n<b>\n```", "```html\n<b>\n```"),
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
        fn no_text_brings_markup(
            said in prop::collection::vec("[<>a/= \"'!\\[\\]()`*_~|\n:#-]{0,40}", 1..4)
        ) {
            let said: Vec<String> = said.iter().map(|text| harmless_markdown(text)).collect();
            let page = said.join("\n\n## User\n\n");
            prop_assert!(!has_markup(&page), "{page}");
        }

        #[test]
        fn a_line_is_only_words(line in "[<>a/= \"'!\\[\\]()`*_~|:#&;-]{0,40}") {
            let line = format!("x{}", harmless_line(&line));
            let is_plain = |event: &Event<'_>| {
                matches!(event, Event::Text(_) | Event::Start(Tag::Paragraph) | Event::End(_))
            };
            prop_assert!(events(&line).all(|(event, _)| is_plain(&event)), "{line}");
        }
    }
}
