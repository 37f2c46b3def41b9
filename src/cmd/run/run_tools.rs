//! `run-tools`: executes the tool calls of a stream while they are still arriving.

use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::api::{Api, TEXT_NEEDLES, prefilter_needles};
use crate::assemble::Decoder;
use crate::cmd::command::Run;
use crate::cmd::inputs::{directory, recorded_id, report_foreign_stream, take_stdin};
use crate::cmd::progress::observer;
use crate::cmd::run::advisor_arguments::AdvisorArguments;
use crate::cmd::run::guards;
use crate::cmd::run::lane_arguments::LaneArguments;
use crate::cmd::run::mcp_arguments::McpArguments;
use crate::cmd::run::permission_arguments::permissions;
use crate::cmd::run::permission_prompt::PermissionPrompt;
use crate::cmd::run::tools::registry;
use crate::cmd::side::side_arguments::extension;
use crate::cmd::times::parse_span_or_seconds;
use crate::cmd::{Globals, Outcome, UsageError, output};
use crate::config::{Overrides, PermissionFlags, PermissionSettings, Settings};
use crate::exec::{
    self, Channels, Dedup, Dependencies, Echo, Emit, EndCause, HistoryPolicy, Lifecycle, Listener,
    Mode, OnError, Options, Policy, RunEnd, StartDirectory, Trace,
};
use crate::flow::{ADVISOR, Briefing};
use crate::io::{Io, Messages};
use crate::jsonl::{Prefilter, UnwantedLines};
use crate::message::SessionId;
use crate::model::KeyCheck;
use crate::process::{Spawners, report_departure, report_end_signals};
use crate::session::{Scope, Session};
use crate::state::{ReadLog, SessionScope};
use crate::tools::{
    ChildVariables, DecisionContext, Input as ToolInput, Registry, ShellGuarantees, ToolContext,
    Web,
};

/// Threads that start processes. More than there are cores would only wait.
const SPAWNER_THREADS: usize = 4;

/// How this program is started as a guardian.
#[cfg(target_os = "linux")]
pub(crate) const GUARDIAN: crate::process::GuardianPlan = crate::process::GuardianPlan {
    argument: "__guardian",
    // What the tools put into the environment of every child.
    mark: "TURNPIPE=1",
};

/// Execute the tool calls of an assistant stream
///
/// Reads records on standard input, copies them, and runs the tool calls among them as soon as
/// they are complete: calls that only read run in parallel, any other call runs alone. Each call
/// gets exactly one result record, in call order. Recordings of other agents, transcripts, and calls
/// that already have a result are copied and never run.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe run-tools < reply.jsonl
  turnpipe run-tools --plan < reply.jsonl
  turnpipe run-tools --tools-only Read,Grep --no-echo < reply.jsonl
  turnpipe run-tools --results anthropic < reply.jsonl")]
pub(crate) struct RunToolsArguments {
    /// Print the batches in which the calls would run, but run nothing
    #[arg(long)]
    plan: bool,
    /// Run unanswered calls even if the input is a recording
    #[arg(long)]
    execute: bool,
    /// Do not copy the input
    #[arg(long)]
    no_echo: bool,
    /// When results go out
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    emit: Emit,
    /// How the scheduler decides which calls can run together
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    schedule: Policy,
    /// What a failing call does to the other calls of its turn
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    on_error: OnError,
    #[command(flatten)]
    lane: LaneArguments,
    #[command(flatten)]
    mcp: McpArguments,
    #[command(flatten)]
    permissions: PermissionFlags,
    /// Who is asked about calls that are neither allowed nor denied: nobody, and they do not run
    /// (`deny`); the person at the terminal (`tty`); the program that reads the records and writes the
    /// input (`stdio`); or a tool of an MCP server (`mcp__SERVER__TOOL`)
    #[arg(long, default_value = "deny", value_name = "WHO")]
    permission_prompt: PermissionPrompt,
    /// The model that judges calls in the permission mode auto [default: the fast model]
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,
    #[command(flatten)]
    advisor: AdvisorArguments,
    /// The session file, which may still be missing: its state is used and updated, hooks get its path,
    /// the judge and the advisor read the conversation in it
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// How many calls run at once [default: 10]
    #[arg(long, value_name = "N")]
    max_concurrency: Option<NonZeroUsize>,
    /// Run only these tools, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools_only: Option<Vec<String>>,
    /// Add the command tools of a manifest (TOML or JSON, see `docs/command-tools.md`); repeatable
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
    /// End the whole run after this time, with status 124 (e.g. 90, 90s, 1500ms, 5m)
    #[arg(long, value_name = "TIME", value_parser = parse_span_or_seconds)]
    timeout: Option<Duration>,
    /// Replace a result that repeats an earlier one with a reference
    #[arg(long)]
    dedup: bool,
    /// Read only this dialect, instead of detecting it line by line
    #[arg(long, value_enum, value_name = "DIALECT")]
    from: Option<Api>,
    /// Write the messages that the next request of this API takes, and nothing else: what the model
    /// said, unless `--no-echo` is given, and the results of each turn
    #[arg(long, value_enum, value_name = "API", conflicts_with = "plan")]
    results: Option<Api>,
    /// The id of the session whose state is used and updated, in this directory or of the file
    /// [default: that of the stream or the file]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// The directory that holds the state
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Where shell calls start [default: where the last run of the session ended, else this directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Another directory that shell calls may change to; repeatable
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// Pass this variable on to commands, although it holds a secret or can change what they do (e.g.
    /// `GITHUB_TOKEN` or `LD_LIBRARY_PATH`); repeatable
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,
    /// Let `WebFetch` fetch from this machine and private networks
    #[arg(long)]
    allow_private_addresses: bool,
    /// Write a trace of the run for Chrome's trace viewer or Perfetto
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Check every line of the input, and exit with 3 if it has unusable records
    #[arg(long)]
    strict: bool,
    /// Exit with 1 if a call failed or was denied
    #[arg(long)]
    exit_status: bool,
}

impl Run for RunToolsArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        if self.results.is_some() && self.permission_prompt == PermissionPrompt::Stdio {
            let error =
                UsageError::new("--results leaves no room for questions on standard output");
            return Err(error
                .with_hint("use `--permission-prompt tty`, or rules")
                .into());
        }
        let stdin = take_stdin(io)?;
        let overrides = Overrides {
            state_directory: self.state_dir.clone(),
            concurrency: self.max_concurrency,
            manifests: self.tools.clone(),
            allow_private_addresses: self.allow_private_addresses,
        };
        let settings = globals.settings(overrides, &io.environment)?;
        let here = match &self.cwd {
            Some(path) => directory("--cwd", path)?,
            None => std::env::current_dir().context("cannot find the working directory")?,
        };
        let (channels, briefing) = (Channels::new(), Briefing::default());
        let spent = || {
            let spent = channels.spent();
            move |cost| spent(extension(None, Some(&cost)))
        };
        let builtin = registry(&settings)?;
        let registry =
            self.advisor
                .add(builtin, &briefing, spent(), KeyCheck::Demanded, globals, io)?;
        let registry = self.mcp.add_servers(registry, &here, globals, io)?;
        let registry = Arc::new(registry);
        let tools_only = self.tools_only.as_ref().map(|names| {
            let names = names.iter().map(|name| tool_named(&registry, name));
            names.collect::<Result<_, _>>()
        });
        let tools_only = tools_only.transpose()?;
        let options = self.options(&settings, &here, globals.quiet, io);
        let (lane, _temporary) = self.lane.lane(SPAWNER_THREADS, &settings)?;
        let permissions = permissions(&self.permissions, &here, globals, io)?;
        let context = self.context(here, &permissions, &settings, lane, io)?;
        let trace = self.trace.as_ref().map(open_trace).transpose()?;
        let (dialect, call_ids) = (self.from, options.call_ids.clone());
        let decoder = move || {
            let decoder = dialect.map_or_else(Decoder::detecting, Decoder::pinned);
            decoder.with_call_ids(call_ids.clone())
        };
        let needles = prefilter_needles().iter().copied();
        let needles = needles.chain(self.results.iter().flat_map(|_| TEXT_NEEDLES));
        let needles = Prefilter::new(&needles.collect::<Vec<&str>>())?;
        if options.mode == Mode::Execute {
            guard_children(&io.messages);
        }
        watch(&channels, io)?;
        let prompt = if permissions.denies_instead_of_asking {
            &PermissionPrompt::Deny
        } else {
            &self.permission_prompt
        };
        let prompter = prompt.prompter(&channels, &io.ids, &registry, &context)?;
        let (mode, named) = (permissions.mode, self.judge.as_deref());
        let judge = guards::judge(mode, named, &briefing, spent(), globals, io)?;
        let is_told = judge.is_some() || registry.iter().any(|tool| tool.name() == ADVISOR);
        if let (true, Some(path)) = (is_told, &self.session) {
            tell_session(path, &briefing)
                .map_err(|error| error.about(path.display()).about("--session"))?;
        }
        let lifecycle = Lifecycle {
            registry,
            mode: permissions.mode,
            hooks: guards::hooks(&permissions, &context, self.session.as_deref(), globals, io)?,
            judge,
            rules: permissions.rules.into(),
            anchor: context.home_directory.clone(),
            prompter,
            limits: settings.limits.clone(),
            shell_verdicts: self.lane.shell_verdicts(),
            tools_only,
            state_root: settings.state_root.clone(),
        };
        let observer = observer(globals.quiet, io);
        let sink = output::record_sink(io)?;
        channels
            .start_reading(stdin, move || needles.clone(), options.unwanted, decoder)
            .context("cannot read input")?;
        let dependencies = Dependencies {
            sink,
            messages: io.messages.clone(),
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
            observer,
            trace,
            listener: is_told
                .then(|| -> Listener { Box::new(move |record| briefing.record(record)) }),
        };
        let end = exec::run(&options, lifecycle, context, dependencies, channels);
        if matches!(end.cause, EndCause::EndOfInput) {
            report_foreign_stream(end.understanding, globals.quiet, &io.messages);
        }
        Ok(self.outcome(&end, io))
    }
}

/// Makes sure that no process outlives the run.
pub(crate) fn guard_children(messages: &Messages) {
    #[cfg(target_os = "linux")]
    {
        crate::process::plan_guardian(GUARDIAN);
        if let Err(error) = crate::process::adopt_orphans() {
            messages.note(&format!(
                "processes that leave their session may outlive the run: {error}"
            ));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = messages;
}

/// Reports signals to the run, and that the reader of the output is gone.
fn watch(channels: &Channels, io: &mut Io) -> anyhow::Result<()> {
    report_end_signals(channels.signals()).context("cannot listen for signals")?;
    if let Some(output) = io.stdout_watch.take() {
        report_departure(output, channels.output_gone()).context("cannot watch the output")?;
    }
    Ok(())
}

impl RunToolsArguments {
    fn options(&self, settings: &Settings, here: &Path, quiet: bool, io: &Io) -> Options {
        let run = io.ids.uuid().simple().to_string();
        Options {
            call_ids: format!("call_{}", &run[run.len() - 12..]),
            mode: if self.plan { Mode::Plan } else { Mode::Execute },
            policy: self.schedule,
            cap: settings.concurrency,
            on_error: self.on_error,
            mentions_denial: !quiet,
            // A message holds the results of a whole turn.
            emit: self.results.map_or(self.emit, |_| Emit::Turn),
            results: self.results,
            echo: if self.no_echo {
                Echo::OwnRecords
            } else {
                Echo::Everything
            },
            history: if self.execute {
                HistoryPolicy::Execute
            } else {
                HistoryPolicy::Respect
            },
            dedup: if self.dedup { Dedup::On } else { Dedup::Off },
            timeout: self.timeout,
            session_id: self.session_id.clone().map(SessionId),
            file_id: self.session.as_deref().map(|path| {
                SessionId(recorded_id(path).unwrap_or_else(|| io.ids.uuid().to_string()))
            }),
            session_scope: SessionScope::of(self.session.as_deref().unwrap_or(here)),
            start_directory: match self.cwd {
                Some(_) => StartDirectory::Given,
                None => StartDirectory::Kept,
            },
            unwanted: if self.strict {
                UnwantedLines::Checked
            } else {
                UnwantedLines::Unread
            },
        }
    }

    fn context(
        &self,
        here: PathBuf,
        permissions: &PermissionSettings,
        settings: &Settings,
        lane: Spawners,
        io: &Io,
    ) -> anyhow::Result<ToolContext> {
        let mut allowed = vec![here.clone()];
        allowed.extend(permissions.directories.iter().cloned());
        for path in &self.add_dir {
            allowed.push(directory("--add-dir", path)?);
        }
        Ok(ToolContext {
            decision: DecisionContext {
                directory: here.clone(),
                allowed_directories: allowed,
                environment: Arc::new(io.environment.with(&permissions.environment)),
                kept_variables: Arc::new(self.env.iter().cloned().collect()),
                lane: Arc::new(lane),
                shell: ShellGuarantees::OWN,
            },
            home_directory: here,
            child_variables: ChildVariables::default(),
            denied: Arc::new(permissions.rules.denying_files()),
            read_log: Arc::new(ReadLog::default()),
            todos: Arc::new(serde_json::Value::Null),
            shell_timeouts: settings.shell_timeouts,
            spawners: Arc::new(
                Spawners::new(SPAWNER_THREADS)
                    .with_spill_directory(settings.temporary_directory.clone()),
            ),
            web: Arc::new(Web::new(settings.reach, settings.http.clone())),
            clock: Arc::clone(&io.clock),
        })
    }

    fn outcome(&self, end: &RunEnd, io: &Io) -> Outcome {
        match &end.cause {
            EndCause::Interrupted => Outcome::Interrupted,
            EndCause::Terminated => Outcome::Terminated,
            EndCause::OutputGone => Outcome::ReaderGone,
            EndCause::OutputFailed(reason) | EndCause::InputFailed(reason) => {
                io.messages.note(reason);
                Outcome::InputOutputFailed
            }
            EndCause::TimeUp => {
                io.messages
                    .note("the time limit of the whole run was reached");
                Outcome::TimedOut
            }
            EndCause::EndOfInput if self.strict && end.damaged_lines > 0 => {
                Outcome::UnusableRecords
            }
            EndCause::EndOfInput if self.exit_status && end.failed_calls > 0 => Outcome::AnswerIsNo,
            EndCause::EndOfInput => Outcome::Done,
        }
    }
}

/// Tells what was said in a session file, which may still be missing.
fn tell_session(path: &Path, briefing: &Briefing) -> Result<(), UsageError> {
    if !path.exists() {
        return Ok(());
    }
    let session = Session::open(path).map_err(UsageError::reason)?;
    let told = session.each_message(Scope::SinceCompaction, &mut |message| {
        briefing.message(&message);
        ControlFlow::Continue(())
    });
    told.map(drop).map_err(UsageError::reason)
}

/// The tool's own name.
fn tool_named(registry: &Registry, name: &str) -> Result<String, UsageError> {
    // Not known before its server runs.
    if let Some(name) = registry.slow_name(name) {
        return Ok(name.to_owned());
    }
    match registry.resolve(name, ToolInput::new()) {
        Ok(resolved) => Ok(resolved.tool.name().to_owned()),
        Err(error) => Err(UsageError::new(format!("--tools-only: {error}"))
            .with_hint("`turnpipe tools` lists them")),
    }
}

fn open_trace(path: &PathBuf) -> anyhow::Result<Trace> {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        // It holds what was run.
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Trace::new(Box::new(BufWriter::new(file)))
        .with_context(|| format!("cannot write {}", path.display()))
}
