//! `--sandbox`: the sandbox of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::cmd::UsageError;
use crate::io::{Environment, Messages};
use crate::permission::Rules;
#[cfg(sandbox)]
use crate::process::Domains;
use crate::process::{Network, Sandbox};
use crate::state::StateRoot;

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

/// What a sandbox restricts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SandboxMode {
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
    /// Of commands.
    pub(crate) calls: Option<Arc<Sandbox>>,
    /// Of MCP servers.
    pub(crate) servers: Option<Arc<Sandbox>>,
}

impl RunSandboxes {
    /// Reports files that commands have made and that tell programs outside of the workspace what to run.
    pub(crate) fn report_new_files(&self, messages: &Messages) {
        for path in self
            .calls
            .iter()
            .flat_map(|sandbox| sandbox.new_protected())
        {
            let path = path.display();
            messages.warn(&format!(
                "new, and tells other programs what to run: {path}"
            ));
        }
    }
}

/// Where a run works.
pub(crate) struct RunPlace<'a> {
    pub(crate) rules: &'a Rules,
    /// The working directories.
    pub(crate) directories: &'a [PathBuf],
    pub(crate) environment: &'a Environment,
    pub(crate) state: &'a StateRoot,
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
        if self.sandbox == Some(SandboxMode::Off) {
            return Ok(RunSandboxes::default());
        }
        #[cfg(sandbox)]
        if self.sandbox == Some(SandboxMode::Workspace) {
            self.network(place)?;
        }
        let mut gaps = Vec::new();
        let prepared = self.create(place, &mut gaps);
        let prepared = prepared.unwrap_or_else(|reason| {
            let gap = match self.sandbox {
                Some(SandboxMode::Workspace) => format!("calls have no workspace: {reason}"),
                _ => format!("deny rules about files are not enforced by the kernel: {reason}"),
            };
            gaps.push(gap);
            RunSandboxes::default()
        });
        if self.sandbox_required && !gaps.is_empty() {
            return Err(UsageError::new(gaps.join("; ")));
        }
        for gap in gaps {
            messages.warn(&gap);
        }
        Ok(prepared)
    }

    /// Returns what a workspace reaches.
    ///
    /// # Errors
    /// The options or the rules are invalid.
    #[cfg(sandbox)]
    fn network(&self, place: &RunPlace<'_>) -> Result<(Network, Domains), UsageError> {
        let allowed = self.allow_domain.clone();
        let denied = Vec::new();
        super::network::workspace_network(self.network, Domains { allowed, denied }, place.rules)
    }

    /// Creates sandboxes that work; none if no rule names files. Adds what they do not enforce to `gaps`.
    ///
    /// # Errors
    /// The reason why the kernel cannot enforce them.
    #[cfg(sandbox)]
    fn create(&self, place: &RunPlace<'_>, gaps: &mut Vec<String>) -> Result<RunSandboxes, String> {
        use crate::process::{ScratchDirectory, Workspace};
        use crate::sandbox::{
            FileRules, WorkspaceFiles, check_unconfined, hidden_files, sandbox_variables,
            start_proxy, workspace_variables, writable_directories,
        };
        let environment = place.environment;
        let home = environment.text("HOME").map(Path::new);
        let denied = place.rules.denied_files(home, place.directories);
        let has_workspace = self.sandbox == Some(SandboxMode::Workspace);
        if denied.is_empty() && !has_workspace {
            return Ok(RunSandboxes::default());
        }
        check_unconfined(environment)?;
        let rules = || {
            FileRules::new(
                denied.clone(),
                place.directories,
                Arc::new(environment.clone()),
            )
        };
        let found = rules().find_masks().gaps.into_iter();
        gaps.extend(found.map(|gap| format!("not enforced by the kernel: {gap}")));
        let servers = (!denied.is_empty())
            .then(|| checked(Sandbox::new(rules(), sandbox_variables(environment)), gaps))
            .transpose()?;
        if !has_workspace {
            let calls = servers.clone();
            return Ok(RunSandboxes { calls, servers });
        }
        let files = WorkspaceFiles {
            writable: writable_directories(place.directories),
            hidden: hidden_files(home, &[]),
            sockets: Vec::new(),
        };
        let (network, domains) = self.network(place).map_err(|error| error.to_string())?;
        let parent = place.state.0.join("tmp");
        let temporary = ScratchDirectory::new_locked_in(&parent)
            .map_err(|error| format!("{}: {error}", parent.display()))?;
        let workspace = Workspace {
            writable: files.writable.clone(),
            temporary: temporary.path().to_owned(),
            network,
            domains,
            start_proxy: Some(start_proxy),
            is_required: self.sandbox_required,
        };
        let variables = workspace_variables(environment, &workspace);
        let sandbox = Sandbox::new(rules().with_workspace(files), variables);
        let sandbox = sandbox.with_workspace(workspace, temporary);
        let calls = Some(checked(sandbox, gaps)?);
        Ok(RunSandboxes { calls, servers })
    }

    #[cfg(not(sandbox))]
    fn create(&self, place: &RunPlace<'_>, _: &mut Vec<String>) -> Result<RunSandboxes, String> {
        let home = place.environment.text("HOME").map(Path::new);
        let is_needed = self.sandbox == Some(SandboxMode::Workspace)
            || !place.rules.denied_files(home, place.directories).is_empty();
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
fn checked(sandbox: Sandbox, gaps: &mut Vec<String>) -> Result<Arc<Sandbox>, String> {
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
