//! Permission rules and hooks, from settings files of agents, flags and the configuration file.
//!
//! See `docs/protocol.md`, Settings files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::file::ConfigError;
use super::settings::Config;
use super::variables::{HOME, PROJECT};
use crate::io::Environment;
use crate::permission::{Behavior, Mode, Rule, Rules, Source};

/// Directories of a project or a home directory that hold an agent's settings.
const SETTINGS_DIRECTORIES: [&str; 2] = [".claude", ".qwen"];

/// What flags say about permissions.
#[derive(Debug, Clone, Default)]
pub struct PermissionFlags {
    /// Settings files of agents.
    pub settings: Vec<PathBuf>,
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Rules that ask.
    pub ask: Vec<String>,
    /// Rules that deny.
    pub deny: Vec<String>,
    /// The mode.
    pub mode: Option<Mode>,
}

/// What flags, settings files and the configuration file say together.
#[derive(Debug, Default)]
pub struct PermissionSettings {
    /// All rules: those of flags, of settings files, of the configuration file.
    pub rules: Rules,
    /// The mode: that of the flag, else of the last settings file that names one, else of the
    /// configuration file.
    pub mode: Mode,
    /// Further directories to work in; absolute, without links.
    pub directories: Vec<PathBuf>,
    /// Environment variables; later files count more.
    pub environment: BTreeMap<String, String>,
    /// The `hooks` of each settings file; none if one of them disables all.
    pub hooks: Vec<(Map<String, Value>, Arc<Source>)>,
    /// What was ignored, a line each.
    pub warnings: Vec<String>,
}

/// A settings file of an agent. What it says about other things is none of our business.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SettingsFile {
    permissions: PermissionTable,
    hooks: Map<String, Value>,
    env: BTreeMap<String, String>,
    #[serde(rename = "disableAllHooks")]
    disable_all_hooks: bool,
}

/// `permissions` of a settings file, and `[permissions]` of the configuration file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PermissionTable {
    allow: Vec<WrittenRule>,
    ask: Vec<WrittenRule>,
    deny: Vec<WrittenRule>,
    #[serde(alias = "default_mode")]
    default_mode: Option<ModeName>,
    #[serde(alias = "additional_directories")]
    additional_directories: Vec<String>,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// The name of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ModeName(Mode);

impl<'de> Deserialize<'de> for ModeName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        <Mode as clap::ValueEnum>::from_str(&name, false)
            .map(Self)
            .map_err(|_| serde::de::Error::custom(format!("`{name}` is no permission mode")))
    }
}

/// A rule, alone or with examples.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a rule is a string, or an object with `rule`, `match` and `not_match`"
)]
enum WrittenRule {
    Alone(String),
    Tested(TestedRule),
}

/// A rule with calls that it has to match, and calls that it must not.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestedRule {
    rule: String,
    #[serde(default, rename = "match")]
    matching: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

impl PermissionTable {
    fn rules(&self) -> impl Iterator<Item = (&WrittenRule, Behavior)> {
        [
            (&self.deny, Behavior::Deny),
            (&self.ask, Behavior::Ask),
            (&self.allow, Behavior::Allow),
        ]
        .into_iter()
        .flat_map(|(rules, behavior)| rules.iter().map(move |rule| (rule, behavior)))
    }
}

impl Config {
    /// Reads the settings files and puts together what is said about permissions, for a session
    /// that starts in `directory` (absolute).
    ///
    /// # Errors
    /// A file cannot be read or is malformed, or a rule is, or a rule does not match as its examples
    /// say.
    pub fn permissions(
        &self,
        flags: &PermissionFlags,
        directory: &Path,
    ) -> Result<PermissionSettings, ConfigError> {
        let home = HOME.text(&self.environment).map(Path::new);
        let mut gathered = Gathered {
            rules: Vec::new(),
            settings: PermissionSettings::default(),
            directory,
            home,
        };
        let mut mode = self.file.permissions.default_mode;
        let given = [
            ("--deny", &flags.deny, Behavior::Deny),
            ("--ask", &flags.ask, Behavior::Ask),
            ("--allow", &flags.allow, Behavior::Allow),
        ];
        for (flag, rules, behavior) in given {
            let source = Arc::new(Source {
                name: flag.to_owned(),
                anchor: directory.to_owned(),
            });
            for rule in rules {
                gathered.rules.push(Rule::parse(rule, behavior, &source)?);
            }
        }
        let mut hooks_are_disabled = false;
        for path in &flags.settings {
            let file = read_settings(path)?;
            let source = Arc::new(Source {
                name: path.display().to_string(),
                anchor: anchor(&absolute(path), home),
            });
            gathered.add(&file.permissions, &source)?;
            mode = file.permissions.default_mode.or(mode);
            hooks_are_disabled |= file.disable_all_hooks;
            gathered.settings.environment.extend(file.env);
            gathered.settings.hooks.push((file.hooks, source));
        }
        if let Some(path) = &self.file.path {
            let source = Arc::new(Source {
                name: path.display().to_string(),
                anchor: anchor(&absolute(path), home),
            });
            gathered.add(&self.file.permissions, &source)?;
        }
        let Gathered {
            rules,
            mut settings,
            ..
        } = gathered;
        if hooks_are_disabled {
            settings.hooks.clear();
        }
        settings.rules = Rules::new(rules);
        settings.mode = flags.mode.or(mode.map(|name| name.0)).unwrap_or_default();
        settings.warnings.extend(settings.rules.warnings());
        Ok(settings)
    }
}

/// Settings while they are put together.
struct Gathered<'a> {
    rules: Vec<Rule>,
    settings: PermissionSettings,
    directory: &'a Path,
    home: Option<&'a Path>,
}

impl Gathered<'_> {
    fn add(&mut self, table: &PermissionTable, source: &Arc<Source>) -> Result<(), ConfigError> {
        for (written, behavior) in table.rules() {
            let text = match written {
                WrittenRule::Alone(text) => text,
                WrittenRule::Tested(tested) => &tested.rule,
            };
            self.rules.push(Rule::parse(text, behavior, source)?);
        }
        for name in &table.additional_directories {
            let path = match (name.strip_prefix("~/"), self.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => self.directory.join(name),
            };
            match path.canonicalize() {
                Ok(path) if path.is_dir() => self.settings.directories.push(path),
                _ => self.warn(
                    source,
                    &format!("`{name}` is no directory, and was ignored"),
                ),
            }
        }
        for key in table.unknown.keys() {
            self.warn(
                source,
                &format!("`permissions.{key}` is not known, and was ignored"),
            );
        }
        Ok(())
    }

    fn warn(&mut self, source: &Source, problem: &str) {
        let warning = format!("{}: {problem}", source.name);
        self.settings.warnings.push(warning);
    }
}

/// The project of the agent that runs this process as its hook, if it says so.
pub fn project_directory(environment: &Environment) -> Option<PathBuf> {
    let path = Path::new(PROJECT.text(environment)?);
    path.is_absolute().then(|| path.to_owned())
}

fn read_settings(path: &Path) -> Result<SettingsFile, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|error| ConfigError::Invalid {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What `/x` in the rules of a file is relative to: the project of the file, else its directory.
fn anchor(path: &Path, home: Option<&Path>) -> PathBuf {
    let directory = path.parent().unwrap_or(path);
    let holds_settings = SETTINGS_DIRECTORIES
        .iter()
        .any(|name| directory.ends_with(name));
    match directory.parent() {
        Some(project) if holds_settings && home != Some(project) => project.to_owned(),
        _ => directory.to_owned(),
    }
}
