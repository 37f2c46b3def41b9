//! What decides about the calls of a run: hooks, a judge, whoever is asked.

use std::path::Path;
use std::sync::Arc;

use super::{Globals, UsageError};
use crate::config::PermissionSettings;
use crate::exec::{JudgeSeat, RunHooks};
use crate::flow::{Asker, ModelJudge};
use crate::hooks::{HookRunner, Hooks};
use crate::http::{Client, Engine};
use crate::io::{Environment, Io};
use crate::model::{Connector, KeyCheck, Model, ModelName, ModelWorld, Stop};
use crate::permission::Mode;
use crate::process::Spawners;
use crate::tools::ToolContext;

/// The hooks of the settings files; none if there are none. Warnings are printed.
///
/// # Errors
/// They are malformed.
pub(super) fn hooks(
    settings: &PermissionSettings,
    context: &ToolContext,
    globals: &Globals,
    io: &Io,
) -> Result<Option<RunHooks>, UsageError> {
    let hooks = read_hooks(settings, globals, io)?;
    if hooks.is_empty() {
        return Ok(None);
    }
    let (spawners, project) = (&context.spawners, &context.home_directory);
    let runner = hook_runner(spawners, &context.environment, project, globals, io)?;
    Ok(Some(RunHooks { hooks, runner }))
}

/// The hooks of the settings files. Warnings are printed.
///
/// # Errors
/// They are malformed.
pub(super) fn read_hooks(
    settings: &PermissionSettings,
    globals: &Globals,
    io: &Io,
) -> Result<Hooks, UsageError> {
    let mut hooks = Hooks::default();
    for (written, source) in &settings.hooks {
        let warnings = hooks.add(written, source).map_err(UsageError::reason)?;
        if !globals.quiet {
            for warning in warnings {
                io.messages.note(&warning);
            }
        }
    }
    Ok(hooks)
}

/// What runs the hooks of a session that began in the directory `project`.
///
/// # Errors
/// The configuration makes no sense.
pub(super) fn hook_runner(
    spawners: &Arc<Spawners>,
    variables: &Environment,
    project: &Path,
    globals: &Globals,
    io: &Io,
) -> Result<HookRunner, UsageError> {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // By it, hooks are found that outlive this process.
    let mark = ("TURNPIPE".into(), "1".into());
    let variables = variables.filter(|(name, _)| *name != mark.0);
    let environment = variables.chain([mark.clone()]).collect();
    let http = globals.config(&io.environment)?.models(None).http;
    Ok(HookRunner {
        spawners: Arc::clone(spawners),
        environment,
        project: project.to_owned(),
        client: Arc::new(Client::new(http)),
        engine: Engine::default(),
        clock: Arc::clone(&io.clock),
    })
}

/// The judge of the mode `auto`: the model of `--judge`, else the fast one.
///
/// # Errors
/// The mode needs one, and there is none.
pub(super) fn judge(
    mode: Mode,
    named: Option<&str>,
    globals: &Globals,
    io: &Io,
) -> Result<Option<JudgeSeat>, UsageError> {
    if mode != Mode::Auto {
        return Ok(None);
    }
    let settings = globals.config(&io.environment)?.models(None);
    let configured = settings.fast.as_ref().or(settings.main.as_ref());
    let name = named.or_else(|| configured.map(|chosen| chosen.name.as_str()));
    let Some(name) = name else {
        return Err(
            UsageError::new("the permission mode auto needs a model that judges calls")
                .with_hint("name one with --judge, or with TURNPIPE_FAST_MODEL"),
        );
    };
    let name: ModelName = name
        .parse()
        .map_err(|error| UsageError::reason(error).about("--judge"))?;
    let world = ModelWorld {
        environment: io.environment.clone(),
        clock: Arc::clone(&io.clock),
        ids: Arc::clone(&io.ids),
    };
    let connector = Connector::new(settings, world, KeyCheck::Demanded);
    match connector.connect(&name)? {
        Model::Provider(provider) => {
            let asker = Asker {
                provider,
                stop: Stop::default(),
            };
            Ok(Some(JudgeSeat::new(Box::new(ModelJudge { asker }))))
        }
        Model::None | Model::Builtin => Err(UsageError::new(format!(
            "--judge {name}: that is no model that could judge"
        ))),
    }
}
