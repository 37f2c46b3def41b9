//! `completions`: scripts that ask turnpipe for completions, and where shells look for them.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::Shells;

use crate::client::model::{guess_provider, known_providers};
use crate::commands::session::source::SourceArguments;
use crate::commands::{Globals, Run, Status, output};
use crate::io::{Environment, Io};
use crate::records::{Condition, DoctorRecord, Subject, record_names};
use crate::session::{
    Candidate, Depth, Listing, Prices, Selection, discover, list, list_session_roots, split_ids,
};
use crate::text::{fit_columns, terminal_safe_line};

/// The variable that the scripts set to the name of the shell.
const SHELL_VARIABLE: &str = "TURNPIPE_COMPLETE";

/// Shells, each with the paths where it looks for its completion script.
const SCRIPTS: &str = include_str!("completion_scripts.txt");

/// Maximum number of sessions to offer, last active first.
const MAX_SESSIONS: NonZeroUsize = NonZeroUsize::new(50).unwrap();

/// Maximum width of a session's title.
const TITLE_COLUMNS: usize = 60;

/// Print a shell completion script
///
/// The script completes commands, options and their values, models, and session ids by running turnpipe.
/// Shells load it automatically from the files below.
#[derive(Debug, Args)]
#[command(after_long_help = "Files:
  ~/.local/share/bash-completion/completions/turnpipe
          bash with the package bash-completion
  ~/.zfunc/_turnpipe
          zsh with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  ~/.config/fish/completions/turnpipe.fish
          fish

Examples:
  source <(turnpipe completions bash)
  turnpipe completions zsh > _turnpipe
  turnpipe completions fish > turnpipe.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell to print the script for
    shell: Shell,
}

impl Run for CompletionsArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let shells = Shells::builtins();
        let mut script = Vec::new();
        if let Some(shell) = shells.completer(&self.shell.to_string()) {
            shell.write_registration(
                SHELL_VARIABLE,
                "turnpipe",
                "turnpipe",
                "turnpipe",
                &mut script,
            )?;
        }
        output::print(io, &String::from_utf8_lossy(&script))?;
        Ok(Status::Done)
    }
}

/// Prints the completions of the command line after `--` in `arguments` for a script. Returns `None` if no
/// script asked.
///
/// # Errors
/// The request is malformed, or writing failed.
pub(crate) fn answer_request(
    arguments: &[OsString],
    parser: impl FnOnce() -> Command,
    io: &mut Io,
) -> anyhow::Result<Option<Status>> {
    let shells = Shells::builtins();
    let Some(shell) = io.environment.text(SHELL_VARIABLE) else {
        return Ok(None);
    };
    let words = arguments.iter().skip_while(|word| *word != "--").skip(1);
    let Some(shell) = shells.completer(shell) else {
        return Ok(None);
    };
    let mut parser = with_values(parser(), &io.environment);
    let mut offered = Vec::new();
    let directory = std::env::current_dir().ok();
    let words = words.cloned().collect();
    shell.write_complete(&mut parser, words, directory.as_deref(), &mut offered)?;
    output::print(io, &String::from_utf8_lossy(&offered))?;
    Ok(Some(Status::Done))
}

/// Adds completions of argument values to the parser.
fn with_values(parser: Command, environment: &Environment) -> Command {
    parser
        .mut_args(|argument| with_value(argument, environment))
        .mut_subcommands(|command| with_values(command, environment))
}

fn with_value(argument: Arg, environment: &Environment) -> Arg {
    let names = argument.get_value_names().unwrap_or_default();
    let Some(name) = names.first().map(clap::builder::Str::as_str) else {
        return argument;
    };
    match name {
        "SESSION" => {
            let environment = environment.clone();
            let complete = move |typed: &OsStr| {
                let files = PathCompleter::any().complete(typed).into_iter();
                let files = files.map(|file| file.display_order(Some(usize::MAX)));
                complete(typed, &environment).chain(files).collect()
            };
            argument.add(ArgValueCompleter::new(complete))
        }
        "MODEL" => argument.add(ArgValueCompleter::new(|typed: &OsStr| {
            filter_candidates(list_models(), typed)
        })),
        "RECORD" => {
            let names = |typed: &OsStr| filter_candidates(record_names().into_iter(), typed);
            argument.add(ArgValueCompleter::new(names))
        }
        _ => argument,
    }
}

/// Returns the values that start with `typed`.
fn filter_candidates<Value: Into<String>>(
    values: impl Iterator<Item = Value>,
    typed: &OsStr,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let values = values.map(Into::into);
    let matching = values.filter(|value: &String| value.starts_with(&*typed));
    let to_candidate = |value: String| CompletionCandidate::new(value.clone()).id(Some(value));
    matching.map(to_candidate).collect()
}

/// Returns `latest` and the ids of recent sessions that start with `typed`, with titles.
fn complete(typed: &OsStr, environment: &Environment) -> impl Iterator<Item = CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let mut files = discover(&list_session_roots(environment));
    // Most names of files contain the id.
    let is_named = |file: &Candidate| split_ids(&file.path).any(|id| id.starts_with(&typed));
    let is_decisive = files.iter().any(is_named);
    files.retain(|file| !is_decisive || is_named(file));
    let listing = Listing {
        selection: Selection {
            limit: typed.is_empty().then_some(MAX_SESSIONS),
            without_empty: true,
            ..Selection::default()
        },
        jobs: NonZeroUsize::MIN,
        ..SourceArguments::default().listing(Depth::Ends)
    };
    let (listed, _) = list(&files, &listing);
    let known = listed.into_iter().filter_map(|session| {
        let facts = session.facts;
        let heading = facts.heading().map_or("", String::as_str);
        let title = fit_columns(&terminal_safe_line(heading), TITLE_COLUMNS);
        Some((facts.session_id?, title))
    });
    std::iter::once((
        "latest".to_owned(),
        "the most recently active session".to_owned(),
    ))
    .chain(known)
    .filter(move |(id, _)| id.starts_with(&typed))
    .take(MAX_SESSIONS.get() + 1)
    .enumerate()
    .map(|(index, (id, title))| {
        CompletionCandidate::new(id.clone())
            .id(Some(id))
            .help((!title.is_empty()).then(|| StyledStr::from(title)))
            .display_order(Some(index))
    })
}

/// Returns a finding about the script of each installed shell.
pub(crate) fn check_scripts(environment: &Environment) -> impl Iterator<Item = DoctorRecord> {
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
            Some(path) => DoctorRecord::new(
                Subject::Completions,
                shell,
                "installed",
                &path.display().to_string(),
            ),
            None => DoctorRecord {
                condition: Condition::Absent,
                problem: Some("see `turnpipe completions --help`".to_owned()),
                ..DoctorRecord::new(Subject::Completions, shell, "none", "")
            },
        })
    })
}

/// Returns values for `--model`.
fn list_models() -> impl Iterator<Item = String> {
    let priced = Prices::built_in_names().into_iter();
    let known = priced.filter_map(|model| Some(format!("{}:{model}", guess_provider(&model)?)));
    let providers = known_providers().map(|provider| format!("{provider}:"));
    let special = ["builtin", "none", "replay:"].map(str::to_owned);
    special.into_iter().chain(providers).chain(known)
}
