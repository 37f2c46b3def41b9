//! Which of labels and automatic titles are wanted.

use std::path::Path;

use serde_json::Value;

use super::agent_settings::read_agent_settings;
use super::variables::{AUTO_TITLE_OFF, LABELS, Variable};
use super::{Config, ConfigError};
use crate::side::{labels_are_wanted, says_yes};

/// Which of labels and automatic titles are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideGates {
    /// Labels.
    pub labels: bool,
    /// Titles that an agent asks for on its own.
    pub auto_titles: bool,
}

impl Config {
    /// Whether labels and automatic titles are wanted: environment over an agent's settings file
    /// (if one is named) over the configuration file.
    ///
    /// # Errors
    /// The agent's file is missing, unreadable, or invalid.
    pub fn side_gates(&self, agent_settings: Option<&Path>) -> Result<SideGates, ConfigError> {
        let by_agent = agent_settings.map(labels_of_agent).transpose()?.flatten();
        let setting = by_agent.or(self.file.emit_tool_use_summaries);
        let variable = |variable: Variable| variable.text(&self.environment);
        Ok(SideGates {
            labels: labels_are_wanted(variable(LABELS), setting),
            auto_titles: !says_yes(variable(AUTO_TITLE_OFF)),
        })
    }
}

/// What the `settings.json` of an agent says about labels.
fn labels_of_agent(path: &Path) -> Result<Option<bool>, ConfigError> {
    let settings: Value = read_agent_settings(path)?;
    Ok(settings["experimental"]["emitToolUseSummaries"].as_bool())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigSource;

    #[test]
    fn the_environment_beats_the_settings() {
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
