//! One attempt: a request out, an answer in. The order in which an answer is judged stands here:
//! status, type of the content, errors in it, and only then the content.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::apis::{read_part, read_whole, senseless};
use super::dialect::Api;
use super::draft::{Delivered, Draft};
use super::listener::Listener;
use super::server_error::ServerError;
use super::transport::{Incoming, failure};
use super::{Delivery, Failure, Reply};
use crate::http::{ContentType, EventStream, JsonLines, retry_after};
use crate::io::{Clock, Ids};

/// How much of an answer is read that is an error, in bytes.
const LONGEST_ERROR: usize = 256 * 1024;

/// How long is waited for the end of a connection whose answer is complete: one that has ended
/// can be used again.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// Reads the answer to one request.
pub(super) struct Reading<'a> {
    pub(super) api: Api,
    pub(super) delivery: Delivery,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) clock: &'a dyn Clock,
    /// Who is told the parts of a streamed reply.
    pub(super) listener: Listener<'a>,
}

/// How the body of an answer is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// One JSON value.
    Value,
    /// Server-sent events.
    Events,
    /// A JSON value a line.
    Lines,
}

impl Reading<'_> {
    /// The reply that an answer holds.
    ///
    /// # Errors
    /// It holds no whole, usable reply.
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

    async fn value(&mut self, mut incoming: Incoming) -> Result<Reply, Failure> {
        let draft = Draft::new(Arc::clone(&self.ids));
        let mut body = Vec::new();
        loop {
            match incoming.piece().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) => break,
                Err(error) => return Err(failure(error, draft.usage)),
            }
        }
        self.whole(&String::from_utf8_lossy(&body), draft).await
    }

    async fn whole(&mut self, body: &str, mut draft: Draft) -> Result<Reply, Failure> {
        let json: Result<&serde_json::value::RawValue, _> = serde_json::from_str(body.trim());
        if let Err(error) = json {
            if error.is_eof() && !body.trim().is_empty() {
                // Whoever sends a length and ends earlier is caught below; who sends none is here.
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
                    // What went wrong tells more than that the connection broke.
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
            // What is torn at the end of a stream is a cut, and no nonsense.
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

    /// The server does not say what it sends: its first sign does.
    async fn unsaid(&mut self, mut incoming: Incoming) -> Result<Reply, Failure> {
        let mut draft = Draft::new(Arc::clone(&self.ids));
        let mut body = Vec::new();
        loop {
            match incoming.piece().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) => break,
                Err(error) => return Err(failure(error, draft.usage)),
            }
        }
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
            Self::Events(stream) => stream.push(piece).map(|events| {
                let data = events.into_iter().map(|event| event.data);
                data.filter(|data| !data.trim().is_empty()).collect()
            }),
            Self::Lines(lines) => lines.push(piece),
        };
        parts.map_err(|error| Failure::Malformed {
            reason: error.to_string(),
        })
    }

    fn rest(self) -> Option<String> {
        let rest = match self {
            Self::Events(stream) => stream.rest().map(|event| event.data),
            Self::Lines(lines) => lines.rest(),
        };
        rest.filter(|rest| !rest.trim().is_empty())
    }
}

/// How an answer is framed. What the server says counts, not what it was asked for; `None` if it
/// does not say.
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
            let reason = "a web page came instead of an answer: is the address right?".to_owned();
            return Err(Failure::Malformed { reason });
        }
        ContentType::Other | ContentType::Unsaid => return Ok(None),
    }))
}

/// Who sent good parts before a senseless one speaks the right language, and may do better next
/// time.
fn spoiled(failure: Failure, good_parts: usize) -> Failure {
    match failure {
        Failure::Malformed { reason } if good_parts > 0 => Failure::Overloaded {
            status: None,
            message: format!("a part of the stream is spoiled: {reason}"),
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
        // The markup of some proxy's page tells nobody anything.
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
    }
}

#[cfg(test)]
#[path = "samples.rs"]
pub(super) mod samples;
#[cfg(test)]
#[path = "exchange_tests.rs"]
pub(super) mod tests;
