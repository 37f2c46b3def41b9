//! One attempt to get a reply. An answer is judged in this order: its status, the type of its
//! content, errors in the content, and only then what it says.

use std::sync::Arc;
use std::time::Duration;

use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::listener::Listener;
use super::server_error::ServerError;
use super::settle::{Delivered, Extent, malformed, read, settle};
use super::transport::Incoming;
use super::{Cut, Delivery, Failure, Refused, Reply};
use crate::api::Api;
use crate::assemble::Draft;
use crate::http::{
    ContentType, EventStream, Headers, HttpFailure, JsonLines, Response, retry_after,
};
use crate::io::{Clock, Ids};
use crate::message::Usage;

/// How much of an error is read, in bytes.
const LONGEST_ERROR: usize = 256 * 1024;

/// How long to wait for the last bytes of a complete answer: the connection can be used again once
/// they are read.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// Reads the answer to one request.
pub(super) struct Reading<'a> {
    pub(super) api: Api,
    pub(super) delivery: Delivery,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) clock: &'a dyn Clock,
    /// Receives the parts of the reply.
    pub(super) listener: Listener<'a>,
}

/// How an answer is framed.
enum Framing {
    /// One JSON value.
    Value,
    /// A stream of values.
    Stream(Frames),
}

impl Reading<'_> {
    /// The reply in an answer.
    ///
    /// # Errors
    /// There is no whole, usable reply.
    pub(super) async fn reply(&mut self, incoming: Incoming) -> Result<Reply, Failure> {
        let mut incoming = successful(incoming, self.clock).await?;
        let framing = match framing(self.api, self.delivery, incoming.response.content_type())? {
            Some(Framing::Stream(frames)) => return self.stream(incoming, frames).await,
            other => other,
        };
        let mut body = Vec::new();
        incoming.read(&mut body, usize::MAX).await?;
        let text = String::from_utf8_lossy(&body);
        let text = text.trim_start_matches('\u{feff}').trim();
        match framing.map_or_else(|| guessed(self.api, text), Ok)? {
            Framing::Value => self.whole(text).await,
            Framing::Stream(frames) => {
                let status = incoming.response.status;
                let again = Response::recorded(status, Headers::new(), vec![body], None);
                self.stream(Incoming::untaped(again), frames).await
            }
        }
    }

    async fn whole(&mut self, json: &str) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
            if error.is_eof() && !json.is_empty() {
                // A body that is shorter than its declared length fails elsewhere; this one had no length.
                return Err(cut_off(Usage::default()));
            }
            return Err(malformed(json));
        }
        read(self.api, json, Extent::Whole, &mut draft)?;
        self.listener.tell(draft.take_parts()).await;
        self.listener.finish().await;
        settle(self.api, draft, Delivered::AsOneValue)
    }

    async fn stream(
        &mut self,
        mut incoming: Incoming,
        mut frames: Frames,
    ) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        let mut parts = 0;
        loop {
            let piece = match incoming.piece().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(HttpFailure::Broken { .. }) => {
                    self.listener.tell(draft.take_parts()).await;
                    // What the server said is more useful than that the connection broke.
                    let reply = settle(self.api, draft, Delivered::InPart);
                    return reply.map_err(|failure| match failure {
                        Failure::Empty { usage, .. } => cut_off(usage),
                        other => other,
                    });
                }
                Err(error) => return Err(error.into()),
            };
            for json in frames.push(&piece)? {
                self.part(&json, &mut draft)
                    .map_err(|failure| spoiled(failure, parts))?;
                parts += 1;
                self.listener.tell(draft.take_parts()).await;
            }
            if draft.closed {
                while let Ok(Ok(Some(_))) = timeout(LAST_BYTES, incoming.piece()).await {}
                self.listener.finish().await;
                return settle(self.api, draft, Delivered::ToTheEnd);
            }
        }
        if let Some(json) = frames.rest() {
            // A torn end of a stream means that it was cut, not that it is malformed.
            let torn = serde_json::from_str::<IgnoredAny>(&json).is_err();
            if !torn || json.trim() == DONE {
                self.part(&json, &mut draft)?;
                self.listener.tell(draft.take_parts()).await;
            }
        }
        self.listener.finish().await;
        settle(self.api, draft, Delivered::ToTheEnd)
    }

    fn part(&self, json: &str, draft: &mut Draft) -> Result<(), Failure> {
        if json.trim() == DONE {
            draft.closed = true;
            return Ok(());
        }
        read(self.api, json, Extent::Part, draft)
    }
}

/// Returns an answer whose status is a success.
///
/// # Errors
/// The status is another one. The failure has the server's message.
pub(super) async fn successful(
    mut incoming: Incoming,
    clock: &dyn Clock,
) -> Result<Incoming, Failure> {
    let status = incoming.response.status;
    if (200..300).contains(&status) {
        return Ok(incoming);
    }
    let wait = retry_after(&incoming.response.headers, clock.now());
    if (300..400).contains(&status) {
        return Err(redirected(status, &incoming));
    }
    let body = match incoming.response.content_type() {
        // The markup of an error page is useless in a message.
        ContentType::Html => "a web page".to_owned(),
        _ => beginning(&mut incoming).await,
    };
    Err(ServerError::of_body(&body).failure(Some(status), wait))
}

fn cut_off(usage: Usage) -> Failure {
    let cut = Cut::Connection;
    Failure::Cut { cut, usage }
}

/// What `OpenAI`'s streams end with.
const DONE: &str = "[DONE]";

/// Takes a stream apart.
enum Frames {
    Events(EventStream),
    Lines(JsonLines),
}

impl Frames {
    fn push(&mut self, piece: &[u8]) -> Result<Vec<String>, Failure> {
        let parts = match self {
            Self::Events(stream) => stream.push(piece),
            Self::Lines(lines) => lines.push(piece),
        };
        let mut parts = parts.map_err(|error| Failure::Malformed {
            reason: error.to_string(),
        })?;
        parts.retain(|part| !part.trim().is_empty());
        Ok(parts)
    }

    fn rest(self) -> Option<String> {
        let rest = match self {
            Self::Events(stream) => stream.rest(),
            Self::Lines(lines) => lines.rest(),
        };
        rest.filter(|rest| !rest.trim().is_empty())
    }
}

impl Framing {
    fn events() -> Self {
        Self::Stream(Frames::Events(EventStream::default()))
    }

    fn lines() -> Self {
        Self::Stream(Frames::Lines(JsonLines::default()))
    }
}

/// How an answer is framed: by what the server says, not by what was requested. `None` if it does
/// not say.
fn framing(
    api: Api,
    delivery: Delivery,
    content_type: ContentType,
) -> Result<Option<Framing>, Failure> {
    Ok(Some(match content_type {
        ContentType::EventStream => Framing::events(),
        ContentType::JsonLines => Framing::lines(),
        ContentType::Json if api == Api::Ollama && delivery == Delivery::Streamed => {
            Framing::lines()
        }
        ContentType::Json => Framing::Value,
        ContentType::Html => {
            let reason =
                "the server sent a web page instead of an answer; check the address".to_owned();
            return Err(Failure::Malformed { reason });
        }
        ContentType::Other | ContentType::Missing => return Ok(None),
    }))
}

/// How a body is framed, by its beginning.
fn guessed(api: Api, body: &str) -> Result<Framing, Failure> {
    if body.starts_with(['{', '[']) {
        return Ok(match api {
            Api::Ollama => Framing::lines(),
            _ => Framing::Value,
        });
    }
    if [":", "data:", "event:"]
        .iter()
        .any(|field| body.starts_with(field))
    {
        return Ok(Framing::events());
    }
    Err(malformed(body))
}

/// A server that sent good parts before a malformed one may do better next time.
fn spoiled(failure: Failure, good_parts: usize) -> Failure {
    match failure {
        Failure::Malformed { reason } if good_parts > 0 => Failure::Overloaded {
            status: None,
            message: format!("a part of the stream is malformed: {reason}"),
            retry_after: None,
        },
        other => other,
    }
}

async fn beginning(incoming: &mut Incoming) -> String {
    let mut body = Vec::new();
    // What came before the connection broke is better than nothing.
    let _ = incoming.read(&mut body, LONGEST_ERROR).await;
    String::from_utf8_lossy(&body).into_owned()
}

fn redirected(status: u16, incoming: &Incoming) -> Failure {
    let to = incoming
        .response
        .headers
        .get("location")
        .map_or("nowhere", String::as_str);
    Failure::Rejected {
        status: Some(status),
        message: format!("redirects are not followed; it points to {to}"),
        what: Refused::Everything,
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
pub(super) mod tests;
