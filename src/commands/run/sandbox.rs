//! `sandbox`: runs one command for which files are masked.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::network::resolve_network;
use super::sandbox_files::{OptionPaths, SandboxFiles};
use crate::commands::inputs::working_directory;
use crate::commands::{Globals, Run, Status, UsageError};
use crate::config::{Overrides, PermissionFlags, PermissionSettings};
use crate::io::{Environment, Io};
use crate::process::{
    MaskKind, Network, SandboxPolicy, SandboxedCommand, ScratchDirectory, Variables, Workspace,
    exec_in_sandbox, inherited_descriptors,
};
use crate::run::tools::holds_secret;
use crate::sandbox::{
    FileRules, FoundMasks, WorkspaceFiles, check_unconfined, sandbox_variables, workspace_variables,
};

/// Run a command in a workspace that it cannot leave, or without access to certain files
///
/// In mode `workspace`, the command and everything that it starts can change files only in the working directory and in
/// directories of `--write`, and reach only hosts of `--allow-domain`. Files with keys, such as `~/.ssh`, cannot be read.
/// Temporary files are private and removed at the end, and so is what still runs. Hooks and settings of git and of agents
/// cannot be changed.
///
/// In both modes, files that `Read` deny rules name cannot be opened, and those that `Edit` deny rules name cannot be
/// changed, in any language and by any name: each has a mask in a mount namespace of its own. Files that do not exist at
/// the start have no mask. In mode `files`, nothing else is restricted.
///
/// Streams, exit status, signals and job control are those of the command. It does not get variables with secrets.
/// Programs that need privileges, such as sudo, do not work in it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe sandbox --deny-read '**/.env' -- sh -c 'grep -r KEY . || echo none'
  turnpipe sandbox --deny-read '~/.ssh/**' --deny-write '.github/**' -- sh -c 'touch new; ls'")]
pub(crate) struct SandboxArguments {
    /// What is restricted
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "MODE",
        hide_short_help = true
    )]
    mode: Mode,
    /// Let the command change files in a directory; repeatable
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// Keep files from being read, e.g. `**/.env`, `~/.ssh/**` or `/etc/key`; repeatable
    #[arg(long, value_name = "PATTERN")]
    deny_read: Vec<String>,
    /// Keep files from being changed; repeatable
    #[arg(long, value_name = "PATTERN")]
    deny_write: Vec<String>,
    /// Let a workspace read a file or directory with keys, e.g. `~/.ssh/known_hosts`; repeatable
    #[arg(long, hide_short_help = true, value_name = "PATH")]
    allow_read: Vec<PathBuf>,
    /// Whether a workspace has the network
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    network: Network,
    /// Let a workspace reach a host; repeatable
    ///
    /// `example.com`, `*.example.com` for its subdomains, `localhost:8080` for another port than those of the web.
    #[arg(long, value_name = "PATTERN")]
    allow_domain: Vec<String>,
    /// Let a workspace use a socket, e.g. of an SSH agent; repeatable
    #[arg(long, hide_short_help = true, value_name = "PATH")]
    allow_unix_socket: Vec<PathBuf>,
    /// Take `Read` and `Edit` deny rules from a settings file of Claude Code or Qwen Code; repeatable
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Pass on a variable although it may contain a secret; repeatable
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    env: Vec<OsString>,
    /// Fail if a pattern cannot be enforced for all files that it names
    #[arg(long)]
    required: bool,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What a sandbox restricts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Writing, the network, and reading of keys and of files that rules name
    #[default]
    Workspace,
    /// The use of files that rules name
    Files,
}

impl Run for SandboxArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        match self.become_command(globals, io)? {}
    }
}

impl SandboxArguments {
    /// Masks files and becomes the command.
    ///
    /// # Errors
    /// A pattern or a settings file is invalid, a rule cannot be enforced, or the kernel refuses.
    fn become_command(self, globals: &Globals, io: &Io) -> Result<Infallible, UsageError> {
        check_unconfined(&io.environment).map_err(UsageError::new)?;
        let directory = working_directory().map_err(UsageError::reason)?;
        let settings = self.load_rules(&directory, globals, io)?;
        let directories = [vec![directory.clone()], settings.directories.clone()].concat();
        let home = io.environment.text("HOME").map(Path::new);
        self.check_options(home, &settings)?;
        let new_rules =
            |denied| FileRules::new(denied, &directories, Arc::new(io.environment.clone()));
        let mut denied = settings.rules.denied_files(home, &directories);
        let (rules, variables, workspace) = match self.mode {
            Mode::Files => (new_rules(denied), sandbox_variables(&io.environment), None),
            Mode::Workspace => {
                let mut files =
                    SandboxFiles::new(&self.resolve_files(&directories, home)?, &settings, home);
                for problem in &files.problems {
                    io.messages.warn(problem);
                }
                denied.append(&mut files.denied);
                let files = files.workspace;
                let workspace = self.create_workspace(&files, &settings, globals, io)?;
                let variables = workspace_variables(&io.environment, &workspace);
                (
                    new_rules(denied).with_workspace(files),
                    variables,
                    Some(workspace),
                )
            }
        };
        for path in workspace.iter().flat_map(|workspace| &workspace.writable) {
            io.messages.log(&format!("writable: {}", path.display()));
        }
        let found = rules.find_masks();
        self.report_masks(&found, io)?;
        let kept_descriptors = choose_descriptors(&found)?;
        let environment = self.join_variables(&variables, &settings, io);
        let pairs = environment.iter();
        let command = SandboxedCommand {
            words: &self.command,
            environment: pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            directory: &directory,
            kept_descriptors: &kept_descriptors,
        };
        let policy = SandboxPolicy {
            masks: found.masks,
            workspace,
        };
        Err(UsageError::reason(exec_in_sandbox(&policy, &command)))
    }

    /// Joins the variables of the sandbox with those that the command inherits.
    fn join_variables(
        &self,
        variables: &Variables,
        settings: &PermissionSettings,
        io: &Io,
    ) -> Environment {
        let own = variables.iter().map(|(name, value)| (&**name, &**value));
        let hidden = &settings.sandbox.credential_variables;
        let inherited = io.environment.iter().filter(|(name, value)| {
            let is_hidden = hidden.iter().any(|hidden| *name == hidden.as_str());
            self.env.iter().any(|passed| passed == name) || !is_hidden && !holds_secret(name, value)
        });
        // Those of a workspace replace those of the user, others do not.
        match self.mode {
            Mode::Files => own.chain(inherited).collect(),
            Mode::Workspace => inherited.chain(own).collect(),
        }
    }

    /// Checks that everything that was asked for can be applied.
    ///
    /// # Errors
    /// An option is about workspaces only, or a rule about an unknown home directory.
    fn check_options(
        &self,
        home: Option<&Path>,
        settings: &PermissionSettings,
    ) -> Result<(), UsageError> {
        let of_workspaces = [
            ("--write", !self.write.is_empty()),
            ("--allow-read", !self.allow_read.is_empty()),
            ("--allow-unix-socket", !self.allow_unix_socket.is_empty()),
            ("--allow-domain", !self.allow_domain.is_empty()),
            ("--network", self.network == Network::On),
        ];
        let mut given = of_workspaces.iter().filter(|(_, is_given)| *is_given);
        match (self.mode, given.next()) {
            (Mode::Files, Some((option, _))) => {
                let problem = format!("{option} has no effect with `--mode files`");
                Err(UsageError::new(problem).with_hint("leave out `--mode files`"))
            }
            _ => match (home, settings.rules.rules_below_home().next()) {
                (None, Some(rule)) => Err(UsageError::new(format!(
                    "{rule}: the home directory is not known"
                ))),
                _ => Ok(()),
            },
        }
    }

    /// Returns the files that the options name.
    ///
    /// # Errors
    /// A directory does not exist.
    fn resolve_files(
        &self,
        directories: &[PathBuf],
        home: Option<&Path>,
    ) -> Result<OptionPaths, UsageError> {
        for path in &self.write {
            fs::metadata(path)
                .map_err(|error| UsageError::new(format!("--write {}: {error}", path.display())))?;
        }
        let to_absolute = |path: &PathBuf| match (path.strip_prefix("~"), home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => directories
                .iter()
                .take(1)
                .map(|first| first.join(path))
                .collect(),
        };
        Ok(OptionPaths {
            writable: [directories, &self.write].concat(),
            readable: self.allow_read.iter().map(to_absolute).collect(),
            sockets: self.allow_unix_socket.iter().map(to_absolute).collect(),
        })
    }

    /// Creates the workspace, with a new directory for temporary files.
    ///
    /// # Errors
    /// The directory cannot be created, or the options about the network are invalid.
    fn create_workspace(
        &self,
        files: &WorkspaceFiles,
        permissions: &PermissionSettings,
        globals: &Globals,
        io: &Io,
    ) -> Result<Workspace, UsageError> {
        let (network, domains) = resolve_network(self.network, &self.allow_domain, permissions)?;
        let settings = globals.config(io)?.settings(Overrides::default());
        let parent = settings.state_root.0.join("tmp");
        let temporary = ScratchDirectory::new_locked_in(&parent)
            .map_err(|error| UsageError::new(format!("{}: {error}", parent.display())))?;
        Ok(Workspace {
            writable: files.writable.clone(),
            temporary: temporary.keep(),
            network,
            domains,
            start_proxy: None,
            is_required: self.required,
        })
    }

    /// Returns the rules of options and settings files.
    ///
    /// # Errors
    /// A rule is invalid, or a settings file is unreadable or invalid.
    fn load_rules(
        &self,
        directory: &Path,
        globals: &Globals,
        io: &Io,
    ) -> Result<PermissionSettings, UsageError> {
        // In a rule, `/x` is below the directory, as in `.gitignore`. Who types it as an option means the root, too.
        let to_rules = |tool: &'static str| {
            move |pattern: &String| {
                let is_absolute = pattern.starts_with('/') && !pattern.starts_with("//");
                let from_root = is_absolute.then(|| format!("{tool}(/{pattern})"));
                [format!("{tool}({pattern})")].into_iter().chain(from_root)
            }
        };
        let reads = self.deny_read.iter().flat_map(to_rules("Read"));
        let flags = PermissionFlags {
            settings: self.settings.clone(),
            deny: reads
                .chain(self.deny_write.iter().flat_map(to_rules("Edit")))
                .collect(),
            ..PermissionFlags::default()
        };
        Ok(globals.config(io)?.permissions(&flags, directory)?)
    }

    /// Reports the masks, and what they do not protect.
    ///
    /// # Errors
    /// The masks are required to protect everything.
    fn report_masks(&self, found: &FoundMasks, io: &Io) -> Result<(), UsageError> {
        for mask in &found.masks {
            let effect = match mask.kind {
                MaskKind::Pinned => "not to be moved",
                MaskKind::Unchangeable => "unchangeable",
                MaskKind::UnreadableDirectory | MaskKind::UnreadableFile => "unreadable",
            };
            io.messages
                .log(&format!("{effect}: {}", mask.path.display()));
        }
        match found.gaps.first() {
            Some(gap) if self.required || found.is_unsettled => return Err(UsageError::new(gap)),
            _ => {}
        }
        for gap in &found.gaps {
            io.messages.warn(gap);
        }
        Ok(())
    }
}

/// Returns the descriptors above 2 that the command keeps: streams and files that are not masked. A directory would
/// lead to the files below the masks.
///
/// # Errors
/// A standard stream is something else.
fn choose_descriptors(found: &FoundMasks) -> Result<Vec<RawFd>, UsageError> {
    let mut kept = Vec::new();
    for descriptor in inherited_descriptors() {
        let (number, target) = (descriptor.number, &descriptor.target);
        let is_safe = descriptor.is_stream && !found.covers(target);
        if is_safe && number > 2 {
            kept.push(number);
        } else if !is_safe && number <= 2 {
            let target = target.display();
            let problem = format!("descriptor {number} cannot be passed on: {target}");
            return Err(UsageError::new(problem));
        }
    }
    Ok(kept)
}
