//! A dialog as Markdown.

use std::fmt::Write;

use super::outline::{gist, media_word, result_text};
use super::text::word;
use super::{CallResult, Origin, Piece, Role};
use crate::text::{terminal_safe, terminal_safe_line};

/// Writes pieces of an outline. Control characters and what hides are taken out.
#[derive(Debug, Clone, Copy)]
pub struct Markdown {
    /// Whether groups of calls are one heading with a list.
    pub density: super::text::Density,
}

impl Markdown {
    /// The paragraphs for one piece.
    pub fn piece(self, piece: &Piece) -> String {
        let mut page = String::new();
        match piece {
            Piece::Said {
                role,
                origin,
                text,
                time,
            } => {
                let text = terminal_safe(text.trim());
                let heading = match (role, origin) {
                    (Role::User, Origin::Prompt) => Some("User".to_owned()),
                    (Role::Assistant, _) => None,
                    (Role::User | Role::System, _) => Some(capitalised(word(*origin))),
                };
                if let Some(heading) = heading {
                    let time = time.as_deref().map(terminal_safe_line);
                    let time = time.map_or_else(String::new, |time| format!(" · {time}"));
                    let _ = write!(page, "## {heading}{time}\n\n");
                }
                let _ = write!(page, "{text}\n\n");
            }
            Piece::Thought(text) => {
                for line in terminal_safe(text.trim()).lines() {
                    let _ = writeln!(page, "> {line}");
                }
                page.push('\n');
            }
            Piece::Media(media) => {
                let _ = write!(page, "*{}*\n\n", terminal_safe_line(&media_word(media)));
            }
            Piece::Tools(group) => {
                let is_compact = self.density == super::text::Density::Compact;
                if is_compact || group.calls.is_empty() {
                    let header = terminal_safe_line(&group.header());
                    let _ = write!(page, "**{header}**\n\n");
                }
                for (call, result) in &group.calls {
                    let name = terminal_safe_line(&call.name);
                    let about = code(&terminal_safe_line(&gist(call)));
                    let _ = writeln!(page, "- **{name}** {about}");
                    if !is_compact {
                        match result {
                            Some(result) => add_result(result, &mut page),
                            None => page.push_str("\n  *no result*\n\n"),
                        }
                    }
                }
                page.push('\n');
                if let (false, Some(label)) = (is_compact, &group.label) {
                    let _ = write!(page, "● {}\n\n", terminal_safe_line(label));
                }
            }
            Piece::Result(result) => add_result(result, &mut page),
        }
        page
    }
}

fn add_result(result: &CallResult, page: &mut String) {
    let text = terminal_safe(result_text(result).trim_end());
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    if result.failed {
        page.push_str("\n  *failed*\n");
    }
    let _ = write!(page, "\n  {fence}text\n");
    for line in text.lines() {
        let _ = writeln!(page, "  {line}");
    }
    let _ = write!(page, "  {fence}\n\n");
}

/// Inline code that may hold back-ticks.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialog::Part;
    use crate::dialog::text::Density;

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        let result = CallResult {
            id: "1".to_owned(),
            parts: vec![Part::Text("````\ncode\n````".to_owned())],
            failed: true,
        };
        let markdown = Markdown {
            density: Density::Full,
        };
        let page = markdown.piece(&Piece::Result(result));
        assert_eq!(
            page,
            "\n  *failed*\n\n  `````text\n  ````\n  code\n  ````\n  `````\n\n"
        );
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
    }
}
