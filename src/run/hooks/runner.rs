//! Runs hooks: programs, and requests to servers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use serde_json::Value;

use super::response::{HookDecision, HookEnd, HookResponse, parse_response};
use super::settings::{Action, Handler};
use crate::client::http::{
    Address, Client, Engine, Header, HttpFailure, MessageSender, Outgoing, run_unless_cancelled,
};
use crate::io::{CancelToken, Clock};
use crate::process::{
    Capture, Command, Ended, ExitStatus, Finished, Limits, Spawners, Stdin, Variables,
};

/// Maximum size of a hook's output to read, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// Exit status of a shell if a command is not found.
const NOT_FOUND: i32 = 127;

/// Runs hooks.
#[derive(Clone)]
pub struct HookRunner {
    /// Starts programs.
    pub spawners: Arc<Spawners>,
    /// The environment of programs.
    pub environment: Variables,
    /// The variables that headers may contain.
    pub header_variables: Variables,
    /// The first directory of the session.
    pub project: PathBuf,
    /// The session file, if it is known.
    pub transcript: Option<PathBuf>,
    /// Sends requests.
    pub client: Arc<Client>,
    /// Runs requests.
    pub engine: Engine,
    /// Measures the duration of hooks.
    pub clock: Arc<dyn Clock>,
}

/// A hook that ran, with its response.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HookRun {
    /// Its name in records.
    pub(super) name: String,
    /// Its duration.
    pub(super) duration: Duration,
    /// Its exit status; `None` if it is not a program or did not exit.
    pub(super) exit_code: Option<i32>,
    /// Its response.
    pub(super) response: HookResponse,
}

impl HookRunner {
    /// Runs hooks in parallel, each with the same input, and waits for those not in the background.
    /// Returns them in the order of `handlers`. Running hooks are ended when `cancel` fires.
    pub(super) fn run(
        &self,
        handlers: &[&Handler],
        input: &Value,
        directory: &Path,
        cancel: &CancelToken,
    ) -> Vec<HookRun> {
        let input = input.to_string();
        let (first, others) = match handlers {
            [] => return Vec::new(),
            [first, others @ ..] => (first, others),
        };
        thread::scope(|scope| {
            // The first one runs on this thread.
            let running: Vec<_> = others
                .iter()
                .map(|handler| {
                    thread::Builder::new()
                        .spawn_scoped(scope, || self.run_one(handler, &input, directory, cancel))
                })
                .collect();
            let first = self.run_one(first, &input, directory, cancel);
            let rest = running.into_iter().zip(others).map(|(running, handler)| {
                let run = running.ok().and_then(|running| running.join().ok());
                run.unwrap_or_else(|| self.run_one(handler, &input, directory, cancel))
            });
            std::iter::once(first).chain(rest).collect()
        })
    }

    fn run_one(
        &self,
        handler: &Handler,
        input: &str,
        directory: &Path,
        cancel: &CancelToken,
    ) -> HookRun {
        let start = self.clock.elapsed();
        let end = match &handler.action {
            Action::Shell(command) => {
                let arguments = vec!["-c".into(), command.into()];
                self.run_program("sh".into(), arguments, handler, input, directory, cancel)
            }
            Action::Program { program, arguments } => {
                let arguments = arguments.iter().map(OsString::from).collect();
                self.run_program(program.into(), arguments, handler, input, directory, cancel)
            }
            Action::Http { .. } => self.post(handler, input, cancel),
            Action::Unsupported { kind } => {
                let reason = format!("hooks of the type `{kind}` cannot run here");
                return HookRun {
                    name: handler.name().to_owned(),
                    duration: Duration::ZERO,
                    exit_code: None,
                    response: HookResponse {
                        decision: Some((HookDecision::Block, reason)),
                        ..HookResponse::default()
                    },
                };
            }
        };
        let exit_code = match &end {
            HookEnd::Exited { code, .. } if !matches!(handler.action, Action::Http { .. }) => {
                Some(*code)
            }
            _ => None,
        };
        HookRun {
            name: handler.name().to_owned(),
            duration: self.clock.elapsed().saturating_sub(start),
            exit_code,
            response: parse_response(handler.event, &end, handler.blocks_on_failure),
        }
    }

    fn run_program(
        &self,
        program: OsString,
        arguments: Vec<OsString>,
        handler: &Handler,
        input: &str,
        directory: &Path,
        cancel: &CancelToken,
    ) -> HookEnd {
        let project = [
            "CLAUDE_PROJECT_DIR",
            "QWEN_PROJECT_DIR",
            "GEMINI_PROJECT_DIR",
        ];
        let project = project.map(|name| (name.into(), self.project.clone().into()));
        let variables = self.environment.iter().cloned();
        let command = Command {
            program,
            arguments,
            environment: variables.chain(project).collect(),
            directory: directory.to_owned(),
            stdin: Stdin::Bytes(input.as_bytes().to_vec()),
            report: None,
            capture: Capture {
                total_bytes: MAX_OUTPUT,
                ..Capture::default()
            },
            limits: Limits::with_timeout(handler.timeout),
        };
        if handler.is_in_background {
            let spawners = Arc::clone(&self.spawners);
            // It ends with this process at the latest.
            let started = thread::Builder::new().spawn(move || {
                // The outcome is not used.
                let _ = spawners.run(&command, &CancelToken::default());
            });
            return background_end(started);
        }
        match self.spawners.run(&command, cancel) {
            Ok(finished) => hook_end(&finished, handler.timeout),
            Err(error) => HookEnd::Failed(error.to_string()),
        }
    }

    /// Sends the input to a server.
    fn post(&self, handler: &Handler, input: &str, cancel: &CancelToken) -> HookEnd {
        let outgoing = match self.http_request(handler, input) {
            Ok(outgoing) => outgoing,
            Err(problem) => return HookEnd::Failed(problem),
        };
        let (client, limit) = (Arc::clone(&self.client), handler.timeout);
        let cancel = if handler.is_in_background {
            CancelToken::default()
        } else {
            cancel.clone()
        };
        let request = move |_: MessageSender<()>| async move {
            let exchange = tokio::time::timeout(limit, read_response(&client, &outgoing));
            match run_unless_cancelled(cancel, exchange).await {
                None => HookEnd::Unknown,
                Some(Ok(Ok(stdout))) => HookEnd::Exited {
                    code: 0,
                    stdout,
                    stderr: String::new(),
                },
                Some(Ok(Err(failure))) => HookEnd::Failed(failure.to_string()),
                Some(Err(_)) => {
                    HookEnd::Failed(format!("no response within {} s", limit.as_secs_f64()))
                }
            }
        };
        if handler.is_in_background {
            let engine = self.engine.clone();
            let started = thread::Builder::new().spawn(move || {
                // The outcome is not used.
                let _ = engine.run(request, |()| ());
            });
            return background_end(started);
        }
        let end = self.engine.run(request, |()| ());
        end.unwrap_or_else(|error| HookEnd::Failed(error.to_string()))
    }

    fn http_request(&self, handler: &Handler, input: &str) -> Result<Outgoing, String> {
        let Action::Http {
            url,
            headers,
            variables,
        } = &handler.action
        else {
            return Err("the hook has no address".to_owned());
        };
        let headers = headers.iter().map(|(name, value)| {
            let value = self.expand_header(value, variables);
            Header::secret(name, value)
        });
        Ok(Outgoing {
            address: Address::parse(url).map_err(|error| error.to_string())?,
            headers: headers.collect(),
            body: input.to_owned(),
        })
    }

    /// Replaces `$NAME` and `${NAME}` in a header: with the variable if its name is allowed, else with nothing.
    fn expand_header(&self, value: &str, allowed: &[String]) -> String {
        let mut result = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('$') {
            result.push_str(before);
            let is_name = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
            let braced = after
                .strip_prefix('{')
                .and_then(|rest| rest.split_once('}'));
            let (name, remaining) = braced.unwrap_or_else(|| {
                after.split_at(after.find(|letter| !is_name(letter)).unwrap_or(after.len()))
            });
            let variable = self
                .header_variables
                .iter()
                .find(|(known, _)| known == name);
            if allowed.iter().any(|known| known == name)
                && let Some((_, value)) = variable
            {
                result.push_str(&value.to_string_lossy());
            }
            rest = remaining;
        }
        result + rest
    }
}

/// Sends a request and reads the body of its response.
async fn read_response(client: &Client, outgoing: &Outgoing) -> Result<String, HttpFailure> {
    let mut response = client.send(outgoing).await?;
    let body = response
        .read_body(MAX_OUTPUT)
        .await?
        .ok_or_else(|| HttpFailure::unusable("the response is too long".to_owned()))?;
    if !(200..300).contains(&response.status) {
        let status = response.status;
        return Err(HttpFailure::unusable(format!("status {status}")));
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Returns the end of a hook in the background.
fn background_end(started: io::Result<thread::JoinHandle<()>>) -> HookEnd {
    match started {
        Ok(_) => HookEnd::Unknown,
        Err(error) => HookEnd::Failed(error.to_string()),
    }
}

fn hook_end(finished: &Finished, timeout: Duration) -> HookEnd {
    let text =
        |captured: &crate::process::Captured| captured.prefix_text(MAX_OUTPUT).unwrap_or_default();
    match (finished.ended, finished.status) {
        (Ended::Cancelled, _) => HookEnd::Unknown,
        (Ended::TimedOut, _) => {
            HookEnd::Failed(format!("timed out after {} s", timeout.as_secs_f64()))
        }
        (_, ExitStatus::Signal(signal)) => HookEnd::Failed(format!("ended by signal {signal}")),
        (_, ExitStatus::Code(NOT_FOUND)) => HookEnd::Failed(format!(
            "command not found: {}",
            text(&finished.stderr).trim()
        )),
        (_, ExitStatus::Code(code)) => HookEnd::Exited {
            code,
            stdout: text(&finished.stdout),
            stderr: text(&finished.stderr),
        },
    }
}
