//! The configuration as it counts, and where each value comes from.

use std::path::Path;
use std::time::Duration;

use super::file::DEFAULT;
use super::models::PROVIDERS;
use super::variables::{
    ALL_PROXY, AUTO_TITLE_OFF, CERTIFICATE_DIRECTORY, CERTIFICATE_FILE, CONCURRENCY, HTTP_PROXY,
    HTTPS_PROXY, LABELS, LONGEST_SHELL_TIMEOUT, NO_PROXY, SHELL_TIMEOUT, STATE_HOME, TEMPORARY,
    Variable,
};
use super::{Config, Overrides};
use crate::http::Reach;
use crate::side::{labels_are_wanted, says_yes};
use crate::text::redact;

/// A value, and what set it: a variable, the configuration file, or `default`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name: a key of the configuration file, or a variable.
    pub name: String,
    /// Its value, for people.
    pub value: String,
    /// What set it.
    pub source: String,
}

impl Config {
    /// The settings. What may hold a password is not shown.
    pub fn explained(&self) -> Vec<Setting> {
        let (file, environment) = (&self.file, &self.environment);
        let settings = self.settings(Overrides::default());
        let limits = settings.http.limits;
        let set = |variable: Variable| variable.named_text(environment).map(|(name, _)| name);
        let number = |variable: Variable| variable.positive(environment).and(set(variable));
        let path = |path: &Path| path.display().to_string();
        let time = |time: Duration| time.as_millis().to_string();
        let labels = labels_are_wanted(LABELS.text(environment), file.emit_tool_use_summaries);
        let titles = !says_yes(AUTO_TITLE_OFF.text(environment));
        // Its name, its value, the variable that counts, and whether the file sets it.
        let rows = [
            (
                "state_dir",
                path(&settings.state_root.0),
                set(STATE_HOME).filter(|_| file.state_dir.is_none()),
                file.state_dir.is_some(),
            ),
            (
                "TMPDIR",
                path(&settings.temporary_directory),
                set(TEMPORARY),
                false,
            ),
            (
                "max_concurrency",
                settings.concurrency.to_string(),
                number(CONCURRENCY),
                file.max_concurrency.is_some(),
            ),
            (
                "bash_default_timeout_ms",
                time(settings.shell_timeouts.default),
                number(SHELL_TIMEOUT),
                file.bash_default_timeout_ms.is_some(),
            ),
            (
                "bash_max_timeout_ms",
                time(settings.shell_timeouts.maximum),
                number(LONGEST_SHELL_TIMEOUT),
                file.bash_max_timeout_ms.is_some(),
            ),
            (
                "emit_tool_use_summaries",
                labels.to_string(),
                set(LABELS),
                file.emit_tool_use_summaries.is_some(),
            ),
            (
                "automatic titles",
                titles.to_string(),
                set(AUTO_TITLE_OFF),
                false,
            ),
            (
                "allow_private_addresses",
                (settings.reach != Reach::Public).to_string(),
                None,
                file.allow_private_addresses,
            ),
            (
                "http.connect_timeout_ms",
                time(limits.connect),
                None,
                file.http.connect_timeout_ms.is_some(),
            ),
            (
                "http.idle_timeout_ms",
                time(limits.idle),
                None,
                file.http.idle_timeout_ms.is_some(),
            ),
            (
                "http.timeout_ms",
                time(limits.total),
                None,
                file.http.timeout_ms.is_some(),
            ),
        ];
        let rows = rows.into_iter().map(|(name, value, variable, is_in_file)| {
            let in_file = || is_in_file.then(|| self.file_name());
            let source = variable.map(str::to_owned).or_else(in_file);
            Setting::new(name, value, source.unwrap_or_else(|| DEFAULT.to_owned()))
        });
        rows.chain(self.explained_limits())
            .chain(self.explained_models())
            .collect()
    }

    fn explained_limits(&self) -> impl Iterator<Item = Setting> {
        let limits = self.file.max_result_chars.iter();
        limits.map(|(tool, limit)| {
            let name = format!("max_result_chars.{tool}");
            Setting::new(&name, limit.to_string(), self.file_name())
        })
    }

    fn explained_models(&self) -> Vec<Setting> {
        let models = self.models(None);
        let mut found = Vec::new();
        let chosen = [
            ("fast_model", models.fast),
            ("model", models.main),
            ("advisor_model", self.advisor(None)),
        ];
        for (name, chosen) in chosen {
            let (value, source) = match chosen {
                None => ("none".to_owned(), DEFAULT.to_owned()),
                Some(chosen) if chosen.by == name => (chosen.name, self.file_name()),
                Some(chosen) => (chosen.name, chosen.by.to_owned()),
            };
            found.push(Setting::new(name, value, source));
        }
        for variable in [HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY] {
            if let Some((name, _)) = variable.named_text(&self.environment) {
                found.push(Setting::new(name, "set", name));
            }
        }
        for (name, provider) in models.providers {
            let variables = PROVIDERS.iter().find(|(known, ..)| *known == name);
            let variable =
                variables.and_then(|(.., address)| (*address)?.named_text(&self.environment));
            if let Some(address) = provider.base_url {
                let source = variable.map_or_else(|| self.file_name(), |(name, _)| name.to_owned());
                // The query may hold a key.
                let address = address.split('?').next().unwrap_or_default();
                let name = format!("providers.{name}.base_url");
                found.push(Setting::new(&name, redact(address), source));
            }
        }
        found
    }

    /// The providers that have a key, each with the place where the key was found.
    pub fn keys(&self) -> Vec<Setting> {
        let mut found = Vec::new();
        for (provider, key, token, _) in PROVIDERS {
            let variables = [Some(*key), *token].into_iter().flatten();
            let mut set = variables.filter_map(|variable| variable.named_text(&self.environment));
            if let Some((name, _)) = set.next() {
                found.push(Setting::new(provider, "found", name));
            }
        }
        for (provider, table) in &self.file.providers {
            let named = table.api_key_env.as_deref();
            if let Some(name) = named.filter(|name| self.environment.text(name).is_some()) {
                found.push(Setting::new(provider, "found", name));
            } else if let Some(path) = &table.api_key_file {
                found.push(Setting::new(
                    provider,
                    "in a file",
                    path.display().to_string(),
                ));
            } else if table.api_key_cmd.is_some() {
                found.push(Setting::new(
                    provider,
                    "printed by a command",
                    self.file_name(),
                ));
            }
        }
        found
    }

    /// The files that the configuration names, besides itself.
    pub fn files(&self) -> Vec<Setting> {
        let file = &self.file;
        let named = [
            ("prices", &file.prices),
            ("http.ca_file", &file.http.ca_file),
        ];
        let named = named
            .into_iter()
            .map(|(name, path)| (name.to_owned(), path.as_ref()));
        let manifests = file
            .tools
            .iter()
            .map(|path| ("tools".to_owned(), Some(path)));
        let keys = file.providers.iter().map(|(provider, table)| {
            let name = format!("providers.{provider}.api_key_file");
            (name, table.api_key_file.as_ref())
        });
        let in_file = named
            .chain(manifests)
            .chain(keys)
            .filter_map(|(name, path)| {
                Some(Setting::new(
                    &name,
                    path?.display().to_string(),
                    self.file_name(),
                ))
            });
        let variables = [CERTIFICATE_FILE, CERTIFICATE_DIRECTORY].into_iter();
        let in_environment = variables.filter_map(|variable| {
            let (name, path) = variable.named_text(&self.environment)?;
            Some(Setting::new(name, path, name))
        });
        in_file.chain(in_environment).collect()
    }

    fn file_name(&self) -> String {
        let path = self.file.path.as_deref();
        path.map_or_else(String::new, |path| path.display().to_string())
    }
}

impl Setting {
    fn new(name: &str, value: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
            source: source.into(),
        }
    }
}
