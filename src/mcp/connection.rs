//! The process of a server, and the connection to it.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::future::Future;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, PaginatedRequestParams, ServerResult, Tool as RemoteTool,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, PeerRequestOptions, RoleClient,
    RunningService, ServiceError, serve_client,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::config::{McpFailure, Program, ServerDeps};
use super::content::{LimitedOutput, MAX_LINE_BYTES, MAX_TEXT_LENGTH, Output, cut};
use crate::io::CancelToken;
use crate::process::{
    Capture, Captured, Command, ExitStatus, Finished, Limits, SpawnError, Stdin, StdioPipes,
};
use crate::text::{fitted, terminal_safe_line};
use crate::tools::Input;

/// Timeout for telling a server that a call or the connection has ended.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for the end of a program after its output ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Size of a page of a list in addition to its text, in bytes. Limits the number of empty pages.
const PAGE_OVERHEAD: usize = 1024;

/// The transport of a connection.
pub(super) enum Route {
    /// Through pipes.
    Pipes(Ends),
    /// Over HTTP.
    Http(reqwest::Client, StreamableHttpClientTransportConfig),
}

/// A connected server, and its process if it has one.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    /// `None` after the connection was closed.
    service: Mutex<Option<RunningService<RoleClient, Listener>>>,
    process: Option<ServerProcess>,
    output: Arc<Output>,
    /// Whether a request could not be sent, or its response did not arrive.
    is_lost: AtomicBool,
}

/// Handles notifications of a server. Refuses all requests of servers.
pub(super) struct Listener {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("turnpipe", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }
}

impl Connection {
    /// Connects to a server and lists its tools. `changed` is set when they change.
    pub(super) async fn open(
        route: Route,
        process: Option<ServerProcess>,
        changed: Arc<AtomicBool>,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<(Self, Vec<RemoteTool>), String> {
        let output = Arc::<Output>::default();
        let opening = async {
            let connected = connect(Listener { changed }, route, Arc::clone(&output)).await;
            let listed = match &connected {
                Ok(service) => list(service.peer()).await,
                Err(reason) => Err(reason.clone()),
            };
            match (connected, listed) {
                (Ok(service), Ok(tools)) => Ok((service, tools)),
                (Ok(service), Err(reason)) if !service.peer().is_transport_closed() => Err(reason),
                (_, Err(reason)) | (Err(reason), _) => {
                    Err(cause(&output, process.as_ref()).await.unwrap_or(reason))
                }
            }
        };
        match within(limit, stop, opening).await {
            Ok((service, tools)) => {
                let connection = Self {
                    peer: service.peer().clone(),
                    service: Mutex::new(Some(service)),
                    process,
                    output,
                    is_lost: AtomicBool::default(),
                };
                Ok((connection, tools))
            }
            Err(reason) => {
                if let Some(process) = process {
                    process.end().await;
                }
                Err(reason)
            }
        }
    }

    /// Lists the tools.
    pub(super) async fn tools(
        &self,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<Vec<RemoteTool>, String> {
        self.output.reset();
        match within(limit, stop, list(&self.peer)).await {
            Ok(tools) => Ok(tools),
            Err(reason) => Err(self.reason(reason).await),
        }
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        tool: String,
        input: Input,
        cancel: &CancelToken,
        limit: Duration,
    ) -> Result<CallToolResult, McpFailure> {
        self.output.reset();
        let parameters = CallToolRequestParams::new(tool).with_arguments(input);
        let called = self.answer(parameters, cancel, limit).await;
        // Each response may be long.
        self.output.reset();
        match called {
            Err(McpFailure::Failed(reason)) => Err(McpFailure::Failed(self.reason(reason).await)),
            other => other,
        }
    }

    async fn answer(
        &self,
        parameters: CallToolRequestParams,
        cancel: &CancelToken,
        limit: Duration,
    ) -> Result<CallToolResult, McpFailure> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
        let options = PeerRequestOptions::no_options();
        let sent = tokio::select! {
            sent = self.peer.send_request_with_option(request, options) => sent,
            () = cancel.fired() => return Err(McpFailure::Cancelled),
            () = sleep(limit) => return Err(McpFailure::TimedOut(limit)),
        };
        let mut handle = sent.map_err(|error| self.failed(error))?;
        let failure = tokio::select! {
            answer = &mut handle.rx => {
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                return match answer.map_err(|error| self.failed(error))? {
                    ServerResult::CallToolResult(result) => Ok(result),
                    _ => Err(McpFailure::Failed("the response is not a tool result".to_owned())),
                };
            }
            () = cancel.fired() => McpFailure::Cancelled,
            () = sleep(limit) => McpFailure::TimedOut(limit),
        };
        // The server may have stopped reading.
        let _ = timeout(CANCEL_TIMEOUT, handle.cancel(None)).await;
        Err(failure)
    }

    fn failed(&self, error: ServiceError) -> McpFailure {
        McpFailure::Failed(match error {
            ServiceError::McpError(error) => {
                let mut message = error.message.into_owned();
                cut(&mut message, MAX_TEXT_LENGTH);
                message
            }
            other => {
                // Over HTTP, another server may respond to the next call.
                self.is_lost.store(true, Ordering::Relaxed);
                innermost(&other)
            }
        })
    }

    /// Whether the server has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed) || self.peer.is_transport_closed()
    }

    /// Closes the connection, and ends the process if it does not exit.
    pub(super) async fn end(&self) {
        let service = self.service.lock();
        let service = service.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(service) = service {
            let _ = timeout(CANCEL_TIMEOUT, service.cancel()).await;
        }
        if let Some(process) = &self.process {
            process.end().await;
        }
    }

    /// Returns the reason for a failure: the end of the process, if it has ended.
    async fn reason(&self, reason: String) -> String {
        if !self.is_closed() {
            return reason;
        }
        let cause = cause(&self.output, self.process.as_ref()).await;
        cause.unwrap_or(reason)
    }
}

/// Returns the reason why a server ended, if known.
async fn cause(output: &Output, process: Option<&ServerProcess>) -> Option<String> {
    match output.violation() {
        Some(violation) => Some(violation.to_owned()),
        None => process?.ending(EXIT_TIMEOUT).await,
    }
}

/// Waits for a server until a timeout or the end of the run.
async fn within<Output>(
    limit: Duration,
    stop: &CancelToken,
    work: impl Future<Output = Result<Output, String>>,
) -> Result<Output, String> {
    tokio::select! {
        done = work => done,
        () = sleep(limit) => Err(format!("no response within {} s", limit.as_secs_f32())),
        () = stop.fired() => Err("the run ended".to_owned()),
    }
}

async fn connect(
    listener: Listener,
    route: Route,
    output: Arc<Output>,
) -> Result<RunningService<RoleClient, Listener>, String> {
    let served = match route {
        Route::Pipes((to_server, from_server)) => {
            let pipes = pipe::Receiver::from_owned_fd(from_server).and_then(|receiver| {
                let sender = pipe::Sender::from_owned_fd(to_server)?;
                let lines = LimitedOutput::new(receiver, output);
                Ok(AsyncRwTransport::new_client(lines, sender))
            });
            serve_client(listener, pipes.map_err(|error| error.to_string())?).await
        }
        Route::Http(client, config) => {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            serve_client(listener, transport).await
        }
    };
    served.map_err(|error| match &error {
        ClientInitializeError::TransportError { error, .. } => innermost(error),
        other => innermost(other),
    })
}

/// Reads all pages of the list of tools, up to a limit.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<RemoteTool>, String> {
    let (mut tools, mut size, mut cursor) = (Vec::new(), 0, None);
    loop {
        let parameters = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(parameters)).await;
        let page = page.map_err(|error| innermost(&error))?;
        let written = serde_json::to_vec(&page.tools).map_err(|error| error.to_string())?;
        size += PAGE_OVERHEAD + written.len();
        if size > MAX_LINE_BYTES {
            return Err("its list of tools is too long".to_owned());
        }
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
}

/// Returns the root cause of an error. The outer errors name types, and URLs that may contain keys.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    loop {
        let request = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(request)) => Some(request as &(dyn Error + 'static)),
            _ => error.source(),
        };
        match request {
            Some(cause) => error = cause,
            None => return fitted(&terminal_safe_line(&error.to_string()), MAX_MESSAGE_WIDTH),
        }
    }
}

/// Capture of its standard error, for error messages.
const CAPTURE: Capture = Capture {
    memory_bytes: 8 * 1024,
    total_bytes: 8 * 1024,
};

/// Time between the request to end and the kill.
const GRACE: Duration = Duration::from_millis(500);

/// Maximum width of a line of standard error or an error message, in columns.
pub(super) const MAX_MESSAGE_WIDTH: usize = 200;

/// A started program. Dropping it ends the program.
#[derive(Debug)]
pub(super) struct ServerProcess {
    cancel: CancelToken,
    /// A description of how the program ended.
    ending: watch::Receiver<Option<String>>,
}

/// The pipes to its standard input and from its standard output.
pub(super) type Ends = (OwnedFd, OwnedFd);

impl ServerProcess {
    /// Starts the program, and a thread that waits for its end.
    pub(super) fn start(program: &Program, deps: &ServerDeps) -> io::Result<(Self, Ends)> {
        let (stdin, to_server) = io::pipe()?;
        let (from_server, stdout) = io::pipe()?;
        let mut environment: BTreeMap<OsString, OsString> =
            deps.variables.iter().cloned().collect();
        let own = program.environment.iter();
        environment.extend(own.map(|(name, value)| (name.into(), value.into())));
        // Identifies servers that outlive this process.
        environment.insert("TURNPIPE".into(), "1".into());
        let directory = program.directory.as_deref().unwrap_or(Path::new(""));
        let command = Command {
            program: program.command.clone().into(),
            arguments: program.arguments.iter().map(OsString::from).collect(),
            environment: environment.into_iter().collect(),
            directory: deps.directory.join(directory),
            stdin: Stdin::Null,
            report: None,
            capture: CAPTURE,
            limits: Limits {
                timeout: Duration::MAX,
                grace: GRACE,
                drain: GRACE,
            },
        };
        let conversation = StdioPipes {
            stdin: stdin.into(),
            stdout: stdout.into(),
        };
        let (cancel, (ended, ending)) = (CancelToken::default(), watch::channel(None));
        let watcher = (Arc::clone(&deps.spawners), cancel.clone());
        thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || {
                let (spawners, cancel) = watcher;
                let finished = spawners.run_with(&command, Some(conversation), &cancel);
                let _ = ended.send(Some(description(finished)));
            })?;
        let ends = (to_server.into(), from_server.into());
        Ok((Self { cancel, ending }, ends))
    }

    /// Waits up to `limit` for the end of the program. Returns how it ended.
    pub(super) async fn ending(&self, limit: Duration) -> Option<String> {
        let mut ending = self.ending.clone();
        let ended = timeout(limit, ending.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// Waits for the program to exit because its input was closed, then ends it.
    pub(super) async fn end(&self) {
        if self.ending(GRACE).await.is_none() {
            self.cancel.cancel();
            // It is killed after the grace period.
            self.ending(3 * GRACE).await;
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn description(finished: Result<Finished, SpawnError>) -> String {
    let finished = match finished {
        Ok(finished) => finished,
        Err(error) => return error.to_string(),
    };
    let ending = match finished.status {
        ExitStatus::Code(code) => format!("exited with status {code}"),
        ExitStatus::Signal(signal) => format!("killed by signal {signal}"),
    };
    match last_line(&finished.stderr) {
        Some(line) => format!("{ending}: {line}"),
        None => ending,
    }
}

fn last_line(stderr: &Captured) -> Option<String> {
    let bytes = stderr.suffix(CAPTURE.total_bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(fitted(&terminal_safe_line(line.trim()), MAX_MESSAGE_WIDTH))
}
