use proptest::prelude::*;

use super::*;

fn text(header: Option<&str>, bytes: &[u8]) -> Result<String, String> {
    match shown(header, bytes, &CancelToken::default())? {
        PageBody::Text(text) => Ok(text),
        PageBody::Image(image) => Ok(image.media_type),
    }
}

#[test]
fn content_is_shown_by_its_type() {
    let gif: &[u8] = b"GIF89a\x05\0\x07\x01\0\0\0";
    let rows: [(Option<&str>, &[u8], &str); 15] = [
        (
            Some("text/html"),
            b"<h1>A</h1><p>b <b>c</b>",
            "# A\n\nb **c**",
        ),
        (Some("TEXT/HTML; charset=x"), b"<p>a", "a"),
        (None, b"\n <!DOCTYPE HTML><p>a", "a"),
        (None, b"<p>a", "<p>a"),
        (Some("text/plain"), b"<h1>A</h1>", "<h1>A</h1>"),
        (Some("application/json"), b"{\"a\":1}", "{\"a\":1}"),
        (Some("application/octet-stream"), b"plain", "plain"),
        (Some("text/html; charset=iso-8859-1"), b"\xe4", "ä"),
        (
            Some("text/plain; charset=\"Shift_JIS\""),
            b"\x83\x65\x83\x58\x83\x67",
            "テスト",
        ),
        (
            Some("text/html"),
            b"<meta charset='windows-1251'><p>\xef\xf0\xe8",
            "при",
        ),
        (
            Some("text/html; charset=utf-8"),
            b"<meta charset=windows-1251><p>\xc3\xa4",
            "ä",
        ),
        (Some("text/plain"), b"\xff\xfea\0b\0", "ab"),
        (Some("text/plain; charset=utf-16le"), b"a\0b\0", "ab"),
        (Some("text/plain"), b"\xef\xbb\xbfa\xff", "a\u{fffd}"),
        (Some("text/html"), gif, "image/gif"),
    ];
    for (header, bytes, expected) in rows {
        assert_eq!(
            text(header, bytes),
            Ok(expected.to_owned()),
            "{header:?} {bytes:?}"
        );
    }
}

#[test]
fn binary_content_is_refused_with_its_type_and_size() {
    let rows: [(Option<&str>, &[u8], &str); 4] = [
        (
            Some("application/zip"),
            b"PK\x03\x04\0\0",
            "the page is binary (application/zip, 6 bytes)",
        ),
        (
            None,
            b"\0\0\0\0",
            "the page is binary (unknown type, 4 bytes)",
        ),
        (
            Some("text/plain"),
            b"a\0b",
            "the page is binary (text/plain, 3 bytes)",
        ),
        (
            Some("application/pdf"),
            b"%PDF-1.7 all text",
            "the page is binary (application/pdf, 17 bytes)",
        ),
    ];
    for (header, bytes, expected) in rows {
        assert_eq!(text(header, bytes), Err(expected.to_owned()), "{header:?}");
    }
}

fn converted(html: &str) -> Result<String, String> {
    markdown(html, &CancelToken::default())
}

#[test]
fn visible_content_becomes_markdown() {
    let page = "<!doctype html><html><head><title>T</title><style>p{}</style></head><body>\
        <script>alert('<p>no')</script><h2>Use</h2><p>See <a href=/b>b</a> &amp; <code>c</code>.\
        <ul><li>one<li>two</ul><pre><code>a\n  b</code></pre>\
        <table><tr><th>x<th>y<tr><th>1<td>2|<br>3</table><noscript>no</noscript></body></html>";
    let text = converted(page).unwrap();
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
        assert!(converted(&monster).is_err(), "{}", &monster[..40]);
    }
    let deep = "<div>".repeat(MAX_DEPTH - 5) + "x";
    assert_eq!(converted(&deep), Ok("x".to_owned()));
}

#[test]
fn unclosed_elements_are_accepted() {
    let list = "<ul>".to_owned() + &"<li>one<p>two".repeat(2000);
    assert!(converted(&list).unwrap().lines().count() > 4000);
}

#[test]
fn a_wide_cell_does_not_widen_the_others() {
    let table = format!(
        "<table><tr><th>{}{}",
        "x".repeat(5000),
        "<tr><td>y".repeat(5000)
    );
    assert!(converted(&table).unwrap().len() < 50_000);
}

proptest! {
    #[test]
    fn broken_pages_are_converted(
        parts in proptest::collection::vec((0..TAGS.len(), 0..6_u8, "[a-z|*`_<&\\]\\[(){}#ä€😀\u{a0}\u{301} \n\t]{0,6}"), 0..40)
    ) {
        let page: String = parts
            .iter()
            .map(|(tag, form, text)| {
                let tag = TAGS[*tag];
                match form {
                    0 | 1 => format!("<{tag}>{text}"),
                    2 => format!("</{tag}>{text}"),
                    3 => format!("<{tag} href='{text}' src=\"{text}\" title={text} alt='{text}'>"),
                    4 => format!("<{tag} start=-9 class='language-{text}' rowspan=9 colspan=99999>{text}"),
                    _ => format!("<!--{text}--><![CDATA[{text}]]>&#{text};"),
                }
            })
            .collect();
        prop_assert!(converted(&page).is_ok(), "{page}");
    }
}

const TAGS: &[&str] = &[
    "a",
    "b",
    "blockquote",
    "body",
    "br",
    "caption",
    "code",
    "dd",
    "div",
    "dl",
    "em",
    "form",
    "frameset",
    "h1",
    "h6",
    "head",
    "hr",
    "html",
    "i",
    "img",
    "input",
    "li",
    "math",
    "ol",
    "p",
    "pre",
    "script",
    "select",
    "span",
    "strong",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
];

#[test]
fn chunks_do_not_split_characters() {
    let text = "ä€😀".repeat(CHUNK_BYTES);
    assert_eq!(converted(&text), Ok(text));
}
