//! A conversation as one self-contained HTML page: it loads nothing and runs no script.

use pulldown_cmark::{Alignment, CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::harmless_markdown::SCHEMES;
use super::outline::{is_image, media_placeholder, result_text};
use super::page::{escape_block, escape_line, page_head, trim_fraction};
use super::selection::fold_line;
use super::text::{clean_with_tabs, origin_name};
use super::{Position, Section, Subagent, Timeline, ToolUse};
use crate::message::{Call, Media, Origin, Role, ToolResult};
use crate::session::{describe_call, format_full_input};
use crate::text::append;

#[derive(Debug, Clone, Default)]
pub struct PageHead {
    pub title: String,
    /// Other facts, as names and values.
    pub facts: Vec<(&'static str, String)>,
    /// Links to related pages: text and file name, which need no escaping.
    pub links: Vec<(&'static str, String)>,
}

/// Writes sections of an outline, without characters that hide or reorder text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Html<'a> {
    /// The directory to which paths in gists are relative.
    pub cwd: Option<&'a str>,
    /// The subagents with pages.
    pub subagents: &'a [Subagent],
}

impl Html<'_> {
    /// Returns the page before the first section.
    pub fn format_head(self, head: &PageHead) -> String {
        let mut page = page_head(&head.title, "img-src data:");
        page.push_str("<header>\n");
        for (words, name) in &head.links {
            append!(page, "<a href=\"{name}\">{words}</a>\n");
        }
        append!(page, "<h1>{}</h1>\n<dl>\n", escape_line(&head.title));
        for (name, value) in &head.facts {
            append!(
                page,
                "<div><dt>{name}</dt><dd>{}</dd></div>\n",
                escape_line(value)
            );
        }
        page.push_str("</dl>\n</header>\n<main>\n");
        page
    }

    /// Returns the page after the last section. The timeline is displayed above the first section.
    pub fn format_end(self, timeline: &Timeline) -> String {
        format!("</main>\n{}</body>\n</html>\n", timeline.markup())
    }

    /// Formats a section.
    pub fn format_section(self, section: &Section) -> String {
        match section {
            Section::Text {
                role,
                origin,
                text,
                position,
            } => {
                let class = match (role, origin) {
                    (Role::User, Origin::Prompt) => "prompt",
                    (Role::Assistant, Origin::Reply) => "reply",
                    (_, Origin::Error) => "error",
                    _ => {
                        let summary = format!(
                            "{}: {}",
                            origin_name(*origin),
                            escape_line(&fold_line(text))
                        );
                        return fold_html("note", position, &summary, text);
                    }
                };
                let time = position.time.as_deref().map(escape_line);
                let time = time.map_or_else(String::new, |time| {
                    format!("<time datetime=\"{time}\">{}</time>", trim_fraction(&time))
                });
                let text = match class {
                    "reply" => rich_text(&clean_with_tabs(text.trim_end())),
                    _ => format!("<div class=\"text\">{}</div>", escape_block(text)),
                };
                let (id, link) = anchor(position);
                format!("<article{id} class=\"{class}\">{link}{time}{text}</article>\n")
            }
            Section::Thinking(text, position) => fold_html("thought", position, "thinking", text),
            Section::Media(media, position) => {
                let (id, link) = anchor(position);
                format!("<figure{id}>{link}{}</figure>\n", format_image(media))
            }
            Section::Tools(group) => {
                let mut page = format!(
                    "<section class=\"tools\"><h2>{}</h2>\n",
                    escape_line(&group.header())
                );
                for tool in &group.calls {
                    page.push_str(&self.format_call(tool));
                }
                page.push_str("</section>\n");
                page
            }
            Section::Call(call) => {
                let tool = ToolUse {
                    call: call.clone(),
                    position: Position::default(),
                    result: None,
                    subagent: Vec::new(),
                };
                format!(
                    "<section class=\"tools\">{}</section>\n",
                    self.format_call(&tool)
                )
            }
            Section::Result(result, position) => format!(
                "<section class=\"tools\"><details><summary>result</summary>{}</details></section>\n",
                format_output(result, position)
            ),
        }
    }

    fn format_call(self, tool: &ToolUse) -> String {
        let class = match &tool.result {
            Some((result, _)) if result.failed => "failed",
            Some(_) => "done",
            None => "unanswered",
        };
        let (id, link) = anchor(&tool.position);
        let subagent = tool.subagent_page(self.subagents);
        let subagent = subagent.map_or_else(String::new, |page| {
            format!(" <a href=\"{page}\">subagent</a>")
        });
        let answer = tool.result.as_ref();
        let sections = tool
            .subagent
            .iter()
            .map(|section| self.format_section(section));
        let nested = match &*sections.collect::<String>() {
            "" => String::new(),
            sections => format!("<div class=\"subagent\">\n{sections}</div>\n"),
        };
        format!(
            "<details{id} class=\"call {class}\"><summary><b>{}</b> <code>{}</code>{subagent}{link}\
             </summary>\n<pre class=\"input\">{}</pre>\n{nested}{}</details>\n",
            escape_line(&tool.call.name),
            escape_line(&describe_call(&tool.call, self.cwd)),
            format_input(&tool.call),
            answer.map_or_else(
                || "<p class=\"missing\">no result</p>\n".to_owned(),
                |(result, position)| format_output(result, position)
            )
        )
    }
}

/// Returns the id attribute of the first part of a message, and the link to it.
fn anchor(position: &Position) -> (String, String) {
    if !position.is_first {
        return Default::default();
    }
    let number = position.message;
    (
        format!(" id=\"m{number}\""),
        format!("<a class=\"anchor\" href=\"#m{number}\">#{number}</a>"),
    )
}

/// Returns a text that is folded to one line.
fn fold_html(class: &str, position: &Position, summary: &str, text: &str) -> String {
    let (id, link) = anchor(position);
    format!(
        "<details{id} class=\"{class}\"><summary>{summary}{link}</summary><pre>{}</pre></details>\n",
        escape_block(text)
    )
}

/// Returns the input of a call, with added and removed lines marked.
fn format_input(call: &Call) -> String {
    let (language, text) = format_full_input(call);
    let text = escape_block(&text);
    if language != "diff" {
        return text;
    }
    let lines = text.lines().map(|line| match line.as_bytes().first() {
        Some(b'+') => format!("<ins>{line}</ins>\n"),
        Some(b'-') => format!("<del>{line}</del>\n"),
        Some(b'*') => format!("<b>{line}</b>\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

fn format_output(result: &ToolResult, position: &Position) -> String {
    let (id, link) = anchor(position);
    let text = escape_block(&result_text(result));
    let mut page = format!("<pre{id} class=\"output\">{link}{text}</pre>\n");
    for part in &result.parts {
        if let crate::message::ResultPart::Media(media) = part {
            page.push_str(&format_image(media));
        }
    }
    page
}

fn format_image(media: &Media) -> String {
    let is_base64 = |data: &String| {
        data.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
    };
    match media.data.as_ref().filter(|data| is_base64(data)) {
        Some(data) if is_image(media) => format!(
            "<img alt=\"{0}\" title=\"{0}\" src=\"data:{0};base64,{data}\">",
            media.media_type
        ),
        _ => escape_line(&media_placeholder(media)),
    }
}

/// Converts Markdown without control and hidden characters to HTML.
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
            let is_allowed = SCHEMES.iter().any(|start| dest_url.starts_with(start));
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
    use serde_json::value::RawValue;

    use super::*;
    use crate::render::ToolGroup;

    #[test]
    fn text_of_a_session_never_becomes_markup() {
        let evil = "<script>alert(1)</script> \"'&\u{1b}[2J\u{202e}";
        let group = ToolGroup {
            label: None,
            calls: vec![ToolUse {
                call: Call {
                    id: evil.to_owned(),
                    name: evil.to_owned(),
                    input: RawValue::from_string(
                        serde_json::json!({ "command": evil }).to_string(),
                    )
                    .unwrap(),
                    signature: None,
                },
                position: Position {
                    message: 1,
                    is_first: true,
                    time: Some("2026-01-01T10:00:00Z".to_owned()),
                },
                result: None,
                subagent: Vec::new(),
            }],
        };
        let sections = [
            Section::Text {
                role: Role::User,
                origin: Origin::Prompt,
                text: evil.to_owned(),
                position: Position {
                    message: 1,
                    is_first: true,
                    time: Some(evil.to_owned()),
                },
            },
            Section::Thinking(evil.to_owned(), Position::default()),
            Section::Tools(group),
            Section::Media(
                Media {
                    media_type: evil.to_owned(),
                    data: Some(evil.to_owned()),
                },
                Position::default(),
            ),
        ];
        let head = PageHead {
            title: evil.to_owned(),
            facts: vec![("model", evil.to_owned())],
            links: Vec::new(),
        };
        let mut page = Html::default().format_head(&head);
        let mut timeline = Timeline::default();
        for section in &sections {
            timeline.add_section(section, None);
            page.push_str(&Html::default().format_section(section));
        }
        assert!(timeline.markup().contains("&lt;script&gt;"));
        page.push_str(&Html::default().format_end(&timeline));
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
    }

    #[test]
    fn diffs_are_coloured() {
        let patch = "*** Begin Patch\n*** Update File: a\n-<old>\n+new\n same\n*** End Patch";
        let call = Call {
            id: String::new(),
            name: String::new(),
            signature: None,
            input: RawValue::from_string(serde_json::json!({ "input": patch }).to_string())
                .unwrap(),
        };
        assert_eq!(
            format_input(&call),
            "<b>*** Begin Patch</b>\n<b>*** Update File: a</b>\n<del>-&lt;old&gt;</del>\n\
             <ins>+new</ins>\n same\n<b>*** End Patch</b>\n"
        );
    }

    #[test]
    fn images_are_embedded() {
        let png = Media {
            media_type: "image/png".to_owned(),
            data: Some("AAAA".to_owned()),
        };
        assert_eq!(
            format_image(&png),
            "<img alt=\"image/png\" title=\"image/png\" src=\"data:image/png;base64,AAAA\">"
        );
        let svg = Media {
            media_type: "image/svg+xml".to_owned(),
            ..png
        };
        assert_eq!(format_image(&svg), "[image/svg+xml]");
    }
}

#[cfg(test)]
mod rich_text_tests {
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
