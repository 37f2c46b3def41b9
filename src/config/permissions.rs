//! Permission rules and hooks from settings files of agents, flags and the configuration file, and
//! the examples of rules, which are checked when a rule is read.
//!
//! See `docs/permissions.md`, Settings files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::file::{ConfigError, read_agent_settings};
use super::restrictions::{
    self, PermissionTable, Restriction, SettingsFile, TestedRule, WrittenRule,
};
use super::sandbox_path::SandboxPath;
use super::sandbox_settings::SandboxSettings;
use super::settings::Config;
use super::variables::{HOME, PROJECT};
use crate::agent::has_permission_settings;
use crate::io::Environment;
use crate::message::{DecidedBy, Decision};
use crate::permission::{Action, Behavior, Mode, Request, Rule, RuleSource, Rules, canonical_tool};
use crate::shell::analyse;

/// Flags for permissions.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PermissionFlags {
    /// Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable
    #[arg(long, value_name = "FILE")]
    pub settings: Vec<PathBuf>,
    /// Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Ask about the calls that a rule matches; repeatable
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub ask: Vec<String>,
    /// Deny the calls that a rule matches, even if other rules allow them; repeatable
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// The permission mode for calls that no rule decides [default: of the settings, else `default`]
    #[arg(
        long = "permission-mode",
        value_enum,
        value_name = "MODE",
        hide_short_help = true
    )]
    pub mode: Option<Mode>,
    /// Apply the rules for subagents of this type [default: as the input of a hook names it]
    #[arg(long, value_name = "TYPE", hide_short_help = true)]
    pub subagent: Option<String>,
    /// Ignore settings that are not understood, although they may restrict calls
    #[arg(long, hide_short_help = true)]
    pub ignore_unknown_settings: bool,
}

/// Merged permissions of flags, settings files and the configuration file.
#[derive(Debug, Default)]
pub struct PermissionSettings {
    /// All rules, from flags, settings files and the configuration file.
    pub rules: Rules,
    /// The mode of the flag, else of the last settings file that sets one, else of the
    /// configuration file.
    pub mode: Mode,
    /// Whether calls that need approval are denied.
    pub denies_instead_of_asking: bool,
    /// Further working directories; absolute, without links.
    pub directories: Vec<PathBuf>,
    /// Environment variables; later files have precedence.
    pub environment: BTreeMap<String, String>,
    /// The `hooks` of each settings file; empty if a file disables all hooks.
    pub hooks: Vec<(Map<String, Value>, Arc<RuleSource>)>,
    /// The sandbox of shell calls.
    pub sandbox: SandboxSettings,
    /// A warning for each ignored setting. [`Rules::warnings`] has those about rules.
    pub warnings: Vec<String>,
}

impl PermissionSettings {
    /// Returns allow rules for the commands that run outside of the sandbox. Invalid commands are ignored.
    pub fn excluded_commands(&self) -> Rules {
        let source = Arc::new(RuleSource {
            name: "sandbox.excludedCommands".to_owned(),
            anchor: PathBuf::from("/"),
        });
        let commands = self.sandbox.excluded_commands.iter();
        let rules = commands.filter_map(|command| {
            Rule::parse(&format!("Bash({command})"), Behavior::Allow, &source).ok()
        });
        Rules::new(rules.collect())
    }
}

impl Config {
    /// Reads the settings files and merges all permissions, for a session that starts in
    /// `directory` (absolute).
    ///
    /// # Errors
    /// A file cannot be read or is malformed, or a rule is malformed or contradicts its examples.
    pub fn permissions(
        &self,
        flags: &PermissionFlags,
        directory: &Path,
    ) -> Result<PermissionSettings, ConfigError> {
        let home = HOME.text(&self.environment).map(Path::new);
        let mut merged = MergedSettings {
            rules: Vec::new(),
            settings: PermissionSettings::default(),
            disabled: Vec::new(),
            ignores_unknown: flags.ignore_unknown_settings,
            directory,
            home,
            subagent: flags.subagent.as_deref(),
        };
        let mut mode = self.file.permissions.mode();
        let flag_rules = [
            ("--deny", &flags.deny, Behavior::Deny),
            ("--ask", &flags.ask, Behavior::Ask),
            ("--allow", &flags.allow, Behavior::Allow),
        ];
        for (flag, rules, behavior) in flag_rules {
            let source = Arc::new(RuleSource {
                name: flag.to_owned(),
                anchor: directory.to_owned(),
            });
            for rule in rules {
                merged.rules.push(Rule::parse(rule, behavior, &source)?);
            }
        }
        let source_in = |path: &Path| {
            Arc::new(RuleSource {
                name: path.display().to_string(),
                anchor: anchor(&absolute_path(path), home),
            })
        };
        let mut are_hooks_disabled = false;
        let mut sandbox_problems = Vec::new();
        for path in &flags.settings {
            let file: SettingsFile = read_agent_settings(path)?;
            let source = source_in(path);
            merged.add(&file.permissions, &source)?;
            for (key, value) in &file.others {
                if let ("sandbox", Value::Object(members)) = (key.as_str(), value) {
                    let parse = |text: &String| SandboxPath::parse(text, &source, home);
                    let parse_all = |texts: Vec<String>| texts.iter().map(parse).collect();
                    let problems = merged.settings.sandbox.add(key, members, &parse_all);
                    let sourced = problems
                        .into_iter()
                        .map(|problem| (problem, Arc::clone(&source)));
                    sandbox_problems.extend(sourced);
                    continue;
                }
                for restriction in restrictions::parse_file_key(key, value, &source) {
                    merged.restrict(restriction, &source)?;
                }
            }
            mode = file.permissions.mode().or(file.approval_mode()).or(mode);
            are_hooks_disabled |= file.disable_all_hooks;
            merged.settings.environment.extend(file.env);
            merged.settings.hooks.push((file.hooks, source));
        }
        if let Some(path) = &self.file.path {
            let source = source_in(path);
            merged.add(&self.file.permissions, &source)?;
        }
        // A later file may have disabled the sandbox.
        merged.ignores_unknown |= !merged.settings.sandbox.is_enabled;
        for (problem, source) in sandbox_problems {
            merged.restrict(problem, &source)?;
        }
        let MergedSettings {
            rules,
            mut settings,
            disabled,
            ..
        } = merged;
        if are_hooks_disabled {
            settings.hooks.clear();
        }
        settings.rules = Rules::new(rules);
        settings.mode = flags.mode.or(mode).unwrap_or_default();
        let mut disabled = disabled.into_iter();
        if let Some((mode, key, source)) = disabled.find(|(mode, ..)| *mode == settings.mode) {
            let mode = mode.name();
            return Err(ConfigError::Invalid {
                path: (&source.name).into(),
                reason: format!("`{key}` forbids the permission mode `{mode}`"),
            });
        }
        Ok(settings)
    }
}

/// Settings during the merge.
struct MergedSettings<'a> {
    rules: Vec<Rule>,
    settings: PermissionSettings,
    /// Forbidden modes, with the keys that forbid them.
    disabled: Vec<(Mode, String, Arc<RuleSource>)>,
    ignores_unknown: bool,
    directory: &'a Path,
    home: Option<&'a Path>,
    /// The type of the subagent that makes the calls.
    subagent: Option<&'a str>,
}

impl MergedSettings<'_> {
    fn add(
        &mut self,
        table: &PermissionTable,
        source: &Arc<RuleSource>,
    ) -> Result<(), ConfigError> {
        for (entry, behavior) in table.rules() {
            let rule = match entry {
                WrittenRule::Alone(text) => Rule::parse(text, behavior, source)?,
                WrittenRule::Tested(tested) => {
                    let rule = Rule::parse(&tested.rule, behavior, source)?;
                    tested
                        .try_examples(&rule, self.directory, self.home)
                        .map_err(|problem| ConfigError::RuleExample {
                            source_name: source.name.clone(),
                            problem,
                        })?;
                    if !tested.applies_to(self.subagent, behavior) {
                        continue;
                    }
                    rule
                }
            };
            self.rules.push(rule);
        }
        for name in &table.additional_directories {
            let path = match (name.strip_prefix("~/"), self.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => self.directory.join(name),
            };
            match path.canonicalize() {
                Ok(path) if path.is_dir() => self.settings.directories.push(path),
                _ => self.warn(source, &format!("ignored `{name}`: not a directory")),
            }
        }
        for (key, value) in &table.others {
            let restriction = restrictions::parse_permission_key(key, value, source);
            self.restrict(restriction, source)?;
        }
        Ok(())
    }

    /// Adds the restriction of a key of a settings file.
    fn restrict(
        &mut self,
        restriction: Restriction,
        source: &Arc<RuleSource>,
    ) -> Result<(), ConfigError> {
        match restriction {
            Restriction::None => {}
            Restriction::Rules(rules) => self.rules.extend(rules),
            Restriction::DenyInsteadOfAsking => self.settings.denies_instead_of_asking = true,
            Restriction::Forbids(mode, key) => self.disabled.push((mode, key, Arc::clone(source))),
            Restriction::Weakens(key) => {
                self.warn(source, &format!("ignored `{key}`: no weaker sandbox"));
            }
            Restriction::Unknown(key) if self.ignores_unknown => {
                self.warn(source, &format!("ignored `{key}`: unknown setting"));
            }
            Restriction::Invalid(key, problem) if self.ignores_unknown => {
                self.warn(source, &format!("ignored `{key}`: {problem}"));
            }
            Restriction::Invalid(key, problem) => {
                return Err(ConfigError::Invalid {
                    path: (&source.name).into(),
                    reason: format!("`{key}`: {problem}"),
                });
            }
            Restriction::Unknown(key) => {
                return Err(ConfigError::UnknownRestriction {
                    source_name: source.name.clone(),
                    key,
                });
            }
        }
        Ok(())
    }

    fn warn(&mut self, source: &RuleSource, problem: &str) {
        let warning = format!("{}: {problem}", source.name);
        self.settings.warnings.push(warning);
    }
}

/// Returns the project of the agent that runs this process as a hook, if known.
pub fn project_directory(environment: &Environment) -> Option<PathBuf> {
    let path = Path::new(PROJECT.text(environment)?);
    path.is_absolute().then(|| path.to_owned())
}

fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the base directory of `/x` in the rules of a file: the project of the file, else its
/// directory.
fn anchor(path: &Path, home: Option<&Path>) -> PathBuf {
    let directory = path.parent().unwrap_or(path);
    match directory.parent() {
        Some(project) if has_permission_settings(directory) && home != Some(project) => {
            project.to_owned()
        }
        _ => directory.to_owned(),
    }
}

#[cfg(test)]
#[path = "restrictions_tests.rs"]
mod restrictions_tests;
#[cfg(test)]
#[path = "sandbox_settings_tests.rs"]
mod sandbox_settings_tests;
#[cfg(test)]
#[path = "permissions_tests.rs"]
mod tests;

impl TestedRule {
    /// Checks the examples, for a session that starts in `directory`.
    ///
    /// # Errors
    /// Describes the first failing example on one line.
    pub(super) fn try_examples(
        &self,
        rule: &Rule,
        directory: &Path,
        home: Option<&Path>,
    ) -> Result<(), String> {
        let expectations = [(&self.matching, true), (&self.not_match, false)];
        for (examples, is_match) in expectations {
            for example in examples {
                if rule_matches(rule, example, directory, home) != is_match {
                    let verb = if is_match {
                        "does not match"
                    } else {
                        "matches"
                    };
                    return Err(format!("`{}` {verb} `{example}`", self.rule));
                }
            }
        }
        Ok(())
    }
}

/// Whether a rule applies to an example.
fn rule_matches(rule: &Rule, example: &str, directory: &Path, home: Option<&Path>) -> bool {
    let tool = canonical_tool(rule.text.split('(').next().unwrap_or_default());
    let path = || vec![directory.join(example)];
    let (field, action) = match tool {
        "Bash" => {
            let action = Action::Command {
                script: example.to_owned(),
                line: analyse(example).line,
                only_reads: false,
                is_ambiguous: false,
            };
            ("command", action)
        }
        "WebFetch" => {
            let url = example.to_owned();
            ("url", Action::Fetch { url })
        }
        "Read" | "Grep" | "Glob" | "LS" => {
            let (reads, writes) = (path(), Vec::new());
            ("file_path", Action::Files { reads, writes })
        }
        _ => {
            let (reads, writes) = (Vec::new(), path());
            ("file_path", Action::Files { reads, writes })
        }
    };
    let input = Map::from_iter([(field.to_owned(), example.into())]);
    let request = Request {
        tool,
        input: &input,
        action: &action,
        directory,
        working_directories: &[directory.to_owned()],
        confines_reads: false,
        is_confined: false,
        masks_files: false,
        links: &|_| Some(Vec::new()),
        home,
        real_path: &|path| Some(path.to_owned()),
    };
    if rule.behavior != Behavior::Allow || tool == "Read" {
        return rule.matches(&request);
    }
    // Every command of a command line has to be allowed.
    let evaluation = Rules::new(vec![rule.clone()]).decide(Mode::Default, &request);
    evaluation.decision == Decision::Allow && matches!(evaluation.by, DecidedBy::Rule { .. })
}
