//! Permission decisions without execution, and the hooks, the judge and other models that a run uses.

use std::fs::File;
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;

use crate::cmd::{Globals, UsageError};
use crate::config::{ConfigError, PermissionFlags, PermissionSettings};
use crate::exec::{GuardedJudge, Observer, Progress, Trace};
use crate::hooks::{HookRunner, Hooks, SessionHooks};
use crate::http::{Client, Engine};
use crate::io::{Environment, Io};
use crate::model::{ChosenModel, Connector, KeyCheck, Model, ModelDeps, ModelName, Provider};
use crate::permission::{Decided, Mode, Rule};
use crate::process::{Enforcement, LaneOptions, NotEnforced, Spawners, Supervisor};
use crate::side::{Briefing, Consultant, Cost, ModelJudge};
use crate::tools::{AskedCall, DecisionContext, Input, Registry, ShellGuarantees, ToolContext};
use crate::view::{ProgressLine, ProgressRow, lane_word};

/// Returns the hooks of the settings files for a session recorded in `transcript`; `None` without
/// hooks. Prints warnings.
///
/// # Errors
/// A hook is malformed.
pub(crate) fn hooks(
    settings: &PermissionSettings,
    context: &ToolContext,
    transcript: Option<&Path>,
    globals: &Globals,
    io: &Io,
) -> Result<Option<SessionHooks>, UsageError> {
    let hooks = read_hooks(settings, io)?;
    if hooks.is_empty() {
        return Ok(None);
    }
    let (spawners, project) = (&context.spawners, &context.home_directory);
    let runner = HookRunner {
        transcript: transcript.and_then(|path| std::path::absolute(path).ok()),
        ..hook_runner(spawners, &context.environment, project, globals, io)?
    };
    Ok(Some(SessionHooks { hooks, runner }))
}

/// Returns the hooks of the settings files. Prints warnings.
///
/// # Errors
/// A hook is malformed.
pub(crate) fn read_hooks(settings: &PermissionSettings, io: &Io) -> Result<Hooks, UsageError> {
    let mut hooks = Hooks::default();
    for (written, source) in &settings.hooks {
        let warnings = hooks.add(written, source).map_err(UsageError::reason)?;
        for warning in warnings {
            io.messages.warn(&warning);
        }
    }
    Ok(hooks)
}

/// Returns the runner of hooks for a session that started in the directory `project`.
///
/// # Errors
/// The configuration is invalid.
pub(crate) fn hook_runner(
    spawners: &Arc<Spawners>,
    variables: &Environment,
    project: &Path,
    globals: &Globals,
    io: &Io,
) -> Result<HookRunner, UsageError> {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // Identifies hooks that outlive this process.
    let mark = ("TURNPIPE".into(), "1".into());
    let variables = variables.filter(|(name, _)| *name != mark.0);
    let environment = variables.chain([mark.clone()]).collect();
    let http = globals.config(&io.environment)?.models(None).http;
    Ok(HookRunner {
        spawners: Arc::clone(spawners),
        environment,
        project: project.to_owned(),
        transcript: None,
        client: Arc::new(Client::new(http)),
        engine: Engine::default(),
        clock: Arc::clone(&io.clock),
    })
}

/// Returns the judge of the mode `auto`: the model of `--judge`, else the fast model, else the main
/// model.
///
/// # Errors
/// The mode needs a judge, and no model is configured.
pub(crate) fn judge(
    mode: Mode,
    named: Option<&str>,
    briefing: &Briefing,
    spent: impl Fn(Cost) + Send + Sync + 'static,
    globals: &Globals,
    io: &Io,
) -> Result<Option<GuardedJudge>, UsageError> {
    if mode != Mode::Auto {
        return Ok(None);
    }
    let settings = globals.config(&io.environment)?.models(None);
    let named = named.map(|name| ChosenModel {
        name: name.to_owned(),
        by: "--judge",
    });
    let chosen = named.or(settings.fast).or(settings.main);
    let provider = chosen.map(|chosen| provider(&chosen, KeyCheck::Required, globals, io));
    let Some(provider) = provider.transpose()?.flatten() else {
        return Err(
            UsageError::new("the permission mode auto needs a model to judge calls")
                .with_hint("name a model with `--judge` or TURNPIPE_FAST_MODEL"),
        );
    };
    let consultant = Consultant {
        provider,
        spent: Box::new(spent),
    };
    Ok(Some(GuardedJudge::new(Box::new(ModelJudge {
        consultant,
        briefing: briefing.clone(),
    }))))
}

/// Returns a further model of a run; `None` if the name is `none`.
///
/// # Errors
/// The model cannot be used.
pub(crate) fn provider(
    chosen: &ChosenModel,
    keys: KeyCheck,
    globals: &Globals,
    io: &Io,
) -> Result<Option<Arc<dyn Provider>>, UsageError> {
    let settings = globals.config(&io.environment)?.models(None);
    let name: ModelName = chosen
        .name
        .parse()
        .map_err(|error| UsageError::reason(error).about(chosen.by))?;
    let deps = ModelDeps {
        children: globals.children.clone(),
        ..ModelDeps::of(io)
    };
    match Connector::new(settings, deps, keys).connect(&name)? {
        Model::Provider(provider) => Ok(Some(provider)),
        Model::None => Ok(None),
        Model::Builtin => {
            Err(UsageError::new("built-in rules cannot do this; name a model").about(chosen.by))
        }
    }
}

/// Shows the calls that run, with their lanes.
pub(crate) struct ToolProgress {
    line: Option<ProgressLine>,
}

impl ToolProgress {
    /// Creates a display.
    pub(crate) fn new(io: &mut Io) -> Self {
        Self {
            line: Some(ProgressLine::of_calls(io)),
        }
    }
}

impl Observer for ToolProgress {
    fn changed(&mut self, progress: &Progress<'_>) {
        let Some(line) = &mut self.line else {
            return;
        };
        let Progress {
            started,
            open,
            running,
        } = progress;
        let rows = running.iter().map(|call| ProgressRow {
            number: call.number,
            name: lane_word(Some(call.lane)),
            text: match call.note {
                Some(note) => format!("{}: {note}", call.label).into(),
                None => call.label.into(),
            },
            elapsed: call.elapsed,
        });
        let rows: Vec<ProgressRow<'_>> = rows.collect();
        let running = rows.len();
        line.show(
            format!("{started} started, {running} running, {open} open"),
            &rows,
        );
    }

    fn finished(&mut self) {
        self.line = None;
    }
}

/// Opens the file of a trace.
///
/// # Errors
/// It cannot be written.
pub(crate) fn open_trace(path: &PathBuf) -> anyhow::Result<Trace> {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        // The trace contains commands and their input.
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Trace::new(Box::new(BufWriter::new(file)))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the context of decisions in a session that may work in `directories` and starts in the
/// first.
///
/// # Errors
/// The lane cannot be set up.
pub(crate) fn decision_context(
    directories: Vec<PathBuf>,
    environment: Environment,
    shell: ShellGuarantees,
) -> Result<DecisionContext, NotEnforced> {
    let lane = LaneOptions {
        enforcement: Enforcement::Auto,
        temporary: None,
    };
    Ok(DecisionContext {
        directory: directories.first().cloned().unwrap_or_default(),
        allowed_directories: directories,
        environment: Arc::new(environment),
        kept_variables: Arc::default(),
        lane: Arc::new(Supervisor::default().lane(1, lane)?),
        shell,
    })
}

/// Decides about calls by the permission settings.
pub(crate) struct CallDecisions {
    registry: Registry,
    settings: PermissionSettings,
    context: DecisionContext,
}

impl CallDecisions {
    /// Decides for a session that starts in `start`.
    ///
    /// # Errors
    /// The lane cannot be set up.
    pub(crate) fn new(
        registry: Registry,
        settings: PermissionSettings,
        start: PathBuf,
        shell: ShellGuarantees,
        io: &Io,
    ) -> Result<Self, NotEnforced> {
        let directories = [vec![start], settings.directories.clone()].concat();
        let environment = io.environment.with(&settings.environment);
        let shell = ShellGuarantees {
            network_reads: settings.network_reads,
            ..shell
        };
        Ok(Self {
            context: decision_context(directories, environment, shell)?,
            registry,
            settings,
        })
    }

    /// Returns the permission mode.
    pub(crate) fn mode(&self) -> Mode {
        self.settings.mode
    }

    /// Returns the decision about a call in `directory`.
    pub(crate) fn decide(
        &self,
        name: &str,
        input: &Input,
        directory: &Path,
        mode: Mode,
    ) -> (AskedCall, Decided) {
        let context = DecisionContext {
            directory: directory.to_owned(),
            ..self.context.clone()
        };
        self.decide_within(name, input, &context, mode)
    }

    /// Returns the decision about a call of a session that started in `start` and is still there.
    pub(crate) fn decide_from(
        &self,
        name: &str,
        input: &Input,
        start: &Path,
    ) -> (AskedCall, Decided) {
        let context = DecisionContext {
            directory: start.to_owned(),
            allowed_directories: [vec![start.to_owned()], self.settings.directories.clone()]
                .concat(),
            ..self.context.clone()
        };
        self.decide_within(name, input, &context, self.settings.mode)
    }

    /// Adds a rule.
    pub(crate) fn add(&mut self, rule: Rule) {
        self.settings.rules.add(rule);
    }

    fn decide_within(
        &self,
        name: &str,
        input: &Input,
        context: &DecisionContext,
        mode: Mode,
    ) -> (AskedCall, Decided) {
        let call = self.registry.asked(name, input, context);
        let request = context.request(&call.tool, &call.input, &call.action);
        let decided = self.settings.rules.decide(mode, &request);
        (call, decided)
    }
}

/// Returns the permissions set by arguments, settings files and the configuration for a session that
/// starts in `directory`. Prints warnings.
///
/// # Errors
/// A file is unreadable or invalid, or a rule is malformed.
pub(crate) fn permissions(
    flags: &PermissionFlags,
    directory: &Path,
    globals: &Globals,
    io: &Io,
) -> Result<PermissionSettings, UsageError> {
    let config = globals.config(&io.environment)?;
    let settings = config.permissions(flags, directory).map_err(|error| {
        let usage = UsageError::reason(&error);
        match error {
            ConfigError::UnknownRestriction { .. } => {
                usage.with_hint("`--ignore-unknown-settings` ignores it")
            }
            _ => usage,
        }
    })?;
    for warning in &settings.warnings {
        io.messages.warn(warning);
    }
    Ok(settings)
}
