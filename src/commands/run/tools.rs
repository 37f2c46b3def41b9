//! `tools`: the tools that a configuration offers to a model.

use clap::{Args, ValueEnum};

use super::arguments::{AdvisorArguments, ManifestArguments, McpArguments};
use crate::api::Api;
use crate::commands::inputs::working_directory;
use crate::commands::{Globals, Run, Status, UsageError, output};
use crate::config::Settings;
use crate::io::Io;
use crate::render::format_table;
use crate::run::tools::{Input, Registry, declarations};
use crate::text::terminal_safe_line;

/// Print the tools that a model can call
///
/// Writes one line: the array for the `tools` key of a request. On a terminal, prints a list instead. A
/// manifest declares command tools: programs that the model may call; see `docs/command-tools.md`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe tools
  turnpipe tools --format openai --json
  turnpipe tools --tools tools.toml")]
pub(crate) struct ToolsArguments {
    /// The API that receives the declarations
    #[arg(long, value_enum, default_value = "anthropic", value_name = "API")]
    format: Api,
    /// The output form [default: text on a terminal, else json]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Print the declarations, as with `-o json`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    json: bool,
    #[command(flatten)]
    manifests: ManifestArguments,
    #[command(flatten)]
    mcp: McpArguments,
    #[command(flatten)]
    advisor: AdvisorArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// A list of names and descriptions
    Text,
    /// The declarations
    Json,
}

impl Run for ToolsArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let settings = self.manifests.load_settings(globals, io)?;
        let here = working_directory()?;
        let builtin = load_registry(&settings)?;
        let advised = self.advisor.declare(builtin, globals, io)?;
        let registry = self
            .mcp
            .add_servers(advised, &here, None, None, globals, io)?;
        globals.guard_children(&io.messages);
        let form = match self.output {
            Some(form) => form,
            None if io.terminal.stdout && !self.json => OutputForm::Text,
            None => OutputForm::Json,
        };
        match form {
            OutputForm::Text => output::print(io, &format_list(&registry))?,
            OutputForm::Json => output::print_records(&[declarations(&registry, self.format)], io)?,
        }
        registry.end();
        Ok(Status::Done)
    }
}

/// Loads the built-in tools and the command tools of the manifests.
///
/// # Errors
/// A manifest is unreadable or invalid.
pub(crate) fn load_registry(settings: &Settings) -> Result<Registry, UsageError> {
    let mut registry = Registry::builtin();
    for manifest in &settings.manifests {
        registry
            .add_manifest(manifest)
            .map_err(UsageError::reason)?;
    }
    Ok(registry)
}

/// Returns one line per tool: its name and the first sentence of its description.
fn format_list(registry: &Registry) -> String {
    let rows = registry.all().into_iter().map(|tool| {
        let description = terminal_safe_line(tool.description());
        let sentence = description.split(". ").next().unwrap_or_default();
        let summary = sentence.trim_end_matches('.').to_owned();
        vec![terminal_safe_line(tool.name()), summary]
    });
    format_table(rows.collect(), 2)
}

/// Finds a tool by its name or an alias. Returns its own name.
///
/// # Errors
/// No tool has this name.
pub(crate) fn find_tool(registry: &Registry, name: &str) -> Result<String, UsageError> {
    // The server of the tool may not have started yet.
    if let Some(name) = registry.name_if_slow(name) {
        return Ok(name.to_owned());
    }
    match registry.resolve(name, Input::new()) {
        Ok(resolved) => Ok(resolved.tool.name().to_owned()),
        Err(error) => Err(UsageError::new(format!("--tools-only: {error}"))
            .with_hint("`turnpipe tools` lists them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_aligned() {
        let listed = format_list(&Registry::builtin());
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
