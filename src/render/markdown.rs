//! A conversation as Markdown.

use super::harmless_markdown::{harmless_line, harmless_markdown, harmless_quote};
use super::outline::{media_placeholder, result_text};
use super::text::{Density, clean_with_tabs, origin_name};
use super::{Section, Subagent, ToolDetail};
use crate::message::{Call, Origin, Role, ToolResult};
use crate::session::{describe_call, format_full_input};
use crate::text::{append, terminal_safe_line};

/// Writes sections of an outline, without control and hidden characters, HTML and images.
#[derive(Debug, Clone, Copy)]
pub struct Markdown<'a> {
    /// The form of groups of calls.
    pub density: Density,
    /// The detail of calls.
    pub tools: ToolDetail,
    /// The directory to which paths in gists are relative.
    pub cwd: Option<&'a str>,
    /// The subagents with pages.
    pub subagents: &'a [Subagent],
}

/// Formats the title of a conversation and a list of facts.
pub fn markdown_head(title: &str, facts: &[(&str, String)]) -> String {
    let mut page = format!("# {}\n\n", harmless_line(title));
    for (name, value) in facts {
        append!(
            page,
            "- {name}: {}\n",
            inline_code(&terminal_safe_line(value))
        );
    }
    page.push_str(if facts.is_empty() { "" } else { "\n" });
    page
}

impl Markdown<'_> {
    /// Formats a section.
    pub fn format_section(self, section: &Section) -> String {
        let mut page = String::new();
        match section {
            Section::Text {
                role,
                origin,
                text,
                position,
            } => {
                let heading = match (role, origin) {
                    (Role::User, Origin::Prompt) => "User".to_owned(),
                    (Role::Assistant, Origin::Reply) => "Assistant".to_owned(),
                    _ => capitalise(origin_name(*origin)),
                };
                if *origin == Origin::Injected && !text.trim().contains('\n') {
                    append!(page, "*{heading}: {}*\n\n", harmless_line(text));
                    return page;
                }
                let time = match &position.time {
                    Some(time) => format!(" · {}", harmless_line(time)),
                    None => String::new(),
                };
                let text = harmless_markdown(text.trim());
                append!(page, "## {heading}{time}\n\n{text}\n\n");
            }
            Section::Thinking(text, _) => {
                page.push_str(&harmless_quote(text.trim()));
                page.push('\n');
            }
            Section::Media(media, _) => {
                append!(page, "*{}*\n\n", harmless_line(&media_placeholder(media)));
            }
            Section::Tools(group) => {
                let is_compact = self.density == Density::Compact;
                if is_compact || group.calls.is_empty() {
                    let header = harmless_line(&group.header());
                    append!(page, "**{header}**\n\n");
                }
                for tool in &group.calls {
                    self.add_call(&tool.call, &mut page);
                    if let Some(name) = tool.subagent_page(self.subagents) {
                        append!(page, "\n  [subagent]({name})\n");
                    }
                    for section in &tool.subagent {
                        let text = self.format_section(section);
                        let lines = text.trim_end().lines().map(|line| format!("> {line}\n"));
                        append!(page, "\n{}\n", lines.collect::<String>().trim_end());
                    }
                    if !is_compact {
                        match &tool.result {
                            Some((result, _)) => add_result(result, &mut page),
                            None => page.push_str("\n  *no result*\n"),
                        }
                        page.push('\n');
                    }
                }
                if is_compact {
                    page.push('\n');
                }
                if let (false, Some(label)) = (is_compact, &group.label) {
                    append!(page, "● {}\n\n", harmless_line(label));
                }
            }
            Section::Call(call) => {
                self.add_call(call, &mut page);
                page.push('\n');
            }
            Section::Result(result, _) => {
                add_result(result, &mut page);
                page.push('\n');
            }
        }
        page
    }

    fn add_call(self, call: &Call, page: &mut String) {
        let name = harmless_line(&call.name);
        let about = inline_code(&terminal_safe_line(&describe_call(call, self.cwd)));
        append!(page, "- **{name}** {about}\n");
        if self.tools == ToolDetail::Full && self.density == Density::Full {
            let (language, input) = format_full_input(call);
            add_block(language, &input, page);
        }
    }
}

fn add_result(result: &ToolResult, page: &mut String) {
    if result.failed {
        page.push_str("\n  *failed*\n");
    }
    add_block("text", result_text(result).trim_end(), page);
}

/// Appends a code block with a longer fence than any in the text. The fence is at the start of the line,
/// since some parsers do not find fences within lists.
fn add_block(language: &str, text: &str, page: &mut String) {
    let text = clean_with_tabs(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    append!(page, "\n{fence}{language}\n");
    for line in text.lines() {
        append!(page, "{line}\n");
    }
    append!(page, "{fence}\n");
}

/// Formats inline code, which may contain back-ticks.
pub(super) fn inline_code(text: &str) -> String {
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

fn capitalise(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::message::ResultPart;
    use crate::render::{Position, ToolGroup, ToolUse};

    const FULL: Markdown<'_> = Markdown {
        density: Density::Full,
        tools: ToolDetail::Full,
        cwd: None,
        subagents: &[],
    };

    #[test]
    fn fences_are_longer_than_their_content() {
        let result = ToolResult {
            id: "1".to_owned(),
            parts: vec![ResultPart::Text("````\ncode\n````".to_owned())],
            failed: true,
            end: None,
        };
        assert_eq!(
            FULL.format_section(&Section::Result(result, Position::default())),
            "\n  *failed*\n\n`````text\n````\ncode\n````\n`````\n\n"
        );
        assert_eq!(inline_code("a`b"), "``a`b``");
        assert_eq!(inline_code("`a"), "`` `a ``");
    }

    #[test]
    fn titles_names_and_labels_are_escaped() {
        let group = ToolGroup {
            label: Some("<img src=x>".to_owned()),
            calls: vec![ToolUse {
                call: Call {
                    id: "1".to_owned(),
                    name: "![x](http://a/b)".to_owned(),
                    input: RawValue::from_string("{\"command\":\"<b>\"}".to_owned()).unwrap(),
                    signature: None,
                },
                position: Position::default(),
                result: None,
                subagent: Vec::new(),
            }],
        };
        let page = markdown_head("Fix *it* <script>", &[("model", "<b>`".to_owned())])
            + &FULL.format_section(&Section::Tools(group));
        let expected = "\
# Fix \\*it\\* \\<script\\>

- model: `` <b>` ``

- **\\!\\[x\\](http://a/b)** `<b>`

```json
{
  \"command\": \"<b>\"
}
```

  *no result*

● \\<img src=x\\>

";
        assert_eq!(page, expected);
    }
}
