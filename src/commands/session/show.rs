//! `session show`: prints the dialog of a session. `session diff`: prints its changes as a patch.

use std::path::PathBuf;

use clap::Args;

use super::source::SourceArguments;
use crate::agent::{EditKind, FileEdit};
use crate::commands::{Globals, Run, Status, UsageError, output};
use crate::io::{Io, TerminalFacts};
use crate::jsonl::Writer;
use crate::message::{Block, Origin, SessionId, Thread};
use crate::records::{MessageContext, to_record};
use crate::render::sessions::{dialog_facts, is_shown, omission_text, print_dialog};
use crate::render::{
    Density, DialogForm, DialogPrinter, DisplayOptions, Grouping, InjectedDetail, Look,
    MessageRange, ThinkingDisplay, ToolDetail,
};
use crate::session::{CallEdits, format_patch};
use crate::session::{Scope, Session, describe_session};
use crate::summaries::builtin::label_group;
use crate::text::{format_count, terminal_safe, terminal_safe_line};

/// Show the dialog of a session
///
/// Omits abandoned branches. As records it starts with a `system/session_start`, so that later
/// stages of a pipeline treat it as history and run nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe show latest
  turnpipe show --prompts -o md
  turnpipe show latest --range -5.. --calls full
  turnpipe show latest -o md > session.md
  turnpipe show latest -o html > session.html")]
pub(crate) struct SessionShowArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest` [default: the file on standard input, else
    /// `latest`]
    session: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// The output form [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<DialogForm>,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    json: bool,
    /// Detail of tool calls and results [default: summary in text and Markdown, else full]
    #[arg(long, value_enum, value_name = "HOW")]
    calls: Option<ToolDetail>,
    /// Show thinking, and in full what the agent added to messages, e.g. reminders and texts of skills; otherwise text
    /// and Markdown have one line for each (records and pages always contain both, unless `--no-thinking` is given)
    #[arg(long, overrides_with = "no_thinking", hide_short_help = true)]
    thinking: bool,
    /// Omit thinking
    #[arg(long, overrides_with = "thinking", hide_short_help = true)]
    no_thinking: bool,
    /// Only these messages, counted from 1: 3, 3..7, 3.., ..7, or -5.. for the last five
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<MessageRange>,
    /// Show only the text of the last reply, without a heading; exits with 1 if there is none
    ///
    /// `--json` prints its record.
    #[arg(long, conflicts_with = "range")]
    last_answer: bool,
    /// Show only the prompts of the user
    #[arg(long, conflicts_with_all = ["calls", "thinking"])]
    prompts: bool,
    /// Show abandoned branches too
    #[arg(long, conflicts_with = "since_compact", hide_short_help = true)]
    all_branches: bool,
    /// Show only what follows the last compaction
    #[arg(long, hide_short_help = true)]
    since_compact: bool,
    /// Replace text that looks like a key or a password with `[redacted]`
    #[arg(long)]
    redact: bool,
}

impl Run for SessionShowArguments {
    reads_sessions!(source, one session);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let session = self.source.open_one(self.session.as_deref(), io)?;
        if self.last_answer {
            return self.print_last_reply(&session, io);
        }
        let path = session.file.path.clone();
        let failed = |error: std::io::Error| UsageError::reason(error).about(path.display());
        let mut facts = session
            .summary(self.source.file_mapping())
            .map_err(failed)?;
        if self.redact {
            facts.redact_names();
        }
        let about = describe_session(path.clone(), session.agent(), facts.clone());
        let form = self.form(io.terminal);
        let head = match form {
            DialogForm::Jsonl => Vec::new(),
            DialogForm::Text | DialogForm::Md | DialogForm::Html => {
                let prices = globals.prices(None, io)?;
                dialog_facts(&session, &about, &facts, &prices).map_err(failed)?
            }
        };
        let scope = self.scope();
        let mut parts = self
            .source
            .ancestors(&session, &facts, &io.environment, &io.messages);
        parts.push(session);
        let range = match self.range {
            Some(range) if range.counts_from_the_end() => {
                let mut total = 0;
                for part in &parts {
                    for message in part.messages(scope).map_err(failed)? {
                        total += u64::from(is_shown(&message.map_err(failed)?));
                    }
                }
                Some(range.resolve(total))
            }
            range => range,
        };
        let (density, grouping) = if self.calls == Some(ToolDetail::Grouped) {
            (Density::Compact, Grouping::Merged)
        } else {
            (Density::Full, Grouping::Batches)
        };
        let look = Look {
            form,
            selection: self.selection(form),
            density,
            style: globals.style(io),
        };
        let sink = if form == DialogForm::Jsonl {
            output::take_record_sink(io)?
        } else {
            output::use_pager(globals, io);
            output::take_sink(io)?
        };
        let mut printer = DialogPrinter::new(look, grouping, label_group, Writer::new(sink));
        if look.selection.tools == ToolDetail::Edits {
            let mut edits = CallEdits::default();
            for part in &parts {
                edits.add(part.read_edits().map_err(failed)?, &facts);
            }
            printer.filter = Some(Box::new(move |message| edits.apply(message)));
        }
        if self.prompts {
            printer.filter = Some(Box::new(|message| {
                message.origin == Origin::Prompt && message.thread == Thread::Main
            }));
        }
        printer.print_head(&about, head, Vec::new())?;
        let omitted = print_dialog(&parts, scope, range, about.session_id, &mut printer)
            .map_err(UsageError::from_print_error)?;
        let number = printer.number;
        // Waits for the pager.
        drop(printer);
        if range.is_some_and(|range| range.is_before(number)) {
            let messages = format_count(number, "message", "messages");
            io.messages.hint(&format!(
                "the range is beyond the end: the session has {messages}"
            ));
        }
        if omitted > 0 {
            let omission = omission_text(omitted);
            io.messages
                .hint(&format!("{omission}: `--all-branches` shows them"));
        }
        Ok(Status::Done)
    }
}

impl SessionShowArguments {
    /// Prints the text of the last reply that has one.
    fn print_last_reply(&self, session: &Session, io: &mut Io) -> anyhow::Result<Status> {
        let last = session.find_last_reply(self.scope())?;
        let Some(mut last) = last else {
            return Ok(Status::Negative);
        };
        last.blocks.retain(|block| matches!(block, Block::Text(_)));
        if self.redact {
            last.redact();
        }
        if self.json || self.output == Some(DialogForm::Jsonl) {
            let facts = session.read_first_facts(self.source.file_mapping())?;
            let about = MessageContext {
                session_id: facts.session_id.map(SessionId),
                ..MessageContext::default()
            };
            output::print_records(&[to_record(last, &about)], io)?;
            return Ok(Status::Done);
        }
        let text = last.text();
        let text = if io.terminal.stdout {
            terminal_safe(text.trim_end())
        } else {
            text.trim_end().into()
        };
        output::print(io, &format!("{text}\n"))?;
        Ok(Status::Done)
    }

    fn form(&self, terminal: TerminalFacts) -> DialogForm {
        match self.output {
            Some(form) => form,
            None if terminal.stdout && !self.json => DialogForm::Text,
            None => DialogForm::Jsonl,
        }
    }

    fn scope(&self) -> Scope {
        match (self.all_branches, self.since_compact) {
            (true, _) => Scope::AllBranches,
            (false, true) => Scope::SinceCompaction,
            (false, false) => Scope::Live,
        }
    }

    fn selection(&self, form: DialogForm) -> DisplayOptions {
        let mut options = form.options();
        options.tools = self.calls.unwrap_or(options.tools);
        if self.thinking {
            options.thinking = ThinkingDisplay::Shown;
            options.context = InjectedDetail::Full;
        } else if self.no_thinking {
            options.thinking = ThinkingDisplay::Hidden;
        }
        options.redact = self.redact;
        options
    }
}

/// Print the changes of a session as a patch
///
/// Prints unified diffs, relative to the directory of the session, of the edits, written files and patches of
/// its calls and those of its subagents; `git apply` in a copy of the starting state makes the same changes.
/// A file that was changed several times has a diff for each change, in order. What is omitted is named on
/// standard error: changes whose text is not in the session, as in some saved streams, later changes of the
/// same files, files outside the directory, and the number of shell commands that may have changed files. Exits
/// with 8 if changes are omitted, unless only shell commands may have made them.
///
/// `git apply` refuses the patch if an edited file was made by a shell command, or if the agent recorded less
/// than the bytes: carriage returns and byte order marks of files that the session did not write itself (Qwen
/// Code, Gemini CLI, opencode, Copilot CLI), or a new file in the place of another (Codex). With
/// `git apply --reject` the other files are changed.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session diff latest
  turnpipe session diff latest > session.patch")]
pub(crate) struct SessionDiffArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest` [default: the file on standard input, else
    /// `latest`]
    session: Option<String>,
    /// Print paths relative to this directory [default: the session's directory]
    #[arg(long, value_name = "DIR")]
    relative_to: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArguments,
}

impl Run for SessionDiffArguments {
    reads_sessions!(source, one session);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let session = self.source.open_one(self.session.as_deref(), io)?;
        let facts = session.read_first_facts(self.source.file_mapping())?;
        let facts = session.with_directory(facts);
        let found = session.read_all_edits().map_err(UsageError::reason)?;
        let root = self.relative_to.unwrap_or_else(|| found.find_root(&facts));
        let (patch, outside) = format_patch(&found.edits, &root);
        let is_context = |edit: &FileEdit| edit.kind == EditKind::Context;
        let unnumbered: Vec<&str> = found
            .edits
            .iter()
            .filter(|edit| is_context(edit) && !outside.contains(&edit.path))
            .map(|edit| edit.path.as_str())
            .collect();
        if !unnumbered.is_empty() {
            let changes = format_count(unnumbered.len() as u64, "change", "changes");
            io.messages.hint(&format!(
                "the session has no line numbers of {changes}: apply them with `git apply --unidiff-zero`"
            ));
        }
        let unknown: Vec<String> = found.unknown.into_iter().map(|edit| edit.path).collect();
        let detached = found.detached.into_iter().map(|edit| edit.path).collect();
        let mut status = Status::Done;
        for (mut paths, reason) in [
            (unknown, "whose text is not in the session"),
            (
                detached,
                "of files whose text before them is not in the session",
            ),
            (outside, "outside the directory"),
        ] {
            let changes = format_count(paths.len() as u64, "change", "changes");
            paths.sort_unstable();
            paths.dedup();
            if !paths.is_empty() {
                status = Status::ChangesOmitted;
                let paths = terminal_safe_line(&paths.join(", "));
                io.messages
                    .warn(&format!("omitted {changes} {reason}: {paths}"));
            }
        }
        if found.commands > 0 && !globals.quiet {
            let commands = format_count(found.commands, "shell command", "shell commands");
            io.messages
                .warn(&format!("omitted changes that {commands} may have made"));
        }
        if io.terminal.stdout {
            output::page(&terminal_safe(&patch), globals, io)?;
        } else {
            output::print(io, &patch)?;
        }
        Ok(status)
    }
}
