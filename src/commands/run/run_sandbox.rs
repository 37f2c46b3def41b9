//! `--sandbox`: the sandbox of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::commands::UsageError;
use crate::config::PermissionSettings;
use crate::io::{Environment, Messages};
use crate::process::{Network, Sandbox, ScratchDirectory, Spawners, new_file_message};
use crate::run::tools::CallSandbox;
use crate::state::{SessionDirectory, SessionKey, StateRoot};

#[derive(Debug, Args)]
pub(crate) struct RunSandboxArguments {
    /// What the kernel restricts [default: files, if there are `Read` or `Edit` deny rules about files]
    #[arg(long, value_enum, value_name = "MODE", hide_short_help = true)]
    sandbox: Option<SandboxMode>,
    /// Whether a workspace has the network
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_short_help = true
    )]
    network: Network,
    /// Let a workspace reach a host, e.g. `*.example.com` or `localhost:8080`; repeatable
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    allow_domain: Vec<String>,
    /// Fail if the kernel cannot enforce all of it
    #[arg(long, hide_short_help = true)]
    sandbox_required: bool,
}

/// The restrictions of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SandboxMode {
    /// Commands can change files only in the working directories, and reach only hosts of `--allow-domain`. Those that
    /// no rule is about run without approval.
    Workspace,
    /// No program that a call or an MCP server starts can open files that `Read` deny rules name, or change those of
    /// `Edit` deny rules. Programs that need privileges, such as sudo, do not work in it.
    Files,
    /// Nothing; rules are compared with the text of commands alone
    Off,
}

/// The sandboxes of a run.
#[derive(Default)]
pub(crate) struct RunSandboxes {
    /// The sandbox of commands.
    pub(crate) calls: Option<Arc<Sandbox>>,
    /// The sandbox of MCP servers.
    pub(crate) servers: Option<Arc<Sandbox>>,
    /// The temporary files of commands, until the run has ended: threads that use a sandbox may outlive it.
    _temporary: Option<TemporaryFiles>,
}

/// The directory for temporary files of commands in a workspace.
enum TemporaryFiles {
    /// Kept with the state of the session, which is not removed as long as this value exists.
    Session {
        path: PathBuf,
        _directory: SessionDirectory,
    },
    /// Removed with this value.
    Run(ScratchDirectory),
}

impl TemporaryFiles {
    fn new(place: &RunPlace<'_>) -> Result<Self, String> {
        if let Some(session) = &place.session {
            let directory = place.state.open_session(session);
            let opened = directory.and_then(|directory| {
                let path = directory.create_temporary()?;
                Ok(Self::Session {
                    path,
                    _directory: directory,
                })
            });
            return opened.map_err(|error| error.to_string());
        }
        let parent = place.state.0.join("tmp");
        ScratchDirectory::new_locked_in(&parent)
            .map(Self::Run)
            .map_err(|error| format!("{}: {error}", parent.display()))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Session { path, .. } => path,
            Self::Run(directory) => directory.path(),
        }
    }
}

impl RunSandboxes {
    /// Returns the sandbox for shell calls, with the exceptions of settings.
    pub(crate) fn create_call_sandbox(
        &self,
        outside: &Spawners,
        settings: &PermissionSettings,
    ) -> Option<Arc<CallSandbox>> {
        let sandbox = self.calls.as_ref()?;
        let outside = match &self.servers {
            Some(files) => outside.clone().in_sandbox(files),
            None => outside.clone(),
        };
        Some(Arc::new(CallSandbox {
            sandbox: Arc::clone(sandbox),
            outside,
            needs_approval: settings.sandbox.needs_approval,
            forbids_leaving: settings.sandbox.forbids_leaving,
            excluded: settings.excluded_commands(),
        }))
    }

    /// Reports files that commands have made and that tell programs outside of the workspace what to run.
    pub(crate) fn report_new_files(&self, messages: &Messages) {
        for path in self
            .calls
            .iter()
            .flat_map(|sandbox| sandbox.new_protected())
        {
            messages.warn(&new_file_message(&path));
        }
    }
}

/// The surroundings of a run that its sandboxes depend on.
pub(crate) struct RunPlace<'a> {
    pub(crate) settings: &'a PermissionSettings,
    /// The working directories.
    pub(crate) directories: &'a [PathBuf],
    pub(crate) environment: &'a Environment,
    pub(crate) state: &'a StateRoot,
    /// The session, if it is known before the input is read.
    pub(crate) session: Option<SessionKey>,
}

impl RunSandboxArguments {
    /// Returns the sandboxes of a run. Without `--sandbox-required`, prints a warning about what is not enforced.
    ///
    /// # Errors
    /// The enforcement is required, and not complete, or the options contradict each other.
    pub(crate) fn prepare(
        &self,
        place: &RunPlace<'_>,
        messages: &Messages,
    ) -> Result<RunSandboxes, UsageError> {
        let settings = &place.settings.sandbox;
        let mode = self.choose_mode(place);
        if mode == SandboxMode::Off {
            return Ok(RunSandboxes::default());
        }
        #[cfg(sandbox)]
        if self.sandbox == Some(SandboxMode::Workspace) {
            super::network::resolve_network(self.network, &self.allow_domain, place.settings)?;
        }
        let mut gaps = Vec::new();
        let sandboxes = self.create(place, &mut gaps).unwrap_or_else(|reason| {
            let gap = match mode {
                SandboxMode::Workspace => format!("calls have no workspace: {reason}"),
                _ => format!("deny rules about files are not enforced by the kernel: {reason}"),
            };
            gaps.push(gap);
            RunSandboxes::default()
        });
        let is_required = settings.is_enabled && settings.fails_if_unavailable;
        if (self.sandbox_required || is_required) && !gaps.is_empty() {
            return Err(UsageError::new(gaps.join("; ")));
        }
        for gap in gaps {
            messages.warn(&gap);
        }
        Ok(sandboxes)
    }

    /// Returns the mode of the option, else of the settings.
    fn choose_mode(&self, place: &RunPlace<'_>) -> SandboxMode {
        let by_settings = if place.settings.sandbox.is_enabled {
            SandboxMode::Workspace
        } else {
            SandboxMode::Files
        };
        self.sandbox.unwrap_or(by_settings)
    }

    /// Creates sandboxes that work; none if no rule names files. Adds what they do not enforce to `gaps`.
    ///
    /// # Errors
    /// The reason why the kernel cannot enforce them.
    #[cfg(sandbox)]
    fn create(&self, place: &RunPlace<'_>, gaps: &mut Vec<String>) -> Result<RunSandboxes, String> {
        use super::network::resolve_network;
        use super::sandbox_files::{OptionPaths, SandboxFiles};
        use crate::client::proxy::start_proxy;
        use crate::permission::DeniedFiles;
        use crate::process::Workspace;
        use crate::sandbox::{FileRules, check_unconfined, sandbox_variables, workspace_variables};
        let environment = place.environment;
        let home = environment.text("HOME").map(Path::new);
        let denied = place.settings.rules.denied_files(home, place.directories);
        let has_workspace = self.choose_mode(place) == SandboxMode::Workspace;
        if denied.is_empty() && !has_workspace {
            return Ok(RunSandboxes::default());
        }
        check_unconfined(environment)?;
        if home.is_none() {
            let rules = place.settings.rules.rules_below_home();
            gaps.extend(
                rules.map(|rule| format!("not enforced by the kernel: {rule}: HOME is not set")),
            );
        }
        let rules = |denied: &[DeniedFiles]| {
            let environment = Arc::new(environment.clone());
            FileRules::new(denied.to_vec(), place.directories, environment)
        };
        let found = rules(&denied).find_masks().gaps.into_iter();
        gaps.extend(found.map(|gap| format!("not enforced by the kernel: {gap}")));
        let servers = (!denied.is_empty())
            .then(|| {
                check_sandbox(
                    Sandbox::new(rules(&denied), sandbox_variables(environment)),
                    gaps,
                )
            })
            .transpose()?;
        if !has_workspace {
            let calls = servers.clone();
            return Ok(RunSandboxes {
                calls,
                servers,
                _temporary: None,
            });
        }
        let named = OptionPaths {
            writable: place.directories.to_vec(),
            ..OptionPaths::default()
        };
        let files = SandboxFiles::new(&named, place.settings, home);
        gaps.extend(files.problems);
        let (denied, files) = ([denied, files.denied].concat(), files.workspace);
        let network = resolve_network(self.network, &self.allow_domain, place.settings);
        let (network, domains) = network.map_err(|error| error.to_string())?;
        let temporary = TemporaryFiles::new(place)?;
        let workspace = Workspace {
            writable: files.writable.clone(),
            temporary: temporary.path().to_owned(),
            network,
            domains,
            start_proxy: Some(start_proxy),
            is_required: self.sandbox_required,
        };
        let variables = workspace_variables(environment, &workspace);
        let sandbox = Sandbox::new(rules(&denied).with_workspace(files), variables);
        let calls = Some(check_sandbox(sandbox.with_workspace(workspace), gaps)?);
        Ok(RunSandboxes {
            calls,
            servers,
            _temporary: Some(temporary),
        })
    }

    #[cfg(not(sandbox))]
    fn create(&self, place: &RunPlace<'_>, _: &mut Vec<String>) -> Result<RunSandboxes, String> {
        let home = place.environment.text("HOME").map(Path::new);
        let is_needed = self.choose_mode(place) == SandboxMode::Workspace
            || !place
                .settings
                .rules
                .denied_files(home, place.directories)
                .is_empty();
        if is_needed {
            return Err("sandboxes need Linux on x86-64 or aarch64".to_owned());
        }
        Ok(RunSandboxes::default())
    }
}

/// Returns a sandbox in which children can be started, and adds what it does not enforce to `gaps`.
///
/// # Errors
/// The kernel refuses a part of it.
#[cfg(sandbox)]
fn check_sandbox(sandbox: Sandbox, gaps: &mut Vec<String>) -> Result<Arc<Sandbox>, String> {
    // On another thread, since the children of this one may be orphans.
    let checked = std::thread::scope(|scope| scope.spawn(|| sandbox.check()).join());
    match checked {
        Ok(Ok(gap)) => {
            gaps.extend(gap);
            Ok(Arc::new(sandbox))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the thread that checks it ended".to_owned()),
    }
}
