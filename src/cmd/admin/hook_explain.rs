//! `hook explain`: explains logged decisions.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::cmd::admin::hook_settings::installed;
use crate::cmd::run::hook::HookArguments;
use crate::cmd::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::hooks::last_decisions;
use crate::io::{Environment, Io};
use crate::message::Decision;
use crate::text::{fitted, terminal_safe_line};
use crate::view::recorded_minute;

/// Explain the last decisions of the hook
///
/// Reads the log that `--log FILE` of the hook writes, and prints the last decisions, the newest last: the
/// call, the rule that decided and its file, and rules that would have allowed the call. Without FILE, reads
/// the log of the installed hook.
#[derive(Debug, Args)]
pub(crate) struct HookExplainArguments {
    /// The log [default: the log of the installed hook]
    #[arg(value_name = "FILE")]
    log: Option<PathBuf>,
    /// Only these decisions; separate several by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "DECISION")]
    decision: Vec<Decision>,
    /// Print at most N decisions
    #[arg(short = 'n', long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for HookExplainArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let path = match &self.log {
            Some(path) => path.clone(),
            None => installed_log(&io.environment)?,
        };
        let found = last_decisions(&path, &self.decision, self.limit.get())
            .map_err(|error| UsageError::reason(error).about(path.display()))?;
        if found.is_empty() {
            io.messages.warn("no decisions found");
        }
        let form = self.form.form(io.terminal);
        let zone = io.clock.time_zone();
        let columns = io.terminal.columns.unwrap_or(usize::MAX);
        let mut writer = output::writer(form, io)?;
        for record in found.iter().rev() {
            match form {
                Form::Jsonl => writer.record(record)?,
                Form::Text => writer.echo(explanation(record, &zone, columns).as_bytes())?,
            }
        }
        writer.flush()?;
        Ok(Status::Done)
    }
}

/// Returns the log of the installed hooks.
fn installed_log(environment: &Environment) -> anyhow::Result<PathBuf> {
    let mut logs: Vec<PathBuf> = Vec::new();
    for hook in installed(&[], environment)? {
        let words = shlex::split(&hook.command).unwrap_or_default();
        let parser = HookArguments::augment_args(Command::new("hook"));
        let matches = parser.try_get_matches_from(words.into_iter().skip(2));
        let arguments = matches.and_then(|matches| HookArguments::from_arg_matches(&matches));
        logs.extend(arguments.ok().and_then(|arguments| arguments.log));
    }
    logs.sort();
    logs.dedup();
    match logs.as_slice() {
        [log] => Ok(log.clone()),
        [] => {
            let hint = "`turnpipe hook install --agent NAME -- --log FILE` installs one";
            Err(UsageError::new("no hook with a log is installed")
                .with_hint(hint)
                .into())
        }
        [first, ..] => {
            let hint = format!("name one, such as {}", first.display());
            Err(UsageError::new("the installed hooks have several logs")
                .with_hint(hint)
                .into())
        }
    }
}

fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the lines about a decision.
fn explanation(record: &Value, zone: &TimeZone, columns: usize) -> String {
    let shown = |name| terminal_safe_line(text(record, name));
    let time = recorded_minute(Some(text(record, "timestamp")), zone);
    let [decision, tool, about] = ["decision", "tool", "about"].map(shown);
    let head = fitted(&format!("{time}  {decision:5}  {tool}  {about}"), columns);
    let mut lines = vec![head, format!("  {}", shown("reason"))];
    if record.get("answered") == Some(&Value::Bool(false)) {
        let agent = record.get("agent").and_then(Value::as_str);
        let agent = terminal_safe_line(agent.unwrap_or("the agent"));
        lines.push(format!("  left to {agent}, which decided itself"));
    }
    let hints = record.get("hints").and_then(Value::as_array);
    let hints = hints.into_iter().flatten().filter_map(Value::as_str);
    let hints: Vec<String> = hints.map(terminal_safe_line).collect();
    if !hints.is_empty() {
        lines.push(format!("  would be allowed by {}", hints.join(" with ")));
    }
    lines.join("\n") + "\n"
}
