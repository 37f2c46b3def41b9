//! A conversation as text.

use super::outline::{media_placeholder, result_text};
use super::selection::fold_line;
use super::{Section, ToolDetail};
use crate::message::{Call, Origin, Role, ToolResult};
use crate::session::{describe_call, format_full_input};
use crate::text::{append, display_width, fit_columns, terminal_safe, terminal_safe_line};

/// Maximum width of the gist of a call, in columns.
const GIST_COLUMNS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Bold and dim.
    Ansi,
    /// No styles.
    Plain,
}

impl Style {
    /// Returns text in the style with this code.
    pub(crate) fn style_text(self, code: &str, text: &str) -> String {
        if self == Self::Plain || text.is_empty() {
            return text.to_owned();
        }
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Returns the line of a new label.
    pub(crate) fn label_line(self, text: &str) -> String {
        self.style_text("2", &format!("● {text}"))
    }

    /// Returns the line of a new recap.
    pub(crate) fn recap_line(self, text: &str) -> String {
        match self {
            Self::Ansi => format!("\u{1b}[2m※ \u{1b}[1mrecap: \u{1b}[22;2;3m{text}\u{1b}[0m"),
            Self::Plain => format!("※ recap: {text}"),
        }
    }
}

/// The form of groups of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Density {
    /// Each call with its result, followed by the label.
    Full,
    /// Like `Full`, with one line per result.
    Folded,
    /// A header, and a line per call.
    Compact,
}

/// Writes sections of an outline as terminal-safe text.
#[derive(Debug, Clone, Copy)]
pub struct TerminalText<'a> {
    pub style: Style,
    /// The form of groups of calls.
    pub density: Density,
    /// The detail of calls.
    pub tools: ToolDetail,
    /// The directory to which paths in gists are relative.
    pub cwd: Option<&'a str>,
}

impl TerminalText<'_> {
    /// Formats a section.
    pub fn format_section(self, section: &Section) -> String {
        let mut page = String::new();
        match section {
            Section::Text {
                role, origin, text, ..
            } => {
                let text = self.clean_block(text.trim_end());
                let line = match (role, origin) {
                    (Role::User, Origin::Prompt) => {
                        format!("{}\n", self.bold(&prefix_lines(&text, "> ", "  ")))
                    }
                    (_, Origin::Recap) => {
                        format!("{}\n", self.dim(&prefix_lines(&text, "※ ", "  ")))
                    }
                    (Role::User | Role::System, _) => {
                        let first = format!("[{}] ", origin_name(*origin));
                        format!("{}\n", self.dim(&prefix_lines(&text, &first, "  ")))
                    }
                    (Role::Assistant, _) => format!("{text}\n"),
                };
                page.push_str(&line);
            }
            Section::Thinking(text, _) => {
                let text = self.clean_block(text.trim_end());
                append!(page, "{}\n", self.dim(&prefix_lines(&text, "∴ ", "  ")));
            }
            Section::Media(media, _) => {
                append!(page, "{}\n", terminal_safe_line(&media_placeholder(media)));
            }
            Section::Tools(group) => {
                if self.density == Density::Compact {
                    let header = terminal_safe_line(&group.header());
                    append!(page, "{}\n", self.bold(&header));
                }
                for tool in &group.calls {
                    self.add_call(&tool.call, &mut page);
                    for section in &tool.subagent {
                        for line in self.format_section(section).trim_end().lines() {
                            append!(page, "    ┆ {line}\n");
                        }
                    }
                    if self.density != Density::Compact {
                        match &tool.result {
                            Some((result, _)) => self.add_result(result, &mut page),
                            None => page.push_str("    ⎿ no result\n"),
                        }
                    }
                }
                if let (Density::Full | Density::Folded, Some(label)) = (self.density, &group.label)
                {
                    let label = format!("● {}", terminal_safe_line(label));
                    append!(page, "{}\n", self.dim(&label));
                }
            }
            Section::Call(call) => self.add_call(call, &mut page),
            Section::Result(result, _) => self.add_result(result, &mut page),
        }
        page.push('\n');
        page
    }

    fn add_call(self, call: &Call, page: &mut String) {
        let name = terminal_safe_line(&call.name);
        let gist = fit_columns(
            &terminal_safe_line(&describe_call(call, self.cwd)),
            GIST_COLUMNS,
        );
        append!(page, "  {name}({gist})\n");
        if self.tools == ToolDetail::Full && self.density == Density::Full {
            let input = self.clean_block(format_full_input(call).1.trim_end());
            append!(page, "{}\n", prefix_lines(&input, "    ", "    "));
        }
    }

    fn add_result(self, result: &ToolResult, page: &mut String) {
        let whole = result_text(result);
        let text = match self.density {
            Density::Folded => fold_line(&whole),
            Density::Full | Density::Compact => self.clean_block(whole.trim_end()),
        };
        let first = if result.failed {
            "    ⎿ failed: "
        } else {
            "    ⎿ "
        };
        append!(
            page,
            "{}\n",
            self.dim(&prefix_lines(&text, first, "      "))
        );
    }

    /// Returns safe text of several lines. Tabs are expanded on terminals.
    pub(super) fn clean_block(self, text: &str) -> String {
        let safe = clean_with_tabs(text);
        match self.style {
            Style::Ansi => expand_tabs(&safe),
            Style::Plain => safe,
        }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.style.style_text("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.style.style_text("2", text)
    }
}

/// Prefixes the first line and the further lines.
pub(super) fn prefix_lines(text: &str, first: &str, further: &str) -> String {
    let mut lines = text.lines();
    let mut page = format!("{first}{}", lines.next().unwrap_or_default());
    for line in lines {
        page.push('\n');
        if !line.is_empty() {
            page.push_str(further);
        }
        page.push_str(line);
    }
    page
}

/// Returns the name of an origin.
pub(super) fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Prompt => "prompt",
        Origin::Reply => "reply",
        Origin::Results => "results",
        Origin::Injected => "context",
        Origin::Summary => "summary",
        Origin::Compaction => "compaction",
        Origin::Error => "error",
        Origin::Recap => "recap",
        Origin::Label => "label",
        Origin::Meter => "usage",
    }
}

/// Distance of tab stops on terminals, in columns.
const TAB_COLUMNS: usize = 8;

/// Placeholder for a tab while a text is cleaned.
const PLACEHOLDER: char = '\u{2409}';

/// Makes a text safe, except for tabs.
pub(super) fn clean_with_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return terminal_safe(text);
    }
    let marked = text.replace('\t', PLACEHOLDER.encode_utf8(&mut [0; 4]));
    terminal_safe(&marked).replace(PLACEHOLDER, "\t")
}

/// Replaces tabs by spaces up to the next tab stop.
pub(super) fn expand_tabs(text: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut column = 0;
        for (index, cell) in line.split('\t').enumerate() {
            if index > 0 {
                let spaces = TAB_COLUMNS - column % TAB_COLUMNS;
                expanded.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            expanded.push_str(cell);
            column += display_width(cell);
        }
    }
    expanded
}

#[cfg(test)]
mod tabs_tests {
    use super::*;

    #[test]
    fn tabs_are_kept_or_expanded() {
        let text = "a:\n\tcc -o\tb\u{1b}[2J\r\n\té\tx\n";
        let safe = clean_with_tabs(text);
        assert_eq!(safe, "a:\n\tcc -o\tb\n\té\tx\n");
        assert_eq!(
            expand_tabs(&safe),
            "a:\n        cc -o   b\n        é       x\n"
        );
        assert_eq!(clean_with_tabs("a\u{202e}b"), "ab");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Position;

    fn text_section(role: Role, origin: Origin, text: &str) -> Section {
        Section::Text {
            role,
            origin,
            text: text.to_owned(),
            position: Position::default(),
        }
    }

    #[test]
    fn sections_are_safe_lines() {
        let plain = TerminalText {
            style: Style::Plain,
            density: Density::Full,
            tools: ToolDetail::Summary,
            cwd: None,
        };
        let rows = [
            (
                text_section(Role::User, Origin::Prompt, "fix\nit\u{1b}[2J"),
                "> fix\n  it\n\n",
            ),
            (
                text_section(Role::Assistant, Origin::Reply, "ok\n"),
                "ok\n\n",
            ),
            (
                text_section(Role::System, Origin::Error, "down"),
                "[error] down\n\n",
            ),
            (
                text_section(Role::Assistant, Origin::Reply, "a:\n\tb"),
                "a:\n\tb\n\n",
            ),
            (
                Section::Thinking("hm".to_owned(), Position::default()),
                "∴ hm\n\n",
            ),
        ];
        for (section, expected) in rows {
            assert_eq!(plain.format_section(&section), expected);
        }
        let ansi = TerminalText {
            style: Style::Ansi,
            density: Density::Full,
            tools: ToolDetail::Summary,
            cwd: None,
        };
        let prompt = ansi.format_section(&text_section(Role::User, Origin::Prompt, "a"));
        assert_eq!(prompt, "\u{1b}[1m> a\u{1b}[0m\n\n");
        let reply = ansi.format_section(&text_section(Role::Assistant, Origin::Reply, "\tb"));
        assert_eq!(reply, "        b\n\n");
    }
}
