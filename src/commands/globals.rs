//! Global options.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};

use crate::client::model::{Connector, KeyCheck, ModelDeps, ModelSettings};
use crate::commands::UsageError;
use crate::config::{Config, ConfigSource};
use crate::io::{Environment, Io, MessageLevel, Messages};
use crate::process::Supervisor;
use crate::render::Style;
use crate::session::Prices;

/// Options of every command, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Globals {
    /// Print only errors, no warnings or hints
    #[arg(short, long, global = true, action = ArgAction::SetTrue, hide_short_help = true)]
    pub(super) quiet: bool,
    /// Log actions to standard error
    #[arg(short, long, global = true, action = ArgAction::SetTrue, overrides_with = "quiet", hide_short_help = true)]
    pub(super) verbose: bool,
    /// Read this configuration file instead of `~/.config/turnpipe/config.toml`
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        conflicts_with = "no_config",
        hide_short_help = true
    )]
    config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long, global = true, hide_short_help = true)]
    no_config: bool,
    /// When to use colors
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    color: ColorWhen,
    /// Do not use a pager for long text
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) no_pager: bool,
    /// Returns the parser of the whole command line.
    #[arg(skip = clap::Command::default as fn() -> clap::Command)]
    pub(super) parser: fn() -> clap::Command,
    /// The configuration, once read.
    #[arg(skip)]
    loaded: OnceCell<Config>,
    /// Supervises the children of this process.
    #[arg(skip)]
    pub(super) children: Supervisor,
}

/// Use of colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Globals {
    /// Returns the messages to print.
    pub(super) fn level(&self) -> MessageLevel {
        match (self.quiet, self.verbose) {
            (true, _) => MessageLevel::Errors,
            (false, true) => MessageLevel::All,
            (false, false) => MessageLevel::Warnings,
        }
    }

    /// Ensures that no child outlives this process. Has to be called before the first child.
    pub(super) fn guard_children(&self, messages: &Messages) {
        /// The variable that tools set in the environment of every child.
        const MARK: &str = "TURNPIPE=1";
        if let Err(error) = self.children.guard(MARK) {
            messages.warn(&format!(
                "processes that leave their session may outlive the run: {error}"
            ));
        }
    }

    /// Returns the configuration. Its file is read once.
    ///
    /// # Errors
    /// The file is unreadable or invalid.
    pub(super) fn config(&self, io: &Io) -> Result<&Config, UsageError> {
        if let Some(config) = self.loaded.get() {
            return Ok(config);
        }
        let config = Config::load(&self.config_source(), &io.environment)?;
        for warning in config.warnings() {
            io.messages.warn(&warning);
        }
        Ok(self.loaded.get_or_init(|| config))
    }

    /// Returns the prices of models: of the file `named` by a flag, else of the configuration, else built-in.
    ///
    /// # Errors
    /// A file is missing, unreadable or invalid.
    pub(super) fn prices(&self, named: Option<&Path>, io: &Io) -> Result<Prices, UsageError> {
        let prices = self.config(io)?.prices(named);
        prices.map_err(UsageError::reason)
    }

    /// Returns the configuration file to read.
    pub(super) fn config_source(&self) -> ConfigSource {
        match (&self.config, self.no_config) {
            (Some(path), _) => ConfigSource::Named(path.clone()),
            (None, true) => ConfigSource::None,
            (None, false) => ConfigSource::Default,
        }
    }

    /// Returns a connector to models.
    pub(super) fn connector(&self, settings: ModelSettings, keys: KeyCheck, io: &Io) -> Connector {
        Connector::new(settings, ModelDeps::from_io(io, &self.children), keys)
    }

    /// Returns the style of a conversation on standard output.
    pub(super) fn style(&self, io: &Io) -> Style {
        if self.colors_output(io) {
            Style::Ansi
        } else {
            Style::Plain
        }
    }

    /// Whether text on standard output is coloured.
    pub(super) fn colors_output(&self, io: &Io) -> bool {
        self.color.is_enabled(io.terminal.stdout, &io.environment)
    }
}

impl ColorWhen {
    /// Returns the value in unparsed arguments, for the parser's own messages. The last one counts;
    /// unknown values are left to the parser.
    pub(super) fn from_arguments(arguments: &[OsString]) -> Self {
        let texts: Vec<&str> = arguments
            .iter()
            .map_while(|argument| argument.to_str().filter(|text| *text != "--"))
            .collect();
        let find_value = |position: usize| match texts[position].split_once('=') {
            Some(("--color", value)) => Some(value),
            None if texts[position] == "--color" => texts.get(position + 1).copied(),
            _ => None,
        };
        let parse = |value| <Self as ValueEnum>::from_str(value, false).ok();
        (0..texts.len())
            .rev()
            .find_map(|position| find_value(position).and_then(parse))
            .unwrap_or_default()
    }

    /// Whether a stream gets colours.
    pub(super) fn is_enabled(self, stream_is_terminal: bool, environment: &Environment) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                stream_is_terminal
                    && environment.text("NO_COLOR").is_none()
                    && environment.text("TERM").is_none_or(|name| name != "dumb")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_wins() {
        let table: [(&[&str], ColorWhen); 6] = [
            (&["turnpipe"], ColorWhen::Auto),
            (&["turnpipe", "--color", "never"], ColorWhen::Never),
            (&["turnpipe", "--color=always", "x"], ColorWhen::Always),
            (
                &["turnpipe", "--color=always", "--color=never"],
                ColorWhen::Never,
            ),
            (&["turnpipe", "--color=pink"], ColorWhen::Auto),
            (&["turnpipe", "--", "--color=always"], ColorWhen::Auto),
        ];
        for (arguments, when) in table {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            assert_eq!(ColorWhen::from_arguments(&arguments), when, "{arguments:?}");
        }
    }

    #[test]
    fn colours_need_a_terminal_that_wants_them() {
        let none = Environment::default();
        let refused: Environment = [("NO_COLOR", "1")].into_iter().collect();
        let dumb: Environment = [("TERM", "dumb")].into_iter().collect();
        assert!(ColorWhen::Auto.is_enabled(true, &none));
        assert!(!ColorWhen::Auto.is_enabled(false, &none));
        assert!(!ColorWhen::Auto.is_enabled(true, &refused));
        assert!(!ColorWhen::Auto.is_enabled(true, &dumb));
        assert!(ColorWhen::Always.is_enabled(false, &refused));
        assert!(!ColorWhen::Never.is_enabled(true, &none));
    }
}
