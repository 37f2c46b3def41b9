//! Converts HTML to Markdown.
//!
//! The library walks the tree recursively, and a short page can describe a very large tree. Therefore the tree is
//! parsed in chunks, and its size is checked after each.

use std::rc::Rc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::Options;
use htmd::{Element, HtmlToMarkdown};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use memchr::memchr_iter;

use crate::io::CancelToken;

/// Size of a chunk, in bytes.
const CHUNK_BYTES: usize = 8 << 10;

/// Maximum depth of a tree.
const MAX_DEPTH: usize = 256;

/// Maximum number of nodes of a tree.
const MAX_NODES: usize = 500_000;

/// Maximum number of lines of a tree, each counted once for every list and quotation that contains it, because
/// it is indented there.
const MAX_INDENTED_LINES: usize = 8 << 20;

/// Elements that are invisible or have no text.
const SKIPPED: &[&str] = &[
    "head", "script", "style", "noscript", "template", "iframe", "svg", "canvas", "object",
];

/// Converts a page to Markdown, or the part of it before a cancellation.
///
/// # Errors
/// The page cannot be converted, for this reason (one line).
pub(super) fn to_markdown(html: &str, cancel: &CancelToken) -> Result<String, String> {
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() && !cancel.is_cancelled() {
        let (piece, others) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES));
        parser.process(StrTendril::from(piece));
        check_size(&parser.tokenizer.sink.sink.document)?;
        rest = others;
    }
    let options = Options {
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder()
        .options(options)
        .skip_tags(SKIPPED.to_vec())
        .add_handler(vec!["table"], convert_table)
        .build();
    Ok(converter.tree_to_markdown(&parser.finish().document))
}

fn check_size(document: &Rc<Node>) -> Result<(), String> {
    let (mut nodes, mut lines) = (0, 0);
    let mut pending = vec![(Rc::clone(document), 1, 0)];
    while let Some((node, depth, indent)) = pending.pop() {
        nodes += 1;
        lines += indent;
        if let NodeData::Text { contents } = &node.data {
            lines += indent * memchr_iter(b'\n', contents.borrow().as_bytes()).count();
        }
        if depth > MAX_DEPTH || nodes > MAX_NODES || lines > MAX_INDENTED_LINES {
            return Err("the structure of the page is too large to convert to Markdown".to_owned());
        }
        let indent = indent + usize::from(matches!(tag(&node), Some("li" | "blockquote")));
        let children = node.children.borrow();
        pending.extend(
            children
                .iter()
                .map(|child| (Rc::clone(child), depth + 1, indent)),
        );
    }
    Ok(())
}

fn tag(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

/// Converts a table with headings; other tables are used for layout. The library's own handler omits row
/// headings, and pads every cell to the width of its column, which can be very large.
fn convert_table(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let rows = find_rows(element.node);
    let is_heading = |cell: &Rc<Node>| tag(cell) == Some("th");
    if !rows
        .iter()
        .any(|row| row.children.borrow().iter().any(is_heading))
    {
        return handlers.fallback(element);
    }
    let mut text = String::from("\n\n");
    for (number, row) in rows.iter().enumerate() {
        let mut columns = 0;
        for cell in row.children.borrow().iter() {
            if matches!(tag(cell), Some("td" | "th")) {
                let content = handlers.walk_children(cell).content.replace('|', "\\|");
                let words: Vec<&str> = content.split_whitespace().collect();
                text.push_str("| ");
                text.push_str(&words.join(" "));
                text.push(' ');
                columns += 1;
            }
        }
        text.push_str("|\n");
        if number == 0 {
            text.push_str(&"| --- ".repeat(columns));
            text.push_str("|\n");
        }
    }
    text.push('\n');
    Some(text.into())
}

/// Returns the rows of a table, excluding nested tables.
fn find_rows(table: &Rc<Node>) -> Vec<Rc<Node>> {
    let mut found = Vec::new();
    for child in table.children.borrow().iter() {
        match tag(child) {
            Some("tr") => found.push(Rc::clone(child)),
            Some("thead" | "tbody" | "tfoot") => found.extend(find_rows(child)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn convert_page(html: &str) -> Result<String, String> {
        to_markdown(html, &CancelToken::default())
    }

    #[test]
    fn visible_content_becomes_markdown() {
        let page = "<!doctype html><html><head><title>T</title><style>p{}</style></head><body>\
            <script>alert('<p>no')</script><h2>Use</h2><p>See <a href=/b>b</a> &amp; <code>c</code>.\
            <ul><li>one<li>two</ul><pre><code>a\n  b</code></pre>\
            <table><tr><th>x<th>y<tr><th>1<td>2|<br>3</table><noscript>no</noscript></body></html>";
        let text = convert_page(page).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "## Use",
                "See [b](/b) & `c`.",
                "* one",
                "* two",
                "```",
                "a",
                "  b",
                "```",
                "| x | y |",
                "| --- | --- |",
                "| 1 | 2\\| 3 |",
            ]
        );
    }

    #[test]
    fn pages_with_huge_structures_are_refused() {
        let attributes: String = (0..200)
            .flat_map(|id| ["<b id=".to_owned(), id.to_string(), ">".to_owned()])
            .collect();
        let monsters = [
            "<div>".repeat(20_000),
            "<ul><li>".repeat(20_000),
            // Elements that may not be in a table are moved before it.
            "<table>".to_owned() + &"<div>".repeat(20_000),
            "<table><tr><td>".repeat(20_000),
            "<blockquote>".repeat(20_000),
            "<blockquote>".repeat(200) + &"\n<br>".repeat(30_000),
            "<ul><li>".repeat(100) + "<pre>" + &"\n".repeat(100_000),
            // Every paragraph repeats the elements that are still open.
            "<p>".to_owned() + &attributes + &"<p>x".repeat(100_000),
        ];
        for monster in monsters {
            assert!(convert_page(&monster).is_err(), "{}", &monster[..40]);
        }
        let deep = "<div>".repeat(MAX_DEPTH - 5) + "x";
        assert_eq!(convert_page(&deep), Ok("x".to_owned()));
    }

    #[test]
    fn unclosed_elements_are_accepted() {
        let list = "<ul>".to_owned() + &"<li>one<p>two".repeat(2000);
        assert!(convert_page(&list).unwrap().lines().count() > 4000);
    }

    #[test]
    fn a_wide_cell_does_not_widen_the_others() {
        let table = format!(
            "<table><tr><th>{}{}",
            "x".repeat(5000),
            "<tr><td>y".repeat(5000)
        );
        assert!(convert_page(&table).unwrap().len() < 50_000);
    }

    proptest! {
        #[test]
        fn broken_pages_are_converted(
            parts in proptest::collection::vec((prop::sample::select(TAGS.split_whitespace().collect::<Vec<_>>()), 0..6_u8, "[a-z|*`_<&\\]\\[(){}#ä€😀\u{a0}\u{301} \n\t]{0,6}"), 0..40)
        ) {
            let page: String = parts
                .iter()
                .map(|(tag, form, text)| {
                    match form {
                        0 | 1 => format!("<{tag}>{text}"),
                        2 => format!("</{tag}>{text}"),
                        3 => format!("<{tag} href='{text}' src=\"{text}\" title={text} alt='{text}'>"),
                        4 => format!("<{tag} start=-9 class='language-{text}' rowspan=9 colspan=99999>{text}"),
                        _ => format!("<!--{text}--><![CDATA[{text}]]>&#{text};"),
                    }
                })
                .collect();
            prop_assert!(convert_page(&page).is_ok(), "{page}");
        }
    }

    const TAGS: &str = "a b blockquote body br caption code dd div dl em form frameset h1 h6 head hr html i img \
        input li math ol p pre script select span strong svg table tbody td template th thead title \
        tr ul video";

    #[test]
    fn chunks_do_not_split_characters() {
        let text = "ä€😀".repeat(CHUNK_BYTES);
        assert_eq!(convert_page(&text), Ok(text));
    }
}
