//! Prints a dialog in one of its forms.

use super::{
    Density, DisplayOptions, Grouping, Html, InjectedDetail, Markdown, Outline, PageHead, Section,
    Style, Subagent, TerminalText, ThinkingDisplay, Timeline, ToolDetail, ToolGroup, markdown_head,
};
use crate::jsonl::{RecordWriter, WriteResult};
use crate::message::Message;
use crate::records::{
    MessageContext, SessionDescription, SessionStartRecord, StartSubtype, SwitchReason, to_record,
};
use crate::text::{append, terminal_safe_line};

/// The form of a printed dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DialogForm {
    /// For a terminal
    Text,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// Records, one JSON object per line
    #[value(alias = "json")]
    Jsonl,
    /// A page for browsers, which loads no other files
    Html,
}

impl DialogForm {
    /// Returns the default options of this form.
    pub(crate) fn options(self) -> DisplayOptions {
        match self {
            Self::Text | Self::Md => DisplayOptions {
                tools: ToolDetail::Summary,
                thinking: ThinkingDisplay::Hidden,
                context: InjectedDetail::Folded,
                redact: false,
            },
            Self::Jsonl | Self::Html => DisplayOptions {
                tools: ToolDetail::Full,
                thinking: ThinkingDisplay::Shown,
                context: InjectedDetail::Full,
                redact: false,
            },
        }
    }
}

/// The appearance of a dialog.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) form: DialogForm,
    pub(crate) selection: DisplayOptions,
    pub(crate) density: Density,
    pub(crate) style: Style,
}

/// Returns the label of a group of calls that has none, in the directory of the session.
pub(crate) type LabelOfGroup = fn(&ToolGroup, Option<&str>) -> Option<String>;

/// Removes the parts of a message that are not shown. Returns whether anything is left.
pub(crate) type MessageFilter = Box<dyn Fn(&mut Message) -> bool>;

/// Prints messages in one of the forms.
pub(crate) struct DialogPrinter {
    pub(crate) look: Look,
    outline: Outline,
    /// The first directory of the session.
    cwd: Option<String>,
    /// The number of the message in its session, if messages are counted.
    pub(crate) number: u64,
    timeline: Timeline,
    /// The subagents that have pages.
    pub(crate) subagents: Vec<Subagent>,
    pub(crate) filter: Option<MessageFilter>,
    labeler: LabelOfGroup,
    pub(crate) writer: RecordWriter,
}

impl DialogPrinter {
    /// Prints to `writer`.
    pub(crate) fn new(
        look: Look,
        grouping: Grouping,
        labeler: LabelOfGroup,
        writer: RecordWriter,
    ) -> Self {
        Self {
            look,
            outline: Outline::new(grouping),
            cwd: None,
            number: 0,
            timeline: Timeline::default(),
            subagents: Vec::new(),
            filter: None,
            labeler,
            writer,
        }
    }

    /// Prints the start, before the first message. Records have only the facts `about` the session. Only
    /// HTML pages have `links`: words, and the names of pages.
    pub(crate) fn print_head(
        &mut self,
        about: &SessionDescription,
        facts: Vec<(&'static str, String)>,
        links: Vec<(&'static str, String)>,
    ) -> WriteResult {
        self.cwd.clone_from(&about.cwd);
        let title = about.heading();
        match self.look.form {
            DialogForm::Jsonl => self.writer.record(&SessionStartRecord {
                subtype: StartSubtype::Only,
                about: about.clone(),
            }),
            DialogForm::Md => {
                let head = markdown_head(title, &facts);
                self.writer.echo(head.as_bytes())
            }
            DialogForm::Text => {
                let mut head = format!("{}\n", terminal_safe_line(title));
                for (name, value) in facts {
                    let value = terminal_safe_line(&value);
                    append!(head, "  {name:9}  {value}\n");
                }
                head.push('\n');
                self.writer.echo(head.as_bytes())
            }
            DialogForm::Html => {
                let head = Html::default().format_head(&PageHead {
                    title: title.to_owned(),
                    facts,
                    links,
                });
                self.writer.echo(head.as_bytes())
            }
        }
    }

    /// Prints a whole message of the session or subagent `about`.
    pub(crate) fn print_message(
        &mut self,
        mut message: Message,
        about: &MessageContext,
    ) -> WriteResult {
        if self
            .filter
            .as_ref()
            .is_some_and(|filter| !filter(&mut message))
        {
            return Ok(());
        }
        let Some(message) = self.look.selection.apply(message) else {
            return Ok(());
        };
        if self.look.form == DialogForm::Jsonl {
            return self.writer.record(&to_record(message, about));
        }
        if about.cwd.is_some() {
            self.cwd.clone_from(&about.cwd);
        }
        let sections = self.outline.push(self.number, message);
        self.print_sections(sections)
    }

    fn print_sections(&mut self, mut sections: Vec<Section>) -> WriteResult {
        let Look {
            density,
            style,
            selection: DisplayOptions { tools, .. },
            ..
        } = self.look;
        let cwd = self.cwd.as_deref();
        let subagents = self.subagents.as_slice();
        let has_headings = density == Density::Compact || self.look.form == DialogForm::Html;
        for section in &mut sections {
            if let Section::Tools(group) = section
                && has_headings
            {
                group.label = group.label.take().or_else(|| (self.labeler)(group, cwd));
            }
            let page = match self.look.form {
                DialogForm::Md => Markdown {
                    density,
                    tools,
                    cwd,
                    subagents,
                }
                .format_section(section),
                DialogForm::Html => {
                    self.timeline.add_section(section, cwd);
                    Html { cwd, subagents }.format_section(section)
                }
                DialogForm::Text | DialogForm::Jsonl => TerminalText {
                    style,
                    density,
                    tools,
                    cwd,
                }
                .format_section(section),
            };
            self.writer.echo(page.as_bytes())?;
        }
        Ok(())
    }

    /// Prints the end, after the last message.
    pub(crate) fn finish(&mut self) -> WriteResult {
        let sections = self.outline.finish();
        self.print_sections(sections)?;
        if self.look.form == DialogForm::Html {
            let foot = Html::default().format_end(&self.timeline);
            self.writer.echo(foot.as_bytes())?;
        }
        self.writer.flush()
    }
}

/// Returns the line above messages of another session or subagent in a followed dialog; nothing for the session of
/// the first message.
pub(crate) fn speaker_line(about: &MessageContext, is_first: bool) -> String {
    let name = match (&about.agent_id, &about.session_id) {
        (Some(agent), _) => format!("subagent {agent}"),
        (None, Some(session)) if !is_first => format!("session {session}"),
        (None, _) => return String::new(),
    };
    format!("--- {}\n\n", terminal_safe_line(&name))
}

/// Returns the line about a followed file that is read from its start.
pub(crate) fn switch_line(reason: SwitchReason, path: &str) -> String {
    let path = terminal_safe_line(path);
    let event = match reason {
        SwitchReason::Deleted => " was deleted",
        SwitchReason::Truncated | SwitchReason::Rewritten | SwitchReason::Replaced => {
            " starts again"
        }
        SwitchReason::Newer => "",
    };
    format!("--- {path}{event}\n\n")
}
