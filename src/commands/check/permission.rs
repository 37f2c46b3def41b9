//! `check permission`: permission decisions about calls; with `--history` about past calls, and rules that would have
//! spared questions.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::commands::check::input::{Check, CheckInput, CheckOutput};
use crate::commands::inputs::working_directory;
use crate::commands::run::arguments::ManifestArguments;
use crate::commands::run::guards::{new_call_decisions, read_and_check_permissions};
use crate::commands::run::run_sandbox::SandboxMode;
use crate::commands::run::tools::load_registry;
use crate::commands::session::source::MatchArguments;
use crate::commands::{Form, Globals, InputErrors, Run, Status, UsageError, output};
use crate::config::{PermissionFlags, PermissionSettings};
use crate::io::Io;
use crate::jsonl::TextLineForm;
use crate::message::Decision;
use crate::permission::Mode;
use crate::records::CheckPermissionRecord;
use crate::render::{ProgressLine, decision_line, history_page};
use crate::run::tools::{CallLine, PastDecisions, Registry, ShellGuarantees};
use crate::session::{CallEvent, visit_all_calls};
use clap::{Args, ValueEnum as _};

/// Check whether tool calls may run
///
/// Reads one call per line: an object with a `name` and an `input`, or a record with calls in any dialect
/// that `run-tools` reads. The same object may have `cwd` and `mode`. Writes one record per call with the
/// `decision` (allow, ask or deny), what decided (`decided_by`), and the same for each of the `parts` of a command
/// line. As text, prints one line per call: the decision, the tool, its subject, and the deciding rule
/// with its file. With `--plain` each line is a shell command.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  echo 'npm test && git push' | turnpipe check permission --plain --allow 'Bash(npm *)'
  turnpipe check permission --settings settings.json -o text < reply.jsonl
  turnpipe check permission --settings settings.json --exit-status < reply.jsonl
  turnpipe check permission --history --since 30d --settings settings.json -o text")]
#[command(mut_arg("agent", |argument| argument.hide_short_help(true)))]
pub(crate) struct CheckPermissionArguments {
    #[command(flatten)]
    permissions: PermissionFlags,
    /// Decide as for commands in this sandbox
    #[arg(long, value_enum, value_name = "MODE", default_value_t = SandboxMode::Off, hide_short_help = true)]
    sandbox: SandboxMode,
    #[command(flatten)]
    manifests: ManifestArguments,
    #[command(flatten)]
    input: CheckInput,
    /// Decide on the past calls of sessions instead (FILE names them, default all), and propose rules
    ///
    /// Prints how many calls the rules would allow, ask about and deny, by tool and by program, and the rules that
    /// would have spared the most questions, each with what else it allows. Nothing is run; repositories of git
    /// are taken to be harmless.
    #[arg(long, conflicts_with_all = ["plain", "strict", "exit_status"])]
    history: bool,
    #[command(flatten)]
    matching: MatchArguments,
    /// Exit with 1 if a call is not allowed or a line is unusable
    #[arg(long, hide_short_help = true)]
    exit_status: bool,
}

impl Run for CheckPermissionArguments {
    reads_sessions!(matching.source);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let here = working_directory()?;
        let registry = load_registry(&self.manifests.load_settings(globals, io)?)?;
        let permissions =
            read_and_check_permissions(&self.permissions, &registry, &here, globals, io)?;
        if self.history {
            return self.replay(registry, permissions, here, io);
        }
        if !self.matching.is_default() {
            let problem = "filters of sessions, such as `--since`, need `--history`";
            return Err(UsageError::new(problem).into());
        }
        let shell = ShellGuarantees {
            masks_files: self.sandbox != SandboxMode::Off,
            confines_commands: self.sandbox == SandboxMode::Workspace,
            ..ShellGuarantees::OWN
        };
        let decisions = new_call_decisions(registry, permissions, here.clone(), shell, io)?;
        let all_allowed = Cell::new(true);
        let is_plain = self.input.plain;
        let output_form = self.input.form.form(io.terminal);
        let columns = io.terminal.columns;
        let check = Check {
            name: "permission",
            output_form,
            form: TextLineForm::AnyJson,
            passed: self.exit_status.then_some(&all_allowed),
            examine: &|checked| {
                let parsed = if is_plain {
                    Ok(CallLine::from_command(&checked.text))
                } else {
                    CallLine::parse(&checked.text)
                };
                let with_mode = parsed.and_then(|asked| {
                    let mode = asked.mode.as_deref().map(|name| {
                        Mode::from_str(name, false)
                            .map_err(|_| format!("unknown permission mode `{name}`"))
                    });
                    Ok((mode.transpose()?.unwrap_or(decisions.mode), asked))
                });
                let (mode, asked) = match with_mode {
                    Ok(asked) => asked,
                    Err(problem) => return CheckOutput::Unusable(problem),
                };
                let directory = asked
                    .directory
                    .map_or_else(|| here.clone(), |given| here.join(given));
                let checked = decisions.check(&asked.calls, &directory, mode);
                let is_allowed =
                    |(record, _): &(CheckPermissionRecord, _)| record.decision == Decision::Allow;
                all_allowed.set(all_allowed.get() && checked.iter().all(is_allowed));
                let checked = checked.into_iter();
                let text =
                    |(record, input)| decision_line(&record, &input, directory.to_str(), columns);
                match output_form {
                    Form::Text => CheckOutput::Text(checked.map(text).collect()),
                    Form::Jsonl => {
                        CheckOutput::Records(checked.map(|(record, _)| record).collect())
                    }
                }
            },
        };
        self.input.check_each(&check, io)
    }
}

impl CheckPermissionArguments {
    /// Decides on the calls of the named sessions, or of all, and prints counts and proposals.
    ///
    /// # Errors
    /// Decisions cannot be set up, or reading or writing failed.
    fn replay(
        &self,
        registry: Registry,
        permissions: PermissionSettings,
        here: PathBuf,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let files = self.input.files.iter();
        let sessions: Vec<String> = files.map(|file| file.display().to_string()).collect();
        let shell = ShellGuarantees {
            reads_git_settings: false,
            ..ShellGuarantees::OWN
        };
        let decisions = new_call_decisions(registry, permissions, here.clone(), shell, io)?;
        let (mut listing, period) = self.matching.call_listing(io.clock.as_ref());
        let mut errors = InputErrors::new(&io.messages);
        let source = &self.matching.source;
        let (_copies, candidates) = source.resolve_or_all(&sessions, &mut errors, io)?;
        let progress = ProgressLine::for_sessions("reading", candidates.len(), io);
        listing.examined = progress.counter();
        let mut replay = PastDecisions::new(decisions);
        let mut read = 0;
        let mut cwd = here.clone();
        visit_all_calls(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    read += 1;
                    let recorded = listed.facts.cwd.as_ref().map(PathBuf::from);
                    cwd = recorded.unwrap_or_else(|| here.clone());
                }
                CallEvent::Call(call) if call.is_within(&period) => {
                    replay.add(&call.call.name, call.call.input.get(), &cwd);
                }
                CallEvent::Call(_) => {}
                CallEvent::Failed { path, error } => errors.report_all(vec![(path, error)]),
            }
            ControlFlow::Continue(())
        });
        drop(progress);
        if read == 0 && sessions.is_empty() {
            source.report_none_found(0, io);
        }
        let proposals = replay.choose_proposals(here);
        let form = self.input.form.form(io.terminal);
        let mut writer = output::open_writer(form, io)?;
        if form == Form::Jsonl {
            for record in replay.counts.values() {
                writer.record(record)?;
            }
            for proposal in &proposals {
                writer.record(proposal)?;
            }
        } else {
            let columns = io.terminal.columns;
            let page = history_page(replay.counts.values(), &proposals, read, columns);
            writer.echo(page.as_bytes())?;
        }
        writer.flush()?;
        Ok(errors.to_status(Status::Done))
    }
}
