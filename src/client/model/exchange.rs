//! One attempt to get a reply. A response is checked in this order: status, content type, errors in
//! the content, then the content itself. Deltas are forwarded with secrets redacted.

use std::sync::Arc;
use std::time::Duration;

use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::outcome::{BodyEnd, finish_reply, malformed_reply, read_into_draft};
use super::server_error::ServerError;
use super::transport::Incoming;
use super::{Delivery, Failure, RefusalScope, Reply, ReplyEvent, ReplyPart};
use crate::api::{Api, Delta};
use crate::assemble::Draft;
use crate::client::http::{
    ContentType, Frames, HttpFailure, MessageSender, Redaction, StreamRedaction, retry_after,
};
use crate::io::{Clock, Ids};
use crate::jsonl::END_OF_EVENTS;
use crate::message::Usage;

/// Maximum size of an error response that is read, in bytes.
const MAX_ERROR_BYTES: usize = 256 * 1024;

/// Time to wait for the end of a complete response, so that its connection can be reused.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);

/// Reads the response to one request.
pub(super) struct ResponseReader<'a> {
    pub(super) api: Api,
    pub(super) delivery: Delivery,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) clock: &'a dyn Clock,
    /// Receives the deltas of the reply.
    pub(super) listener: Listener<'a>,
}

/// Framing of a response body.
enum Framing {
    /// One JSON value.
    Value,
    /// A stream of values.
    Stream(Frames),
}

impl ResponseReader<'_> {
    /// Returns the reply in a response.
    ///
    /// # Errors
    /// The response is not a complete, usable reply.
    pub(super) async fn read_reply(&mut self, incoming: Incoming) -> Result<Reply, Failure> {
        let mut incoming = check_status(incoming, self.clock).await?;
        let mut body = Vec::new();
        let content_type = incoming.response.content_type();
        let framing = loop {
            if let Some(framing) = detect_framing(self.api, self.delivery, content_type, &body)? {
                break framing;
            }
            let piece = incoming.next_piece().await?;
            body.extend(piece.ok_or_else(|| malformed_reply(&String::from_utf8_lossy(&body)))?);
        };
        if let Framing::Stream(frames) = framing {
            return self.read_stream(incoming, frames, body).await;
        }
        incoming.read_body(&mut body, usize::MAX).await?;
        let text = String::from_utf8_lossy(&body);
        self.read_whole(text.trim_start_matches('\u{feff}').trim())
            .await
    }

    async fn read_whole(&mut self, json: &str) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
            if error.is_eof() && !json.is_empty() {
                // A body shorter than its `content-length` fails in the HTTP client; this one had no length.
                return Err(cut_off_failure(Usage::default()));
            }
            return Err(malformed_reply(json));
        }
        read_into_draft(self.api, json, Delivery::Whole, &mut draft)?;
        self.listener.forward(draft.take_parts()).await;
        self.listener.finish().await;
        finish_reply(self.api, draft, BodyEnd::Value)
    }

    async fn read_stream(
        &mut self,
        mut incoming: Incoming,
        mut frames: Frames,
        mut buffered: Vec<u8>,
    ) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        let mut part_count = 0;
        loop {
            let piece = match std::mem::take(&mut buffered) {
                buffered if buffered.is_empty() => incoming.next_piece().await,
                buffered => Ok(Some(buffered)),
            };
            let piece = match piece {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(HttpFailure::Broken { .. }) => {
                    self.listener.forward(draft.take_parts()).await;
                    // The message of the server is more useful than the broken connection.
                    let reply = finish_reply(self.api, draft, BodyEnd::BrokenStream);
                    return reply.map_err(|failure| match failure {
                        Failure::Empty { usage, .. } => cut_off_failure(usage),
                        other => other,
                    });
                }
                Err(error) => return Err(error.into()),
            };
            let values = frames.push(&piece).map_err(|error| Failure::Malformed {
                reason: error.to_string(),
            })?;
            for json in values.iter().filter(|json| !json.trim().is_empty()) {
                self.read_part(json, &mut draft)
                    .map_err(|failure| soften_failure(failure, part_count))?;
                part_count += 1;
                self.listener.forward(draft.take_parts()).await;
            }
            if draft.is_closed {
                while let Ok(Ok(Some(_))) = timeout(DRAIN_TIMEOUT, incoming.next_piece()).await {}
                self.listener.finish().await;
                return finish_reply(self.api, draft, BodyEnd::Stream);
            }
        }
        if let Some(json) = frames.finish().filter(|json| !json.trim().is_empty()) {
            // JSON that ends early was cut off, and is not malformed.
            let is_torn = serde_json::from_str::<IgnoredAny>(&json).is_err();
            if !is_torn || json.trim() == END_OF_EVENTS {
                self.read_part(&json, &mut draft)?;
                self.listener.forward(draft.take_parts()).await;
            }
        }
        self.listener.finish().await;
        finish_reply(self.api, draft, BodyEnd::Stream)
    }

    fn read_part(&self, json: &str, draft: &mut Draft) -> Result<(), Failure> {
        if json.trim() == END_OF_EVENTS {
            draft.push(Delta::Closed);
            return Ok(());
        }
        read_into_draft(self.api, json, Delivery::Streamed, draft)
    }
}

/// Returns a response with a success status.
///
/// # Errors
/// The status is an error. The failure contains the server's message.
pub(super) async fn check_status(
    mut incoming: Incoming,
    clock: &dyn Clock,
) -> Result<Incoming, Failure> {
    let status = incoming.response.status;
    if (200..300).contains(&status) {
        return Ok(incoming);
    }
    let wait = retry_after(&incoming.response.headers, clock.now());
    if (300..400).contains(&status) {
        return Err(redirect_failure(status, &incoming));
    }
    let body = match incoming.response.content_type() {
        // HTML is not readable in a message.
        ContentType::Html => "a web page".to_owned(),
        ContentType::Compressed => COMPRESSED.to_owned(),
        _ => read_error_body(&mut incoming).await,
    };
    Err(ServerError::from_body(&body).into_failure(Some(status), wait))
}

fn cut_off_failure(usage: Usage) -> Failure {
    Failure::Cut { usage }
}

const COMPRESSED: &str = "the response is compressed, which the request did not allow";

/// Returns the framing by the content type, which may differ from the request, or else by the start of the body.
/// `None` if more of the body is needed.
fn detect_framing(
    api: Api,
    delivery: Delivery,
    content_type: ContentType,
    body: &[u8],
) -> Result<Option<Framing>, Failure> {
    const FIELDS: [&[u8]; 5] = [b":", b"data:", b"event:", b"id:", b"retry:"];
    let lines = || Framing::Stream(Frames::for_json_lines());
    let text = body
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(body)
        .trim_ascii_start();
    Ok(Some(match (content_type, text.first()) {
        (ContentType::EventStream, _) => Framing::Stream(Frames::for_events()),
        (ContentType::JsonLines, _) => lines(),
        (ContentType::Html, _) => {
            let reason =
                "the server sent a web page instead of a reply; check the address".to_owned();
            return Err(Failure::Malformed { reason });
        }
        (ContentType::Compressed, _) => {
            let reason = COMPRESSED.to_owned();
            return Err(Failure::Malformed { reason });
        }
        (ContentType::Json, Some(b'{')) if delivery == Delivery::Whole => Framing::Value,
        (_, Some(b'{' | b'[')) if api == Api::Ollama => lines(),
        (_, Some(b'{' | b'[')) => Framing::Value,
        // Some servers send events as JSON.
        _ if FIELDS.iter().any(|field| text.starts_with(field)) => {
            Framing::Stream(Frames::for_events())
        }
        _ => return Ok(None),
    }))
}

/// Makes a failure temporary if valid frames came before the malformed one.
fn soften_failure(failure: Failure, good_parts: usize) -> Failure {
    match failure {
        Failure::Malformed { reason } if good_parts > 0 => Failure::Overloaded {
            status: None,
            message: format!("a part of the stream is malformed: {reason}"),
            retry_after: None,
        },
        other => other,
    }
}

async fn read_error_body(incoming: &mut Incoming) -> String {
    let mut body = Vec::new();
    // A partial body is better than none if the connection breaks.
    let _ = incoming.read_body(&mut body, MAX_ERROR_BYTES).await;
    String::from_utf8_lossy(&body).into_owned()
}

fn redirect_failure(status: u16, incoming: &Incoming) -> Failure {
    let target = incoming
        .response
        .headers
        .get("location")
        .map_or("nowhere", String::as_str);
    Failure::Rejected {
        status: Some(status),
        message: format!("redirects are not followed; it points to {target}"),
        scope: RefusalScope::Everything,
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
pub(super) mod tests;

/// Forwards the deltas of one reply.
pub(super) struct Listener<'a> {
    task: &'a MessageSender<ReplyEvent>,
    redaction: Redaction,
    /// The current text and its redaction state, which holds back possible starts of secrets.
    current: Option<(Channel, StreamRedaction)>,
    has_begun: bool,
    has_block: bool,
}

/// A text that is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Text,
    Thinking,
    CallInput(usize),
}

impl<'a> Listener<'a> {
    /// Creates a listener.
    pub(super) fn new(task: &'a MessageSender<ReplyEvent>, redaction: Redaction) -> Self {
        Self {
            task,
            redaction,
            current: None,
            has_begun: false,
            has_block: false,
        }
    }

    /// Whether any delta was forwarded.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether a complete block was forwarded, that is, whether a later one has started.
    pub(super) fn has_block(&self) -> bool {
        self.has_block
    }

    /// Forwards deltas.
    pub(super) async fn forward(&mut self, parts: Vec<ReplyPart>) {
        for part in parts {
            match part {
                ReplyPart::Text(text) => self.add(Channel::Text, &text).await,
                ReplyPart::Thinking(text) => self.add(Channel::Thinking, &text).await,
                ReplyPart::CallInput { index, fragment } => {
                    self.add(Channel::CallInput(index), &fragment).await;
                }
                ReplyPart::CallBegins { .. } | ReplyPart::RedactedThinking(_) => {
                    self.has_block |= self.has_begun;
                    self.finish().await;
                    self.send(part).await;
                }
                ReplyPart::Signature(_) => {
                    self.finish().await;
                    self.send(part).await;
                }
            }
        }
    }

    /// Forwards the text held back so far.
    pub(super) async fn finish(&mut self) {
        if let Some((channel, mut text)) = self.current.take() {
            self.send_text(channel, text.take_delayed()).await;
        }
    }

    async fn add(&mut self, channel: Channel, part: &str) {
        if self
            .current
            .as_ref()
            .is_some_and(|(current, _)| *current != channel)
        {
            let is_input = matches!(channel, Channel::CallInput(_));
            self.has_block |= !is_input;
            self.finish().await;
        }
        let redaction = &self.redaction;
        let (_, text) = self
            .current
            .get_or_insert_with(|| (channel, StreamRedaction::new(redaction.clone())));
        let shown = text.push(part);
        self.send_text(channel, shown).await;
    }

    async fn send_text(&mut self, channel: Channel, text: String) {
        if text.is_empty() {
            return;
        }
        let part = match channel {
            Channel::Text => ReplyPart::Text(text),
            Channel::Thinking => ReplyPart::Thinking(text),
            Channel::CallInput(index) => ReplyPart::CallInput {
                index,
                fragment: text,
            },
        };
        self.send(part).await;
    }

    async fn send(&mut self, part: ReplyPart) {
        self.has_begun = true;
        // Without a receiver the reply is still read to its end.
        let _ = self.task.send(ReplyEvent::Part(part)).await;
    }
}
