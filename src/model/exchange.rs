//! One attempt to get a reply. An answer is judged in this order: its status, the type of its
//! content, errors in the content, and only then what it says.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::apis::{read_part, read_whole, senseless};
use super::dialect::Api;
use super::draft::{Delivered, Draft};
use super::listener::Listener;
use super::server_error::ServerError;
use super::transport::{Incoming, failure};
use super::{Delivery, Failure, Refused, Reply};
use crate::dialog::Usage;
use crate::http::{ContentType, EventStream, JsonLines, retry_after};
use crate::io::{Clock, Ids};

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
    /// Receives the parts of a streamed reply.
    pub(super) listener: Listener<'a>,
}

/// How the body of an answer is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// One JSON value.
    Value,
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

impl Reading<'_> {
    /// The reply in an answer.
    ///
    /// # Errors
    /// There is no whole, usable reply.
    pub(super) async fn reply(&mut self, mut incoming: Incoming) -> Result<Reply, Failure> {
        let status = incoming.response.status;
        if !(200..300).contains(&status) {
            let wait = retry_after(&incoming.response.headers, self.clock.now());
            if (300..400).contains(&status) {
                return Err(redirected(status, &incoming));
            }
            let body = beginning(&mut incoming).await;
            let kind = incoming.response.content_type();
            return Err(refused(status, kind, &body, wait));
        }
        match framing(self.api, self.delivery, incoming.response.content_type())? {
            Some(Framing::Value) => self.value(incoming).await,
            Some(framing) => self.stream(incoming, framing).await,
            None => self.unsaid(incoming).await,
        }
    }

    async fn value(&mut self, incoming: Incoming) -> Result<Reply, Failure> {
        let body = whole_body(incoming).await?;
        let draft = Draft::new(Arc::clone(&self.ids));
        self.whole(&String::from_utf8_lossy(&body), draft).await
    }

    async fn whole(&mut self, body: &str, mut draft: Draft) -> Result<Reply, Failure> {
        let json: Result<&serde_json::value::RawValue, _> = serde_json::from_str(body.trim());
        if let Err(error) = json {
            if error.is_eof() && !body.trim().is_empty() {
                // A body that is shorter than its declared length fails elsewhere; this one had no length.
                return Err(Failure::Cut {
                    cut: super::Cut::Connection,
                    usage: draft.usage,
                });
            }
            return Err(senseless(body));
        }
        read_whole(self.api, body.trim(), &mut draft)?;
        self.listener.tell(draft.take_events()).await;
        self.listener.finish().await;
        draft.settle(Delivered::AsOneValue)
    }

    async fn stream(&mut self, mut incoming: Incoming, framing: Framing) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        let mut frames = Frames::of(framing);
        let mut parts = 0;
        loop {
            let piece = match incoming.piece().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error @ crate::http::HttpFailure::Broken(_)) => {
                    self.listener.tell(draft.take_events()).await;
                    // What the server said is more useful than that the connection broke.
                    return draft
                        .settle(Delivered::InPart)
                        .map_err(|settled| match settled {
                            Failure::Empty { usage, .. } => failure(error, usage),
                            other => other,
                        });
                }
                Err(error) => return Err(failure(error, draft.usage)),
            };
            for json in frames.push(&piece)? {
                self.part(&json, &mut draft)
                    .map_err(|failure| spoiled(failure, parts))?;
                parts += 1;
                self.listener.tell(draft.take_events()).await;
            }
            if draft.is_complete() {
                while let Ok(Ok(Some(_))) = timeout(LAST_BYTES, incoming.piece()).await {}
                self.listener.finish().await;
                return draft.settle(Delivered::ToTheEnd);
            }
        }
        if let Some(json) = frames.rest() {
            // A torn end of a stream means that it was cut, not that it is malformed.
            let torn = serde_json::from_str::<serde::de::IgnoredAny>(&json).is_err();
            if !torn || json.trim() == DONE {
                self.part(&json, &mut draft)?;
                self.listener.tell(draft.take_events()).await;
            }
        }
        self.listener.finish().await;
        draft.settle(Delivered::ToTheEnd)
    }

    fn part(&self, json: &str, draft: &mut Draft) -> Result<(), Failure> {
        if json.trim() == DONE {
            draft.closed = true;
            return Ok(());
        }
        read_part(self.api, json, draft)
    }

    /// The server does not say what it sends: the first character decides.
    async fn unsaid(&mut self, incoming: Incoming) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        let body = whole_body(incoming).await?;
        let text = String::from_utf8_lossy(&body);
        let first = text.trim_start_matches('\u{feff}').trim_start();
        let framing = match first.bytes().next() {
            Some(b'{' | b'[') if self.api == Api::OllamaChat => Framing::Lines,
            Some(b'{' | b'[') => Framing::Value,
            Some(b':') => Framing::Events,
            Some(_) if first.starts_with("data:") || first.starts_with("event:") => Framing::Events,
            _ => return Err(senseless(&text)),
        };
        if framing == Framing::Value {
            return self.whole(first, draft).await;
        }
        let mut frames = Frames::of(framing);
        let mut parts = frames.push(&body)?;
        parts.extend(frames.rest());
        for json in parts {
            self.part(&json, &mut draft)?;
        }
        self.listener.tell(draft.take_events()).await;
        self.listener.finish().await;
        draft.settle(Delivered::ToTheEnd)
    }
}

async fn whole_body(mut incoming: Incoming) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = incoming
        .piece()
        .await
        .map_err(|error| failure(error, Usage::default()))?
    {
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// What `OpenAI`'s streams end with.
const DONE: &str = "[DONE]";

/// Takes a stream apart.
enum Frames {
    Events(EventStream),
    Lines(JsonLines),
}

impl Frames {
    fn of(framing: Framing) -> Self {
        match framing {
            Framing::Events => Self::Events(EventStream::default()),
            Framing::Lines | Framing::Value => Self::Lines(JsonLines::default()),
        }
    }

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

/// How an answer is framed: by what the server says, not by what was requested. `None` if it does
/// not say.
fn framing(
    api: Api,
    delivery: Delivery,
    content_type: ContentType,
) -> Result<Option<Framing>, Failure> {
    Ok(Some(match content_type {
        ContentType::EventStream => Framing::Events,
        ContentType::JsonLines => Framing::Lines,
        ContentType::Json if api == Api::OllamaChat && delivery == Delivery::Streamed => {
            Framing::Lines
        }
        ContentType::Json => Framing::Value,
        ContentType::Html => {
            let reason =
                "the server sent a web page instead of an answer; check the address".to_owned();
            return Err(Failure::Malformed { reason });
        }
        ContentType::Other | ContentType::Unsaid => return Ok(None),
    }))
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
    while let Ok(Some(piece)) = incoming.piece().await {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST_ERROR {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

fn refused(status: u16, kind: ContentType, body: &str, wait: Option<Duration>) -> Failure {
    let body = match kind {
        // The markup of an error page is useless in a message.
        ContentType::Html => "a web page",
        _ => body,
    };
    ServerError::of_body(body).failure(Some(status), wait)
}

fn redirected(status: u16, incoming: &Incoming) -> Failure {
    let to = incoming
        .response
        .headers
        .get("location")
        .unwrap_or("nowhere");
    Failure::Rejected {
        status: Some(status),
        message: format!("redirects are not followed; it points to {to}"),
        what: Refused::Everything,
    }
}

#[cfg(test)]
#[path = "samples.rs"]
pub(super) mod samples;
#[cfg(test)]
#[path = "exchange_tests.rs"]
pub(super) mod tests;
