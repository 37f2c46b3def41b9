//! Switches of labels and automatic titles.

use std::path::Path;

use serde_json::Value;

use super::agent_settings::read_agent_settings;
use super::sourced::{Setting, Sourced};
use super::variables::{AUTO_TITLE_OFF, LABELS};
use super::{Config, ConfigError};
use crate::side::{labels_are_wanted, says_yes};

/// Switches of labels and automatic titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideGates {
    /// Whether batches of calls get labels.
    pub labels: bool,
    /// Whether `title --auto` writes titles.
    pub auto_titles: bool,
}

impl Config {
    /// The switches: environment over an agent's settings file, if given, over the configuration file.
    ///
    /// # Errors
    /// The agent's file is missing, unreadable or invalid.
    pub fn side_gates(&self, agent_settings: Option<&Path>) -> Result<SideGates, ConfigError> {
        let by_agent = agent_settings.map(labels_of_agent).transpose()?.flatten();
        Ok(self.gates(by_agent).0)
    }

    /// The switches, also for `doctor`.
    pub(super) fn gates(&self, by_agent: Option<bool>) -> (SideGates, Vec<Setting>) {
        let (file, environment) = (&self.file, &self.environment);
        let mut listed = Vec::new();
        let labels = LABELS.sourced(environment);
        let in_file = file.sourced(file.emit_tool_use_summaries.as_ref());
        let setting = by_agent.or(in_file.as_ref().map(|found| found.value));
        let wanted = labels_are_wanted(labels.as_ref().map(|found| found.value), setting);
        let labels = labels.map(|found| found.map(|_| wanted)).or(in_file);
        let labels = Sourced::or_default(labels, wanted).map(|_| wanted);
        let titles = AUTO_TITLE_OFF.sourced(environment);
        let titles = titles.map(|found| found.map(|value| !says_yes(Some(value))));
        let gates = SideGates {
            labels: labels.listed("emit_tool_use_summaries", bool::to_string, &mut listed),
            auto_titles: Sourced::or_default(titles, true).listed(
                "automatic titles",
                bool::to_string,
                &mut listed,
            ),
        };
        (gates, listed)
    }
}

/// The switch of labels in an agent's `settings.json`.
fn labels_of_agent(path: &Path) -> Result<Option<bool>, ConfigError> {
    let settings: Value = read_agent_settings(path)?;
    Ok(settings["experimental"]["emitToolUseSummaries"].as_bool())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigSource;

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
