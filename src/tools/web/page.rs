//! The content of a response as text, HTML as Markdown, or as an image.
//!
//! The library for HTML walks the tree recursively, and a short page can describe a very large tree. Therefore the tree
//! is parsed in chunks, and its size is checked after each.

use std::rc::Rc;
use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8};
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::Options;
use htmd::{Element, HtmlToMarkdown};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use memchr::memchr_iter;
use regex::bytes::Regex;
use reqwest::StatusCode;

use crate::http::{ContentType, Response};
use crate::io::CancelToken;
use crate::text::byte_size;
use crate::tools::Image;
use crate::tools::reply::{image_block, media_type};

/// Number of bytes to search for a page's declaration of its encoding.
const HEAD_BYTES: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WebPage {
    pub(super) status: u16,
    /// The size of the response, in bytes.
    pub(super) bytes: usize,
    pub(super) body: PageBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageBody {
    /// Markdown, or the original text.
    Text(String),
    Image(Image),
}

impl Default for PageBody {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl WebPage {
    /// Converts a response.
    ///
    /// # Errors
    /// The response cannot be shown, for this reason (one line).
    pub(super) fn of(
        response: &Response,
        body: &[u8],
        cancel: &CancelToken,
    ) -> Result<Self, String> {
        let header = |name: &str| response.headers.get(name).map(String::as_str);
        let packing = header("content-encoding").unwrap_or("identity");
        if !packing.eq_ignore_ascii_case("identity") {
            return Err(format!(
                "the page came compressed ({packing}), which was not requested"
            ));
        }
        Ok(Self {
            status: response.status,
            bytes: body.len(),
            body: shown(header("content-type"), body, cancel)?,
        })
    }
}

/// Returns the name of a status.
pub(super) fn reason(status: u16) -> &'static str {
    let known = StatusCode::from_u16(status).ok();
    known
        .and_then(|status| status.canonical_reason())
        .unwrap_or("")
}

fn shown(header: Option<&str>, bytes: &[u8], cancel: &CancelToken) -> Result<PageBody, String> {
    if let Some(media_type) = media_type(bytes) {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let image = image_block(media_type, bytes, size).map_err(|failure| failure.0)?;
        return Ok(PageBody::Image(image));
    }
    let is_html = match ContentType::of(header) {
        ContentType::Html => true,
        ContentType::Missing => begins_as_html(bytes),
        _ => false,
    };
    let text = decoded(bytes, charset(header, bytes, is_html));
    // Text never contains NUL bytes, even if the content type says otherwise.
    if bytes.starts_with(b"%PDF-") || text.contains('\0') {
        let kind = header.unwrap_or("unknown type");
        let size = byte_size(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        return Err(format!("the page is binary ({kind}, {size})"));
    }
    let text = if is_html {
        markdown(&text, cancel)?
    } else {
        text
    };
    Ok(PageBody::Text(text))
}

fn begins_as_html(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let start = start[..start.len().min(14)].to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// Returns the encoding declared by the server, else by the page, else UTF-8.
fn charset(header: Option<&str>, bytes: &[u8], is_html: bool) -> &'static Encoding {
    static PARAMETER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i-u)charset\s*=\s*["']?([-\w.:]+)"#).ok());
    let named = |text: &[u8]| {
        let found = PARAMETER.as_ref()?.captures(text)?;
        Encoding::for_label(found.get(1)?.as_bytes())
    };
    let in_page = || named(&bytes[..bytes.len().min(HEAD_BYTES)]).filter(|_| is_html);
    header
        .and_then(|header| named(header.as_bytes()))
        .or_else(in_page)
        .unwrap_or(UTF_8)
}

/// Decodes a page. A byte order mark overrides declarations.
fn decoded(bytes: &[u8], encoding: &'static Encoding) -> String {
    encoding.decode(bytes).0.into_owned()
}

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
pub(super) fn markdown(html: &str, cancel: &CancelToken) -> Result<String, String> {
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() && !cancel.is_cancelled() {
        let (piece, others) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES));
        parser.process(StrTendril::from(piece));
        check(&parser.tokenizer.sink.sink.document)?;
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
        .add_handler(vec!["table"], table)
        .build();
    Ok(converter.tree_to_markdown(&parser.finish().document))
}

fn check(document: &Rc<Node>) -> Result<(), String> {
    let (mut nodes, mut lines) = (0, 0);
    let mut open = vec![(Rc::clone(document), 1, 0)];
    while let Some((node, depth, indent)) = open.pop() {
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
        open.extend(
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
fn table(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let rows = rows(element.node);
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
fn rows(table: &Rc<Node>) -> Vec<Rc<Node>> {
    let mut found = Vec::new();
    for child in table.children.borrow().iter() {
        match tag(child) {
            Some("tr") => found.push(Rc::clone(child)),
            Some("thead" | "tbody" | "tfoot") => found.extend(rows(child)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
