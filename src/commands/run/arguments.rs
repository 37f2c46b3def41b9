//! Arguments of commands that run tools: the lane, the advisor, MCP servers and permission prompts.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;

use super::guards::connect_provider;
use crate::client::model::KeyCheck;
use crate::commands::{Globals, UsageError};
use crate::config::{Overrides, Settings};
use crate::io::{Io, Messages, unwritable_error};
use crate::process::{Enforcement, LaneOptions, Sandbox, ScratchDirectory, Spawners, Supervisor};
use crate::run::tools::{FormUser, Registry, ToolContext};
use crate::run::{Channels, Prompter, ShellVerdicts, TerminalPrompter, ToolPrompter};
use crate::summaries::{Advisor, Briefing, Consultant, Cost};

#[derive(Debug, Args)]
pub(crate) struct ManifestArguments {
    /// Add the command tools of a manifest; repeatable
    ///
    /// The manifest is TOML or JSON, see `docs/command-tools.md`.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Vec<PathBuf>,
}

impl ManifestArguments {
    /// Returns the settings with these manifests.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub(crate) fn load_settings(&self, globals: &Globals, io: &Io) -> Result<Settings, UsageError> {
        let overrides = Overrides {
            manifests: self.tools.clone(),
            ..Overrides::default()
        };
        Ok(globals.config(io)?.settings(overrides))
    }
}

#[derive(Debug, Args)]
pub(crate) struct AdvisorArguments {
    /// Offer the tool `Advisor`, so that the model can ask this other model for advice; `none` omits it
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    advisor_model: Option<String>,
}

impl AdvisorArguments {
    /// Adds the tool, only to be declared, if a model is configured for it. Keys are not needed.
    ///
    /// # Errors
    /// As in [`Self::add`].
    pub(crate) fn declare(
        &self,
        registry: Registry,
        globals: &Globals,
        io: &Io,
    ) -> Result<Registry, UsageError> {
        let briefing = Briefing::default();
        self.add(registry, &briefing, |_| (), KeyCheck::Optional, globals, io)
    }

    /// Adds the tool if a model is configured for it.
    ///
    /// # Errors
    /// The model cannot be used, or the tool's name is taken.
    pub(crate) fn add(
        &self,
        mut registry: Registry,
        briefing: &Briefing,
        report_cost: impl Fn(Cost) + Send + Sync + 'static,
        keys: KeyCheck,
        globals: &Globals,
        io: &Io,
    ) -> Result<Registry, UsageError> {
        let chosen = globals.config(io)?.advisor(self.advisor_model.as_deref());
        let provider = chosen.map(|chosen| connect_provider(&chosen, keys, globals, io));
        if let Some(provider) = provider.transpose()?.flatten() {
            let consultant = Consultant {
                provider,
                report_cost: Box::new(report_cost),
            };
            let advisor = Advisor::new(consultant, briefing.clone());
            registry
                .add(vec![(Arc::new(advisor), Vec::new())])
                .map_err(UsageError::reason)?;
        }
        Ok(registry)
    }
}

#[derive(Debug, Args)]
pub(crate) struct LaneArguments {
    /// Whether the kernel must prevent parallel calls from writing
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_short_help = true
    )]
    enforce: Enforcement,
    /// Run all shell commands in parallel (to test `--enforce`)
    #[arg(long, hide = true)]
    assume_read_only: bool,
}

impl LaneArguments {
    /// Returns the source of the verdicts about shell commands.
    pub(crate) fn shell_verdicts(&self) -> ShellVerdicts {
        if self.assume_read_only {
            ShellVerdicts::AssumedReadOnly
        } else {
            ShellVerdicts::Analysed
        }
    }

    /// Starts the lane with this many threads. Its temporary files are removed with the returned
    /// directory.
    ///
    /// # Errors
    /// Enforcement is required, and the kernel does not support it.
    pub(crate) fn start_lane(
        &self,
        children: &Supervisor,
        threads: usize,
        sandbox: Option<&Arc<Sandbox>>,
        settings: &Settings,
        messages: &Messages,
    ) -> Result<(Spawners, Option<ScratchDirectory>), UsageError> {
        let scratch = &settings.temporary_directory;
        let is_confined = self.enforce != Enforcement::Off;
        let create = || ScratchDirectory::new_in(scratch);
        let temporary = is_confined.then(create).and_then(|created| {
            // Most commands need no temporary files.
            created
                .map_err(|error| unwritable_error(scratch, &error, "TMPDIR"))
                .inspect_err(|error| messages.warn(&error.to_string()))
                .ok()
        });
        let options = LaneOptions {
            enforcement: self.enforce,
            temporary: temporary.as_ref().map(|directory| directory.path().into()),
        };
        let started = match sandbox {
            Some(sandbox) => children.lane_in(sandbox, &options),
            None => children.lane(threads, options),
        };
        let spawners = started.map_err(UsageError::reason)?;
        Ok((spawners.with_spill_directory(scratch.clone()), temporary))
    }
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Add the MCP servers of a file like `.mcp.json`; repeatable
    #[cfg(feature = "mcp")]
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
}

impl McpArguments {
    /// Adds the tools of the servers, which will run in `directory`. Starts no server.
    ///
    /// # Errors
    /// A file is unreadable or invalid.
    #[cfg(feature = "mcp")]
    pub(crate) fn add_servers(
        &self,
        registry: Registry,
        directory: &Path,
        sandbox: Option<&Arc<Sandbox>>,
        user: Option<Arc<dyn FormUser>>,
        globals: &Globals,
        io: &Io,
    ) -> Result<Registry, UsageError> {
        let loaded = self.load_servers(directory, sandbox, user, globals, io)?;
        Ok(match loaded {
            Some(servers) => registry.with_source(Arc::new(servers)),
            None => registry,
        })
    }

    /// Returns the servers of the files, if there are files.
    ///
    /// # Errors
    /// A file is unreadable or invalid.
    #[cfg(feature = "mcp")]
    pub(crate) fn load_servers(
        &self,
        directory: &Path,
        sandbox: Option<&Arc<Sandbox>>,
        user: Option<Arc<dyn FormUser>>,
        globals: &Globals,
        io: &Io,
    ) -> Result<Option<crate::run::mcp::ServerSet>, UsageError> {
        use crate::client::http;
        use crate::run::{mcp, tools};
        if self.mcp_config.is_empty() {
            return Ok(None);
        }
        let read = mcp::read_config(&self.mcp_config, &io.environment);
        let configs = read.map_err(|malformed| {
            let error = UsageError::reason(&malformed);
            match malformed.problem {
                mcp::ConfigProblem::Unset { variable, .. } => error.with_hint(format!(
                    "set {variable}, or write a default: `${{{variable}:-...}}`"
                )),
                _ => error,
            }
        })?;
        let config = globals.config(io)?;
        let deps = mcp::ServerDeps {
            engine: http::Engine::default(),
            client: http::Client::new(config.models(None).http),
            spawners: Arc::new(match sandbox {
                Some(sandbox) => globals.children.spawners(1).in_sandbox(sandbox),
                None => globals.children.spawners(1),
            }),
            variables: tools::child_variables(&io.environment, &std::collections::BTreeSet::new()),
            directory: directory.to_owned(),
            timeouts: config.mcp_timeouts(),
            user,
        };
        Ok(Some(mcp::ServerSet::new(
            configs,
            deps,
            io.messages.clone(),
        )))
    }

    /// Returns the registry unchanged: this build has no MCP support.
    #[cfg(not(feature = "mcp"))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "same signature as with the feature"
    )]
    pub(crate) fn add_servers(
        &self,
        registry: Registry,
        _: &Path,
        _: Option<&Arc<Sandbox>>,
        _: Option<Arc<dyn FormUser>>,
        _: &Globals,
        _: &Io,
    ) -> Result<Registry, UsageError> {
        Ok(registry)
    }
}

/// The party that approves calls that no rule allows or denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PermissionPrompt {
    /// None: such calls are denied.
    Deny,
    /// The user at the terminal.
    Tty,
    /// The program that reads the records and writes the input.
    Stdio,
    /// A tool of an MCP server.
    Tool(String),
}

impl FromStr for PermissionPrompt {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "deny" => Ok(Self::Deny),
            "tty" => Ok(Self::Tty),
            "stdio" => Ok(Self::Stdio),
            tool if tool.starts_with("mcp__") => Ok(Self::Tool(tool.to_owned())),
            _ => Err("expected deny, tty, stdio or mcp__SERVER__TOOL"),
        }
    }
}

/// Opens the terminal for questions.
fn open_prompter(io: &Io) -> Result<TerminalPrompter, UsageError> {
    TerminalPrompter::open(io.screen.clone()).map_err(|error| {
        UsageError::new(format!("--permission-prompt tty: no terminal: {error}"))
            .with_hint("allow calls by rules instead: `--allow 'Bash(npm test)'`")
    })
}

impl PermissionPrompt {
    /// Returns the user who fills in the forms of servers; `None` unless they are asked at the terminal.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn open_form_user(&self, io: &Io) -> Result<Option<Arc<dyn FormUser>>, UsageError> {
        let asks = *self == Self::Tty;
        let user = asks.then(|| open_prompter(io)).transpose()?;
        Ok(user.map(|user| Arc::new(user) as Arc<dyn FormUser>))
    }

    /// Returns the prompter; `None` if calls are denied.
    ///
    /// # Errors
    /// There is no terminal, or no server is configured for the tool.
    pub(crate) fn create_prompter(
        &self,
        channels: &Channels,
        io: &Io,
        registry: &Arc<Registry>,
        session: &ToolContext,
    ) -> Result<Option<Box<dyn Prompter>>, UsageError> {
        Ok(match self {
            Self::Deny => None,
            Self::Tty => Some(Box::new(open_prompter(io)?)),
            Self::Stdio => Some(Box::new(channels.prompter(Arc::clone(&io.ids)))),
            // The server of the tool may not have started yet.
            Self::Tool(tool) if registry.name_if_slow(tool).is_some() => {
                Some(Box::new(ToolPrompter {
                    registry: Arc::clone(registry),
                    tool: tool.clone(),
                    session: session.clone(),
                }))
            }
            Self::Tool(tool) => {
                let problem = format!("--permission-prompt {tool}: no such server");
                return Err(UsageError::new(problem)
                    .with_hint("name the file that configures the server with `--mcp-config`"));
            }
        })
    }
}
