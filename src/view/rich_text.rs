//! Converts a model's Markdown to HTML. Tags stay text, images become their descriptions, and links
//! other than web and mail links have no target.

use pulldown_cmark::{Alignment, CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Allowed schemes of links.
const LINKS: [&str; 3] = ["https://", "http://", "mailto:"];

/// Converts a text without control and hidden characters.
pub(super) fn rich_text(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(text, options).filter_map(|event| match event {
        Event::Html(tag) | Event::InlineHtml(tag) => Some(Event::Text(tag)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        // An alignment would be an inline style, which the policy forbids.
        Event::Start(Tag::Table(columns)) => Some(Event::Start(Tag::Table(vec![
            Alignment::None;
            columns.len()
        ]))),
        // Keep line breaks.
        Event::SoftBreak => Some(Event::HardBreak),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            id,
            ..
        }) => {
            let is_allowed = LINKS.iter().any(|start| dest_url.starts_with(start));
            Some(Event::Start(Tag::Link {
                link_type,
                dest_url: if is_allowed {
                    dest_url
                } else {
                    CowStr::Borrowed("")
                },
                title: CowStr::Borrowed(""),
                id,
            }))
        }
        other => Some(other),
    });
    let mut page = String::with_capacity(text.len() * 5 / 4);
    html::push_html(&mut page, events);
    page
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markdown_is_converted_and_tags_stay_text() {
        let rows = [
            (
                "**a** `b<c`",
                "<p><strong>a</strong> <code>b&lt;c</code></p>\n",
            ),
            ("<b onclick=x>", "&lt;b onclick=x&gt;"),
            ("a <i>b</i>", "<p>a &lt;i&gt;b&lt;/i&gt;</p>\n"),
            ("![x](https://a/b.png)", "<p>x</p>\n"),
            ("[x](javascript:1)", "<p><a href=\"\">x</a></p>\n"),
            ("[x](https://a/)", "<p><a href=\"https://a/\">x</a></p>\n"),
            (
                "|a|\n|-:|\n|b|",
                "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>\n",
            ),
            ("a\nb", "<p>a<br />\nb</p>\n"),
        ];
        for (text, expected) in rows {
            assert_eq!(rich_text(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_adds_tags(text in "[<>a/= \"'!\\[\\]()`*_~|\n:#-]{0,60}") {
            let page = rich_text(&text);
            for tag in ["<a/", "<img", "<script", "<!", "src=", "onclick", "style="] {
                prop_assert!(!page.contains(tag), "{page}");
            }
        }
    }
}
