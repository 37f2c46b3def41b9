//! The start of a connection: transports, protocol revisions, and notifications of the server.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, RequestContext, RoleClient,
    RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::net::unix::pipe;
use tokio::sync::broadcast;

use super::content::{LimitedOutput, Output};
use super::input::ServerUser;
use super::process::{MAX_MESSAGE_WIDTH, ServerPipes};
use crate::io::CancelToken;
use crate::text::{fit_columns, terminal_safe_line};

/// The transport of a connection.
pub(super) enum Route {
    /// Through pipes.
    Pipes(ServerPipes),
    /// Over HTTP.
    Http(reqwest::Client, StreamableHttpClientTransportConfig),
}

/// The protocol revisions to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Revisions {
    /// The newest one, else one with a handshake.
    Any,
    /// Revisions with a handshake, up to 2025-11-25.
    WithHandshake,
    /// Revisions without a handshake, from 2026-07-28 on.
    Stateless,
}

/// A failed start.
#[derive(Debug)]
pub(super) struct StartFailure {
    pub(super) reason: String,
    /// The revisions to try in a new connection, if the attempt failed because of its revision.
    pub(super) retry: Option<Revisions>,
}

impl From<String> for StartFailure {
    fn from(reason: String) -> Self {
        let retry = None;
        Self { reason, retry }
    }
}

/// Handles notifications of a server, and forms for the user. Refuses all other requests of servers.
pub(super) struct Listener {
    /// Set when the list of tools has changed.
    pub(super) changed: Arc<AtomicBool>,
    pub(super) progress: broadcast::Sender<ProgressNotificationParam>,
    pub(super) user: ServerUser,
    /// Fires when the run ends.
    pub(super) stop: CancelToken,
}

/// Maximum number of pending progress notifications of a call.
const PROGRESS_CAPACITY: usize = 16;

impl Listener {
    /// Creates a listener, which sets `changed`.
    pub(super) fn new(changed: &Arc<AtomicBool>, user: ServerUser, stop: &CancelToken) -> Self {
        changed.store(false, Ordering::Relaxed);
        Self {
            changed: Arc::clone(changed),
            progress: broadcast::channel(PROGRESS_CAPACITY).0,
            user,
            stop: stop.clone(),
        }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let has_user = self.user.user.is_some();
        capabilities.elicitation = has_user
            .then(|| ElicitationCapability::new().with_form(FormElicitationCapability::new()));
        let implementation = Implementation::new("turnpipe", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, implementation)
    }

    /// Asks the user for a server of a revision with a handshake.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let result = self.user.elicit(request, &self.stop).await;
        result.map_err(|failure| ErrorData::internal_error(failure.to_string(), None))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        // The call may have ended.
        let _ = self.progress.send(progress);
    }
}

/// Connects to a server.
pub(super) async fn connect(
    listener: Listener,
    route: Route,
    revisions: Revisions,
    output: Arc<Output>,
) -> Result<RunningService<RoleClient, Listener>, StartFailure> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match revisions {
        Revisions::Any => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Revisions::WithHandshake => ClientLifecycleMode::Initialize,
        Revisions::Stateless => ClientLifecycleMode::Discover { preferred_versions },
    };
    let result = match route {
        Route::Pipes((to_server, from_server)) => {
            let pipes = pipe::Receiver::from_owned_fd(from_server)
                .and_then(|receiver| {
                    let sender = pipe::Sender::from_owned_fd(to_server)?;
                    let lines = LimitedOutput::new(receiver, output);
                    Ok(AsyncRwTransport::new_client(lines, sender))
                })
                .map_err(|error| error.to_string())?;
            serve_client_with_lifecycle(listener, pipes, lifecycle).await
        }
        Route::Http(client, config) => {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            serve_client_with_lifecycle(listener, transport, lifecycle).await
        }
    };
    result.map_err(|error| StartFailure {
        retry: revisions_to_retry(&error).filter(|_| revisions == Revisions::Any),
        reason: failure_reason(&error),
    })
}

/// Returns the revisions to try after a failure of [`Revisions::Any`]. Some servers end, or respond too late for
/// the handshake that follows, when they are asked for the newest revision.
fn revisions_to_retry(error: &ClientInitializeError) -> Option<Revisions> {
    use ClientInitializeError as Failure;
    match error {
        // The late response describes the server, so the server supports the request.
        Failure::ConflictInitResponseId(..) => Some(Revisions::Stateless),
        Failure::UncorrelatedErrorResponse { .. }
        | Failure::NoCompatibleProtocolVersion { .. }
        | Failure::ExpectedInitResult(_)
        | Failure::ConnectionClosed(_)
        | Failure::TransportError { .. } => Some(Revisions::WithHandshake),
        _ => None,
    }
}

fn failure_reason(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => root_cause(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => failure_reason(fallback),
        other => root_cause(other),
    }
}

/// Returns the root cause of an error. The outer errors name types, and URLs that may contain keys.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    loop {
        let request = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(request)) => Some(request as &(dyn Error + 'static)),
            _ => error.source(),
        };
        match request {
            Some(cause) => error = cause,
            None => return fit_columns(&terminal_safe_line(&error.to_string()), MAX_MESSAGE_WIDTH),
        }
    }
}
