//! A dialog as one self-contained page: nothing is loaded from elsewhere, no script runs.

use std::fmt::Write;

use super::gist::{gist, input_in_full};
use super::outline::{media_word, result_text};
use super::rich_text::rich_text;
use super::text::word;
use super::{Call, CallResult, Media, Origin, Piece, Role};
use crate::text::{terminal_safe, terminal_safe_line};

/// The look of the page. Follows the reader's choice of light or dark.
const STYLE: &str = include_str!("page.css");

/// Kinds of images that a page may hold.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What the page is about.
#[derive(Debug, Clone, Default)]
pub struct PageHead {
    /// Its title.
    pub title: String,
    /// Other facts, as names and values.
    pub facts: Vec<(&'static str, String)>,
}

/// Writes pieces of an outline. What hides or reorders text is taken out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Html<'a> {
    /// Where paths in the gist of calls begin.
    pub cwd: Option<&'a str>,
}

impl Html<'_> {
    /// Everything before the first piece.
    pub fn head(self, head: &PageHead) -> String {
        let title = line(&head.title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; img-src data:\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>\n<dl>\n"
        );
        for (name, value) in &head.facts {
            let _ = writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", line(value));
        }
        page.push_str("</dl>\n</header>\n<main>\n");
        page
    }

    /// Everything after the last piece.
    pub fn foot(self) -> &'static str {
        "</main>\n</body>\n</html>\n"
    }

    /// One piece.
    pub fn piece(self, piece: &Piece) -> String {
        match piece {
            Piece::Said {
                role,
                origin,
                text,
                time,
            } => {
                let class = match (role, origin) {
                    (Role::User, Origin::Prompt) => "prompt",
                    (Role::Assistant, Origin::Reply) => "reply",
                    (_, Origin::Error) => "error",
                    _ => "note",
                };
                if class == "note" {
                    let name = word(*origin);
                    let text = block(text);
                    return format!(
                        "<details class=\"note\"><summary>{name}</summary><pre>{text}</pre>\
                         </details>\n"
                    );
                }
                let time = time.as_deref().map(line).map_or_else(String::new, |time| {
                    format!("<time datetime=\"{time}\">{}</time>", to_the_second(&time))
                });
                if class == "reply" {
                    let text = rich_text(&terminal_safe(text.trim_end()));
                    return format!("<article class=\"reply\">{time}{text}</article>\n");
                }
                let text = block(text);
                format!(
                    "<article class=\"{class}\">{time}<div class=\"text\">{text}</div></article>\n"
                )
            }
            Piece::Thought(text) => format!(
                "<details class=\"thought\"><summary>thinking</summary><pre>{}</pre></details>\n",
                block(text)
            ),
            Piece::Media(media) => format!("<figure>{}</figure>\n", image(media)),
            Piece::Tools(group) => {
                let mut page = format!(
                    "<section class=\"tools\"><h2>{}</h2>\n",
                    line(&group.header())
                );
                for (answered, result) in &group.calls {
                    page.push_str(&call(answered, result.as_ref(), self.cwd));
                }
                page.push_str("</section>\n");
                page
            }
            Piece::Call(unanswered) => {
                format!(
                    "<section class=\"tools\">{}</section>\n",
                    call(unanswered, None, self.cwd)
                )
            }
            Piece::Result(result) => format!(
                "<section class=\"tools\">{}</section>\n",
                output(Some(result))
            ),
        }
    }
}

fn call(call: &Call, result: Option<&CallResult>, cwd: Option<&str>) -> String {
    let class = match result {
        Some(result) if result.failed => "failed",
        Some(_) => "done",
        None => "unanswered",
    };
    format!(
        "<details class=\"call {class}\"><summary><b>{}</b> <code>{}</code></summary>\n\
         <pre class=\"input\">{}</pre>\n{}</details>\n",
        line(&call.name),
        line(&gist(call, cwd)),
        block(&input_in_full(call).1),
        output(result)
    )
}

fn output(result: Option<&CallResult>) -> String {
    let Some(result) = result else {
        return "<p class=\"missing\">no result</p>\n".to_owned();
    };
    let mut page = format!(
        "<pre class=\"output\">{}</pre>\n",
        block(&result_text(result))
    );
    for part in &result.parts {
        if let super::Part::Media(media) = part {
            page.push_str(&image(media));
        }
    }
    page
}

fn image(media: &Media) -> String {
    let is_base64 = |data: &String| {
        data.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
    };
    match media.data.as_ref().filter(|data| is_base64(data)) {
        Some(data) if IMAGES.contains(&media.media_type.as_str()) => format!(
            "<img alt=\"{0}\" src=\"data:{0};base64,{data}\">",
            media.media_type
        ),
        _ => line(&media_word(media)),
    }
}

/// A time without fractions, with a blank between date and time.
fn to_the_second(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}

/// Harmless text of several lines.
fn block(text: &str) -> String {
    escaped(&terminal_safe(text.trim_end()))
}

/// Harmless text on one line.
fn line(text: &str) -> String {
    escaped(&terminal_safe_line(text))
}

fn escaped(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            other => page.push(other),
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::dialog::ToolGroup;

    #[test]
    fn nothing_that_was_said_becomes_markup() {
        let evil = "<script>alert(1)</script> \"'&\u{1b}[2J\u{202e}";
        let group = ToolGroup {
            label: None,
            calls: vec![(
                Call {
                    id: evil.to_owned(),
                    name: evil.to_owned(),
                    input: RawValue::from_string(
                        serde_json::json!({ "command": evil }).to_string(),
                    )
                    .unwrap(),
                    signature: None,
                },
                None,
            )],
        };
        let pieces = [
            Piece::Said {
                role: Role::User,
                origin: Origin::Prompt,
                text: evil.to_owned(),
                time: Some(evil.to_owned()),
            },
            Piece::Thought(evil.to_owned()),
            Piece::Tools(group),
            Piece::Media(Media {
                media_type: evil.to_owned(),
                data: Some(evil.to_owned()),
            }),
        ];
        let head = PageHead {
            title: evil.to_owned(),
            facts: vec![("model", evil.to_owned())],
        };
        let mut page = Html::default().head(&head);
        for piece in &pieces {
            page.push_str(&Html::default().piece(piece));
        }
        page.push_str(Html::default().foot());
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
    }

    #[test]
    fn images_are_part_of_the_page() {
        let png = Media {
            media_type: "image/png".to_owned(),
            data: Some("AAAA".to_owned()),
        };
        assert_eq!(
            image(&png),
            "<img alt=\"image/png\" src=\"data:image/png;base64,AAAA\">"
        );
        let svg = Media {
            media_type: "image/svg+xml".to_owned(),
            ..png
        };
        assert_eq!(image(&svg), "[image/svg+xml]");
    }
}
