//! The start of a connection: transports, protocol revisions, notifications of the server, and its lists of tools
//! and resources.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, Tool as RemoteTool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RoleClient,
    RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use serde::Serialize;
use serde_json::Value;
use tokio::net::unix::pipe;
use tokio::sync::broadcast;

use super::content::{LimitedOutput, MAX_LINE_BYTES, Output};
use super::process::{Ends, MAX_MESSAGE_WIDTH};
use crate::text::{fitted, terminal_safe_line};

/// The transport of a connection.
pub(super) enum Route {
    /// Through pipes.
    Pipes(Ends),
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

/// Handles notifications of a server. Refuses all requests of servers.
pub(super) struct Listener {
    /// Set when the list of tools has changed.
    pub(super) changed: Arc<AtomicBool>,
    pub(super) progress: broadcast::Sender<ProgressNotificationParam>,
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
    let served = match route {
        Route::Pipes((to_server, from_server)) => {
            let pipes = pipe::Receiver::from_owned_fd(from_server).and_then(|receiver| {
                let sender = pipe::Sender::from_owned_fd(to_server)?;
                let lines = LimitedOutput::new(receiver, output);
                Ok(AsyncRwTransport::new_client(lines, sender))
            });
            let pipes = pipes.map_err(|error| error.to_string())?;
            serve_client_with_lifecycle(listener, pipes, lifecycle).await
        }
        Route::Http(client, config) => {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            serve_client_with_lifecycle(listener, transport, lifecycle).await
        }
    };
    served.map_err(|error| StartFailure {
        retry: retry(&error).filter(|_| revisions == Revisions::Any),
        reason: reason(&error),
    })
}

/// Returns the revisions to try after a failure of [`Revisions::Any`]. Some servers end, or respond too late for
/// the handshake that follows, when they are asked for the newest revision.
fn retry(error: &ClientInitializeError) -> Option<Revisions> {
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

fn reason(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => innermost(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => reason(fallback),
        other => innermost(other),
    }
}

/// Returns the root cause of an error. The outer errors name types, and URLs that may contain keys.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
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

/// Size of a page of a list in addition to its text, in bytes. Limits the number of empty pages.
const PAGE_OVERHEAD: usize = 1024;

/// Members of a resource that models do not need; icons may be long.
const OMITTED: [&str; 2] = ["icons", "_meta"];

/// Lists the tools. A server that does not claim to have tools may refuse the request.
pub(super) async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<RemoteTool>, String> {
    let listed = pages("tools", |parameters| async {
        let page = peer.list_tools(parameters).await?;
        Ok((page.tools, page.next_cursor))
    });
    let has_tools = || {
        peer.peer_info()
            .is_none_or(|info| info.capabilities.tools.is_some())
    };
    match listed.await {
        Err(_) if !has_tools() && !peer.is_transport_closed() => Ok(Vec::new()),
        listed => listed,
    }
}

/// Whether the server claims to have resources.
pub(super) fn has_resources(peer: &Peer<RoleClient>) -> bool {
    let info = peer.peer_info();
    info.is_some_and(|info| info.capabilities.resources.is_some())
}

/// Lists the resources, then the templates of their addresses.
pub(super) async fn resources(peer: &Peer<RoleClient>) -> Result<Vec<Value>, String> {
    let mut resources = values(
        pages("resources", |parameters| async {
            let page = peer.list_resources(parameters).await?;
            Ok((page.resources, page.next_cursor))
        })
        .await?,
    );
    let templates = pages("resource templates", |parameters| async {
        let page = peer.list_resource_templates(parameters).await?;
        Ok((page.resource_templates, page.next_cursor))
    });
    // Many servers have no templates, and refuse the request.
    resources.extend(templates.await.into_iter().flat_map(values));
    Ok(resources)
}

fn values(items: Vec<impl Serialize>) -> Vec<Value> {
    let values = items.into_iter().filter_map(|item| {
        let mut value = serde_json::to_value(item).ok()?;
        let members = value.as_object_mut()?;
        members.retain(|name, _| !OMITTED.contains(&name.as_str()));
        Some(value)
    });
    values.collect()
}

/// Reads all pages of a list, up to a limit.
async fn pages<Item: Serialize, Page>(
    name: &str,
    page: impl Fn(Option<PaginatedRequestParams>) -> Page,
) -> Result<Vec<Item>, String>
where
    Page: Future<Output = Result<(Vec<Item>, Option<String>), ServiceError>>,
{
    let (mut items, mut size, mut cursor) = (Vec::new(), 0, None);
    loop {
        let parameters = PaginatedRequestParams::default().with_cursor(cursor);
        let (listed, next) = page(Some(parameters))
            .await
            .map_err(|error| innermost(&error))?;
        let written = serde_json::to_vec(&listed).map_err(|error| error.to_string())?;
        size += PAGE_OVERHEAD + written.len();
        if size > MAX_LINE_BYTES {
            return Err(format!("its list of {name} is too long"));
        }
        items.extend(listed);
        cursor = next;
        if cursor.is_none() {
            return Ok(items);
        }
    }
}
