//! A session in temporary directories, for tests of tools that start programs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{
    CallContext, ChildVariables, Content, DecisionContext, Input, ShellGuarantees, ShellTimeouts,
    Tool, ToolContext, ToolFailure, ToolReply,
};
use crate::io::{CancelToken, Environment, FixedClock};
use crate::message::ToolUseId;
use crate::process::Supervisor;
use crate::state::ReadLog;

/// A session with an empty initial directory. Only directories below it are allowed.
pub(crate) struct TestSession {
    pub(crate) context: ToolContext,
    pub(crate) cancel: CancelToken,
    _folder: tempfile::TempDir,
}

impl TestSession {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let home = base.join("home");
        fs::create_dir(&home).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            context: ToolContext {
                decision: DecisionContext {
                    directory: home.clone(),
                    allowed_directories: vec![home.clone()],
                    own_directory: None,
                    environment: Arc::new(Environment::from_iter([
                        ("PATH", path),
                        ("MARK", "kept".into()),
                        ("BASH_ENV", "/nonexistent/startup".into()),
                    ])),
                    kept_variables: Arc::default(),
                    lane: Arc::new(Supervisor::default().spawners(1)),
                    shell: ShellGuarantees::OWN,
                    sandbox: None,
                },
                home_directory: home,
                child_variables: ChildVariables::default(),
                denied: Arc::default(),
                read_log: Arc::new(ReadLog::default()),
                todos: Arc::new(Value::Array(Vec::new())),
                shell_timeouts: ShellTimeouts {
                    default: Duration::from_secs(20),
                    maximum: Duration::from_secs(30),
                },
                spawners: Arc::new(Supervisor::default().spawners(2)),
                web: Arc::default(),
                clock: Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap())),
            },
            cancel: CancelToken::default(),
            _folder: folder,
        }
    }

    /// Returns the absolute path of `name` in the initial directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.context.home_directory.join(name)
    }

    pub(crate) fn call(&self, tool: &dyn Tool, input: &Value) -> Result<ToolReply, ToolFailure> {
        let id = ToolUseId::from("toolu_test");
        let call = tool
            .prepare(&object(input))
            .map_err(|invalid| ToolFailure(invalid.0))?;
        call.run(&CallContext {
            id: &id,
            session: &self.context,
            cancel: &self.cancel,
            progress: &|_| (),
        })
    }
}

pub(crate) fn object(input: &Value) -> Input {
    input.as_object().unwrap().clone()
}

pub(crate) fn text(reply: &ToolReply) -> &str {
    match &reply.content {
        Content::Text(text) => text,
        Content::Blocks(_) => panic!("not text"),
    }
}
