//! `completions`: scripts by which shells ask turnpipe itself how a command line goes on.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::builder::StyledStr;
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::Shells;

use crate::cmd::{Outcome, output};
use crate::io::{Environment, Io};
use crate::jsonl::Mapping;
use crate::model::{known_for, known_providers};
use crate::records::record_names;
use crate::session::session_roots;
use crate::session::{Depth, Listing, Prices, Selection, discover, list};
use crate::text::{fitted, terminal_safe_line};

/// The variable by which the scripts ask; its value is the shell.
const ASKING: &str = "TURNPIPE_COMPLETE";

/// How many sessions are offered, the last active ones.
const MOST_SESSIONS: NonZeroUsize = NonZeroUsize::new(50).unwrap();

/// How wide titles beside their ids may be.
const TITLE_COLUMNS: usize = 60;

/// Print a shell completion script
///
/// The script asks turnpipe for what may come next: commands, options and their values, models, and
/// the ids of sessions. Shells load it by themselves from the files below.
#[derive(Debug, Args)]
#[command(after_long_help = "Files:
  ~/.local/share/bash-completion/completions/turnpipe
          for bash, if the package bash-completion is installed
  ~/.zfunc/_turnpipe
          for zsh, if `fpath+=~/.zfunc` stands before `compinit` in ~/.zshrc
  ~/.config/fish/completions/turnpipe.fish
          for fish

Examples:
  source <(turnpipe completions bash)
  turnpipe completions zsh > _turnpipe
  turnpipe completions fish > turnpipe.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

impl CompletionsArguments {
    /// Prints the script.
    ///
    /// # Errors
    /// Writing failed.
    pub(crate) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        let shells = Shells::builtins();
        let mut script = Vec::new();
        if let Some(shell) = shells.completer(&self.shell.to_string()) {
            shell.write_registration(ASKING, "turnpipe", "turnpipe", "turnpipe", &mut script)?;
        }
        output::print(io, &String::from_utf8_lossy(&script))?;
        Ok(Outcome::Done)
    }
}

/// Answers a script: how the command line goes on that stands behind `--` in `arguments`. `None` if
/// nothing was asked.
///
/// # Errors
/// The question makes no sense, or writing failed.
pub(crate) fn answer(
    arguments: &[OsString],
    parser: impl FnOnce() -> Command,
    io: &mut Io,
) -> anyhow::Result<Option<Outcome>> {
    let shells = Shells::builtins();
    let Some(shell) = io.environment.text(ASKING) else {
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
    Ok(Some(Outcome::Done))
}

/// The parser, whose arguments know what their values may be.
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
                sessions(typed, &environment).chain(files).collect()
            };
            argument.add(ArgValueCompleter::new(complete))
        }
        "MODEL" => argument.add(ArgValueCompleter::new(|typed: &OsStr| {
            offered(models(), typed)
        })),
        "RECORD" => {
            let names = |typed: &OsStr| offered(record_names().into_iter(), typed);
            argument.add(ArgValueCompleter::new(names))
        }
        _ => argument,
    }
}

/// Those that begin like what was typed.
fn offered<Value: Into<String>>(
    values: impl Iterator<Item = Value>,
    typed: &OsStr,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let values = values.map(Into::into);
    let begun = values.filter(|value: &String| value.starts_with(&*typed));
    let once = |value: String| CompletionCandidate::new(value.clone()).id(Some(value));
    begun.map(once).collect()
}

/// `latest`, and the ids of the last sessions that begin like what was typed, with their titles.
fn sessions(typed: &OsStr, environment: &Environment) -> impl Iterator<Item = CompletionCandidate> {
    let listing = Listing {
        selection: Selection {
            limit: Some(MOST_SESSIONS),
            without_empty: true,
            ..Selection::default()
        },
        depth: Depth::Ends,
        prices: None,
        mapping: Mapping::Allowed,
        jobs: NonZeroUsize::MIN,
        examined: Arc::default(),
    };
    let (listed, _) = list(&discover(&session_roots(environment)), &listing);
    let known = listed.into_iter().filter_map(|session| {
        let facts = session.facts;
        let title = facts.title.map(|title| title.text).or(facts.first_prompt);
        let title = terminal_safe_line(&title.unwrap_or_default());
        Some((facts.session_id?, fitted(&title, TITLE_COLUMNS)))
    });
    let typed = typed.to_string_lossy().into_owned();
    std::iter::once(("latest".to_owned(), "the last active session".to_owned()))
        .chain(known)
        .filter(move |(id, _)| id.starts_with(&typed))
        .enumerate()
        .map(|(index, (id, title))| {
            CompletionCandidate::new(id.clone())
                .id(Some(id))
                .help((!title.is_empty()).then(|| StyledStr::from(title)))
                .display_order(Some(index))
        })
}

/// Models as `--model` takes them.
fn models() -> impl Iterator<Item = String> {
    let priced = Prices::built_in_names().into_iter();
    let known = priced.filter_map(|model| Some(format!("{}:{model}", known_for(&model)?)));
    let providers = known_providers().map(|provider| format!("{provider}:"));
    let special = ["builtin", "none", "replay:"].map(str::to_owned);
    special.into_iter().chain(providers).chain(known)
}
