//! Files in the form of `.mcp.json`: the servers, with variables of the environment in their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::name::server_prefix;
use crate::io::Environment;

/// A server of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that is talked to on its standard input and output.
    Stdio(Program),
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
    /// Another one, which the file calls this. The server cannot be used.
    Unknown(String),
}

/// A server that is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that it gets besides those of all servers.
    pub environment: BTreeMap<String, String>,
    /// Where it runs, if not where the run began.
    pub directory: Option<PathBuf>,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct MalformedConfig {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: ConfigProblem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigProblem {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    /// It has another form.
    #[error("{0}")]
    Form(#[from] serde_json::Error),
    /// A server has neither a command nor an address, or both.
    #[error("server {0}: it needs either a `command` or a `url`")]
    Transport(String),
    /// A variable is not set.
    #[error("server {server}: ${{{variable}}} is not set")]
    Unset {
        /// The server.
        server: String,
        /// The variable.
        variable: String,
    },
    /// The tools of two servers would have the same names.
    #[error("server {0}: another server has a name that differs only in special characters")]
    SameNames(String),
}

#[derive(Debug, Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Written>,
}

#[derive(Debug, Deserialize)]
struct Written {
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
}

/// Names of HTTP transports. Servers of the old one, `sse`, are tried with the new one, which many of
/// them have too.
const HTTP: [&str; 4] = ["http", "streamable-http", "streamableHttp", "sse"];

/// Reads files. A server of a later file replaces one of the same name.
///
/// # Errors
/// A file cannot be used.
pub fn read_config(
    files: &[PathBuf],
    environment: &Environment,
) -> Result<Vec<ServerConfig>, MalformedConfig> {
    let mut servers = BTreeMap::new();
    for file in files {
        let read = read_file(file, environment).and_then(|read| {
            servers.extend(read);
            distinct(&servers)
        });
        read.map_err(|problem| MalformedConfig {
            file: file.clone(),
            problem,
        })?;
    }
    let servers = servers.into_iter();
    Ok(servers
        .map(|(name, transport)| ServerConfig { name, transport })
        .collect())
}

fn read_file(
    file: &Path,
    environment: &Environment,
) -> Result<BTreeMap<String, Transport>, ConfigProblem> {
    let file: File = serde_json::from_slice(&std::fs::read(file)?)?;
    let servers = file.servers.into_iter();
    servers
        .map(|(name, written)| {
            let transport = written.transport(&name, environment)?;
            Ok((name, transport))
        })
        .collect()
}

fn distinct(servers: &BTreeMap<String, Transport>) -> Result<(), ConfigProblem> {
    let mut prefixes = BTreeSet::new();
    match servers
        .keys()
        .find(|name| !prefixes.insert(server_prefix(name)))
    {
        Some(name) => Err(ConfigProblem::SameNames(name.clone())),
        None => Ok(()),
    }
}

impl Written {
    fn transport(
        self,
        server: &str,
        environment: &Environment,
    ) -> Result<Transport, ConfigProblem> {
        let expand = |text: String| {
            expanded(&text, environment).map_err(|variable| ConfigProblem::Unset {
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

/// The text with the values of variables: `${NAME}`, or `${NAME:-default}` for one that may not be
/// set or be empty. The error is the name of one that is not set.
fn expanded(text: &str, environment: &Environment) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        result.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
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
        rest = behind;
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
