//! The conversation that the main model continues.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;

use super::history::History;
use super::limits::Consumption;
use super::records::user_message;
use crate::agent::{is_in, own_format};
use crate::assemble::{CopyError, DialogStream, Understanding};
use crate::jsonl::{Mapping, Prefilter, Reader};
use crate::message::{Message, Origin, Usage};
use crate::records::Replacement;
use crate::run::results::persist;
use crate::session::{Detail, Facts, Prices, Scope, Session, SessionError};
use crate::state::{SessionKey, StateRoot};

/// A conversation with its usage.
#[derive(Default)]
pub struct TurnConversation {
    /// The messages.
    pub history: History,
    /// The model and usage of each reply.
    usage: Vec<(String, Usage)>,
    /// The id of the session, if it has one.
    pub session_id: Option<String>,
    /// The system prompt in the stream; empty if absent.
    pub instructions: String,
}

impl TurnConversation {
    /// Reads the conversation in a session file. `ancestors` returns the sessions that it continues.
    ///
    /// # Errors
    /// A file is unreadable, or not a session.
    pub fn read(
        path: &Path,
        ancestors: impl FnOnce(&Session, &Facts) -> Vec<Session>,
    ) -> Result<Self, SessionError> {
        let mut conversation = Self::default();
        let session = Session::open(path)?;
        let facts = session.summary(Mapping::Allowed)?;
        let prefilter = Prefilter::new(&SPECIAL_RECORDS).map_err(io::Error::other)?;
        let mut reader = Reader::new(File::open(path)?, prefilter);
        while let Some(piece) = reader.next_piece()? {
            for record in piece.records().0 {
                conversation.read_record(record.text(piece.raw()));
            }
        }
        for part in ancestors(&session, &facts).iter().chain([&session]) {
            for message in part.messages(Scope::SinceCompaction)? {
                conversation.add(message?);
            }
        }
        conversation.session_id = facts.session_id;
        Ok(conversation)
    }

    /// Reads the conversation on a stream. Also returns whether it was understood.
    ///
    /// # Errors
    /// Reading failed.
    pub fn read_stream(
        stream: impl Read + Send + 'static,
    ) -> Result<(Self, Understanding), CopyError> {
        let (mut messages, mut records) = (Vec::new(), Vec::new());
        let mut record_special = |record: &str| {
            if SPECIAL_RECORDS.iter().any(|needle| record.contains(needle)) {
                records.push(record.to_owned());
            }
        };
        let mut add_message = |message| messages.push(message);
        let result = DialogStream::read_all(stream, None, &mut record_special, &mut add_message);
        let (stream, mut understanding) = result?;
        if !messages.is_empty() {
            understanding = Understanding::Something;
        }
        let mut conversation = Self {
            session_id: stream.session_id().map(str::to_owned),
            instructions: stream.instructions().to_owned(),
            ..Self::default()
        };
        for record in records {
            conversation.read_record(&record);
        }
        for message in messages {
            conversation.add(message);
        }
        Ok((conversation, understanding))
    }

    /// Saves results that exceed the budget together in the state of the session. Returns their replacements.
    /// `warn` receives the failures.
    pub fn shorten(
        &mut self,
        session: &SessionKey,
        state: &StateRoot,
        warn: &dyn Fn(&str),
    ) -> Vec<Replacement> {
        let mut replacements = Vec::new();
        self.history.shorten(|id, text| {
            let directory = state.open_session(session);
            let saved = directory.and_then(|directory| {
                persist(&directory, &id.into(), |sink| {
                    sink.write_all(text.as_bytes())
                })
            });
            match saved {
                Ok(persisted) => {
                    let replacement = persisted.replacement(text);
                    replacements.push(Replacement {
                        tool_use_id: id.into(),
                        replacement: replacement.clone(),
                    });
                    Some(replacement)
                }
                Err(error) => {
                    warn(&format!("cannot save the result of {id}: {error}"));
                    None
                }
            }
        });
        replacements
    }

    /// Appends a message of the user.
    pub fn add_prompt(&mut self, text: String) {
        self.add(user_message(Origin::Prompt, text));
    }

    /// Takes the next message.
    pub fn add(&mut self, message: Message) {
        if let Some(usage) = message.usage {
            self.usage
                .push((message.model.clone().unwrap_or_default(), usage));
        }
        self.history.add(message);
    }

    /// Reads a record that may contain replacements of results, or the cost of another request.
    pub fn read_record(&mut self, record: &str) {
        #[derive(Deserialize)]
        struct Replacements {
            r#type: String,
            replacements: Vec<Replacement>,
        }
        if record.contains(REPLACEMENTS)
            && let Ok(replaced) = serde_json::from_str::<Replacements>(record)
            && is_in("content_replacement content-replacement", &replaced.r#type)
        {
            for replacement in replaced.replacements {
                self.history
                    .add_replacement(replacement.tool_use_id.0, replacement.replacement);
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
    pub fn consumption(&self, prices: &Prices) -> Consumption {
        let mut consumption = Consumption {
            turns: self.history.replies(),
            ..Consumption::default()
        };
        for (model, usage) in &self.usage {
            consumption.add(usage, prices.cost(model, usage));
        }
        consumption
    }
}

/// Needle of records with replacements of results.
const REPLACEMENTS: &str = "\"replacements\"";

/// Needle of records with the cost of another request.
const COSTS: &str = "\"prompt_id\"";

/// Needles of the records that [`TurnConversation::read_record`] reads.
const SPECIAL_RECORDS: [&str; 2] = [REPLACEMENTS, COSTS];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_replaced_by_records_of_either_name() {
        let history = |kind: &str| {
            let mut conversation = TurnConversation::default();
            let replacements = r#"[{"tool_use_id":"a","replacement":"gone"}]"#;
            conversation.read_record(&format!(
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
