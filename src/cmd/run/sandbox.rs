//! `sandbox`: runs one command for which files are masked.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::cmd::inputs::working_directory;
use crate::cmd::{Globals, Run, Status, UsageError};
use crate::config::{PermissionFlags, PermissionSettings};
use crate::io::{Environment, Io};
use crate::process::{MaskKind, SandboxedCommand, exec_in_sandbox, inherited_descriptors};
use crate::sandbox::{FileRules, FoundMasks, check_unconfined, sandbox_variables};
use crate::tools::holds_secret;

/// Run a command that cannot open or change certain files
///
/// The files that `Read` deny rules name cannot be opened, and those that `Edit` deny rules name cannot be changed, by
/// the command and everything that it starts, in any language and by any name. The kernel enforces that: each file has
/// a mask in a mount namespace of its own. Files that do not exist at the start have no mask.
///
/// The command takes the place of this process, so that streams, exit status, signals and job control are its own. It
/// does not get variables with secrets. Programs that need privileges, such as sudo, do not work in it.
#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    /// Keep files from being read, e.g. `**/.env` or `~/.ssh/**`; repeatable
    #[arg(long, value_name = "PATTERN")]
    deny_read: Vec<String>,
    /// Keep files from being changed; repeatable
    #[arg(long, value_name = "PATTERN")]
    deny_write: Vec<String>,
    /// Take `Read` and `Edit` deny rules from a settings file of Claude Code or Qwen Code; repeatable
    #[arg(long, value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Pass on a variable although it may contain a secret; repeatable
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,
    /// Fail if a pattern cannot be enforced for all files that it names
    #[arg(long)]
    required: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
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
        let settings = self.rules(&directory, globals, io)?;
        let directories = [vec![directory.clone()], settings.directories].concat();
        let home = io.environment.text("HOME").map(Path::new);
        let rules = FileRules::new(
            settings.rules.denied_files(home, &directories),
            &directories,
            Arc::new(io.environment.clone()),
        );
        let found = rules.find_masks();
        self.report(&found, io)?;
        let kept_descriptors = kept_descriptors(&found)?;
        let environment = sandbox_variables(&io.environment);
        let environment: Environment = environment.iter().cloned().collect();
        let environment = environment.with(io.environment.iter());
        let variables = environment.iter();
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let is_passed = |(name, value): &(OsString, OsString)| {
            self.env.contains(name) || !holds_secret(name, value)
        };
        let command = SandboxedCommand {
            words: &self.command,
            environment: variables.filter(is_passed).collect(),
            directory: &directory,
            kept_descriptors: &kept_descriptors,
        };
        Err(UsageError::reason(exec_in_sandbox(&found.masks, &command)))
    }

    fn rules(
        &self,
        directory: &Path,
        globals: &Globals,
        io: &Io,
    ) -> Result<PermissionSettings, UsageError> {
        let rule = |tool: &'static str| move |pattern| format!("{tool}({pattern})");
        let reads = self.deny_read.iter().map(rule("Read"));
        let flags = PermissionFlags {
            settings: self.settings.clone(),
            deny: reads
                .chain(self.deny_write.iter().map(rule("Edit")))
                .collect(),
            ..PermissionFlags::default()
        };
        Ok(globals.config(io)?.permissions(&flags, directory)?)
    }

    /// Reports the masks, and what they do not protect.
    ///
    /// # Errors
    /// The masks are required to protect everything.
    fn report(&self, found: &FoundMasks, io: &Io) -> Result<(), UsageError> {
        for mask in &found.masks {
            let effect = match mask.kind {
                MaskKind::Unchangeable => "unchangeable",
                MaskKind::UnreadableDirectory | MaskKind::UnreadableFile => "unreadable",
            };
            io.messages
                .log(&format!("{effect}: {}", mask.path.display()));
        }
        match found.gaps.first() {
            Some(gap) if self.required => return Err(UsageError::new(gap)),
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
fn kept_descriptors(found: &FoundMasks) -> Result<Vec<RawFd>, UsageError> {
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
