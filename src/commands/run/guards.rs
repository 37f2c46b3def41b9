//! The permissions, the hooks, the judge and other models that a run uses.

use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use crate::client::http::{Client, Engine};
use crate::client::model::{ChosenModel, KeyCheck, Model, Provider};
use crate::commands::model_arguments::parse_model_name;
use crate::commands::{Globals, UsageError};
use crate::config::{ConfigError, PermissionFlags, PermissionSettings};
use crate::io::{Io, Messages};
use crate::permission::Mode;
use crate::process::{NotEnforced, Spawners, Variables};
use crate::render::{ProgressLine, ProgressRow, lane_name};
use crate::run::hooks::{HookRunner, Hooks, SessionHooks};
use crate::run::tools::{CallDecisions, DecisionContext, Registry, ShellGuarantees, holds_secret};
use crate::run::{GuardedJudge, Observer, Progress, Trace};
use crate::summaries::{Briefing, Consultant, Cost, ModelJudge};

/// The source of the hooks of a session.
pub(crate) struct HookSource<'a> {
    pub(crate) settings: &'a PermissionSettings,
    /// The directory in which the session started.
    pub(crate) project: &'a Path,
    /// The file that the session is recorded in.
    pub(crate) transcript: Option<&'a Path>,
    /// Variables that hooks get although they hold secrets.
    pub(crate) kept_variables: &'a [OsString],
}

impl HookSource<'_> {
    /// Loads the hooks; `None` without hooks. Prints warnings.
    ///
    /// # Errors
    /// A hook is malformed, or the configuration is invalid.
    pub(crate) fn load(
        &self,
        spawners: Arc<Spawners>,
        globals: &Globals,
        io: &Io,
    ) -> Result<Option<SessionHooks>, UsageError> {
        let mut hooks = Hooks::default();
        for (written, source) in &self.settings.hooks {
            for warning in hooks.add(written, source).map_err(UsageError::reason)? {
                io.messages.warn(&warning);
            }
        }
        if hooks.is_empty() {
            return Ok(None);
        }
        let configured = io.environment.with(&self.settings.environment);
        // The variable identifies hooks that outlive this process.
        let environment = configured.with([("TURNPIPE", "1")]);
        let all = environment.iter();
        let header_variables: Variables = all
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // A call that runs at the same time can read the environment of a hook.
        let is_given = |name: &OsString| {
            let name_text = name.to_str().unwrap_or_default();
            let configured = &self.settings.environment;
            self.kept_variables.contains(name) || configured.contains_key(name_text)
        };
        let variables = header_variables
            .iter()
            .filter(|(name, value)| is_given(name) || !holds_secret(name, value));
        let transcript = self.transcript.map(std::path::absolute);
        let runner = HookRunner {
            spawners,
            environment: variables.cloned().collect(),
            header_variables,
            project: self.project.to_owned(),
            // A path that cannot be made absolute is omitted.
            transcript: transcript.and_then(Result::ok),
            client: Arc::new(Client::new(globals.config(io)?.models(None).http)),
            engine: Engine::default(),
            clock: Arc::clone(&io.clock),
        };
        Ok(Some(SessionHooks { hooks, runner }))
    }
}

/// Creates the judge of the mode `auto`: the model of `--judge`, else the fast model, else the main
/// model.
///
/// # Errors
/// The mode needs a judge, and no model is configured.
pub(crate) fn make_judge(
    mode: Mode,
    named: Option<&str>,
    briefing: &Briefing,
    report_cost: impl Fn(Cost) + Send + Sync + 'static,
    globals: &Globals,
    io: &Io,
) -> Result<Option<GuardedJudge>, UsageError> {
    if mode != Mode::Auto {
        return Ok(None);
    }
    let settings = globals.config(io)?.models(None);
    let named = named.map(|name| ChosenModel::new(name, "--judge"));
    let chosen = named.or(settings.fast).or(settings.main);
    let provider = chosen.map(|chosen| connect_provider(&chosen, KeyCheck::Required, globals, io));
    let Some(provider) = provider.transpose()?.flatten() else {
        return Err(
            UsageError::new("the permission mode auto needs a model to judge calls")
                .with_hint("name a model with `--judge` or TURNPIPE_FAST_MODEL"),
        );
    };
    let consultant = Consultant {
        provider,
        report_cost: Box::new(report_cost),
    };
    Ok(Some(GuardedJudge::new(Box::new(ModelJudge {
        consultant,
        briefing: briefing.clone(),
    }))))
}

/// Connects to another model of a run; `None` if the name is `none`.
///
/// # Errors
/// The model cannot be used.
pub(crate) fn connect_provider(
    chosen: &ChosenModel,
    keys: KeyCheck,
    globals: &Globals,
    io: &Io,
) -> Result<Option<Arc<dyn Provider>>, UsageError> {
    let settings = globals.config(io)?.models(None);
    let name = parse_model_name(chosen)?;
    match globals.connector(settings, keys, io).connect(&name)? {
        Model::Provider(provider) => Ok(Some(provider)),
        Model::None => Ok(None),
        Model::Builtin => {
            Err(UsageError::new("built-in rules cannot do this; name a model").about(chosen.origin))
        }
    }
}

/// Shows the calls that run, with their lanes.
impl Observer for ProgressLine {
    fn update(&mut self, progress: &Progress<'_>) {
        let Progress {
            started,
            open,
            running,
        } = progress;
        let rows = running.iter().map(|call| ProgressRow {
            name: lane_name(Some(call.lane)),
            text: match call.note {
                Some(note) => format!("{}: {note}", call.label),
                None => call.label.to_owned(),
            },
            elapsed: call.elapsed,
        });
        let (rows, running) = (rows.collect(), running.len());
        let message = format!("{started} started, {running} running, {open} open");
        self.show(message, rows);
    }
}

/// Opens the file of a trace.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn open_trace(path: &PathBuf) -> anyhow::Result<Trace> {
    let mut options = File::options();
    // The trace contains commands and their input.
    options.write(true).create(true).truncate(true).mode(0o600);
    let opened = options.open(path);
    opened
        .and_then(|file| Trace::new(Box::new(BufWriter::new(file))))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Sets up decisions by the permission settings in a session that starts in `start`.
///
/// # Errors
/// The context of decisions cannot be set up.
pub(crate) fn new_call_decisions(
    registry: Registry,
    settings: PermissionSettings,
    start: PathBuf,
    shell: ShellGuarantees,
    io: &Io,
) -> Result<CallDecisions, NotEnforced> {
    let environment = io.environment.with(&settings.environment);
    let directories = [vec![start], settings.directories].concat();
    Ok(CallDecisions {
        registry,
        rules: settings.rules,
        mode: settings.mode,
        context: DecisionContext::for_decisions(directories, environment, shell)?,
        denies_instead_of_asking: settings.denies_instead_of_asking,
    })
}

/// Reads the permissions of arguments, settings files and the configuration for a session that starts in `directory`.
/// Prints warnings, also about rules for tools that neither an agent nor the registry has.
///
/// # Errors
/// As in [`read_permissions`].
pub(crate) fn read_and_check_permissions(
    flags: &PermissionFlags,
    registry: &Registry,
    directory: &Path,
    globals: &Globals,
    io: &Io,
) -> Result<PermissionSettings, UsageError> {
    let settings = read_permissions(flags, directory, globals, io)?;
    warn_about_rules(&settings, registry, &io.messages);
    Ok(settings)
}

/// Prints warnings about rules and settings without effect.
pub(crate) fn warn_about_rules(
    settings: &PermissionSettings,
    registry: &Registry,
    messages: &Messages,
) {
    let rule_warnings = settings.rules.warnings(&|name| registry.has(name));
    for warning in settings.warnings.iter().chain(&rule_warnings) {
        messages.warn(warning);
    }
}

/// Reads the permissions of arguments, settings files and the configuration for a session that starts in `directory`.
///
/// # Errors
/// A file is unreadable or invalid, or a rule is malformed.
pub(crate) fn read_permissions(
    flags: &PermissionFlags,
    directory: &Path,
    globals: &Globals,
    io: &Io,
) -> Result<PermissionSettings, UsageError> {
    let config = globals.config(io)?;
    let settings = config.permissions(flags, directory);
    settings.map_err(|error| {
        let usage = UsageError::reason(&error);
        match error {
            ConfigError::UnknownRestriction { .. } => {
                usage.with_hint("`--ignore-unknown-settings` ignores it")
            }
            _ => usage,
        }
    })
}
