//! A session in a temporary directory, for the tests of the file tools.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::builtin::{BuiltIn, Parameters};
use super::schema::SchemaCheck;
use super::{
    Access, CallContext, CallStatus, ChildVariables, Content, DecisionContext, ShellGuarantees,
    ShellTimeouts, Tool, ToolContext, ToolFailure, ToolReply,
};
use crate::io::{CancelToken, Environment, FixedClock};
use crate::message::ToolUseId;
use crate::process::Supervisor;
use crate::state::ReadLog;

/// A session in a new temporary directory.
pub(super) struct Session {
    pub(super) context: ToolContext,
    pub(super) cancel: CancelToken,
    folder: tempfile::TempDir,
}

impl Session {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().canonicalize().unwrap();
        let context = ToolContext {
            decision: DecisionContext {
                directory: directory.clone(),
                allowed_directories: vec![directory.clone()],
                own_directory: None,
                environment: Arc::new(Environment::from_iter([("HOME", "/home/somebody")])),
                kept_variables: Arc::default(),
                lane: Arc::new(Supervisor::default().spawners(1)),
                shell: ShellGuarantees::OWN,
                sandbox: None,
            },
            home_directory: directory.clone(),
            child_variables: ChildVariables::default(),
            denied: Arc::default(),
            read_log: Arc::new(ReadLog::default()),
            todos: Arc::new(json!([])),
            shell_timeouts: ShellTimeouts::default(),
            spawners: Arc::new(Supervisor::default().spawners(1)),
            web: Arc::default(),
            clock: Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap())),
        };
        Self {
            context,
            cancel: CancelToken::default(),
            folder,
        }
    }

    /// Returns the absolute path of `name` in the session's directory.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let base = self.folder.path().canonicalize().unwrap();
        if name.is_empty() {
            base
        } else {
            base.join(name)
        }
    }

    /// Like `path`, as a string.
    pub(super) fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Creates nested directories below `name` until the innermost path is too long to open.
    pub(super) fn add_read_file(&self, name: &str) {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::DIRECTORY;
        let mut inner = rustix::fs::open(self.path(name), flags, Mode::empty()).unwrap();
        for _ in 0..20 {
            let part = "d".repeat(250);
            rustix::fs::mkdirat(&inner, &part, 0o700.into()).unwrap();
            inner = rustix::fs::openat(&inner, &part, flags, Mode::empty()).unwrap();
        }
    }

    /// Sets the modification time of a file to `seconds` after 2020-01-01, so that tests do not depend on
    /// timing.
    pub(super) fn set_modified(&self, name: &str, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800 + seconds);
        let file = fs::File::options()
            .read(true)
            .open(self.path(name))
            .unwrap();
        file.set_modified(time).unwrap();
    }

    /// Checks the input against the tool's schema, then prepares and runs the call.
    pub(super) fn call<P: Parameters>(&self, input: Value) -> Result<ToolReply, ToolFailure> {
        let tool = BuiltIn::<P>::new();
        let check = SchemaCheck::new(tool.input_schema()).unwrap();
        let problems = check.problems(&input);
        if !problems.is_empty() {
            return Err(ToolFailure(format!("schema: {}", problems.join("; "))));
        }
        let Value::Object(input) = input else {
            unreachable!("an object passed the schema");
        };
        let call = tool
            .prepare(&input)
            .map_err(|invalid| ToolFailure(format!("validation: {invalid}")))?;
        let id: ToolUseId = serde_json::from_value(json!("toolu_test")).unwrap();
        call.run(&CallContext {
            id: &id,
            session: &self.context,
            cancel: &self.cancel,
            progress: &|_| (),
        })
    }

    /// Returns the access of a call.
    pub(super) fn access<P: Parameters>(&self, input: &Value) -> Access {
        let call = BuiltIn::<P>::new()
            .prepare(input.as_object().unwrap())
            .unwrap();
        call.assess(&self.context).access
    }

    /// Returns the text and the structured output of a successful call.
    pub(super) fn ok<P: Parameters>(&self, input: Value) -> (String, Value) {
        let reply = self.call::<P>(input).unwrap();
        assert_eq!(reply.status, CallStatus::Ok, "{reply:?}");
        match reply.content {
            Content::Text(text) => (text, reply.structured),
            Content::Blocks(_) => panic!("not text"),
        }
    }

    /// Returns the message of a failed call.
    pub(super) fn failure<P: Parameters>(&self, input: Value) -> String {
        self.call::<P>(input).unwrap_err().0
    }
}
