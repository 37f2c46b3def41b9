//! Configuration files in the format of `.mcp.json`, with environment variables in strings, and the dependencies
//! of servers.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::task::JoinHandle;

use crate::client::http::{Client, Engine, MessageSender};
use crate::io::{CancelToken, Environment};
use crate::process::Spawners;
use crate::run::tools::FormUser;
use crate::tool_facts::mcp_prefix;

/// A configured server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub name: String,
    pub transport: Transport,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// The standard input and output of a program.
    Stdio(Program),
    /// Streamable HTTP.
    Http {
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
    /// A transport that is not supported.
    Unknown(String),
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub command: String,
    pub arguments: Vec<String>,
    /// Environment variables in addition to the shared ones.
    pub environment: BTreeMap<String, String>,
    /// Working directory, relative to the directory of the run.
    pub directory: Option<PathBuf>,
}

/// An invalid configuration file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct MalformedConfig {
    pub file: PathBuf,
    pub problem: ConfigProblem,
}

/// A problem in a configuration file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigProblem {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    /// The file has another format.
    #[error("{0}")]
    Form(#[from] serde_json::Error),
    /// A server has neither a command nor a URL, or both.
    #[error("server {0}: expected either a `command` or a `url`")]
    Transport(String),
    /// A variable is not set.
    #[error("server {server}: ${{{variable}}} is not set")]
    Unset { server: String, variable: String },
    /// The tools of two servers have the same prefix.
    #[error("server {0}: the name of another server differs only in special characters")]
    SameNames(String),
}

#[derive(Debug, Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, ServerEntry>,
}

#[derive(Debug, Deserialize)]
struct ServerEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
}

/// Names of HTTP transports. Servers with the old transport, `sse`, often support the new one.
const HTTP: [&str; 4] = ["http", "streamable-http", "streamableHttp", "sse"];

/// Reads configuration files. A server of a later file replaces one with the same name. Disabled servers are
/// ignored.
///
/// # Errors
/// A file is invalid.
pub fn read_config(
    files: &[PathBuf],
    environment: &Environment,
) -> Result<Vec<ServerConfig>, MalformedConfig> {
    let mut servers = BTreeMap::new();
    for file in files {
        let result = read_file(file, environment).and_then(|read| {
            servers.extend(read);
            servers.retain(|_, transport| transport.is_some());
            check_distinct(&servers)
        });
        result.map_err(|problem| MalformedConfig {
            file: file.clone(),
            problem,
        })?;
    }
    let servers = servers.into_iter();
    Ok(servers
        .filter_map(|(name, transport)| transport.map(|transport| ServerConfig { name, transport }))
        .collect())
}

/// Servers by name; `None` for disabled ones.
type Servers = BTreeMap<String, Option<Transport>>;

fn read_file(file: &Path, environment: &Environment) -> Result<Servers, ConfigProblem> {
    let file: File = serde_json::from_slice(&std::fs::read(file)?)?;
    let servers = file.servers.into_iter();
    servers
        .map(|(name, entry)| {
            let is_disabled = entry.disabled || entry.enabled == Some(false);
            let transport = (!is_disabled).then(|| entry.into_transport(&name, environment));
            Ok((name, transport.transpose()?))
        })
        .collect()
}

fn check_distinct(servers: &Servers) -> Result<(), ConfigProblem> {
    let mut prefixes = BTreeSet::new();
    let mut names = servers.keys();
    match names.find(|name| !prefixes.insert(mcp_prefix(name))) {
        Some(name) => Err(ConfigProblem::SameNames(name.clone())),
        None => Ok(()),
    }
}

impl ServerEntry {
    fn into_transport(
        self,
        server: &str,
        environment: &Environment,
    ) -> Result<Transport, ConfigProblem> {
        let expand = |text: String| {
            expand_variables(&text, environment).map_err(|variable| ConfigProblem::Unset {
                server: server.to_owned(),
                variable,
            })
        };
        let expand_values = |texts: BTreeMap<String, String>| {
            let texts = texts.into_iter();
            texts
                .map(|(name, text)| Ok((name, expand(text)?)))
                .collect::<Result<_, ConfigProblem>>()
        };
        let is_http = match self.kind {
            None => None,
            Some(kind) if HTTP.contains(&&*kind) => Some(true),
            Some(kind) if kind == "stdio" => Some(false),
            Some(kind) => return Ok(Transport::Unknown(kind)),
        };
        match (is_http, self.command, self.url) {
            (None | Some(false), Some(command), None) => Ok(Transport::Stdio(Program {
                command: expand(command)?,
                arguments: self
                    .args
                    .into_iter()
                    .map(expand)
                    .collect::<Result<_, _>>()?,
                environment: expand_values(self.env)?,
                directory: self.cwd.map(expand).transpose()?.map(PathBuf::from),
            })),
            (None | Some(true), None, Some(url)) => Ok(Transport::Http {
                url: expand(url)?,
                headers: expand_values(self.headers)?,
            }),
            _ => Err(ConfigProblem::Transport(server.to_owned())),
        }
    }
}

/// Replaces `${NAME}`, or `${NAME:-default}` for variables that may be unset or empty. The error is the name of an
/// unset variable.
fn expand_variables(text: &str, environment: &Environment) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        result.push_str(before);
        let Some((inside, after_variable)) = after.split_once('}') else {
            result.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = match default {
            Some(default) => Some(environment.text(name).unwrap_or(default)),
            None => environment.get(name).and_then(OsStr::to_str),
        };
        result.push_str(value.ok_or_else(|| name.to_owned())?);
        rest = after_variable;
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

/// Shared dependencies of servers.
pub struct ServerDeps {
    /// Runs their connections.
    pub engine: Engine,
    /// Sends requests to servers over HTTP.
    pub client: Client,
    /// Starts programs.
    pub spawners: Arc<Spawners>,
    /// Environment of programs.
    pub variables: Vec<(OsString, OsString)>,
    /// Working directory of programs.
    pub directory: PathBuf,
    pub timeouts: Timeouts,
    /// Asks the user to fill in the forms of servers. `None` if the user cannot be asked.
    pub user: Option<Arc<dyn FormUser>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Time for a server to start and list its tools.
    pub start: Duration,
    /// Time for a call.
    pub call: Duration,
}

impl ServerDeps {
    /// Runs a task to completion on the engine.
    pub(super) fn run<Output: Send + 'static>(
        &self,
        task: impl Future<Output = Result<Output, McpFailure>> + Send + 'static,
    ) -> Result<Output, McpFailure> {
        self.run_reporting(|_| task, &|_| ())
    }

    /// Runs a task to completion on the engine. Passes its messages to `report` on the calling thread.
    pub(super) fn run_reporting<Output: Send + 'static, Work>(
        &self,
        task: impl FnOnce(MessageSender<String>) -> Work,
        report: &dyn Fn(String),
    ) -> Result<Output, McpFailure>
    where
        Work: Future<Output = Result<Output, McpFailure>> + Send + 'static,
    {
        let result = self.engine.run(task, report);
        result.unwrap_or_else(|error| Err(McpFailure::Failed(error.to_string())))
    }
}

/// Waits for a task unless `cancel` fires. A cancelled task continues to run: a server that has started can be used by
/// the next call.
pub(super) async fn await_unless_cancelled<Output>(
    task: JoinHandle<Result<Output, McpFailure>>,
    cancel: &CancelToken,
) -> Result<Output, McpFailure> {
    tokio::select! {
        result = task => result.unwrap_or_else(|error| Err(McpFailure::Failed(error.to_string()))),
        () = cancel.wait() => Err(McpFailure::Cancelled),
    }
}

/// A failure of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum McpFailure {
    /// The call or the run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The timeout of a call expired.
    #[error("no response to the call within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The server refused the call, or has ended.
    #[error("{0}")]
    Failed(String),
}
