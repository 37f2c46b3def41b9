//! `run-tools`: executes the tool calls of a stream while they are still arriving.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::api::{Api, TEXT_NEEDLES, prefilter_needles};
use crate::assemble::Decoder;
use crate::client::model::{KeyCheck, Retryability, parse_failure};
use crate::commands::inputs::{
    directory, read_recorded_id, report_foreign_stream, take_stdin, working_directory,
};
use crate::commands::run::arguments::{
    AdvisorArguments, LaneArguments, ManifestArguments, McpArguments, PermissionPrompt,
};
use crate::commands::run::guards::{self, HookSource, open_trace};
use crate::commands::run::run_sandbox::{RunPlace, RunSandboxArguments, RunSandboxes};
use crate::commands::run::tools::{find_tool, load_registry};
use crate::commands::times::parse_span_or_seconds;
use crate::commands::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::config::{Overrides, PermissionFlags, PermissionSettings, Settings};
use crate::io::{InputStream, Io};
use crate::jsonl::{Prefilter, UnwantedLines};
use crate::message::SessionId;
use crate::process::{Sandbox, Spawners, report_departure, report_end_signals};
use crate::render::ProgressLine;
use crate::run::tools::{
    CallSandbox, ChildVariables, DecisionContext, Registry, ShellGuarantees, ToolContext, Web,
};
use crate::run::{
    self, CallHooks, Channels, Dedup, Dependencies, Echo, Emit, EndCause, HistoryPolicy, Lifecycle,
    Listener, OnError, Options, Policy, RunEnd, RunMode, StartDirectory,
};
use crate::session::{Scope, Session};
use crate::state::{ReadLog, SessionKey, SessionScope};
use crate::summaries::{ADVISOR, Briefing, Cost, extension};

/// Threads that start processes.
const SPAWNER_THREADS: usize = 4;

/// Run the tool calls of a model's reply
///
/// Reads records on standard input, copies them to standard output, and runs the tool calls among them
/// as soon as they are complete. Calls that only read run in parallel; any other call runs alone. Each
/// call gets exactly one result record, in call order. Recordings of other agents, transcripts, and
/// calls that already have a result are copied but not run.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe run-tools < reply.jsonl
  turnpipe run-tools --plan < reply.jsonl
  turnpipe run-tools --tools-only Read,Grep --no-echo < reply.jsonl
  turnpipe run-tools --results anthropic < reply.jsonl")]
pub(crate) struct RunToolsArguments {
    /// Print the batches of calls, but run nothing
    #[arg(long)]
    plan: bool,
    /// Run calls without a result even if the input is a recording
    #[arg(long, hide_short_help = true)]
    execute: bool,
    /// Do not copy the input
    #[arg(long)]
    no_echo: bool,
    #[command(flatten)]
    form: FormArguments,
    /// When to write results
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_short_help = true
    )]
    emit: Emit,
    /// The calls that can run together
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "POLICY",
        hide_short_help = true
    )]
    schedule: Policy,
    /// The effect of a failed call on the other calls of its turn
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "POLICY",
        hide_short_help = true
    )]
    on_error: OnError,
    #[command(flatten)]
    lane: LaneArguments,
    #[command(flatten)]
    sandbox: RunSandboxArguments,
    #[command(flatten)]
    mcp: McpArguments,
    #[command(flatten)]
    permissions: PermissionFlags,
    /// The approver of calls that no rule allows or denies
    ///
    /// `deny`: no one, the calls do not run. `tty`: the user at the terminal. `stdio`: the program that
    /// reads the records and writes the input. `mcp__SERVER__TOOL`: a tool of an MCP server.
    #[arg(
        long,
        default_value = "deny",
        value_name = "WHO",
        hide_short_help = true
    )]
    permission_prompt: PermissionPrompt,
    /// The model that judges calls in the permission mode auto [default: the fast model]
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    judge: Option<String>,
    #[command(flatten)]
    advisor: AdvisorArguments,
    /// Use and update the state of this session file
    ///
    /// The file may be missing. Hooks get its path; the judge and the advisor read its conversation.
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// Maximum number of calls that run at once [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_concurrency: Option<NonZeroUsize>,
    /// Run only these tools, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools_only: Option<Vec<String>>,
    #[command(flatten)]
    manifests: ManifestArguments,
    /// End the run after this time (e.g. 90, 90s, 1500ms, 5m)
    ///
    /// The exit status is then 124.
    #[arg(long, value_name = "TIME", value_parser = parse_span_or_seconds, hide_short_help = true)]
    timeout: Option<Duration>,
    /// Replace a result that repeats an earlier one with a reference
    #[arg(long, hide_short_help = true)]
    dedup: bool,
    /// Read only this dialect instead of detecting it line by line
    #[arg(long, value_enum, value_name = "DIALECT", hide_short_help = true)]
    from: Option<Api>,
    /// Write only messages for the next request to this API
    ///
    /// These are the model's reply, unless `--no-echo` is given, and the results of each turn.
    #[arg(
        long,
        value_enum,
        value_name = "API",
        conflicts_with = "plan",
        hide_possible_values = true
    )]
    results: Option<Api>,
    /// Id of the session whose state is used and updated [default: the id in the stream or the
    /// session file]
    #[arg(long, value_name = "ID", hide_short_help = true)]
    session_id: Option<String>,
    /// Directory of session state
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    state_dir: Option<PathBuf>,
    /// Working directory of shell calls [default: of the session's last run, else this directory]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    cwd: Option<PathBuf>,
    /// Another directory that shell calls may change to; repeatable
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    add_dir: Vec<PathBuf>,
    /// Pass this variable to commands and hooks although it holds a secret or can change what they do (e.g.
    /// `GITHUB_TOKEN` or `LD_LIBRARY_PATH`); repeatable
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    env: Vec<OsString>,
    /// Let `WebFetch` fetch from this machine and private networks
    #[arg(long, hide_short_help = true)]
    allow_private_addresses: bool,
    /// Write a trace of the run for Chrome's trace viewer or Perfetto
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    trace: Option<PathBuf>,
    /// Check every input line; exit with 3 if a record is unusable
    #[arg(long, hide_short_help = true)]
    strict: bool,
    /// Exit with 1 if a call failed or was denied
    #[arg(long, hide_short_help = true)]
    exit_status: bool,
}

impl Run for RunToolsArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if self.results.is_some() && self.permission_prompt == PermissionPrompt::Stdio {
            let error = UsageError::new("--results and --permission-prompt stdio both need stdout");
            return Err(error
                .with_hint("use `--permission-prompt tty`, or rules")
                .into());
        }
        let stdin = take_stdin(io)?;
        let settings = globals.config(io)?.settings(self.to_overrides());
        let here = match &self.cwd {
            Some(path) => directory("--cwd", path)?,
            None => working_directory()?,
        };
        let (channels, briefing) = (Channels::new(), Briefing::default());
        let permissions = guards::read_permissions(&self.permissions, &here, globals, io)?;
        let directories = self.list_directories(&here, &permissions)?;
        let sandboxes = self.create_sandboxes(&permissions, &here, &directories, &settings, io)?;
        let (builtin, keys) = (load_registry(&settings)?, KeyCheck::Required);
        let spent = new_cost_sink(&channels);
        let advised = self
            .advisor
            .add(builtin, &briefing, spent, keys, globals, io)?;
        let servers = sandboxes.servers.as_ref();
        let registry = self.add_servers(advised, &here, servers, globals, io)?;
        let sandbox = sandboxes.calls.as_ref();
        guards::warn_about_rules(&permissions, &registry, &io.messages);
        let tools_only = self.resolve_tools_only(&registry)?;
        let form = self.choose_form(io);
        let options = self.to_options(form, &settings, &here, io);
        let children = &globals.children;
        let (lane, _temporary) =
            self.lane
                .start_lane(children, SPAWNER_THREADS, sandbox, &settings, &io.messages)?;
        let spawners = children
            .spawners(SPAWNER_THREADS)
            .with_spill_directory(settings.temporary_directory.clone());
        let call_sandbox = sandboxes.create_call_sandbox(&spawners, &permissions);
        let starters = Starters::new(lane, &spawners, sandbox, call_sandbox);
        let context = self.create_context(directories, &permissions, &settings, starters, io);
        let trace = self.trace.as_ref().map(open_trace).transpose()?;
        if options.mode == RunMode::Execute {
            globals.guard_children(&io.messages);
        }
        report_ends(&channels, io)?;
        let prompt = if permissions.denies_instead_of_asking {
            &PermissionPrompt::Deny
        } else {
            &self.permission_prompt
        };
        let prompter = prompt.create_prompter(&channels, io, &registry, &context)?;
        let mode = permissions.mode;
        let judge = self.judge.as_deref();
        let spent = new_cost_sink(&channels);
        let judge = guards::make_judge(mode, judge, &briefing, spent, globals, io)?;
        let is_briefed = judge.is_some() || registry.iter().any(|tool| tool.name() == ADVISOR);
        if is_briefed {
            self.fill_briefing(&briefing)?;
        }
        let hooks = HookSource {
            settings: &permissions,
            project: &context.home_directory,
            transcript: self.session.as_deref(),
            kept_variables: &self.env,
        }
        .load(Arc::new(spawners), globals, io)?;
        let lifecycle = Lifecycle {
            registry,
            mode,
            hooks: CallHooks::new(hooks, mode),
            judge,
            rules: permissions.rules.into(),
            anchor: context.home_directory.clone(),
            prompter,
            limits: settings.limits.clone(),
            shell_verdicts: self.lane.shell_verdicts(),
            tools_only,
            state_root: settings.state_root.clone(),
        };
        let dependencies = Dependencies {
            observer: Box::new(ProgressLine::for_calls(io)),
            writer: output::open_run_writer(form, !self.no_echo, globals, io)?,
            messages: io.messages.clone(),
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
            trace,
            listener: is_briefed
                .then(|| -> Listener { Box::new(move |record| briefing.add_record(record)) }),
        };
        self.start_reading(stdin, &channels, &options)?;
        let end = run::run(&options, lifecycle, context, dependencies, channels);
        sandboxes.report_new_files(&io.messages);
        Ok(self.report_end(&end, io))
    }
}

/// The spawners of the children of calls.
struct Starters {
    lane: Spawners,
    serial: Spawners,
    sandbox: Option<Arc<CallSandbox>>,
}

impl Starters {
    fn new(
        lane: Spawners,
        spawners: &Spawners,
        sandbox: Option<&Arc<Sandbox>>,
        call_sandbox: Option<Arc<CallSandbox>>,
    ) -> Self {
        Self {
            lane,
            serial: match sandbox {
                Some(sandbox) => spawners.clone().in_sandbox(sandbox),
                None => spawners.clone(),
            },
            sandbox: call_sandbox,
        }
    }
}

/// Returns a function that passes costs of requests of the judge and the advisor to the run.
fn new_cost_sink(channels: &Channels) -> impl Fn(Cost) + Send + Sync + 'static {
    let spent = channels.cost_reporter();
    move |cost| spent(extension(None, Some(&cost)))
}

/// Reports signals and the exit of the output's reader to the run.
fn report_ends(channels: &Channels, io: &mut Io) -> anyhow::Result<()> {
    report_end_signals(channels.signal_reporter()).context("cannot listen for signals")?;
    if let Some(output) = io.stdout_watch.take() {
        report_departure(output, channels.output_reporter()).context("cannot watch the output")?;
    }
    Ok(())
}

impl RunToolsArguments {
    fn to_overrides(&self) -> Overrides {
        Overrides {
            state_directory: self.state_dir.clone(),
            concurrency: self.max_concurrency,
            manifests: self.manifests.tools.clone(),
            allow_private_addresses: self.allow_private_addresses,
        }
    }

    /// Returns the sandboxes of commands and servers, if they are needed. A plan runs none.
    fn create_sandboxes(
        &self,
        permissions: &PermissionSettings,
        here: &Path,
        directories: &[PathBuf],
        settings: &Settings,
        io: &Io,
    ) -> Result<RunSandboxes, UsageError> {
        if self.plan {
            return Ok(RunSandboxes::default());
        }
        let place = RunPlace {
            settings: permissions,
            directories,
            environment: &io.environment.with(&permissions.environment),
            state: &settings.state_root,
            session: self.find_session(here),
        };
        self.sandbox.prepare(&place, &io.messages)
    }

    /// Returns the session if it is known before the input is read: the session of `--session-id`, else of the file, by
    /// its name, because the file may not exist in the first run.
    fn find_session(&self, here: &Path) -> Option<SessionKey> {
        let file = self.session.as_deref();
        let file_id = || Some(file?.file_stem()?.to_string_lossy().into_owned());
        Some(SessionKey {
            id: SessionId(self.session_id.clone().or_else(file_id)?),
            scope: SessionScope::from_path(file.unwrap_or(here)),
        })
    }

    /// Adds the tools of MCP servers.
    fn add_servers(
        &self,
        registry: Registry,
        here: &Path,
        sandbox: Option<&Arc<Sandbox>>,
        globals: &Globals,
        io: &Io,
    ) -> Result<Arc<Registry>, UsageError> {
        let user = self.permission_prompt.open_form_user(io)?;
        let mcp = &self.mcp;
        let added = mcp.add_servers(registry, here, sandbox, user, globals, io)?;
        Ok(Arc::new(added))
    }

    /// Returns the canonical names of `--tools-only`.
    fn resolve_tools_only<Names: FromIterator<String>>(
        &self,
        registry: &Registry,
    ) -> Result<Option<Names>, UsageError> {
        let names = self.tools_only.as_ref().map(|names| {
            let names = names.iter().map(|name| find_tool(registry, name));
            names.collect()
        });
        names.transpose()
    }

    /// Starts to read the input.
    fn start_reading(
        &self,
        stdin: InputStream,
        channels: &Channels,
        options: &Options,
    ) -> anyhow::Result<()> {
        let (dialect, call_ids) = (self.from, options.call_id_prefix.clone());
        let decoder = move || {
            let decoder = dialect.map_or_else(Decoder::with_detection, Decoder::for_api);
            decoder.with_call_ids(call_ids.clone())
        };
        let mut needles = prefilter_needles().to_vec();
        if self.results.is_some() {
            needles.extend(TEXT_NEEDLES);
        }
        let prefilter = Prefilter::new(&needles)?;
        channels
            .start_reading(
                stdin,
                move || prefilter.clone(),
                options.unwanted_lines,
                decoder,
            )
            .context("cannot read input")
    }

    /// Passes the conversation in the session file, if it exists, to the judge and the advisor.
    fn fill_briefing(&self, briefing: &Briefing) -> Result<(), UsageError> {
        let Some(path) = self.session.as_ref().filter(|path| path.exists()) else {
            return Ok(());
        };
        let to_error = |error| UsageError::reason(error).with_option("--session", path);
        let session = Session::open(path).map_err(to_error)?;
        let to_read_error = |error| UsageError::reason(error).with_option("--session", path);
        for message in session
            .messages(Scope::SinceCompaction)
            .map_err(to_read_error)?
        {
            briefing.add_message(&message.map_err(to_read_error)?);
        }
        Ok(())
    }

    /// Returns the form of the output. Programs that read results or questions need records.
    fn choose_form(&self, io: &Io) -> Form {
        if self.results.is_some() || self.permission_prompt == PermissionPrompt::Stdio {
            return Form::Jsonl;
        }
        self.form.form(io.terminal)
    }

    fn to_options(&self, form: Form, settings: &Settings, here: &Path, io: &Io) -> Options {
        let run = io.ids.uuid().simple().to_string();
        Options {
            call_id_prefix: format!("call_{}", &run[run.len() - 12..]),
            mode: if self.plan {
                RunMode::Plan
            } else {
                RunMode::Execute
            },
            policy: self.schedule,
            max_concurrent_calls: settings.concurrency,
            on_error: self.on_error,
            // A message contains the results of a whole turn.
            emit: self.results.map_or(self.emit, |_| Emit::Turn),
            results_api: self.results,
            warns_on_denial: form == Form::Jsonl,
            // Text about calls needs their input.
            echo: if self.no_echo && form == Form::Jsonl {
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
            fallback_session_id: self.session.as_deref().map(|path| {
                SessionId(read_recorded_id(path).unwrap_or_else(|| io.ids.uuid().to_string()))
            }),
            session_scope: SessionScope::from_path(self.session.as_deref().unwrap_or(here)),
            start_directory: match self.cwd {
                Some(_) => StartDirectory::Named,
                None => StartDirectory::Previous,
            },
            unwanted_lines: if self.strict {
                UnwantedLines::Checked
            } else {
                UnwantedLines::Unread
            },
        }
    }

    fn create_context(
        &self,
        directories: Vec<PathBuf>,
        permissions: &PermissionSettings,
        settings: &Settings,
        starters: Starters,
        io: &Io,
    ) -> ToolContext {
        let here = directories.first().cloned().unwrap_or_default();
        let environment = io.environment.with(&permissions.environment);
        let hidden = match &starters.sandbox {
            Some(_) => &*permissions.sandbox.credential_variables,
            None => &[],
        };
        let is_passed =
            |(name, _): &(&OsStr, &OsStr)| !hidden.iter().any(|hidden| *name == hidden.as_str());
        let environment = environment.iter().filter(is_passed).collect();
        ToolContext {
            decision: DecisionContext {
                directory: here.clone(),
                allowed_directories: directories,
                own_directory: None,
                environment: Arc::new(environment),
                kept_variables: Arc::new(self.env.iter().cloned().collect()),
                lane: Arc::new(starters.lane),
                shell: ShellGuarantees::OWN,
                sandbox: starters.sandbox,
            },
            home_directory: here,
            child_variables: ChildVariables::default(),
            denied: Arc::new(permissions.rules.file_denials()),
            read_log: Arc::new(ReadLog::default()),
            todos: Arc::new(serde_json::Value::Null),
            shell_timeouts: settings.shell_timeouts,
            spawners: Arc::new(starters.serial),
            web: Arc::new(Web::new(settings.reach, settings.http.clone())),
            clock: Arc::clone(&io.clock),
        }
    }

    /// Returns the working directories; the session starts in the first.
    fn list_directories(
        &self,
        here: &Path,
        permissions: &PermissionSettings,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let mut directories = vec![here.to_owned()];
        directories.extend(permissions.directories.iter().cloned());
        for path in &self.add_dir {
            directories.push(directory("--add-dir", path)?);
        }
        Ok(directories)
    }

    /// Reports a problem that ended the run. Returns the exit status.
    fn report_end(&self, end: &RunEnd, io: &Io) -> Status {
        match &end.cause {
            EndCause::Interrupted => Status::Interrupted,
            EndCause::Terminated => Status::Terminated,
            EndCause::OutputGone => Status::ReaderGone,
            EndCause::OutputFailed(reason) | EndCause::InputFailed(reason) => {
                io.messages.error(reason);
                Status::InputOutputFailed
            }
            EndCause::TimeUp => {
                io.messages.error("the run reached its time limit");
                Status::TimedOut
            }
            EndCause::EndOfInput => self.report_input(end, io),
        }
    }

    /// Reports input that is not a stream with calls. Returns the exit status.
    fn report_input(&self, end: &RunEnd, io: &Io) -> Status {
        if let Some(failure) = parse_failure(&String::from_utf8_lossy(&end.head)) {
            io.messages.error(&failure.to_string());
            return match failure.retryability() {
                Retryability::Temporary => Status::ProviderUnavailable,
                Retryability::Permanent | Retryability::Stopped => Status::UnusableRecords,
            };
        }
        report_foreign_stream(end.understanding, &io.messages);
        if self.strict && end.damaged_lines > 0 {
            Status::UnusableRecords
        } else if self.exit_status && end.failed_calls > 0 {
            Status::Negative
        } else {
            Status::Done
        }
    }
}
