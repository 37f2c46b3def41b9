//! `hook install`, `hook uninstall` and `hook status`: the hooks in the settings of agents.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use tempfile::NamedTempFile;

use crate::agent::{Agent, HookSettings};
use crate::cmd::inputs::take_stdin;
use crate::cmd::run::hook::HookArguments;
use crate::cmd::{Form, FormArguments, Globals, RecordWriter, Run, Status, UsageError, output};
use crate::hooks::{SettingsError, install_hooks, installed_hooks, uninstall_hooks};
use crate::io::{Environment, Io};
use crate::records::HookStatusRecord;
use crate::text::{marked_diff, terminal_safe_line};

/// Number of unchanged lines that are shown around a change.
const CONTEXT: usize = 2;

/// Install the hook in the settings of agents
///
/// Shows the change, asks on a terminal, and keeps the old file as `FILE.backup`. Comments and other
/// settings are preserved. Options after `--` are passed to `turnpipe hook pre-tool-use`.
#[derive(Debug, Args)]
pub(crate) struct HookInstallArguments {
    #[command(flatten)]
    change: ChangeArguments,
    /// Options of the hook: rules, settings, `--trust-analysis`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Remove the hook from the settings of agents
///
/// Shows the change, asks on a terminal, and keeps the old file as `FILE.backup`. Other hooks are preserved.
#[derive(Debug, Args)]
pub(crate) struct HookUninstallArguments {
    #[command(flatten)]
    change: ChangeArguments,
}

#[derive(Debug, Args)]
struct ChangeArguments {
    /// Change the settings of these agents; separate several by commas
    #[arg(
        long,
        value_enum,
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
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// Show which agents have the hook installed
///
/// Reads the settings of the user and of the project in the working directory. Exits with 1 if the hook is
/// not installed anywhere.
#[derive(Debug, Args)]
pub(crate) struct HookStatusArguments {
    /// Only these agents; separate several by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME")]
    agent: Vec<Agent>,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for HookInstallArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let parser = HookArguments::augment_args(Command::new("turnpipe hook pre-tool-use"));
        let options = ["hook", "--agent", "claude"].into_iter();
        let options = options.chain(self.options.iter().map(String::as_str));
        parser
            .no_binary_name(false)
            .try_get_matches_from(options)
            .map_err(|error| {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default();
                let problem = line.strip_prefix("error: ").unwrap_or(line);
                UsageError::new(format!("options of the hook: {problem}"))
                    .with_hint("`turnpipe hook pre-tool-use --help` shows them")
            })?;
        let program = program(&io.environment)?;
        let install = |text: &str, agent: Agent, facts: &HookSettings, path: &str| {
            let command = |subcommand: &str| {
                let words = [
                    program.as_str(),
                    "hook",
                    subcommand,
                    "--agent",
                    agent.name(),
                ];
                let words = words
                    .into_iter()
                    .chain(self.options.iter().map(String::as_str));
                shlex::try_join(words).unwrap_or_default()
            };
            install_hooks(text, facts, path, &command)
        };
        self.change.run(&install, true, globals, io)
    }
}

impl Run for HookUninstallArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let uninstall =
            |text: &str, _, facts: &HookSettings, path: &str| uninstall_hooks(text, facts, path);
        self.change.run(&uninstall, false, globals, io)
    }
}

type Edit<'a> = dyn Fn(&str, Agent, &HookSettings, &str) -> Result<String, SettingsError> + 'a;

impl ChangeArguments {
    fn run(
        &self,
        edit: &Edit<'_>,
        installs: bool,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let mut writer = output::writer(Form::Text, io)?;
        let mut changes = Vec::new();
        for agent in &self.agent {
            let facts = facts(*agent)?;
            let path = settings_file(facts, self.project, &io.environment)?;
            let before = read(&path)?;
            let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            let after = edit(&before, *agent, facts, &real.display().to_string())
                .map_err(|error| UsageError::reason(error).about(path.display()))?;
            if before == after {
                let state = if installs { "already" } else { "not" };
                let line = format!("{}: {state} installed\n", shown(&path));
                writer.echo(line.as_bytes())?;
                continue;
            }
            writer.echo(difference(&path, &before, &after).as_bytes())?;
            changes.push((path, before, after, facts));
        }
        writer.flush()?;
        if changes.is_empty() || self.dry_run {
            return Ok(Status::Done);
        }
        if !self.yes && !confirm(&mut writer, io)? {
            return Ok(Status::Negative);
        }
        for (path, before, after, facts) in changes {
            write(&path, &before, &after)?;
            if !globals.quiet {
                let done = if installs { "installed" } else { "removed" };
                writer.echo(format!("{}: {done}\n", shown(&path)).as_bytes())?;
                if installs {
                    io.messages.hint(facts.activation);
                }
            }
        }
        writer.flush()?;
        Ok(Status::Done)
    }
}

fn facts(agent: Agent) -> Result<&'static HookSettings, UsageError> {
    agent
        .format()
        .hook_settings
        .as_ref()
        .ok_or_else(|| UsageError::new(format!("{} has no hooks that run commands", agent.name())))
}

fn settings_file(
    facts: &HookSettings,
    is_project: bool,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    if is_project {
        let here = std::env::current_dir().context("cannot find the working directory")?;
        return Ok(facts.project_file(&here));
    }
    let file = facts.user_file(environment);
    Ok(file.ok_or_else(|| {
        UsageError::new("HOME is not set")
            .with_hint("`--project` changes the settings of a project")
    })?)
}

/// Returns the name by which an agent's shell finds this program.
fn program(environment: &Environment) -> anyhow::Result<String> {
    let path = environment.text("PATH").unwrap_or_default();
    let mut directories = path.split(':').map(Path::new);
    if directories.any(|directory| directory.is_absolute() && directory.join("turnpipe").is_file())
    {
        return Ok("turnpipe".to_owned());
    }
    let path = std::env::current_exe().context("cannot find the path of this program")?;
    Ok(path.display().to_string())
}

/// Reads a settings file; empty if there is none.
fn read(path: &Path) -> Result<String, UsageError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(UsageError::reason(error).about(path.display())),
    }
}

/// Replaces a settings file, through a link to it, or removes it if nothing is left. Keeps a backup of the old one.
fn write(path: &Path, before: &str, after: &str) -> anyhow::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = || format!("cannot write {}", path.display());
    fs::create_dir_all(folder).with_context(failed)?;
    let permissions = fs::metadata(&path).map(|metadata| metadata.permissions());
    if permissions.is_ok() {
        let mut backup = path.clone().into_os_string();
        backup.push(".backup");
        fs::write(&backup, before).with_context(failed)?;
    }
    if after.is_empty() {
        return fs::remove_file(&path).with_context(failed);
    }
    let mut file = NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(after.as_bytes()).with_context(failed)?;
    if let Ok(permissions) = permissions {
        file.as_file()
            .set_permissions(permissions)
            .with_context(failed)?;
    }
    file.as_file().sync_all().with_context(failed)?;
    file.persist(&path).with_context(failed)?;
    Ok(())
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

fn shown(path: &Path) -> String {
    terminal_safe_line(&path.display().to_string())
}

/// Returns the changed lines with some lines around them.
fn difference(path: &Path, before: &str, after: &str) -> String {
    let [old, new] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
    let lines = marked_diff(&old, &new);
    let is_near = |at: usize| {
        let first = at.saturating_sub(CONTEXT);
        let near = lines.iter().skip(first).take(at - first + CONTEXT + 1);
        near.into_iter().any(|(mark, _)| *mark != ' ')
    };
    let mut text = format!("{}\n", shown(path));
    for (at, (mark, line)) in lines.iter().enumerate() {
        if is_near(at) {
            let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
            let rest = terminal_safe_line(rest);
            text += &[&mark.to_string(), " ", indent, &rest, "\n"].concat();
        } else if at > 0 && is_near(at - 1) {
            text.push_str("  ...\n");
        }
    }
    text
}

impl Run for HookStatusArguments {
    fn run(self, _globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let found = installed(&self.agent, &io.environment)?;
        match self.form.form(io.terminal) {
            Form::Text => output::print(io, &page(&found))?,
            Form::Jsonl => output::records(&found, io)?,
        }
        Ok(Status::negative_if(found.is_empty()))
    }
}

/// Returns the hooks of turnpipe in the settings of these agents, or of all if there are none.
///
/// # Errors
/// Settings are unreadable or invalid.
pub(super) fn installed(
    agents: &[Agent],
    environment: &Environment,
) -> anyhow::Result<Vec<HookStatusRecord>> {
    let agents = if agents.is_empty() {
        Agent::ALL.to_vec()
    } else {
        agents.to_vec()
    };
    let mut found = Vec::new();
    for agent in agents {
        let Some(facts) = agent.format().hook_settings.as_ref() else {
            continue;
        };
        for scope in ["user", "project"] {
            let Ok(path) = settings_file(facts, scope == "project", environment) else {
                continue;
            };
            let path = fs::canonicalize(&path).unwrap_or(path);
            if found
                .iter()
                .any(|found: &HookStatusRecord| Path::new(&found.path) == path)
            {
                continue;
            }
            let name = path.display().to_string();
            let hooks = installed_hooks(&read(&path)?, facts, &name)
                .map_err(|error| UsageError::reason(error).about(&name))?;
            found.extend(hooks.into_iter().map(|hook| HookStatusRecord {
                agent: agent.name().to_owned(),
                scope: scope.to_owned(),
                path: name.clone(),
                event: hook.event.to_owned(),
                command: hook.command,
                trusted: hook.is_trusted,
            }));
        }
    }
    Ok(found)
}

fn page(found: &[HookStatusRecord]) -> String {
    if found.is_empty() {
        return "not installed; `turnpipe hook install --agent NAME` installs it\n".to_owned();
    }
    let lines = found.iter().map(|hook| {
        let state = match hook.trusted {
            Some(false) => "not trusted yet: enter `/hooks` in the agent and trust it",
            Some(true) => "installed and trusted",
            None => "installed",
        };
        format!(
            "{} ({}, {}): {state}\n  {}\n  {}\n",
            hook.agent,
            hook.scope,
            hook.event,
            terminal_safe_line(&hook.path),
            terminal_safe_line(&hook.command)
        )
    });
    lines.collect()
}
