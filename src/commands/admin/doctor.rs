//! `doctor`: the configuration, its sources, and its problems.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::agent::{Agent, NamedRoots};
use crate::client::model::{KeyCheck, Model, ModelName, RemoteModel};
use crate::commands::admin::completions::check_scripts;
use crate::commands::inputs::working_directory;
use crate::commands::run::arguments::McpArguments;
use crate::commands::{FormArguments, Globals, Run, Status, UsageError};
use crate::config::{Config, ConfigSource, Overrides, PermissionFlags, Setting, deletion_warning};
use crate::io::{Environment, Io, unwritable_error};
use crate::process::{Enforcement, LaneOptions, Supervisor};
use crate::records::{Condition, DoctorRecord, Subject};
use crate::render::{ProgressLine, doctor_page};
use crate::run::tools::Registry;
use crate::session::{discover, list_session_roots};
use crate::state::STATE_SETTING;
use crate::summaries::probe_model;

/// Show the configuration, the source of each value, and problems
///
/// Checks the configuration and its files, keys (without printing them), kernel enforcement, directories
/// of session files, completion scripts, models, and MCP servers. Changes nothing, and uses no network and
/// starts no server without `--probe`. Exits with 1 if a setting cannot work.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Examples:
  turnpipe doctor
  turnpipe doctor --probe
  turnpipe doctor -o jsonl | jq -r '.condition + " " + .name'"#)]
pub(crate) struct DoctorArguments {
    /// Send a short request to each model, list its server's models, and start each MCP server
    #[arg(long)]
    probe: bool,
    #[command(flatten)]
    mcp: McpArguments,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for DoctorArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let mut findings = Vec::new();
        let config = load_configuration(globals, io, &mut findings)?;
        let mut settings = config.settings(Overrides::default()).listed;
        let (models_and_addresses, keys) = config.listed_models();
        settings.extend(models_and_addresses);
        findings.extend(check_files(&config));
        findings.push(check_permissions(&config)?);
        findings.extend(settings.iter().map(check_setting));
        findings.extend(keys.iter().map(|one| describe_setting(Subject::Key, one)));
        findings.extend(check_models(&config, self.probe, globals, io));
        #[cfg(feature = "mcp")]
        findings.extend(check_mcp_servers(&self.mcp, self.probe, globals, io)?);
        findings.extend([check_enforcement(), check_file_rules()]);
        let named_roots = NamedRoots::new(config.agents().unwrap_or_default(), Vec::new());
        findings.extend(check_sessions(&io.environment, &named_roots));
        findings.extend(check_scripts(&io.environment));
        let columns = io.terminal.columns;
        self.form
            .print(|| doctor_page(&findings, columns), &findings, io)?;
        let is_broken = |finding: &DoctorRecord| finding.condition == Condition::Broken;
        Ok(Status::negative_if(findings.iter().any(is_broken)))
    }
}

/// Returns the configuration, without its file if that is invalid.
fn load_configuration(
    globals: &Globals,
    io: &Io,
    findings: &mut Vec<DoctorRecord>,
) -> anyhow::Result<Config> {
    let loaded = globals.config(io);
    let agents = loaded
        .as_ref()
        .map_err(UsageError::clone)
        .and_then(|config| config.agents().map_err(UsageError::reason));
    if let Some((path, source)) = globals.config_source().path(&io.environment) {
        let mut found = check_file(&Setting {
            name: "configuration".to_owned(),
            value: path.display().to_string(),
            source,
        });
        if agents.is_ok() && found.condition == Condition::Broken {
            // The default file is optional.
            (found.condition, found.problem) = (Condition::Absent, None);
        } else {
            found = found.with_outcome(agents.map(|_| ()));
        }
        findings.push(found);
    }
    Ok(match loaded {
        Ok(config) => config.clone(),
        Err(_) => Config::load(&ConfigSource::None, &io.environment)?,
    })
}

/// Reads the files that the configuration names.
fn check_files(config: &Config) -> Vec<DoctorRecord> {
    let mut registry = Registry::builtin();
    let files = config.files();
    let tried = files.iter().map(|named| {
        let found = describe_setting(Subject::File, named);
        match named.name.as_str() {
            "tools" => found.with_outcome(registry.add_manifest(Path::new(&named.value))),
            "prices" => found.with_outcome(config.prices(None).map(|_| ())),
            _ => check_file(named),
        }
    });
    tried.collect()
}

/// Returns a setting. In a directory that must be writable, or in the first one above it that exists, creates a file
/// without a name.
fn check_setting(setting: &Setting) -> DoctorRecord {
    let directory = Path::new(&setting.value);
    let (subject, directory, name) = match setting.name.as_str() {
        "TMPDIR" => (Subject::Setting, Some(directory), "TMPDIR"),
        "state_dir" => {
            let existing = directory.ancestors().find(|above| above.exists());
            (Subject::File, existing, STATE_SETTING)
        }
        _ => (Subject::Setting, None, ""),
    };
    let tried = directory.map_or(Ok(()), |directory| {
        let created = tempfile::tempfile_in(directory).map(drop);
        created.map_err(|error| unwritable_error(directory, &error, name))
    });
    describe_setting(subject, setting).with_outcome(tried)
}

fn check_permissions(config: &Config) -> anyhow::Result<DoctorRecord> {
    let here = working_directory()?;
    let new_record = |mode| DoctorRecord::new(Subject::Setting, "permissions", mode, "");
    Ok(
        match config.permissions(&PermissionFlags::default(), &here) {
            Ok(permissions) => {
                // Manifests may declare further tools.
                let of_rules = permissions.rules.warnings(&|_| true);
                let warnings = [permissions.warnings, of_rules].concat();
                DoctorRecord {
                    problem: (!warnings.is_empty()).then(|| warnings.join("; ")),
                    ..new_record(permissions.mode.name())
                }
            }
            Err(error) => new_record("").with_outcome(Err(error)),
        },
    )
}

fn check_enforcement() -> DoctorRecord {
    let options = LaneOptions {
        enforcement: Enforcement::Require,
        temporary: None,
    };
    let mut found = DoctorRecord::new(
        Subject::Enforcement,
        "parallel calls",
        "Landlock and seccomp",
        "kernel",
    );
    if let Err(missing) = Supervisor::default().lane(1, options) {
        "not complete".clone_into(&mut found.value);
        (found.condition, found.problem) = (Condition::Absent, Some(missing.reason));
    }
    found
}

fn check_file_rules() -> DoctorRecord {
    let mut found = DoctorRecord::new(
        Subject::Enforcement,
        "file rules",
        "namespaces and seccomp",
        "kernel",
    );
    if let Err(reason) = check_sandbox() {
        "not enforced".clone_into(&mut found.value);
        (found.condition, found.problem) = (Condition::Absent, Some(reason));
    }
    found
}

#[cfg(sandbox)]
fn check_sandbox() -> Result<(), String> {
    use crate::process::{MaskList, MaskSource, Sandbox};
    /// A source of no masks.
    #[derive(Debug)]
    struct NoMasks;
    impl MaskSource for NoMasks {
        fn list(&self) -> MaskList {
            MaskList::default()
        }
    }
    let sandbox = Sandbox::new(NoMasks, [].into());
    sandbox
        .check()
        .map(|_| ())
        .map_err(|error| error.to_string())
}

#[cfg(not(sandbox))]
fn check_sandbox() -> Result<(), String> {
    Err("sandboxes need Linux on x86-64 or aarch64".to_owned())
}

fn check_sessions(
    environment: &Environment,
    named_roots: &NamedRoots,
) -> impl Iterator<Item = DoctorRecord> {
    let roots = list_session_roots(environment).into_iter();
    roots.chain(named_roots.roots()).map(|root| {
        let agent = root.agent.map_or("", Agent::name);
        let agent = named_roots.find_fork_name(&root.path).unwrap_or(agent);
        let name = root.path.display().to_string();
        let exists = root.path.exists();
        let deleted = deletion_warning(&root).filter(|_| exists);
        let count = discover(&[root]).len().to_string();
        let mut found = DoctorRecord::new(Subject::Sessions, &name, &count, agent);
        found.problem = deleted;
        if !exists {
            found.condition = Condition::Absent;
        }
        found
    })
}

/// Returns a file or directory that must exist.
fn check_file(setting: &Setting) -> DoctorRecord {
    let path = PathBuf::from(&setting.value);
    let readable = if path.is_dir() {
        fs::read_dir(path).map(|_| ())
    } else {
        fs::File::open(path).map(|_| ())
    };
    let explained = readable.map_err(|error| match error.kind() {
        ErrorKind::NotFound => "does not exist".to_owned(),
        _ => error.to_string(),
    });
    describe_setting(Subject::File, setting).with_outcome(explained)
}

fn describe_setting(subject: Subject, setting: &Setting) -> DoctorRecord {
    let source = setting.source.to_string();
    DoctorRecord::new(subject, &setting.name, &setting.value, &source)
}

/// Returns findings about each configured provider and model.
fn check_models(config: &Config, probe: bool, globals: &Globals, io: &mut Io) -> Vec<DoctorRecord> {
    let settings = config.models(None);
    let connector = |keys| globals.connector(settings.clone(), keys, io);
    let providers = connector(KeyCheck::Optional);
    let models = connector(KeyCheck::Required);
    let mut findings = Vec::new();
    for provider in settings.providers.keys() {
        let model = RemoteModel {
            provider: provider.clone(),
            model: "any".to_owned(),
        };
        let connected = providers.connect(&ModelName::Remote(model));
        let found = DoctorRecord::new(Subject::Model, provider, "provider", "");
        findings.push(found.with_outcome(connected.map(|_| ())));
    }
    let progress = ProgressLine::new_spinner("asking the models", io);
    let advisor = config.advisor(None);
    let chosen = [&settings.fast, &settings.main, &advisor];
    for chosen in chosen.into_iter().flatten() {
        let mut found =
            DoctorRecord::new(Subject::Model, &chosen.name, "configured", chosen.origin);
        let name = chosen.name.parse::<ModelName>();
        let connected = name.map_err(anyhow::Error::from).and_then(|name| {
            let model = models.connect(&name)?;
            Ok((name, model))
        });
        let tried = match connected {
            Ok((ModelName::Remote(name), Model::Provider(provider))) if probe => {
                let (value, tried) = probe_model(&*provider, &name.model);
                found.value = value;
                tried
            }
            connected => connected.map(|_| ()).map_err(|error| error.to_string()),
        };
        findings.push(found.with_outcome(tried));
    }
    drop(progress);
    findings
}

/// Returns a finding for each server of the files. Starts them only if asked to `probe` them.
#[cfg(feature = "mcp")]
fn check_mcp_servers(
    arguments: &McpArguments,
    probe: bool,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Vec<DoctorRecord>> {
    let here = working_directory()?;
    let Some(servers) = arguments.load_servers(&here, None, None, globals, io)? else {
        return Ok(Vec::new());
    };
    let progress = probe.then(|| ProgressLine::new_spinner("starting the MCP servers", io));
    let probed = servers.probe(probe).into_iter();
    drop(progress);
    let found = probed.map(|server| {
        let value = match &server.result {
            None => "configured".to_owned(),
            Some(Ok(probe)) => probe.to_string(),
            Some(Err(_)) => "failed".to_owned(),
        };
        let found = DoctorRecord::new(Subject::McpServer, &server.name, &value, &server.target);
        found.with_outcome(server.result.map_or(Ok(()), |result| result.map(|_| ())))
    });
    Ok(found.collect())
}
