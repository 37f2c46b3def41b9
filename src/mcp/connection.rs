//! A server that answers.

use std::error::Error;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
use tokio::time::{sleep, timeout};

use super::content::{LONGEST_TEXT, cut};
use super::lines::{BoundedLines, LONGEST, Volume};
use super::process::{Ends, SHOWN, ServerProcess};
use crate::io::CancelToken;
use crate::text::{fitted, terminal_safe_line};
use crate::tools::Input;

/// How long a server may take to hear that a call is over.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long a program may take to end after its output has.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// What a page of a list counts besides its text, in bytes: there may be no end of empty ones.
const EACH_PAGE: usize = 1024;

/// How a connection is made.
pub(super) enum Route {
    /// Through pipes.
    Pipes(Ends),
    /// Over HTTP.
    Http(reqwest::Client, StreamableHttpClientTransportConfig),
}

/// A server that is connected, and its process if it has one.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    /// Until it is closed.
    service: Mutex<Option<RunningService<RoleClient, Listener>>>,
    process: Option<ServerProcess>,
    volume: Arc<Volume>,
    /// It could not be asked, or its answer did not arrive.
    is_lost: AtomicBool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// Nobody waits for it any more.
    #[error("cancelled")]
    Cancelled,
    /// The time of a call was up.
    #[error("the call was not answered within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The server refused it, or is gone.
    #[error("{0}")]
    Failed(String),
}

/// Hears what a server says by itself. All requests of servers are refused.
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
    /// Connects to a server, and asks for its tools. `changed` is set when they change.
    pub(super) async fn open(
        route: Route,
        process: Option<ServerProcess>,
        changed: Arc<AtomicBool>,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<(Self, Vec<RemoteTool>), String> {
        let volume = Arc::<Volume>::default();
        let opening = async {
            let connected = connect(Listener { changed }, route, Arc::clone(&volume)).await;
            let listed = match &connected {
                Ok(service) => list(service.peer()).await,
                Err(reason) => Err(reason.clone()),
            };
            match (connected, listed) {
                (Ok(service), Ok(tools)) => Ok((service, tools)),
                (Ok(service), Err(reason)) if !service.peer().is_transport_closed() => Err(reason),
                (_, Err(reason)) | (Err(reason), _) => {
                    Err(cause(&volume, process.as_ref()).await.unwrap_or(reason))
                }
            }
        };
        match within(limit, stop, opening).await {
            Ok((service, tools)) => {
                let connection = Self {
                    peer: service.peer().clone(),
                    service: Mutex::new(Some(service)),
                    process,
                    volume,
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

    /// Its tools.
    pub(super) async fn tools(
        &self,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<Vec<RemoteTool>, String> {
        self.volume.asked();
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
    ) -> Result<CallToolResult, Failure> {
        self.volume.asked();
        let parameters = CallToolRequestParams::new(tool).with_arguments(input);
        let called = self.answer(parameters, cancel, limit).await;
        // Of several answers each may be long.
        self.volume.asked();
        match called {
            Err(Failure::Failed(reason)) => Err(Failure::Failed(self.reason(reason).await)),
            other => other,
        }
    }

    async fn answer(
        &self,
        parameters: CallToolRequestParams,
        cancel: &CancelToken,
        limit: Duration,
    ) -> Result<CallToolResult, Failure> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
        let options = PeerRequestOptions::no_options();
        let sent = tokio::select! {
            sent = self.peer.send_request_with_option(request, options) => sent,
            () = cancel.fired() => return Err(Failure::Cancelled),
            () = sleep(limit) => return Err(Failure::TimedOut(limit)),
        };
        let mut handle = sent.map_err(|error| self.failed(error))?;
        let failure = tokio::select! {
            answer = &mut handle.rx => {
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                return match answer.map_err(|error| self.failed(error))? {
                    ServerResult::CallToolResult(result) => Ok(result),
                    _ => Err(Failure::Failed("its answer is no result of a tool".to_owned())),
                };
            }
            () = cancel.fired() => Failure::Cancelled,
            () = sleep(limit) => Failure::TimedOut(limit),
        };
        // The server may not listen any more.
        let _ = timeout(FAREWELL, handle.cancel(None)).await;
        Err(failure)
    }

    fn failed(&self, error: ServiceError) -> Failure {
        Failure::Failed(match error {
            ServiceError::McpError(error) => {
                let mut message = error.message.into_owned();
                cut(&mut message, LONGEST_TEXT);
                message
            }
            other => {
                // Over HTTP, it may be another one that answers the next call.
                self.is_lost.store(true, Ordering::Relaxed);
                innermost(&other)
            }
        })
    }

    /// Whether the server is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed) || self.peer.is_transport_closed()
    }

    /// Closes the connection, and ends the process that does not take that for its end.
    pub(super) async fn end(&self) {
        let service = self.service.lock();
        let service = service.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(service) = service {
            let _ = timeout(FAREWELL, service.cancel()).await;
        }
        if let Some(process) = &self.process {
            process.end().await;
        }
    }

    /// Why something failed: how the process ended, if it did.
    async fn reason(&self, reason: String) -> String {
        if !self.is_closed() {
            return reason;
        }
        let cause = cause(&self.volume, self.process.as_ref()).await;
        cause.unwrap_or(reason)
    }
}

/// Why a server is gone, as far as that is known.
async fn cause(volume: &Volume, process: Option<&ServerProcess>) -> Option<String> {
    match volume.excess() {
        Some(excess) => Some(excess.to_owned()),
        None => process?.ending(LAST_BREATH).await,
    }
}

/// Waits for a server, until its time is up or the run is over.
async fn within<Output>(
    limit: Duration,
    stop: &CancelToken,
    work: impl Future<Output = Result<Output, String>>,
) -> Result<Output, String> {
    tokio::select! {
        done = work => done,
        () = sleep(limit) => Err(format!("it did not answer within {} s", limit.as_secs_f32())),
        () = stop.fired() => Err("the run ended".to_owned()),
    }
}

async fn connect(
    listener: Listener,
    route: Route,
    volume: Arc<Volume>,
) -> Result<RunningService<RoleClient, Listener>, String> {
    let served = match route {
        Route::Pipes((to_server, from_server)) => {
            let pipes = pipe::Receiver::from_owned_fd(from_server).and_then(|receiver| {
                let sender = pipe::Sender::from_owned_fd(to_server)?;
                let lines = BoundedLines::new(receiver, volume);
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

/// All pages of the list of tools, if they come to an end.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<RemoteTool>, String> {
    let (mut tools, mut size, mut cursor) = (Vec::new(), 0, None);
    loop {
        let parameters = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(parameters)).await;
        let page = page.map_err(|error| innermost(&error))?;
        let written = serde_json::to_vec(&page.tools).map_err(|error| error.to_string())?;
        size += EACH_PAGE + written.len();
        if size > LONGEST {
            return Err("its list of tools is too long".to_owned());
        }
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
}

/// The first cause of an error: what wraps it names types, and addresses that may contain keys.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    loop {
        let request = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(request)) => Some(request as &(dyn Error + 'static)),
            _ => error.source(),
        };
        match request {
            Some(cause) => error = cause,
            None => return fitted(&terminal_safe_line(&error.to_string()), SHOWN),
        }
    }
}
