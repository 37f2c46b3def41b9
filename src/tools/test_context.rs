//! A session in a temporary directory, for the tests of the file tools.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{
    CallContext, CallStatus, ChildVariables, Content, Input, ShellTimeouts, Tool, ToolContext,
    ToolFailure, ToolReply,
};
use crate::io::{Environment, FixedClock};
use crate::process::{CancelToken, Spawners};
use crate::state::ReadLog;
use crate::wire::ToolUseId;

/// A session whose directory is a fresh temporary one.
pub(crate) struct Session {
    pub(crate) context: ToolContext,
    pub(crate) cancel: CancelToken,
    pub(crate) notes: Mutex<Vec<String>>,
    folder: tempfile::TempDir,
}

impl Session {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().canonicalize().unwrap();
        let context = ToolContext {
            directory: directory.clone(),
            home_directory: directory.clone(),
            allowed_directories: vec![directory.clone()],
            environment: Arc::new(Environment::from_iter([("HOME", "/home/somebody")])),
            kept_variables: Arc::default(),
            child_variables: ChildVariables::default(),
            read_log: Arc::new(ReadLog::default()),
            todos: Arc::new(json!([])),
            shell_timeouts: ShellTimeouts::default(),
            spawners: Arc::new(Spawners::new(1)),
            clock: Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap())),
            scratch_directory: directory,
        };
        Self {
            context,
            cancel: CancelToken::default(),
            notes: Mutex::default(),
            folder,
        }
    }

    /// The absolute path of `name` in the session's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let base = self.folder.path().canonicalize().unwrap();
        if name.is_empty() {
            base
        } else {
            base.join(name)
        }
    }

    /// The same as text.
    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Gives a file the modification time `seconds` after 2020-01-01, so that order and staleness
    /// do not hang on how fast a test runs.
    pub(crate) fn touch(&self, name: &str, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800 + seconds);
        let file = fs::File::options()
            .read(true)
            .open(self.path(name))
            .unwrap();
        file.set_modified(time).unwrap();
    }

    /// Checks the input against the tool's own schema, then validates and calls.
    pub(crate) fn call(&self, tool: &dyn Tool, input: Value) -> Result<ToolReply, ToolFailure> {
        let schema = jsonschema::validator_for(tool.input_schema()).unwrap();
        if let Err(error) = schema.validate(&input) {
            return Err(ToolFailure(format!("schema: {error}")));
        }
        let Value::Object(input) = input else {
            unreachable!("an object passed the schema");
        };
        tool.validate(&input, &self.context)
            .map_err(|invalid| ToolFailure(format!("validation: {invalid}")))?;
        self.call_unchecked(tool, &input)
    }

    /// Calls without any check before.
    pub(crate) fn call_unchecked(
        &self,
        tool: &dyn Tool,
        input: &Input,
    ) -> Result<ToolReply, ToolFailure> {
        let id: ToolUseId = serde_json::from_value(json!("toolu_test")).unwrap();
        let progress = |note: &str| self.notes.lock().unwrap().push(note.to_owned());
        tool.call(
            input,
            &CallContext {
                id: &id,
                session: &self.context,
                cancel: &self.cancel,
                progress: &progress,
            },
        )
    }

    /// The text and the structured output of a call that must succeed.
    pub(crate) fn ok(&self, tool: &dyn Tool, input: Value) -> (String, Value) {
        let reply = self.call(tool, input).unwrap();
        assert_eq!(reply.status, CallStatus::Ok, "{reply:?}");
        match reply.content {
            Content::Text(text) => (text, reply.structured),
            Content::Image { .. } => panic!("an image"),
        }
    }

    /// The error text of a call that must fail.
    pub(crate) fn failure(&self, tool: &dyn Tool, input: Value) -> String {
        self.call(tool, input).unwrap_err().0
    }
}
