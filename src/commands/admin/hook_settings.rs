//! `hook install`, `uninstall`, `status` and `test`: the hooks in the settings of agents. `hook explain`: logged decisions.

use std::fs;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Command, FromArgMatches, ValueEnum};

use crate::agent::{Agent, HookSettings};
use crate::commands::inputs::{take_stdin, working_directory};
use crate::commands::run::hook::HookArguments;
use crate::commands::{
    Form, FormArguments, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output,
};
use crate::io::{Environment, Io};
use crate::message::Decision;
use crate::records::{HookScope, HookStatusRecord};
use crate::render::{format_logged_decision, hook_tests_page, hooks_page};
use crate::run::hooks::{
    AgentHook, AgentHookInput, HookTrial, SettingsChange, UnjudgedInput, find_hooks, last_decisions,
};
use crate::text::terminal_safe_line;

/// Install the hook in the settings of agents
///
/// Shows the change, asks on a terminal, and keeps the old file as `FILE.backup`. Comments and other
/// settings are preserved. Options after `--` are passed to `turnpipe hook pre-tool-use`.
///
/// Agents follow the hook in different ways:
///
/// Codex skips it silently until its user trusts it (`/hooks` in codex), also after a change of options. It gets no
/// answer instead of `ask`, and `allow` only at `PermissionRequest`.
///
/// Gemini CLI gets no answer instead of `ask`, and asks its user even if the hook allows the call.
///
/// Qwen Code asks its user before `PreToolUse` hooks run; `PermissionRequest` avoids that.
///
/// Cursor gets `ask` instead of no answer, at `preToolUse` (not enforced), `beforeShellExecution` and
/// `beforeMCPExecution`; elsewhere `deny` instead of `ask`, and `allow` instead of no answer.
///
/// opencode denies instead of asking, and gets no answer instead of `allow`.
///
/// pi asks, or denies without a terminal, and gets no answer instead of `allow`.
///
/// Copilot CLI denies the call if the hook cannot start; other agents proceed.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook install --agent claude
  turnpipe hook install --agent codex,opencode --yes -- --deny 'Read(.env)'
  turnpipe hook install --agent claude --project --dry-run -- --settings .claude/settings.json
  turnpipe hook install --agent qwen --sandbox --yes")]
pub(crate) struct HookInstallArguments {
    #[command(flatten)]
    change: ChangeArguments,
    /// Let the hook move shell commands into `turnpipe sandbox`
    #[arg(long)]
    sandbox: bool,
    /// Options of the hook: rules, settings, `--trust-analysis`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Remove the hook from the settings of agents
///
/// Shows the change, asks on a terminal, and keeps the old file as `FILE.backup`. Other hooks are preserved.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook uninstall --agent claude --yes
  turnpipe hook uninstall --agent codex --project --yes")]
pub(crate) struct HookUninstallArguments {
    #[command(flatten)]
    change: ChangeArguments,
}

#[derive(Debug, Args)]
struct ChangeArguments {
    /// Change the settings of these agents; separate several by commas
    #[arg(
        long,
        value_parser = new_agent_parser(),
        ignore_case = true,
        value_delimiter = ',',
        required = true,
        value_name = "NAME"
    )]
    agent: Vec<Agent>,
    /// Change the settings of the project in the working directory instead of the user's
    #[arg(long)]
    project: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Only show the change
    #[arg(long, conflicts_with = "yes", hide_short_help = true)]
    dry_run: bool,
}

/// Returns the parser of an agent that has hooks.
fn new_agent_parser() -> impl TypedValueParser<Value = Agent> {
    let agents = Agent::ALL.into_iter();
    let agents = agents.filter(|agent| agent.format().hook_settings.is_some());
    let values = agents.filter_map(|agent| agent.to_possible_value());
    PossibleValuesParser::new(values).try_map(|name| Agent::from_str(&name, true))
}

/// Show which agents have the hook installed
///
/// Reads the settings of the user and of the project in the working directory, and runs the hooks of the user with a
/// harmless call, as `turnpipe hook test` does. Exits with 1 if no hook is installed, or one fails.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook status
  turnpipe hook status --json | jq -r .path")]
pub(crate) struct HookStatusArguments {
    /// Only these agents; separate several by commas
    #[arg(
        long,
        value_parser = new_agent_parser(),
        ignore_case = true,
        value_delimiter = ',',
        value_name = "NAME", hide_short_help = true)]
    agent: Vec<Agent>,
    #[command(flatten)]
    form: FormArguments,
}

/// Try the installed hook with calls
///
/// Runs the command in the settings of each agent as the agent does, with its shell, timeout, variables and directory,
/// and prints what it decided, why, and what the agent makes of it. The calls are built in, or those of FILE. The hook
/// decides and logs; no call is run. Exits with 1 if no hook is installed, or one fails.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook test
  turnpipe hook test --agent claude calls.jsonl
  turnpipe hook test --json | jq 'select(.honored | not)'")]
pub(crate) struct HookTestArguments {
    /// Inputs of hooks, one JSON object per line; those of events without a decision are skipped
    #[arg(value_name = "FILE")]
    payloads: Option<PathBuf>,
    /// Only these agents; separate several by commas
    #[arg(
        long,
        value_parser = new_agent_parser(),
        ignore_case = true,
        value_delimiter = ',',
        value_name = "NAME")]
    agent: Vec<Agent>,
    /// Also run the hooks in the settings of the project in the working directory
    #[arg(long)]
    project: bool,
    #[command(flatten)]
    form: FormArguments,
}

/// Explain the last decisions of the hook
///
/// Reads the log that `--log FILE` of the hook writes, and prints the last decisions, the newest last: the
/// call, the rule that decided and its file, and rules that would have allowed the call. Without FILE, reads
/// the log of the installed hook.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe hook install --agent claude --yes -- --log ~/hook.jsonl
  turnpipe hook explain
  turnpipe hook explain ~/hook.jsonl --decision ask,deny --limit 3
  turnpipe hook explain --decision ask --json | jq -r '.hints[]' | sort | uniq -c")]
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

impl Run for HookInstallArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let parser = HookArguments::augment_args(Command::new("turnpipe hook pre-tool-use"));
        let sandbox = self.sandbox.then(|| "--sandbox".to_owned());
        let options: Vec<String> = sandbox.into_iter().chain(self.options).collect();
        let beginning = ["hook", "--agent", "claude"].into_iter();
        let words = beginning.chain(options.iter().map(String::as_str));
        let hook = parser
            .no_binary_name(false)
            .try_get_matches_from(words)
            .and_then(|matches| HookArguments::from_arg_matches(&matches))
            .map_err(|error| {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default();
                let problem = line.strip_prefix("error: ").unwrap_or(line);
                UsageError::new(format!("options of the hook: {problem}"))
                    .with_hint("`turnpipe hook pre-tool-use --help` shows them")
            })?;
        for agent in self.change.agent.iter().filter(|_| hook.sandbox) {
            if !find_hook_settings(*agent)?.takes_sandbox {
                let problem = "it has a sandbox of its own, or its hooks cannot change commands";
                return Err(UsageError::new(problem).about(agent.name()).into());
            }
        }
        let program = find_program(&io.environment)?;
        let options = |path: &Path| {
            // The agent compares its rules with the changed command.
            let needs_rules = hook.sandbox && hook.permissions.settings.is_empty();
            let mut all = options.clone();
            if needs_rules {
                all.extend(["--settings".to_owned(), path.display().to_string()]);
            }
            all
        };
        let command = NewCommand {
            program: &program,
            options: &options,
        };
        self.change.run(Some(&command), globals, io)
    }
}

impl Run for HookUninstallArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        self.change.run(None, globals, io)
    }
}

/// The command of a hook to install.
struct NewCommand<'a> {
    program: &'a str,
    /// Returns the options for a hook in this settings file.
    options: &'a dyn Fn(&Path) -> Vec<String>,
}

impl ChangeArguments {
    /// Adds hooks with this program and these options, or removes them.
    fn run(
        &self,
        command: Option<&NewCommand<'_>>,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let (done, unchanged) = match command {
            Some(_) => ("installed", "already installed"),
            None => ("hook removed", "not installed"),
        };
        let mut writer = output::open_writer(Form::Text, io)?;
        let mut changes = Vec::new();
        for agent in &self.agent {
            let facts = find_hook_settings(*agent)?;
            let path = self.find_settings_file(facts, &io.environment)?;
            let name = path.display().to_string();
            let options = command.map(|command| (command.options)(&path));
            let words = command.zip(options.as_deref());
            let words = words.map(|(command, options)| (command.program, options));
            let change = SettingsChange::new(path, *agent, facts, words)
                .map_err(|error| UsageError::reason(error).about(name))?;
            if change.is_empty() {
                let line = format!("{}: {unchanged}\n", format_path(&change.path));
                writer.echo(line.as_bytes())?;
                continue;
            }
            writer.echo(change.difference().as_bytes())?;
            changes.push((change, facts));
        }
        writer.flush()?;
        if changes.is_empty() || self.dry_run {
            return Ok(Status::Done);
        }
        if !self.yes && !confirm(&mut writer, io)? {
            return Ok(Status::Negative);
        }
        for (change, facts) in changes {
            let failed = || format!("cannot write {}", change.target.display());
            change.write().with_context(failed)?;
            if !globals.quiet {
                writer.echo(format!("{}: {done}\n", format_path(&change.path)).as_bytes())?;
                if command.is_some() {
                    io.messages.hint(facts.activation);
                }
            }
        }
        writer.flush()?;
        Ok(Status::Done)
    }

    fn find_settings_file(
        &self,
        facts: &HookSettings,
        environment: &Environment,
    ) -> anyhow::Result<PathBuf> {
        if self.project {
            let here = working_directory()?;
            return Ok(facts.project_file(&here));
        }
        let file = facts.user_file(environment);
        Ok(file.ok_or_else(|| {
            UsageError::new("HOME is not set")
                .with_hint("`--project` changes the settings of a project")
        })?)
    }
}

fn find_hook_settings(agent: Agent) -> Result<&'static HookSettings, UsageError> {
    agent
        .format()
        .hook_settings
        .as_ref()
        .ok_or_else(|| UsageError::new(format!("{} has no hooks that run commands", agent.name())))
}

/// Returns the name by which an agent's shell finds this program.
fn find_program(environment: &Environment) -> anyhow::Result<String> {
    let path = environment.text("PATH").unwrap_or_default();
    let mut directories = path.split(':').map(Path::new);
    if directories.any(|directory| directory.is_absolute() && directory.join("turnpipe").is_file())
    {
        return Ok("turnpipe".to_owned());
    }
    let path = std::env::current_exe().context("cannot find the path of this program")?;
    Ok(path.display().to_string())
}

fn confirm(writer: &mut RecordWriter, io: &mut Io) -> anyhow::Result<bool> {
    if !(io.terminal.stdin && io.terminal.stdout) {
        let problem = "standard input is not a terminal, cannot ask for confirmation";
        let error = UsageError::new(problem).with_hint("`--yes` writes without a question");
        return Err(error.into());
    }
    writer.echo(b"Write this? [y/N] ")?;
    writer.flush()?;
    io.terminal.stdin = false;
    let mut line = String::new();
    BufReader::new(take_stdin(io)?).read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "yes"))
}

fn format_path(path: &Path) -> String {
    terminal_safe_line(&path.display().to_string())
}

impl Run for HookStatusArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let hooks = find_installed_hooks(&self.agent, &io.environment)?;
        let trial = new_trial(globals, io)?;
        let status = |hook: &AgentHook| {
            // A project that was only downloaded chooses no commands to run.
            let is_tried = hook.scope == HookScope::User;
            let sample = hook.samples(&trial).into_iter().find(|_| is_tried);
            hook.to_record(sample.map(|call| hook.run(&call, &trial)))
        };
        let found: Vec<HookStatusRecord> = hooks.iter().map(status).collect();
        self.form.print(|| hooks_page(&found), &found, io)?;
        let fails = found.iter().any(|hook| hook.works == Some(false));
        Ok(Status::negative_if(found.is_empty() || fails))
    }
}

/// Prepares to run installed hooks in the working directory.
fn new_trial(globals: &Globals, io: &Io) -> anyhow::Result<HookTrial> {
    globals.guard_children(&io.messages);
    Ok(HookTrial {
        spawners: globals.children.spawners(1),
        environment: io.environment.clone(),
        directory: working_directory()?,
    })
}

impl Run for HookTestArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let mut hooks = find_installed_hooks(&self.agent, &io.environment)?;
        hooks.retain(|hook| self.project || hook.scope == HookScope::User);
        let is_missing = |agent: &&Agent| !hooks.iter().any(|hook| hook.agent == **agent);
        let missing = match self.agent.iter().find(is_missing) {
            None => hooks.is_empty().then_some("NAME"),
            Some(agent) => Some(agent.name()),
        };
        if let Some(name) = missing {
            io.messages.warn("the hook is not installed");
            let hint = format!("`turnpipe hook install --agent {name}` installs it");
            io.messages.hint(&hint);
        }
        let mut errors = InputErrors::new(&io.messages);
        let trial = new_trial(globals, io)?;
        let mut tests = Vec::new();
        if let Some(path) = &self.payloads {
            let text = fs::read_to_string(path)
                .map_err(|error| UsageError::reason(error).about(path.display()))?;
            for (line, input) in text.lines().enumerate() {
                match AgentHookInput::parse(input, &trial.directory) {
                    Ok(call) => {
                        let hooks = hooks.iter().filter(|hook| hook.matches(&call));
                        tests.extend(hooks.map(|hook| hook.run(&call, &trial)));
                    }
                    Err(UnjudgedInput {
                        has_other_event: true,
                        ..
                    }) => {}
                    Err(UnjudgedInput { problem, .. }) => {
                        let place = format!("{}:{}", path.display(), line + 1);
                        errors.report(place, &UsageError::new(problem));
                    }
                }
            }
        } else {
            for hook in &hooks {
                let samples = hook.samples(&trial).into_iter();
                tests.extend(samples.map(|call| hook.run(&call, &trial)));
            }
        }
        let columns = io.terminal.columns;
        self.form
            .print(|| hook_tests_page(&tests, columns), &tests, io)?;
        let fails = tests.is_empty() || tests.iter().any(|test| !test.ok);
        Ok(errors.to_status(Status::negative_if(fails || missing.is_some())))
    }
}

/// Returns the hooks in the settings of these agents, or of all if there are none.
fn find_installed_hooks(
    agents: &[Agent],
    environment: &Environment,
) -> Result<Vec<AgentHook>, UsageError> {
    let agents = if agents.is_empty() {
        &Agent::ALL
    } else {
        agents
    };
    let here = std::env::current_dir().ok();
    find_hooks(agents, environment, here.as_deref())
        .map_err(|(path, error)| UsageError::reason(error).about(path.display()))
}

impl Run for HookExplainArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let path = match &self.log {
            Some(path) => path.clone(),
            None => find_installed_log(&io.environment)?,
        };
        let found = last_decisions(&path, &self.decision, self.limit.get())
            .map_err(|error| UsageError::reason(error).about(path.display()))?;
        if found.is_empty() {
            io.messages.warn("no decisions found");
        }
        let form = self.form.form(io.terminal);
        let zone = io.clock.time_zone();
        let columns = io.terminal.columns.unwrap_or(usize::MAX);
        let mut writer = output::open_writer(form, io)?;
        for record in found.iter().rev() {
            match form {
                Form::Jsonl => writer.record(record)?,
                Form::Text => {
                    writer.echo(format_logged_decision(record, &zone, columns).as_bytes())?;
                }
            }
        }
        writer.flush()?;
        Ok(Status::Done)
    }
}

/// Returns the log of the installed hooks.
fn find_installed_log(environment: &Environment) -> anyhow::Result<PathBuf> {
    let mut logs: Vec<PathBuf> = Vec::new();
    for hook in find_installed_hooks(&[], environment)? {
        let words = shlex::split(hook.command()).unwrap_or_default();
        let parser = HookArguments::augment_args(Command::new("hook"));
        let matches = parser.try_get_matches_from(words.into_iter().skip(2));
        let arguments = matches.and_then(|matches| HookArguments::from_arg_matches(&matches));
        logs.extend(arguments.ok().and_then(|arguments| arguments.log));
    }
    logs.sort();
    logs.dedup();
    let (problem, hint) = match logs.as_slice() {
        [log] => return Ok(log.clone()),
        [] => (
            "no hook with a log is installed",
            "`turnpipe hook install --agent NAME -- --log FILE` installs one".to_owned(),
        ),
        [first, ..] => (
            "the installed hooks have several logs",
            format!("name one, such as {}", first.display()),
        ),
    };
    Err(UsageError::new(problem).with_hint(hint).into())
}
