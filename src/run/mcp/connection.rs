//! The connection to a server.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, InputResponses,
    ProgressNotificationParam, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult,
    ServerResult, SubscriptionFilter, Tool as RemoteTool,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep, timeout};

use super::config::McpFailure;
use super::content::{MAX_TEXT_LENGTH, Output, truncate_text};
use super::handshake::{Listener, Revisions, Route, StartFailure, connect, root_cause};
use super::input::ServerUser;
use super::listing::{self, Items};
use super::process::{MAX_MESSAGE_WIDTH, ServerProcess};
use crate::client::http::MessageSender;
use crate::io::{CancelToken, Lock};
use crate::run::tools::Input;
use crate::text::{fit_columns, terminal_safe_line};

/// Timeout for notifying a server that a call or the connection has ended.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for the exit of a program after the end of its output.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum factor by which progress notifications extend the timeout of a call.
const MAX_EXTENSION: u32 = 6;

/// Maximum number of responses to a call that want input.
const MAX_ROUNDS: u32 = 10;

/// Time after which a request is sent again to a busy server, times the number of its responses.
const BUSY_DELAY: Duration = Duration::from_millis(20);

/// Minimum interval between reports of the progress of a call.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// A connected server, and its process if it has one.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    /// `None` after the connection was closed.
    service: Mutex<Option<RunningService<RoleClient, Listener>>>,
    process: Option<ServerProcess>,
    output: Arc<Output>,
    progress: broadcast::Sender<ProgressNotificationParam>,
    user: ServerUser,
    /// Whether a request could not be sent, or its response did not arrive.
    is_lost: AtomicBool,
}

impl Connection {
    /// Connects to a server and lists its tools.
    pub(super) async fn open(
        route: Route,
        revisions: Revisions,
        process: Option<ServerProcess>,
        listener: Listener,
        limit: Duration,
    ) -> Result<(Self, Items<RemoteTool>), StartFailure> {
        let output = Arc::<Output>::default();
        let (changed, progress) = (Arc::clone(&listener.changed), listener.progress.clone());
        let (user, stop) = (listener.user.clone(), listener.stop.clone());
        let opening = async {
            let connected = connect(listener, route, revisions, Arc::clone(&output)).await;
            let service = match connected {
                Ok(service) => service,
                Err(failure) => {
                    return Err(explain_failure(failure, &output, process.as_ref()).await);
                }
            };
            match listing::list_tools(service.peer()).await {
                Ok(tools) => Ok((service, tools)),
                Err(reason) if !service.peer().is_transport_closed() => Err(reason.into()),
                Err(reason) => Err(explain_failure(reason.into(), &output, process.as_ref()).await),
            }
        };
        match with_time_limit(limit, &stop, Box::pin(opening)).await {
            Ok((service, tools)) => {
                let connection = Self {
                    peer: service.peer().clone(),
                    service: Mutex::new(Some(service)),
                    process,
                    output,
                    progress,
                    user,
                    is_lost: AtomicBool::default(),
                };
                connection.subscribe(changed);
                Ok((connection, tools))
            }
            Err(failure) => {
                if let Some(process) = process {
                    process.end().await;
                }
                Err(failure)
            }
        }
    }

    /// Subscribes to changes of the tools. Servers with a handshake report them unasked.
    fn subscribe(&self, changed: Arc<AtomicBool>) {
        let info = self.peer.peer_info();
        let needs_subscription = info.is_some_and(|info| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize()
                && tools.is_some_and(|tools| tools.list_changed == Some(true))
        });
        if needs_subscription {
            let peer = self.peer.clone();
            tokio::spawn(async move {
                let filter = SubscriptionFilter::builder().tools_list_changed().build();
                let Ok(mut subscription) = peer.listen(filter).await else {
                    return;
                };
                while let Ok(Some(_)) = subscription.next().await {
                    changed.store(true, Ordering::Relaxed);
                }
            });
        }
    }

    /// Returns the negotiated revision of the protocol.
    pub(super) fn revision(&self) -> String {
        let info = self.peer.peer_info();
        info.map_or_else(String::new, |info| info.protocol_version.to_string())
    }

    /// Whether the server claims to have resources.
    pub(super) fn has_resources(&self) -> bool {
        listing::has_resources(&self.peer)
    }

    /// Lists the tools.
    pub(super) async fn list_tools(
        &self,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<Items<RemoteTool>, String> {
        self.list_items(listing::list_tools(&self.peer), limit, stop)
            .await
    }

    /// Lists the resources and the templates of their addresses.
    pub(super) async fn list_resources(
        &self,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<Items<Value>, String> {
        let listing = listing::list_resources(&self.peer);
        self.list_items(listing, limit, stop).await
    }

    async fn list_items<Item>(
        &self,
        listing: impl Future<Output = Result<Items<Item>, String>>,
        limit: Duration,
        stop: &CancelToken,
    ) -> Result<Items<Item>, String> {
        self.output.reset();
        match with_time_limit(limit, stop, listing).await {
            Ok(items) => Ok(items),
            Err(reason) => Err(self.add_cause(reason).await),
        }
    }

    /// Calls a tool.
    pub(super) async fn call_tool(
        &self,
        tool: String,
        input: Input,
        waiting: WaitConditions,
    ) -> Result<CallToolResult, McpFailure> {
        let request = |responses, state| {
            let mut parameters =
                CallToolRequestParams::new(tool.clone()).with_arguments(input.clone());
            (parameters.input_responses, parameters.request_state) = (responses, state);
            ClientRequest::CallToolRequest(CallToolRequest::new(parameters))
        };
        match self.complete_request(request, &waiting).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::EmptyResult(_) => Ok(CallToolResult::default()),
            _ => Err(unusable_response("a tool result")),
        }
    }

    /// Reads a resource.
    pub(super) async fn read_resource(
        &self,
        uri: String,
        waiting: WaitConditions,
    ) -> Result<ReadResourceResult, McpFailure> {
        let request = |responses, state| {
            let mut parameters = ReadResourceRequestParams::new(uri.clone());
            (parameters.input_responses, parameters.request_state) = (responses, state);
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(parameters))
        };
        match self.complete_request(request, &waiting).await? {
            ServerResult::ReadResourceResult(result) => Ok(result),
            _ => Err(unusable_response("a resource")),
        }
    }

    /// Sends a request until its response needs no further input of the user. `request` builds the request from the
    /// user's responses to the last response of the server, and from the state in that response.
    async fn complete_request(
        &self,
        request: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
        waiting: &WaitConditions,
    ) -> Result<ServerResult, McpFailure> {
        let (mut responses, mut state) = (None, None);
        for round in 1..=MAX_ROUNDS {
            let next_request = request(responses.take(), state.take());
            let needed = match self.send_request(next_request, waiting).await? {
                ServerResult::InputRequiredResult(needed) => needed,
                other => return Ok(other),
            };
            state = needed.request_state;
            let requests = needed.input_requests.unwrap_or_default();
            if requests.is_empty() {
                // The server is busy.
                sleep(BUSY_DELAY.saturating_mul(round)).await;
            } else {
                responses = Some(self.user.respond(requests, &waiting.cancel).await?);
            }
        }
        let problem = format!("it wants input for the {MAX_ROUNDS}th time");
        Err(McpFailure::Failed(problem))
    }

    async fn send_request(
        &self,
        request: ClientRequest,
        waiting: &WaitConditions,
    ) -> Result<ServerResult, McpFailure> {
        self.output.reset();
        let response = self.await_response(request, waiting).await;
        // The limit applies to each response.
        self.output.reset();
        match response {
            Err(McpFailure::Failed(reason)) => {
                Err(McpFailure::Failed(self.add_cause(reason).await))
            }
            other => other,
        }
    }

    /// Sends a request and waits for its response. Notifications of progress restart the timeout.
    async fn await_response(
        &self,
        request: ClientRequest,
        waiting: &WaitConditions,
    ) -> Result<ServerResult, McpFailure> {
        let WaitConditions {
            cancel,
            limit,
            reporter,
        } = waiting;
        let limit = *limit;
        let options = PeerRequestOptions::no_options();
        let mut progress = self.progress.subscribe();
        let sent = tokio::select! {
            sent = self.peer.send_request_with_option(request, options) => sent,
            () = cancel.wait() => return Err(McpFailure::Cancelled),
            () = sleep(limit) => return Err(McpFailure::TimedOut(limit)),
        };
        let mut handle = sent.map_err(|error| self.failure_of(error))?;
        let mut idle_timeout = pin!(sleep(limit));
        let total = limit.saturating_mul(MAX_EXTENSION);
        let mut total_timeout = pin!(sleep(total));
        let mut last_report: Option<Instant> = None;
        let failure = loop {
            tokio::select! {
                answer = &mut handle.rx => {
                    let response = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return response.map_err(|error| self.failure_of(error));
                }
                () = cancel.wait() => break McpFailure::Cancelled,
                () = &mut idle_timeout => break McpFailure::TimedOut(limit),
                () = &mut total_timeout => break McpFailure::TimedOut(total),
                note = progress.recv() => {
                    // Missed notifications are ignored, since later ones follow.
                    let relevant = note.ok().filter(|note| note.progress_token == handle.progress_token);
                    let Some(note) = relevant else {
                        continue;
                    };
                    idle_timeout.set(sleep(limit));
                    let now = Instant::now();
                    if last_report.is_none_or(|last| now.duration_since(last) >= PROGRESS_INTERVAL) {
                        last_report = Some(now);
                        // If the channel is full, the caller is slower and needs no further report.
                        let _ = reporter.try_send(describe_progress(&note));
                    }
                }
            }
        };
        // The server may have stopped reading.
        let _ = timeout(CANCEL_TIMEOUT, handle.cancel(None)).await;
        Err(failure)
    }

    fn failure_of(&self, error: ServiceError) -> McpFailure {
        McpFailure::Failed(match error {
            ServiceError::McpError(error) => {
                let mut message = error.message.into_owned();
                truncate_text(&mut message, MAX_TEXT_LENGTH);
                message
            }
            other => {
                // Over HTTP, another server may respond to the next call.
                self.is_lost.store(true, Ordering::Relaxed);
                root_cause(&other)
            }
        })
    }

    /// Whether the server has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed) || self.peer.is_transport_closed()
    }

    /// Closes the connection, and ends the process if it does not exit.
    pub(super) async fn end(&self) {
        let service = self.service.lock_anyway().take();
        if let Some(service) = service {
            // A server that does not end is killed.
            let _ = timeout(CANCEL_TIMEOUT, service.cancel()).await;
        }
        if let Some(process) = &self.process {
            process.end().await;
        }
    }

    /// Returns the reason for a failure: the end of the process, if it has ended.
    async fn add_cause(&self, reason: String) -> String {
        if !self.is_closed() {
            return reason;
        }
        let cause = find_cause(&self.output, self.process.as_ref()).await;
        cause.unwrap_or(reason)
    }
}

/// The conditions of waiting for the response to a call.
pub(super) struct WaitConditions {
    pub(super) cancel: CancelToken,
    /// Maximum time without a response or progress.
    pub(super) limit: Duration,
    /// Receives the progress.
    pub(super) reporter: MessageSender<String>,
}

/// Describes progress on one line.
fn describe_progress(note: &ProgressNotificationParam) -> String {
    let mut text = note.progress.to_string();
    if let Some(total) = note.total {
        text = format!("{text}/{total}");
    }
    if let Some(message) = &note.message {
        text = format!("{text} {message}");
    }
    fit_columns(&terminal_safe_line(&text), MAX_MESSAGE_WIDTH)
}

fn unusable_response(expected: &str) -> McpFailure {
    McpFailure::Failed(format!("the response is not {expected}"))
}

/// Replaces the reason of a failure by the reason why the server ended, if known.
async fn explain_failure(
    failure: StartFailure,
    output: &Output,
    process: Option<&ServerProcess>,
) -> StartFailure {
    let StartFailure { reason, retry } = failure;
    StartFailure {
        reason: find_cause(output, process).await.unwrap_or(reason),
        retry: retry.filter(|_| output.violation().is_none()),
    }
}

/// Returns the reason why a server ended, if known.
async fn find_cause(output: &Output, process: Option<&ServerProcess>) -> Option<String> {
    match output.violation() {
        Some(violation) => Some(violation.to_owned()),
        None => process?.wait_for_end(EXIT_TIMEOUT).await,
    }
}

/// Waits for a server until a timeout or the end of the run.
async fn with_time_limit<Output, Failure: From<String>>(
    limit: Duration,
    stop: &CancelToken,
    work: impl Future<Output = Result<Output, Failure>>,
) -> Result<Output, Failure> {
    tokio::select! {
        done = work => done,
        () = sleep(limit) => Err(format!("no response within {} s", limit.as_secs_f32()).into()),
        () = stop.wait() => Err("the run ended".to_owned().into()),
    }
}
