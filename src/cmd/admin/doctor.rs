//! `doctor`: the configuration, its sources, and its problems.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use crate::agent::{Agent, NamedRoots};
use crate::cmd::output::name_of;
use crate::cmd::run::arguments::McpArguments;
use crate::cmd::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::config::{Config, ConfigSource, Overrides, PermissionFlags, Setting, retention};
use crate::io::{CancelToken, Environment, Io};
use crate::model::{Connector, KeyCheck, Model, ModelDeps, ModelName, Provider, RemoteModel};
use crate::process::{Enforcement, LaneOptions, Supervisor};
use crate::records::{Condition, DoctorRecord, Subject};
use crate::session::{Root, discover, session_roots};
use crate::side::probe;
use crate::text::{counted, terminal_safe_line};
use crate::tools::Registry;
use crate::view::{ProgressLine, fitted_table};

/// Shells, each with the paths where it looks for its completion script.
const SCRIPTS: &str = include_str!("completion_scripts.txt");

/// Sessions that agents keep longer than this many days need no warning.
const MAX_RETENTION: u64 = 365;

/// Show the configuration, the source of each value, and problems
///
/// Checks the configuration and its files, keys (without printing them), kernel enforcement, directories
/// of session files, completion scripts, models, and MCP servers. Changes nothing, and uses no network and
/// starts no server without `--probe`. Exits with 1 if a setting cannot work.
#[derive(Debug, Args)]
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
        let config = configuration(globals, &io.environment, &mut findings)?;
        let mut settings = config.settings(Overrides::default()).listed;
        let (models_and_addresses, keys) = config.listed_models();
        settings.extend(models_and_addresses);
        findings.extend(files(&config));
        findings.push(permissions(&config)?);
        findings.extend(
            settings
                .iter()
                .map(|one| setting_found(Subject::Setting, one)),
        );
        findings.extend(keys.iter().map(|one| setting_found(Subject::Key, one)));
        findings.extend(models(&config, self.probe, io));
        #[cfg(feature = "mcp")]
        findings.extend(mcp_servers(&self.mcp, self.probe, globals, io)?);
        findings.push(enforcement());
        let named_roots = NamedRoots::new(config.agents().unwrap_or_default());
        findings.extend(sessions(&io.environment, &named_roots));
        findings.extend(completions(&io.environment));
        match self.form.form(io.terminal) {
            Form::Text => output::print(io, &text(&findings, io.terminal.columns))?,
            Form::Jsonl => output::records(&findings, io)?,
        }
        let is_broken = |finding: &DoctorRecord| finding.condition == Condition::Broken;
        Ok(Status::negative_if(findings.iter().any(is_broken)))
    }
}

/// Returns the configuration, without its file if that is invalid.
fn configuration(
    globals: &Globals,
    environment: &Environment,
    findings: &mut Vec<DoctorRecord>,
) -> anyhow::Result<Config> {
    let loaded = globals.config(environment);
    let agents = loaded
        .as_ref()
        .map_err(UsageError::clone)
        .and_then(|config| config.agents().map_err(UsageError::reason));
    if let Some((path, source)) = globals.config_source().path(environment) {
        let mut found = file(&Setting {
            name: "configuration".to_owned(),
            value: path.display().to_string(),
            source,
        });
        if agents.is_ok() && found.condition == Condition::Broken {
            // The default file is optional.
            (found.condition, found.problem) = (Condition::Absent, None);
        } else {
            found = judged(found, agents.map(|_| ()));
        }
        findings.push(found);
    }
    Ok(match loaded {
        Ok(config) => config.clone(),
        Err(_) => Config::load(&ConfigSource::None, environment)?,
    })
}

/// Reads the files that the configuration names, and checks the state directory.
fn files(config: &Config) -> Vec<DoctorRecord> {
    let mut registry = Registry::builtin();
    let files = config.files();
    let tried = files.iter().map(|named| {
        let found = setting_found(Subject::File, named);
        match named.name.as_str() {
            "tools" => judged(found, registry.add_manifest(Path::new(&named.value))),
            "prices" => judged(found, config.prices(None).map(|_| ())),
            _ => file(named),
        }
    });
    let mut findings: Vec<DoctorRecord> = tried.collect();
    let state = config.settings(Overrides::default()).state_root.0;
    if state.exists() && !state.is_dir() {
        let found = finding(Subject::File, "state_dir", &state.display().to_string(), "");
        findings.push(judged(found, Err("not a directory")));
    }
    findings
}

fn permissions(config: &Config) -> anyhow::Result<DoctorRecord> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let mode_found = |mode| finding(Subject::Setting, "permissions", mode, "");
    Ok(
        match config.permissions(&PermissionFlags::default(), &here) {
            Ok(permissions) => DoctorRecord {
                problem: (!permissions.warnings.is_empty())
                    .then(|| permissions.warnings.join("; ")),
                ..mode_found(permissions.mode.name())
            },
            Err(error) => judged(mode_found(""), Err(error)),
        },
    )
}

fn enforcement() -> DoctorRecord {
    let options = LaneOptions {
        enforcement: Enforcement::Require,
        temporary: None,
    };
    let mut found = finding(
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

fn sessions(
    environment: &Environment,
    named_roots: &NamedRoots,
) -> impl Iterator<Item = DoctorRecord> {
    let roots = session_roots(environment).into_iter();
    roots.chain(named_roots.roots()).map(|root| {
        let agent = root.agent.map_or("", Agent::name);
        let agent = named_roots.fork_at(&root.path).unwrap_or(agent);
        let name = root.path.display().to_string();
        let exists = root.path.exists();
        let deleted = deletion(&root).filter(|_| exists);
        let count = discover(&[root]).len().to_string();
        let mut found = finding(Subject::Sessions, &name, &count, agent);
        found.problem = deleted;
        if !exists {
            found.condition = Condition::Absent;
        }
        found
    })
}

/// Returns a warning if an agent deletes the sessions in a directory within a year.
fn deletion(root: &Root) -> Option<String> {
    let (days, name, file) = retention(root).filter(|(days, ..)| *days <= MAX_RETENTION)?;
    let days = counted(days, "day", "days");
    let file = file.display();
    Some(format!(
        "deleted after {days} (`{name}` in {file}); `turnpipe session archive DIR` keeps them"
    ))
}

/// Returns a finding for each installed shell.
fn completions(environment: &Environment) -> impl Iterator<Item = DoctorRecord> {
    let path = environment.get("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(path).collect();
    let home = environment.text("HOME").map(Path::new);
    SCRIPTS.lines().filter_map(move |line| {
        let (shell, paths) = line.split_once(' ')?;
        dirs.iter().find(|dir| dir.join(shell).is_file())?;
        let mut paths = paths
            .split(' ')
            .filter_map(|path| match path.strip_prefix("~/") {
                Some(below) => Some(home?.join(below)),
                None => Some(PathBuf::from(path)),
            });
        Some(match paths.find(|path| path.is_file()) {
            Some(path) => finding(
                Subject::Completions,
                shell,
                "installed",
                &path.display().to_string(),
            ),
            None => DoctorRecord {
                condition: Condition::Absent,
                problem: Some("see `turnpipe completions --help`".to_owned()),
                ..finding(Subject::Completions, shell, "none", "")
            },
        })
    })
}

/// Returns a file or directory that must exist.
fn file(setting: &Setting) -> DoctorRecord {
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
    judged(setting_found(Subject::File, setting), explained)
}

fn setting_found(subject: Subject, setting: &Setting) -> DoctorRecord {
    let source = setting.source.to_string();
    finding(subject, &setting.name, &setting.value, &source)
}

/// Returns one row per finding, followed by its problem.
fn text(findings: &[DoctorRecord], columns: Option<usize>) -> String {
    let head = ["SUBJECT", "NAME", "VALUE", "SOURCE", "CONDITION"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(findings.iter().map(|found| {
        let [name, value, source] =
            [&found.name, &found.value, &found.source].map(|text| terminal_safe_line(text));
        let (subject, condition) = (name_of(found.subject), name_of(found.condition));
        vec![subject, name, value, source, condition]
    }));
    let page = fitted_table(rows, head.len(), columns);
    let problems = findings.iter().map(|found| found.problem.as_deref());
    let lines = page.lines().zip(std::iter::once(None).chain(problems));
    let lines = lines.map(|(line, problem)| match problem {
        Some(problem) => format!("{line}\n    {}\n", terminal_safe_line(problem)),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Maximum number of similar names to list.
const MAX_NAMES: usize = 5;

/// Returns findings about each configured provider and model.
fn models(config: &Config, probe: bool, io: &mut Io) -> Vec<DoctorRecord> {
    let settings = config.models(None);
    let connector = |keys| Connector::new(settings.clone(), ModelDeps::of(io), keys);
    let providers = connector(KeyCheck::Optional);
    let models = connector(KeyCheck::Required);
    let mut findings = Vec::new();
    for provider in settings.providers.keys() {
        let model = RemoteModel {
            provider: provider.clone(),
            model: "any".to_owned(),
        };
        let connected = providers.connect(&ModelName::Remote(model));
        let found = finding(Subject::Model, provider, "provider", "");
        findings.push(judged(found, connected.map(|_| ())));
    }
    let progress = ProgressLine::spinner("asking the models", io);
    let advisor = config.advisor(None);
    for chosen in [&settings.fast, &settings.main, &advisor]
        .into_iter()
        .flatten()
    {
        let mut found = finding(Subject::Model, &chosen.name, "configured", chosen.by);
        let name = chosen.name.parse::<ModelName>();
        let connected = name.map_err(anyhow::Error::from).and_then(|name| {
            let model = models.connect(&name)?;
            Ok((name, model))
        });
        let tried = match connected {
            Ok((ModelName::Remote(name), Model::Provider(provider))) if probe => {
                let (value, tried) = asked(&*provider, &name.model);
                found.value = value;
                tried
            }
            connected => connected.map(|_| ()).map_err(|error| error.to_string()),
        };
        findings.push(judged(found, tried));
    }
    drop(progress);
    findings
}

/// Returns the result of a short request to a model, in words. A model may reply without being listed: some servers
/// have no list, or an incomplete one.
fn asked(provider: &dyn Provider, name: &str) -> (String, Result<(), String>) {
    let stop = CancelToken::default();
    let reply = probe(provider, &stop);
    let listed = provider.models(&stop).unwrap_or_default();
    let count = counted(listed.len() as u64, "model", "models");
    match (reply, listed.is_empty()) {
        (Ok(_), true) => ("responded".to_owned(), Ok(())),
        (Ok(_), false) => (format!("responded; its server lists {count}"), Ok(())),
        (Err(failure), true) => ("configured".to_owned(), Err(failure.to_string())),
        (Err(failure), false) if listed.iter().any(|one| one == name) => {
            (format!("listed among {count}"), Err(failure.to_string()))
        }
        (Err(failure), false) => {
            let names = nearest(name, listed).join(", ");
            let problem = format!("{failure}; its server has {count}, such as {names}");
            ("not listed".to_owned(), Err(problem))
        }
    }
}

/// Returns the names most similar to `name`.
fn nearest(name: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort_by_cached_key(|other| strsim::damerau_levenshtein(name, other));
    names.truncate(MAX_NAMES);
    names
}

/// Returns a finding for each server of the files. Starts them only if asked to `probe` them.
#[cfg(feature = "mcp")]
fn mcp_servers(
    arguments: &McpArguments,
    probe: bool,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<Vec<DoctorRecord>> {
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let Some(servers) = arguments.servers(&here, globals, io)? else {
        return Ok(Vec::new());
    };
    let progress = probe.then(|| ProgressLine::spinner("starting the MCP servers", io));
    let probed = servers.probe(probe).into_iter();
    drop(progress);
    let found = probed.map(|server| {
        let value = match &server.result {
            None => "configured".to_owned(),
            Some(Ok(probe)) => probe.to_string(),
            Some(Err(_)) => "failed".to_owned(),
        };
        let found = finding(Subject::McpServer, &server.name, &value, &server.target);
        judged(
            found,
            server.result.map_or(Ok(()), |result| result.map(|_| ())),
        )
    });
    Ok(found.collect())
}

/// Returns a finding without a problem.
fn finding(subject: Subject, name: &str, value: &str, source: &str) -> DoctorRecord {
    DoctorRecord {
        subject,
        name: name.to_owned(),
        value: value.to_owned(),
        source: source.to_owned(),
        condition: Condition::Ok,
        problem: None,
    }
}

/// Returns the finding, broken if `tried` failed.
fn judged(found: DoctorRecord, tried: Result<(), impl ToString>) -> DoctorRecord {
    match tried {
        Ok(()) => found,
        Err(error) => DoctorRecord {
            condition: Condition::Broken,
            problem: Some(error.to_string()),
            ..found
        },
    }
}
