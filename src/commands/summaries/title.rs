//! `title`: titles for sessions.

use std::path::PathBuf;

use clap::Args;

use crate::commands::model_arguments::{Fallback, NoModel};
use crate::commands::summaries::per_session::{PerSessionArguments, Plan, SessionOutput};
use crate::commands::{Form, Globals, Run, Status, UsageError};
use crate::config::Overrides;
use crate::io::Io;
use crate::records::{SideExtension, TitleRecord};
use crate::session::ManualTitle;
use crate::session::record::RecordOutcome;
use crate::summaries::title::{KEBAB_PROMPT, PROMPT, TitleStyle};
use crate::summaries::{Auto, GeneratedText, Kind, extension};

/// Write titles for sessions
///
/// Takes session files, ids, titles or `latest`; without names the sessions that `--root` or a
/// filter selects, or else records of `session list` on standard input, or one conversation there,
/// which is copied. Writes a record for each session: the title, or the reason why there is none.
/// Without a model, built-in rules write the titles.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe title latest
  turnpipe title latest --write
  turnpipe title --since 30d --stale
  turnpipe list --untitled --json | turnpipe title --write")]
pub(crate) struct TitleArguments {
    /// Write the title into the file, unless the user set one
    ///
    /// Sessions that are not named keep any title. Titles by built-in rules are only written with `--model builtin`.
    #[arg(long)]
    write: bool,
    /// Replace titles, those set by the user too
    #[arg(long, requires = "write", hide_short_help = true)]
    replace: bool,
    /// Only sessions that have moved on from their title
    ///
    /// The user did not set the title, and after it came at least three requests that name a topic, no fewer than before
    /// it or after a compaction. From the third-last one on, fewer than a third of the words of the title are used, and of
    /// those of the first request. The new title is about this part. A title stays if its time is not recorded, such as
    /// that of an agent which stores titles next to its sessions; `--verbose` says so.
    #[arg(long, conflicts_with_all = ["auto", "replace"])]
    stale: bool,
    /// Title only sessions that an agent would name by itself
    ///
    /// These have no title yet and fewer than three failed attempts; a fast model is configured, and
    /// titles are not disabled.
    #[arg(long)]
    auto: bool,
    /// The form of titles
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "STYLE",
        hide_short_help = true
    )]
    style: TitleStyle,
    /// Directory of session state, which counts failed attempts
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    state_dir: Option<PathBuf>,
    #[command(flatten)]
    common: PerSessionArguments,
}

impl Run for TitleArguments {
    reads_sessions!(common.source);

    fn run(mut self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        self.common.name_latest(io);
        if self.replace && self.auto {
            return Err(UsageError::new("--auto never replaces a title set by the user").into());
        }
        let (no_model, auto) = if self.auto {
            let config = globals.config(io)?;
            let gates = config.side_gates(None).map_err(UsageError::from)?;
            let overrides = Overrides {
                state_directory: self.state_dir.clone(),
                ..Overrides::default()
            };
            let auto = Auto::Titles {
                enabled: gates.auto_titles,
                state: config.settings(overrides).state_root,
            };
            (NoModel::Skip, auto)
        } else if self.write {
            (NoModel::SkipWithHint, Auto::Off)
        } else {
            (NoModel::UseRules, Auto::Off)
        };
        let plan = Plan {
            tag: "SESSION_TITLE",
            work: "writing a title",
            prompt: match self.style {
                TitleStyle::Sentence => PROMPT,
                TitleStyle::Kebab => KEBAB_PROMPT,
            },
            kind: Kind::Title(self.style),
            fallback: Fallback::None,
            no_model,
            auto,
            only_stale: self.stale,
            write: self.write.then_some(if self.replace {
                ManualTitle::Supersede
            } else {
                ManualTitle::Keep
            }),
        };
        let Some(runner) = self.common.create_runner(plan, globals, io)? else {
            return Ok(Status::Done);
        };
        runner.run(&self.common, io, |output, writer| match runner.form {
            Form::Text => match &output.result {
                Ok(GeneratedText { text, .. }) => {
                    writer.echo(format!("{}{}\n", output.text_prefix(), text.text).as_bytes())
                }
                Err(no_text) => {
                    runner.report_no_text(&output, no_text, &no_text.reason);
                    Ok(())
                }
            },
            Form::Jsonl => writer.record(&new_title_record(output, self.replace)),
        })
    }
}

/// Returns the record of a title. `replaces` says whether titles of the user are replaced.
fn new_title_record(output: SessionOutput, replaces: bool) -> TitleRecord {
    let session_fields = TitleRecord {
        session_id: output.session_id,
        path: output.path,
        ..TitleRecord::default()
    };
    match output.result {
        Ok(GeneratedText {
            text: title,
            record_outcome,
        }) => TitleRecord {
            ok: true,
            title_source: Some("auto".to_owned()),
            turnpipe: SideExtension {
                supersedes_manual: replaces.then_some(true),
                ..extension(Some(title.model.clone()), title.cost.as_ref())
            },
            title: Some(title.text),
            model: Some(title.model),
            error: find_hiding_reason(record_outcome).map(str::to_owned),
            written: record_outcome.map(|_| find_hiding_reason(record_outcome).is_none()),
            ..session_fields
        },
        Err(no_text) => TitleRecord {
            reason: Some(no_text.reason.name().to_owned()),
            error: no_text.error,
            turnpipe: extension(None, no_text.cost.as_deref()),
            ..session_fields
        },
    }
}

/// Returns the reason why the agent does not show a title.
fn find_hiding_reason(outcome: Option<RecordOutcome>) -> Option<&'static str> {
    match outcome {
        Some(RecordOutcome::NotShown(reason)) => Some(reason),
        _ => None,
    }
}
