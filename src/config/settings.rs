//! The configuration, and the settings of tools that it resolves to.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file::{ConfigError, ConfigFile, ConfigSource, read_toml};
use super::models::http;
use super::variables::{
    CONCURRENCY, HOME, LONGEST_SHELL_TIMEOUT, SHELL_TIMEOUT, STATE_HOME, STOP_HOOK_CAP, TEMPORARY,
};
#[cfg(feature = "mcp")]
use super::variables::{SERVER_CALL_TIMEOUT, SERVER_START_TIMEOUT, Variable};
use crate::http::{HttpSettings, Reach};
use crate::io::Environment;
use crate::results::ToolLimits;
use crate::session::Prices;
use crate::state::StateRoot;
use crate::tools::ShellTimeouts;

/// How many calls run at once by default.
const DEFAULT_CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);

/// The configuration file and the environment, read once. What a setting means is resolved on
/// request: flags over environment over file over defaults.
#[derive(Debug, Clone, Default)]
pub struct Config {
    pub(super) file: ConfigFile,
    pub(super) environment: Environment,
}

/// Settings from flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Where state is kept.
    pub state_directory: Option<PathBuf>,
    /// How many calls run at once.
    pub concurrency: Option<NonZeroUsize>,
    /// Manifests of command tools, before those of the file.
    pub manifests: Vec<PathBuf>,
    /// Whether pages may come from this machine and private networks.
    pub allow_private_addresses: bool,
}

/// The settings of tools and of what runs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where state is kept.
    pub state_root: StateRoot,
    /// How many calls run at once.
    pub concurrency: NonZeroUsize,
    /// Manifests of command tools.
    pub manifests: Vec<PathBuf>,
    /// Inline limits of single tools.
    pub limits: ToolLimits,
    /// Timeouts of shell calls.
    pub shell_timeouts: ShellTimeouts,
    /// Which machines pages may come from.
    pub reach: Reach,
    /// How requests are made.
    pub http: HttpSettings,
    /// Where temporary files go.
    pub temporary_directory: PathBuf,
}

impl Config {
    /// Reads the configuration file.
    ///
    /// # Errors
    /// A file that was named is missing, or the file is unreadable or invalid.
    pub fn load(source: &ConfigSource, environment: &Environment) -> Result<Self, ConfigError> {
        Ok(Self {
            file: ConfigFile::load(source, environment)?,
            environment: environment.clone(),
        })
    }

    /// The settings of tools.
    pub fn settings(&self, overrides: Overrides) -> Settings {
        let (file, environment) = (&self.file, &self.environment);
        let temporary_directory = TEMPORARY
            .text(environment)
            .map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let state_root = overrides
            .state_directory
            .or_else(|| file.state_dir.clone())
            .unwrap_or_else(|| default_state_directory(environment, &temporary_directory));
        let limits = file.max_result_chars.iter();
        let limits = limits.map(|(tool, units)| (tool.clone(), (*units > 0).then_some(*units)));
        let mut manifests = overrides.manifests;
        manifests.extend(file.tools.iter().cloned());
        Settings {
            // The model is told paths below it, and may have another working directory.
            state_root: StateRoot(std::path::absolute(&state_root).unwrap_or(state_root)),
            concurrency: overrides
                .concurrency
                .or_else(|| {
                    let number = CONCURRENCY.positive(environment)?;
                    NonZeroUsize::new(usize::try_from(number).ok()?)
                })
                .or(file.max_concurrency)
                .unwrap_or(DEFAULT_CONCURRENCY),
            manifests,
            limits: ToolLimits(limits.collect()),
            shell_timeouts: shell_timeouts(
                SHELL_TIMEOUT
                    .positive(environment)
                    .or(file.bash_default_timeout_ms),
                LONGEST_SHELL_TIMEOUT
                    .positive(environment)
                    .or(file.bash_max_timeout_ms),
            ),
            reach: if overrides.allow_private_addresses || file.allow_private_addresses {
                Reach::PublicAndPrivate
            } else {
                Reach::Public
            },
            http: http(&file.http, None, environment),
            temporary_directory,
        }
    }

    /// How long MCP servers are waited for.
    #[cfg(feature = "mcp")]
    pub fn mcp_timeouts(&self) -> crate::mcp::Timeouts {
        let of = |variable: Variable, default: Duration| {
            let set = variable.positive(&self.environment);
            set.map_or(default, Duration::from_millis)
        };
        crate::mcp::Timeouts {
            start: of(SERVER_START_TIMEOUT, Duration::from_secs(30)),
            call: of(SERVER_CALL_TIMEOUT, Duration::from_mins(10)),
        }
    }

    /// How often in a row `Stop` hooks may tell the model to go on; `None` for no limit.
    pub fn stop_hook_cap(&self) -> Option<u64> {
        let set = STOP_HOOK_CAP.text(&self.environment);
        let cap = set.and_then(|cap| cap.trim().parse().ok());
        Some(cap.unwrap_or(8)).filter(|cap| *cap > 0)
    }

    /// The prices of models: those of the file `named` by a flag, then those of the configuration,
    /// then those that are built in.
    ///
    /// # Errors
    /// A file is missing, unreadable or invalid.
    pub fn prices(&self, named: Option<&Path>) -> Result<Prices, ConfigError> {
        let files = [named, self.file.prices.as_deref()];
        let mut prices = Prices::default();
        for path in files.into_iter().flatten() {
            prices = prices.before(read_toml(path)?);
        }
        Ok(prices.before(Prices::built_in()))
    }
}

/// The ceiling is the larger of the two: a default above it raises it.
fn shell_timeouts(default_ms: Option<u64>, maximum_ms: Option<u64>) -> ShellTimeouts {
    let usual = ShellTimeouts::default();
    let default = default_ms.map_or(usual.default, Duration::from_millis);
    let maximum = maximum_ms
        .map_or(usual.maximum, Duration::from_millis)
        .max(default);
    ShellTimeouts { default, maximum }
}

fn default_state_directory(environment: &Environment, temporary: &Path) -> PathBuf {
    if let Some(base) = STATE_HOME
        .text(environment)
        .filter(|base| Path::new(base).is_absolute())
    {
        return Path::new(base).join("turnpipe");
    }
    if let Some(home) = HOME.text(environment) {
        return Path::new(home).join(".local/state/turnpipe");
    }
    let user = rustix::process::geteuid().as_raw();
    temporary.join(format!("turnpipe-{user}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(overrides: Overrides, pairs: &[(&str, &str)]) -> Settings {
        let environment = pairs.iter().copied().collect();
        let config = Config::load(&ConfigSource::None, &environment).unwrap();
        config.settings(overrides)
    }

    #[test]
    fn an_empty_environment_will_do() {
        let settings = resolve(Overrides::default(), &[]);
        assert_eq!(settings.concurrency.get(), 10);
        assert!(settings.state_root.0.starts_with("/tmp"));
        assert_eq!(settings.shell_timeouts, ShellTimeouts::default());
    }

    #[test]
    fn flags_stand_above_the_environment() {
        let pairs = [
            ("TURNPIPE_MAX_TOOL_CONCURRENCY", "3"),
            ("XDG_STATE_HOME", "/state"),
        ];
        let settings = resolve(Overrides::default(), &pairs);
        assert_eq!(settings.concurrency.get(), 3);
        assert_eq!(settings.state_root.0, Path::new("/state/turnpipe"));
        let overrides = Overrides {
            concurrency: NonZeroUsize::new(2),
            state_directory: Some("/elsewhere".into()),
            ..Overrides::default()
        };
        let settings = resolve(overrides, &pairs);
        assert_eq!(settings.concurrency.get(), 2);
        assert_eq!(settings.state_root.0, Path::new("/elsewhere"));
    }

    #[test]
    fn the_ceiling_of_shell_timeouts_is_the_larger_value() {
        let settings = resolve(
            Overrides::default(),
            &[("BASH_DEFAULT_TIMEOUT_MS", "900000")],
        );
        assert_eq!(settings.shell_timeouts.default, Duration::from_mins(15));
        assert_eq!(settings.shell_timeouts.maximum, Duration::from_mins(15));
        let settings = resolve(Overrides::default(), &[("BASH_MAX_TIMEOUT_MS", "1000")]);
        assert_eq!(settings.shell_timeouts.maximum, Duration::from_mins(2));
    }
}
