//! The conversation that the main model continues.

use std::path::Path;

use serde::Deserialize;

use crate::agent::{is_in, own_format};
use crate::cmd::UsageError;
use crate::cmd::inputs::{report_foreign_stream, take_stdin};
use crate::cmd::session::names::read_messages;
use crate::io::Io;
use crate::jsonl::{Mapping, Prefilter, Reader};
use crate::message::{Message, Usage};
use crate::records::Replacement;
use crate::session::{Detail, Prices, Scope, Session};
use crate::turn::{History, Spent};

/// A conversation with its usage.
#[derive(Default)]
pub(crate) struct TurnConversation {
    pub(crate) history: History,
    /// The model and usage of each reply.
    usage: Vec<(String, Usage)>,
    pub(crate) session_id: Option<String>,
    /// The system prompt in the stream; empty if absent.
    pub(crate) instructions: String,
}

impl TurnConversation {
    /// Takes the next message.
    pub(crate) fn note(&mut self, message: Message) {
        if let Some(usage) = message.usage {
            self.usage
                .push((message.model.clone().unwrap_or_default(), usage));
        }
        self.history.note(message);
    }

    /// Reads a record that may contain replacements of results, or the cost of another request.
    fn record(&mut self, record: &str) {
        #[derive(Deserialize)]
        struct Replaced {
            r#type: String,
            replacements: Vec<Replacement>,
        }
        if record.contains(REPLACEMENTS)
            && let Ok(replaced) = serde_json::from_str::<Replaced>(record)
            && is_in("content_replacement content-replacement", &replaced.r#type)
        {
            for one in replaced.replacements {
                self.history.replacement(one.tool_use_id.0, one.replacement);
            }
        }
        if record.contains(COSTS)
            && let Some(entry) = own_format().read(record, Detail::Costs)
            && let Some(cost) = entry.side_cost
        {
            let model = cost.model.unwrap_or_default();
            self.usage.push((model, cost.usage));
        }
    }

    /// Returns the cost so far.
    pub(crate) fn spent(&self, prices: &Prices) -> Spent {
        let mut spent = Spent {
            turns: self.history.replies(),
            ..Spent::default()
        };
        for (model, usage) in &self.usage {
            spent.add(usage, prices.cost(model, usage));
        }
        spent
    }
}

/// Needle of records with replacements of results.
const REPLACEMENTS: &str = "\"replacements\"";

/// Needle of records with the cost of another request.
const COSTS: &str = "\"prompt_id\"";

/// Reads the conversation in a session file.
///
/// # Errors
/// The file is unreadable, or not a session.
pub(crate) fn read_file(path: &Path) -> Result<TurnConversation, UsageError> {
    let mut conversation = TurnConversation::default();
    let session = Session::open(path).map_err(UsageError::reason)?;
    let facts = session
        .summary(Mapping::Allowed)
        .map_err(UsageError::reason)?;
    conversation.session_id = facts.session_id;
    let prefilter = Prefilter::new(&[REPLACEMENTS, COSTS]).map_err(UsageError::reason)?;
    let file = std::fs::File::open(path).map_err(UsageError::reason)?;
    let mut reader = Reader::new(file, prefilter);
    while let Some(piece) = reader.next_piece().map_err(UsageError::reason)? {
        for record in piece.records().0 {
            conversation.record(record.text(piece.raw()));
        }
    }
    let messages = session.messages(Scope::SinceCompaction);
    for message in messages.map_err(UsageError::reason)? {
        conversation.note(message.map_err(UsageError::reason)?);
    }
    Ok(conversation)
}

/// Reads the conversation on standard input.
///
/// # Errors
/// Reading failed.
pub(crate) fn read_stdin(io: &mut Io) -> anyhow::Result<TurnConversation> {
    let mut conversation = TurnConversation::default();
    let stdin = take_stdin(io)?;
    let (mut messages, mut records) = (Vec::new(), Vec::new());
    let mut seen = |record: &str| {
        if record.contains(REPLACEMENTS) || record.contains(COSTS) {
            records.push(record.to_owned());
        }
    };
    let mut taken = |message| messages.push(message);
    let (stream, understanding) = read_messages(stdin, None, &mut seen, &mut taken)?;
    conversation.session_id = stream.session_id().map(str::to_owned);
    stream
        .instructions()
        .clone_into(&mut conversation.instructions);
    if messages.is_empty() {
        report_foreign_stream(understanding, &io.messages);
    }
    for record in records {
        conversation.record(&record);
    }
    for message in messages {
        conversation.note(message);
    }
    Ok(conversation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_replaced_by_records_of_either_name() {
        let history = |kind: &str| {
            let mut conversation = TurnConversation::default();
            let replacements = r#"[{"tool_use_id":"a","replacement":"gone"}]"#;
            conversation.record(&format!(
                r#"{{"type":"{kind}","replacements":{replacements}}}"#
            ));
            format!("{:?}", conversation.history)
        };
        assert_eq!(
            history("content_replacement"),
            history("content-replacement")
        );
        assert_ne!(history("content_replacement"), history("other"));
    }
}
