//! The configuration: the settings of tools, labels and automatic titles.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::file::{
    AgentTable, ConfigError, ConfigFile, ConfigSource, read_agent_settings, read_toml,
};
use super::variables::{
    self, AUTO_TITLE_OFF, CERTIFICATE_DIRECTORY, CERTIFICATE_FILE, CONCURRENCY, HOME, LABELS,
    MAX_SHELL_TIMEOUT, SHELL_TIMEOUT, STATE_HOME, STOP_HOOK_CAP, Setting, SourcedValue, TEMPORARY,
    are_labels_wanted, is_true,
};
#[cfg(feature = "mcp")]
use super::variables::{SERVER_CALL_TIMEOUT, SERVER_START_TIMEOUT, Variable};
use crate::agent::{Agent, NamedRoot, RootKind};
use crate::client::http::{HttpSettings, Reach};
use crate::io::Environment;
use crate::run::results::ToolLimits;
use crate::run::tools::ShellTimeouts;
use crate::session::{Prices, list_session_roots};
use crate::state::StateRoot;

/// The default maximum number of calls that run at once.
const DEFAULT_CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9);

/// The configuration file and the environment, read once. Settings are resolved on request: flags over
/// environment over file over defaults.
#[derive(Debug, Clone, Default)]
pub struct Config {
    pub(super) file: ConfigFile,
    pub(super) environment: Environment,
}

/// Settings from flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The directory of session state.
    pub state_directory: Option<PathBuf>,
    /// Maximum number of calls that run at once.
    pub concurrency: Option<NonZeroUsize>,
    /// Manifests of command tools, added before those in the file.
    pub manifests: Vec<PathBuf>,
    /// Whether pages may come from this machine and private networks.
    pub allow_private_addresses: bool,
}

/// The settings of tools and runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The directory of session state.
    pub state_root: StateRoot,
    /// Maximum number of calls that run at once.
    pub concurrency: NonZeroUsize,
    /// Manifests of command tools.
    pub manifests: Vec<PathBuf>,
    /// Limits on inline results of single tools.
    pub limits: ToolLimits,
    /// Timeouts of shell calls.
    pub shell_timeouts: ShellTimeouts,
    /// Networks that pages may come from.
    pub reach: Reach,
    /// Settings of HTTP requests.
    pub http: HttpSettings,
    /// The directory of temporary files.
    pub temporary_directory: PathBuf,
    /// The settings that `doctor` prints, with their sources.
    pub listed: Vec<Setting>,
}

impl Config {
    /// Reads the configuration file.
    ///
    /// # Errors
    /// A named file is missing, or the file is unreadable or invalid.
    pub fn load(source: &ConfigSource, environment: &Environment) -> Result<Self, ConfigError> {
        Ok(Self {
            file: ConfigFile::load(source, environment)?,
            environment: environment.clone(),
        })
    }

    /// Returns a warning about each environment variable that has a value and no effect.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        variables::warnings(&self.environment)
    }

    /// Returns the settings of tools.
    pub fn settings(&self, overrides: Overrides) -> Settings {
        let (file, environment) = (&self.file, &self.environment);
        let mut listed = Vec::new();
        let path = |path: &PathBuf| path.display().to_string();
        let given_temporary = TEMPORARY
            .sourced_value(environment)
            .map(|found| found.map(PathBuf::from));
        let temporary = SourcedValue::or_default(given_temporary, PathBuf::from("/tmp"));
        // The model receives absolute paths below the state directory, since its working directory may differ.
        let state = SourcedValue::flag("--state-dir", overrides.state_directory)
            .or_else(|| file.with_line(file.state_dir.as_ref()))
            .unwrap_or_else(|| default_state_directory(environment, &temporary.value))
            .map(|path| std::path::absolute(&path).unwrap_or(path));
        let state_root = StateRoot(state.add_to("state_dir", path, &mut listed));
        let temporary_directory = temporary.add_to("TMPDIR", path, &mut listed);
        let in_environment = || {
            let number = CONCURRENCY.number(1, environment)?;
            let value = NonZeroUsize::new(usize::try_from(number.value).ok()?)?;
            Some(number.map(|_| value))
        };
        let given_concurrency = SourcedValue::flag("--max-concurrency", overrides.concurrency)
            .or_else(in_environment)
            .or_else(|| file.with_line(file.max_concurrency.as_ref()));
        let concurrency = SourcedValue::or_default(given_concurrency, DEFAULT_CONCURRENCY).add_to(
            "max_concurrency",
            NonZeroUsize::to_string,
            &mut listed,
        );
        let shell_timeouts = self.shell_timeouts(&mut listed);
        listed.extend(self.parse_gates(None).1);
        let flag = overrides.allow_private_addresses.then_some(true);
        let given_switch = SourcedValue::flag("--allow-private-addresses", flag)
            .or_else(|| file.with_line(file.allow_private_addresses.as_ref()));
        let allows_private = SourcedValue::or_default(given_switch, false);
        let reach =
            if allows_private.add_to("allow_private_addresses", bool::to_string, &mut listed) {
                Reach::PublicAndPrivate
            } else {
                Reach::Public
            };
        let http = self.http(None, &mut listed);
        let limits = file.max_result_chars.iter().filter_map(|(tool, limit)| {
            let name = format!("max_result_chars.{tool}");
            let limit = file.with_line(Some(limit))?;
            let units = limit.add_to(&name, usize::to_string, &mut listed);
            Some((tool.clone(), (units > 0).then_some(units)))
        });
        let limits = ToolLimits(limits.collect());
        let mut manifests = overrides.manifests;
        manifests.extend(file.tools.iter().map(|path| path.as_ref().clone()));
        Settings {
            state_root,
            concurrency,
            manifests,
            limits,
            shell_timeouts,
            reach,
            http,
            temporary_directory,
            listed,
        }
    }

    /// Returns the timeouts of shell calls. A default above the maximum raises the maximum.
    fn shell_timeouts(&self, listed: &mut Vec<Setting>) -> ShellTimeouts {
        let defaults = ShellTimeouts::default();
        let rows = [
            (
                SHELL_TIMEOUT,
                &self.file.bash_default_timeout_ms,
                defaults.default,
            ),
            (
                MAX_SHELL_TIMEOUT,
                &self.file.bash_max_timeout_ms,
                defaults.maximum,
            ),
        ];
        let [default, maximum] = rows.map(|(variable, in_file, default)| {
            let found = variable
                .number(1, &self.environment)
                .or_else(|| self.file.with_line(in_file.as_ref()));
            SourcedValue::or_default(found.map(|found| found.map(Duration::from_millis)), default)
        });
        let maximum = if maximum.value < default.value {
            default.clone()
        } else {
            maximum
        };
        ShellTimeouts {
            default: default.add_to("bash_default_timeout_ms", format_milliseconds, listed),
            maximum: maximum.add_to("bash_max_timeout_ms", format_milliseconds, listed),
        }
    }

    /// Returns the home directory of the user.
    pub fn user_home(&self) -> Option<PathBuf> {
        HOME.text(&self.environment).map(PathBuf::from)
    }

    /// Returns the homes of agents without a configuration: the directories above those of their sessions.
    pub fn default_homes(&self) -> Vec<PathBuf> {
        let roots = list_session_roots(&self.environment).into_iter();
        let homes = roots.filter_map(|root| Some(root.path.parent()?.to_owned()));
        homes.collect()
    }

    /// Returns the agents that use the format of another one, and the homes of known agents.
    ///
    /// # Errors
    /// A format is unknown, or the table of a known agent has other keys than `homes`.
    pub fn agents(&self) -> Result<Vec<NamedRoot>, ConfigError> {
        let base = self.file.path.as_deref().and_then(Path::parent);
        let home = HOME.text(&self.environment).unwrap_or_default();
        let to_absolute = |path: &Path| match path.strip_prefix("~") {
            Ok(below) => Path::new(home).join(below),
            Err(_) => base.unwrap_or(Path::new("")).join(path),
        };
        let mut found = Vec::new();
        for (name, table) in &self.file.agents {
            let key = format!("agents.{name}");
            let invalid = |problem: &str| self.file.invalid_value(&key, table, problem);
            let AgentTable {
                root,
                format,
                homes,
            } = table.get_ref();
            if let Some(format) = Agent::by_name(name) {
                if root.is_some() || homes.is_empty() {
                    return Err(invalid(
                        "this is the name of a known agent; give yours another name",
                    ));
                }
                found.extend(homes.iter().map(|(name, path)| NamedRoot {
                    name: name.clone(),
                    format,
                    path: to_absolute(path),
                    kind: RootKind::Home,
                }));
                continue;
            }
            let root_path = root
                .as_ref()
                .ok_or_else(|| invalid("missing field `root`"))?;
            let format_name = format
                .as_ref()
                .ok_or_else(|| invalid("missing field `format`"))?;
            let Some(format) = Agent::by_name(format_name.get_ref()) else {
                let names = Agent::ALL.map(Agent::name).join(", ");
                let problem = format!(
                    "unknown format `{}` [possible values: {names}]",
                    format_name.get_ref()
                );
                return Err(self.file.invalid_value(
                    &format!("{key}.format"),
                    format_name,
                    &problem,
                ));
            };
            if !homes.is_empty() {
                return Err(invalid("only known agents have homes"));
            }
            found.push(NamedRoot {
                name: name.clone(),
                format,
                path: to_absolute(root_path),
                kind: RootKind::Fork,
            });
        }
        Ok(found)
    }

    /// Returns the files that the configuration names, except itself.
    pub fn files(&self) -> Vec<Setting> {
        let file = &self.file;
        let mut listed = Vec::new();
        let mut list = |name: &str, path| {
            if let Some(path) = file.with_line(path) {
                let shown = |path: &PathBuf| path.display().to_string();
                path.add_to(name, shown, &mut listed);
            }
        };
        list("prices", file.prices.as_ref());
        list("http.ca_file", file.http.ca_file.as_ref());
        for manifest in &file.tools {
            list("tools", Some(manifest));
        }
        for (provider, table) in &file.providers {
            let name = format!("providers.{provider}.api_key_file");
            list(&name, table.api_key_file.as_ref());
        }
        for variable in [CERTIFICATE_FILE, CERTIFICATE_DIRECTORY] {
            if let Some(path) = variable.sourced_value(&self.environment) {
                let name = path.source.to_string();
                path.add_to(&name, |path| (*path).to_owned(), &mut listed);
            }
        }
        listed
    }

    /// Returns the timeouts of MCP servers.
    #[cfg(feature = "mcp")]
    pub fn mcp_timeouts(&self) -> crate::run::mcp::Timeouts {
        let read_timeout = |variable: Variable, default: Duration| {
            let set = variable.number(1, &self.environment);
            set.map_or(default, |set| Duration::from_millis(set.value))
        };
        crate::run::mcp::Timeouts {
            start: read_timeout(SERVER_START_TIMEOUT, Duration::from_secs(30)),
            call: read_timeout(SERVER_CALL_TIMEOUT, Duration::from_mins(10)),
        }
    }

    /// Returns the maximum number of consecutive continuations of a turn by `Stop` hooks; `None` for no limit.
    pub fn stop_hook_cap(&self) -> Option<u64> {
        let cap = STOP_HOOK_CAP.number(0, &self.environment);
        Some(cap.map_or(8, |cap| cap.value)).filter(|cap| *cap > 0)
    }

    /// Returns the prices of models: of `flag_file`, which a flag names, else of the configuration, else
    /// built-in.
    ///
    /// # Errors
    /// A file is missing, unreadable or invalid.
    pub fn prices(&self, flag_file: Option<&Path>) -> Result<Prices, ConfigError> {
        let files = [
            flag_file,
            self.file
                .prices
                .as_ref()
                .map(|path| path.as_ref().as_path()),
        ];
        let mut prices = Prices::default();
        for path in files.into_iter().flatten() {
            prices = prices.with_fallback(read_toml(path)?);
        }
        Ok(prices.with_fallback(Prices::built_in()))
    }
}

/// Returns a duration as text, in milliseconds.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as `listed` calls it")]
pub(super) fn format_milliseconds(time: &Duration) -> String {
    time.as_millis().to_string()
}

fn default_state_directory(environment: &Environment, temporary: &Path) -> SourcedValue<PathBuf> {
    let in_environment = STATE_HOME
        .sourced_value(environment)
        .filter(|base| Path::new(base.value).is_absolute())
        .map(|base| base.map(|base| Path::new(base).join("turnpipe")));
    in_environment.unwrap_or_else(|| {
        let path = if let Some(home) = HOME.text(environment) {
            Path::new(home).join(".local/state/turnpipe")
        } else {
            let user = rustix::process::geteuid().as_raw();
            temporary.join(format!("turnpipe-{user}"))
        };
        SourcedValue::or_default(None, path)
    })
}

/// Switches of labels and automatic titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideGates {
    /// Whether batches of calls get labels.
    pub labels: bool,
    /// Whether `title --auto` writes titles.
    pub auto_titles: bool,
}

impl Config {
    /// Returns the switches: environment over an agent's settings file, if given, over the
    /// configuration file.
    ///
    /// # Errors
    /// The agent's file is missing, unreadable or invalid.
    pub fn side_gates(&self, agent_settings: Option<&Path>) -> Result<SideGates, ConfigError> {
        let agent_setting = agent_settings.map(labels_of_agent).transpose()?.flatten();
        Ok(self.parse_gates(agent_setting).0)
    }

    /// Returns the switches, also for `doctor`.
    pub(super) fn parse_gates(&self, agent_setting: Option<bool>) -> (SideGates, Vec<Setting>) {
        let (file, environment) = (&self.file, &self.environment);
        let mut listed = Vec::new();
        let variable = LABELS.sourced_value(environment);
        let in_file = file.with_line(file.emit_tool_use_summaries.as_ref());
        let setting = agent_setting.or(in_file.as_ref().map(|found| found.value));
        let are_wanted = are_labels_wanted(variable.as_ref().map(|found| found.value), setting);
        let given_labels = variable.map(|found| found.map(|_| are_wanted)).or(in_file);
        let labels = SourcedValue::or_default(given_labels, are_wanted).map(|_| are_wanted);
        let titles = AUTO_TITLE_OFF
            .sourced_value(environment)
            .map(|found| found.map(|value| !is_true(Some(value))));
        let gates = SideGates {
            labels: labels.add_to("emit_tool_use_summaries", bool::to_string, &mut listed),
            auto_titles: SourcedValue::or_default(titles, true).add_to(
                "automatic titles",
                bool::to_string,
                &mut listed,
            ),
        };
        (gates, listed)
    }
}

/// Returns the switch of labels in an agent's `settings.json`.
fn labels_of_agent(path: &Path) -> Result<Option<bool>, ConfigError> {
    let settings: Value = read_agent_settings(path)?;
    Ok(settings["experimental"]["emitToolUseSummaries"].as_bool())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigSource;

    fn resolve(overrides: Overrides, pairs: &[(&str, &str)]) -> Settings {
        let environment = pairs.iter().copied().collect();
        let config = Config::load(&ConfigSource::None, &environment).unwrap();
        config.settings(overrides)
    }

    #[test]
    fn an_empty_environment_gives_defaults() {
        let settings = resolve(Overrides::default(), &[]);
        assert_eq!(settings.concurrency.get(), 10);
        assert!(settings.state_root.0.starts_with("/tmp"));
        assert_eq!(settings.shell_timeouts, ShellTimeouts::default());
    }

    #[test]
    fn flags_override_the_environment() {
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
    fn the_maximum_of_shell_timeouts_is_the_larger_value() {
        let settings = resolve(
            Overrides::default(),
            &[("BASH_DEFAULT_TIMEOUT_MS", "900000")],
        );
        assert_eq!(settings.shell_timeouts.default, Duration::from_mins(15));
        assert_eq!(settings.shell_timeouts.maximum, Duration::from_mins(15));
        let settings = resolve(Overrides::default(), &[("BASH_MAX_TIMEOUT_MS", "1000")]);
        assert_eq!(settings.shell_timeouts.maximum, Duration::from_mins(2));
    }

    #[test]
    fn the_environment_overrides_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(
            &path,
            "{\"experimental\": // no labels\n{\"emitToolUseSummaries\":false}}",
        )
        .unwrap();
        let gates = |pairs: &[(&str, &str)], settings| {
            let environment = pairs.iter().copied().collect();
            let config = Config::load(&ConfigSource::None, &environment).unwrap();
            config.side_gates(settings).unwrap()
        };
        assert!(gates(&[], None).labels);
        assert!(!gates(&[], Some(path.as_path())).labels);
        let on = [("QWEN_CODE_EMIT_TOOL_USE_SUMMARIES", "1")];
        assert!(gates(&on, Some(path.as_path())).labels);
        assert!(!gates(&[("TURNPIPE_DISABLE_AUTO_TITLE", "1")], None).auto_titles);
    }
}
