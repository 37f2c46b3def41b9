//! What is decided about calls that are not run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::PermissionSettings;
use crate::io::Io;
use crate::permission::{Decided, Mode, Request};
use crate::process::Spawners;
use crate::state::ReadLog;
use crate::tools::{
    AskedCall, ChildVariables, Input, Registry, ShellTimeouts, ToolContext, real_path,
};

/// Decides about calls by the rules of a run.
pub(super) struct CallDecisions {
    registry: Registry,
    settings: PermissionSettings,
    context: ToolContext,
}

impl CallDecisions {
    /// For a session that starts in `start`; `lane` would start the commands that only read.
    pub(super) fn new(
        registry: Registry,
        settings: PermissionSettings,
        start: PathBuf,
        lane: Spawners,
        io: &Io,
    ) -> Self {
        let lane = Arc::new(lane);
        let mut directories = vec![start.clone()];
        directories.extend(settings.directories.iter().cloned());
        let context = ToolContext {
            directory: start.clone(),
            home_directory: start,
            allowed_directories: directories,
            environment: Arc::new(io.environment.clone()),
            kept_variables: Arc::default(),
            child_variables: ChildVariables::default(),
            denied: Arc::default(),
            read_log: Arc::new(ReadLog::default()),
            todos: Arc::default(),
            shell_timeouts: ShellTimeouts::default(),
            spawners: Arc::clone(&lane),
            lane,
            web: Arc::default(),
            clock: Arc::clone(&io.clock),
        };
        Self {
            registry,
            settings,
            context,
        }
    }

    /// The mode of the settings.
    pub(super) fn mode(&self) -> Mode {
        self.settings.mode
    }

    /// What is decided about a call in `directory`.
    pub(super) fn decide(
        &self,
        name: &str,
        input: &Input,
        directory: &Path,
        mode: Mode,
    ) -> (AskedCall, Decided) {
        let context = ToolContext {
            directory: directory.to_owned(),
            ..self.context.clone()
        };
        let call = self.registry.asked(name, input, &context);
        let decided = self.settings.rules.decide(
            mode,
            &Request {
                tool: &call.tool,
                input: &call.input,
                action: &call.action,
                directory,
                working_directories: &context.allowed_directories,
                confines_reads: false,
                home: context.environment.text("HOME").map(Path::new),
                real_path: &real_path,
            },
        );
        (call, decided)
    }
}
