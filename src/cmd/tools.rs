//! `tools`: what a configuration offers to a model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::tool_registry::registry;
use super::{Globals, Outcome, UsageError, output};
use crate::config::{Overrides, Settings};
use crate::io::Io;
use crate::text::{display_width, terminal_safe_line};
use crate::tools::{Format, Registry, declarations};

/// Print the tools that calls can name
///
/// Writes one line: the array for the `tools` key of a request. On a terminal it lists the tools
/// for people instead.
#[derive(Debug, Args)]
pub(super) struct ToolsArguments {
    /// For which API the tools are declared
    #[arg(long, value_enum, default_value = "anthropic", value_name = "API")]
    format: Format,
    /// What to print [default: text on a terminal, else json]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Add the command tools of a manifest (TOML or JSON); repeatable
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// A list of names and descriptions
    Text,
    /// The declarations
    Json,
}

impl ToolsArguments {
    /// Prints the tools.
    ///
    /// # Errors
    /// The configuration makes no sense, or writing failed.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let overrides = Overrides {
            source: globals.config_source(),
            manifests: self.tools,
            ..Overrides::default()
        };
        let settings = Settings::resolve(overrides, &io.environment)
            .map_err(|error| UsageError::new(format!("configuration: {error}")))?;
        let registry = registry(&settings)?;
        let form = match self.output {
            Some(form) => form,
            None if io.terminal.stdout => OutputForm::Text,
            None => OutputForm::Json,
        };
        match form {
            OutputForm::Text => output::print(io, &list(&registry))?,
            OutputForm::Json => {
                let line = format!("{}\n", declarations(&registry, self.format));
                output::print(io, &line)?;
            }
        }
        Ok(Outcome::Done)
    }
}

/// A line for each tool: its name and the first sentence of its description.
fn list(registry: &Registry) -> String {
    let rows: Vec<(String, String)> = registry
        .iter()
        .map(|tool| {
            let description = terminal_safe_line(tool.description());
            let sentence = description.split(". ").next().unwrap_or_default();
            let summary = sentence.trim_end_matches('.').to_owned();
            (terminal_safe_line(tool.name()), summary)
        })
        .collect();
    let column = rows
        .iter()
        .map(|(name, _)| display_width(name))
        .max()
        .unwrap_or_default();
    let lines = rows.iter().map(|(name, summary)| {
        let padding = " ".repeat(column - display_width(name));
        format!("{name}{padding}  {summary}\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_a_column() {
        let listed = list(&Registry::builtin());
        let bash = listed.lines().find(|line| line.starts_with("Bash "));
        let column = bash.and_then(|line| line.find("Runs a bash command"));
        for line in listed.lines() {
            let name = line.split(' ').next().unwrap();
            let summary = line[name.len()..].trim_start();
            assert_eq!(Some(line.len() - summary.len()), column, "{line}");
            assert!(!summary.is_empty() && !line.ends_with('.'), "{line}");
        }
    }
}
