//! A server that answers.

use std::error::Error;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ServerResult, Tool as RemoteTool,
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
use tokio::time::timeout;

use super::content::cut;
use super::lines::BoundedLines;
use super::process::{Ends, SHOWN, ServerProcess};
use crate::http::{Engine, Task};
use crate::process::CancelToken;
use crate::text::{fitted, terminal_safe_line};
use crate::tools::Input;

/// How long a server may take to hear that a call is over.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long a program may take to end after its output has.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// How a connection is made.
pub(super) enum Route {
    /// Through pipes.
    Pipes(Ends),
    /// Over HTTP.
    Http(reqwest::Client, StreamableHttpClientTransportConfig),
}

/// A server that is connected, and its process if it has one.
pub(super) struct Connection {
    engine: Engine,
    peer: Peer<RoleClient>,
    /// Until it is closed.
    service: Mutex<Option<RunningService<RoleClient, Listener>>>,
    process: Option<ServerProcess>,
    /// It wrote a line that is too long.
    flooded: Arc<AtomicBool>,
}

/// Why a call has no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallFailure {
    /// It was cancelled.
    Cancelled,
    /// Its time was up.
    TimedOut,
    /// The server refused it, or is gone.
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
    /// Connects to a server. `changed` is set when its list of tools changes.
    pub(super) fn open(
        route: Route,
        process: Option<ServerProcess>,
        changed: Arc<AtomicBool>,
        engine: &Engine,
        limit: Duration,
    ) -> Result<Self, String> {
        let (listener, flooded) = (Listener { changed }, Arc::<AtomicBool>::default());
        let flood = Arc::clone(&flooded);
        let opened = run(engine, async move {
            let connecting = timeout(limit, connect(listener, route, flood));
            connecting.await.map_err(|_| no_answer(limit))
        });
        let failed = match opened {
            Ok(Ok(service)) => {
                return Ok(Self {
                    engine: engine.clone(),
                    peer: service.peer().clone(),
                    service: Mutex::new(Some(service)),
                    process,
                    flooded,
                });
            }
            Ok(Err(reason)) => cause(&flooded, process.as_ref()).unwrap_or(reason),
            Err(reason) => reason,
        };
        if let Some(process) = process {
            process.end();
        }
        Err(failed)
    }

    /// Its tools.
    pub(super) fn tools(&self, limit: Duration) -> Result<Vec<RemoteTool>, String> {
        let peer = self.peer.clone();
        let listed = run(&self.engine, async move {
            match timeout(limit, peer.list_all_tools()).await {
                Ok(result) => result.map_err(|error| innermost(&error)),
                Err(_) => Err(no_answer(limit)),
            }
        });
        listed.map_err(|reason| self.reason(reason))
    }

    /// Calls a tool.
    pub(super) fn call(
        &self,
        tool: &str,
        input: Input,
        cancel: &CancelToken,
        limit: Duration,
    ) -> Result<CallToolResult, CallFailure> {
        let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(input);
        let (peer, cancel) = (self.peer.clone(), cancel.clone());
        let called = run(&self.engine, call(peer, parameters, cancel, limit));
        called.map_err(|failure| match failure {
            CallFailure::Failed(reason) => CallFailure::Failed(self.reason(reason)),
            other => other,
        })
    }

    /// Whether the server is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Closes the connection, and ends the process that does not take that for its end.
    pub(super) fn end(&self) {
        let service = self
            .service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(service) = service {
            let _ = run(&self.engine, async move {
                let _ = timeout(FAREWELL, service.cancel()).await;
                Ok::<_, String>(())
            });
        }
        if let Some(process) = &self.process {
            process.end();
        }
    }

    /// Why something failed: how the process ended, if it did.
    fn reason(&self, reason: String) -> String {
        if !self.is_closed() {
            return reason;
        }
        cause(&self.flooded, self.process.as_ref()).unwrap_or(reason)
    }
}

/// Why a server is gone, as far as that is known.
fn cause(flooded: &AtomicBool, process: Option<&ServerProcess>) -> Option<String> {
    if flooded.load(Ordering::Relaxed) {
        return Some("it wrote a line that is too long".to_owned());
    }
    Some(process?.ending(LAST_BREATH)?.to_owned())
}

fn no_answer(limit: Duration) -> String {
    format!("it did not answer within {} s", limit.as_secs_f32())
}

/// Runs a task on the engine.
fn run<Output: Send + 'static, Failure: From<String> + Send + 'static>(
    engine: &Engine,
    task: impl Future<Output = Result<Output, Failure>> + Send + 'static,
) -> Result<Output, Failure> {
    engine
        .run(|_: Task<()>| task, |()| ())
        .unwrap_or_else(|error| Err(error.to_string().into()))
}

impl From<String> for CallFailure {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

async fn connect(
    listener: Listener,
    route: Route,
    flooded: Arc<AtomicBool>,
) -> Result<RunningService<RoleClient, Listener>, String> {
    let served = match route {
        Route::Pipes((to_server, from_server)) => {
            let pipes = pipe::Receiver::from_owned_fd(from_server).and_then(|receiver| {
                let sender = pipe::Sender::from_owned_fd(to_server)?;
                let lines = BoundedLines::new(receiver, flooded);
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

async fn call(
    peer: Peer<RoleClient>,
    parameters: CallToolRequestParams,
    cancel: CancelToken,
    limit: Duration,
) -> Result<CallToolResult, CallFailure> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
    let sent = tokio::select! {
        sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()) => sent,
        () = cancel.fired() => return Err(CallFailure::Cancelled),
    };
    let mut handle = sent.map_err(failed)?;
    let failure = tokio::select! {
        answer = &mut handle.rx => {
            return match answer.unwrap_or(Err(ServiceError::TransportClosed)).map_err(failed)? {
                ServerResult::CallToolResult(result) => Ok(result),
                _ => Err(failed(ServiceError::UnexpectedResponse)),
            };
        }
        () = cancel.fired() => CallFailure::Cancelled,
        () = tokio::time::sleep(limit) => CallFailure::TimedOut,
    };
    // The server may not listen any more.
    let _ = timeout(FAREWELL, handle.cancel(None)).await;
    Err(failure)
}

fn failed(error: ServiceError) -> CallFailure {
    CallFailure::Failed(match error {
        ServiceError::McpError(error) => {
            let mut message = error.message.into_owned();
            cut(&mut message);
            message
        }
        other => innermost(&other),
    })
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
