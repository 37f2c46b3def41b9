//! `doctor`: the configuration, its sources, and its problems.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use crate::cmd::admin::doctor_models::{finding, judged, models};
use crate::cmd::command::Run;
use crate::cmd::output::{self, Form, FormArguments};
use crate::cmd::session::cost_table::fitted_table;
use crate::cmd::{Globals, Status};
use crate::config::{Config, ConfigSource, Overrides, PermissionFlags, Setting};
use crate::io::{Environment, Io};
use crate::process::{Enforcement, LaneOptions, Supervisor};
use crate::records::{Condition, DoctorRecord, Subject};
use crate::session::discover;
use crate::session::session_roots;
use crate::text::terminal_safe_line;
use crate::tools::Registry;

/// Shells, and the paths of their completion scripts: below the home directory, then absolute.
const SCRIPTS: [(&str, &[&str], &[&str]); 3] = [
    (
        "bash",
        &[".local/share/bash-completion/completions/turnpipe"],
        &[
            "/usr/share/bash-completion/completions/turnpipe",
            "/etc/bash_completion.d/turnpipe",
        ],
    ),
    (
        "zsh",
        &[
            ".zfunc/_turnpipe",
            ".local/share/zsh/site-functions/_turnpipe",
        ],
        &[
            "/usr/share/zsh/vendor-completions/_turnpipe",
            "/usr/share/zsh/site-functions/_turnpipe",
            "/usr/local/share/zsh/site-functions/_turnpipe",
        ],
    ),
    (
        "fish",
        &[".config/fish/completions/turnpipe.fish"],
        &[
            "/usr/share/fish/vendor_completions.d/turnpipe.fish",
            "/etc/fish/completions/turnpipe.fish",
        ],
    ),
];

/// Show the configuration, the source of each value, and problems
///
/// Checks the configuration and its files, keys (without printing them), kernel enforcement, directories
/// of session files, completion scripts, and models. Changes nothing, and uses no network without
/// `--probe`. Exits with 1 if a setting cannot work.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe doctor
  turnpipe doctor --probe
  turnpipe doctor -o jsonl | jq -r '.condition + \" \" + .name'")]
pub(crate) struct DoctorArguments {
    /// Send a short request to each model and list its server's models
    #[arg(long)]
    probe: bool,
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
        findings.extend(models(&config, self.probe, globals.quiet, io));
        findings.push(enforcement());
        findings.extend(sessions(&io.environment));
        findings.extend(completions(&io.environment));
        match self.form.form(io.terminal) {
            Form::Text => output::print(io, &text(&findings, io.terminal.columns))?,
            Form::Jsonl => {
                let mut writer = output::record_writer(io)?;
                for finding in &findings {
                    writer.record(finding)?;
                }
                writer.flush()?;
            }
        }
        let is_broken = |finding: &DoctorRecord| finding.condition == Condition::Broken;
        Ok(if findings.iter().any(is_broken) {
            Status::Negative
        } else {
            Status::Done
        })
    }
}

/// Returns the configuration, without its file if that is invalid.
fn configuration(
    globals: &Globals,
    environment: &Environment,
    findings: &mut Vec<DoctorRecord>,
) -> anyhow::Result<Config> {
    let loaded = globals.config(environment);
    if let Some((path, source)) = globals.config_source().path(environment) {
        let mut found = file(&Setting {
            name: "configuration".to_owned(),
            value: path.display().to_string(),
            source,
        });
        if loaded.is_ok() && found.condition == Condition::Broken {
            // The default file is optional.
            (found.condition, found.problem) = (Condition::Absent, None);
        } else {
            found = judged(found, loaded.as_ref().map(|_| ()).map_err(Clone::clone));
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

fn sessions(environment: &Environment) -> impl Iterator<Item = DoctorRecord> {
    session_roots(environment).into_iter().map(|root| {
        let agent = root.agent.map_or("", |agent| agent.name());
        let name = root.path.display().to_string();
        let exists = root.path.is_dir();
        let count = discover(&[root]).len().to_string();
        let mut found = finding(Subject::Sessions, &name, &count, agent);
        if !exists {
            found.condition = Condition::Absent;
        }
        found
    })
}

/// Returns a finding for each installed shell.
fn completions(environment: &Environment) -> impl Iterator<Item = DoctorRecord> {
    let path = environment.get("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(path).collect();
    let home = environment.text("HOME").map(Path::new);
    SCRIPTS
        .into_iter()
        .filter_map(move |(shell, at_home, anywhere)| {
            dirs.iter().find(|dir| dir.join(shell).is_file())?;
            let at_home = home
                .into_iter()
                .flat_map(|home| at_home.iter().map(|path| home.join(path)));
            let mut paths = at_home.chain(anywhere.iter().map(PathBuf::from));
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
        let subject = match found.subject {
            Subject::Setting => "setting",
            Subject::File => "file",
            Subject::Key => "key",
            Subject::Enforcement => "enforcement",
            Subject::Sessions => "sessions",
            Subject::Completions => "completions",
            Subject::Model => "model",
        };
        let condition = match found.condition {
            Condition::Ok => "ok",
            Condition::Absent => "absent",
            Condition::Broken => "broken",
        };
        vec![
            subject.to_owned(),
            terminal_safe_line(&found.name),
            terminal_safe_line(&found.value),
            terminal_safe_line(&found.source),
            condition.to_owned(),
        ]
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
