//! `title --batch`: titles of many sessions, asked for together and written later.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;

use super::output;
use super::per_session::{Made, PerSession, Summary, of_named, read};
use super::progress::ProgressLine;
use super::session_names::{NamedSession, StandardInput};
use super::title::Titles;
use super::{Globals, Outcome, UsageError};
use crate::flow::{Asker, Maker, NoResult, Reason, Source, each_in_order};
use crate::io::Io;
use crate::model::{Answered, BatchEndpoint, BatchState, Delivery, Failure, Reply};
use crate::session::Prices;
use crate::state::{BatchFiles, OpenBatch};
use crate::text::counted;
use crate::wire::SessionId;

/// What a batch costs, of the price of as many single requests.
const SHARE_OF_PRICE: f64 = 0.5;

/// What to do with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BatchStep {
    /// Send it
    Submit,
    /// Fetch what is answered, and write it into the sessions
    Collect,
}

/// A session whose title is asked for.
struct Question {
    path: PathBuf,
    body: String,
}

impl Titles<'_> {
    /// Sends the questions about all sessions, and notes what they are about.
    ///
    /// # Errors
    /// The model takes no batches, or state or output cannot be written.
    pub(super) fn submit(&self, io: &mut Io) -> anyhow::Result<Outcome> {
        let Source::Model(asker) = &self.maker.source else {
            let error = UsageError::new("--batch needs a model that can be asked");
            return Err(error
                .with_hint("name one with `--model PROVIDER:MODEL`")
                .into());
        };
        let name = asker.provider.name();
        let Some(endpoint) = asker.provider.batches() else {
            let error = UsageError::new(format!("`{name}` takes no batches"));
            return Err(error
                .with_hint("without `--batch` it is asked at once")
                .into());
        };
        let StandardInput::List(sessions) = self.arguments.common.input(io)? else {
            let error = UsageError::new("--batch: a conversation on standard input has no file");
            return Err(error
                .with_hint("name sessions, or pipe `session list --json`")
                .into());
        };
        let files = self.state.batches()?;
        let open = files.open()?;
        let waiting = open.values().flat_map(|batch| batch.sessions.values());
        let waiting: HashSet<&Path> = waiting.map(PathBuf::as_path).collect();
        let quiet = self.runner.quiet;
        let progress = ProgressLine::of_sessions("reading", sessions.len(), quiet, io);
        let mut all: Vec<Made> = Vec::new();
        let mut questions: Vec<(usize, Question)> = Vec::new();
        each_in_order(
            &sessions,
            self.arguments.common.source.jobs().get(),
            |session| self.question(session, asker, &waiting),
            |place, (session_id, question)| -> anyhow::Result<()> {
                progress.advance();
                let session = &sessions[place];
                let result = question.map(|question| questions.push((place, question)));
                all.push(Made {
                    is_alone: sessions.len() == 1,
                    path: Some(session.name.clone()),
                    session_id,
                    result: Err(result.err().unwrap_or(Reason::InBatch.into())),
                });
                Ok(())
            },
        )?;
        drop(progress);
        let progress = ProgressLine::spinner("sending", quiet, io);
        let mut sent = 0;
        for part in parts(questions, endpoint.limits()) {
            match self.send(endpoint, asker, &files, &part)? {
                Ok(()) => sent += part.len(),
                Err(failure) => {
                    for (place, _) in &part {
                        all[*place].result = Err(failure.clone().into());
                    }
                }
            }
        }
        drop(progress);
        if sent > 0 {
            self.runner.messages.note(&format!(
                "asked for {}; `turnpipe title --batch collect` fetches them",
                titles(sent)
            ));
        }
        self.finish(all, io)
    }

    fn question(
        &self,
        session: &NamedSession,
        asker: &Asker,
        waiting: &HashSet<&Path>,
    ) -> (Option<SessionId>, Result<Question, NoResult>) {
        let (path, conversation) = match read(session, &self.arguments.common.source) {
            Ok(found) => found,
            Err(nothing) => return (None, Err(nothing)),
        };
        let id = conversation.facts.session_id.clone().map(SessionId);
        // It may be collected from anywhere.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let question = || {
            if waiting.contains(path.as_path()) {
                return Err(Reason::InBatch.into());
            }
            self.may_begin(&path, &conversation)?;
            let request = self.request(&conversation.excerpt);
            let request = request.ok_or(Reason::EmptyHistory)?;
            Ok(asker.provider.body(&request, Delivery::Whole))
        };
        let question = question().map(|body| Question { path, body });
        (id, question)
    }

    /// Sends one batch. Its file is there before the provider may have it.
    fn send(
        &self,
        endpoint: &dyn BatchEndpoint,
        asker: &Asker,
        files: &BatchFiles,
        part: &[(usize, Question)],
    ) -> anyhow::Result<Result<(), Failure>> {
        let numbered = (0..).zip(part.iter().map(|(_, question)| question));
        let named: Vec<(String, &Question)> = numbered
            .map(|(number, question)| (format!("session-{number}"), question))
            .collect();
        let style = self.arguments.style.to_possible_value();
        let mut batch = OpenBatch {
            model: asker.provider.name().to_owned(),
            id: None,
            style: style.map_or_else(String::new, |style| style.get_name().to_owned()),
            sessions: named
                .iter()
                .map(|(name, question)| (name.clone(), question.path.clone()))
                .collect(),
        };
        let file = self.runner.moment.ids.uuid().to_string();
        files.save(&file, &batch)?;
        let requests: Vec<(String, String)> = named
            .into_iter()
            .map(|(name, question)| (name, question.body.clone()))
            .collect();
        match endpoint.submit(&requests, &asker.stop) {
            Ok(id) => {
                batch.id = Some(id);
                files.save(&file, &batch)?;
                Ok(Ok(()))
            }
            Err(failure) => {
                // After a refusal there is no batch; else there may be one.
                if matches!(failure, Failure::Rejected { .. } | Failure::Unusable { .. }) {
                    files.forget(&file)?;
                }
                Ok(Err(failure))
            }
        }
    }

    /// Fetches the answers of all batches that are over, and writes the titles.
    ///
    /// # Errors
    /// A model cannot be asked any more, or state or output cannot be read or written.
    pub(super) fn collect(&self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let files = self.state.batches()?;
        let progress = ProgressLine::spinner("fetching", self.runner.quiet, io);
        let messages = &self.runner.messages;
        let mut all = Vec::new();
        let mut open = 0;
        let batches = files.open()?;
        if batches.is_empty() {
            messages.note("no batch is open");
        }
        for (file, batch) in batches {
            let Some(id) = &batch.id else {
                messages.note(&format!(
                    "whether a batch of {} was taken is not known; they can be asked for again",
                    titles(batch.sessions.len())
                ));
                files.forget(&file)?;
                continue;
            };
            let model = &self.arguments.common.side.model;
            let provider = model.named_model(&batch.model, globals, io)?;
            let endpoint = provider.batches().ok_or_else(|| {
                UsageError::new(format!("`{}` takes no batches any more", batch.model))
            })?;
            match endpoint.state(id, &self.runner.stop.stop) {
                Ok(BatchState::Open) => {
                    open += batch.sessions.len();
                }
                Ok(BatchState::Ended(mut answers)) => {
                    for (name, path) in &batch.sessions {
                        let answer = answers.remove(name);
                        let answer = answer.unwrap_or(Err(Failure::Aborted));
                        all.push(self.write_answer(&batch, path, answer)?);
                    }
                    files.forget(&file)?;
                }
                Err(failure) => all.extend(batch.sessions.values().map(|path| Made {
                    is_alone: false,
                    path: Some(path.display().to_string()),
                    session_id: None,
                    result: Err(failure.clone().into()),
                })),
            }
        }
        drop(progress);
        if open > 0 {
            messages.note(&format!("not ready yet: {}", titles(open)));
        }
        let outcome = self.finish(all, io)?;
        let is_wanted = self.arguments.common.side.exit_status && open > 0;
        Ok(match outcome {
            Outcome::Done if is_wanted => Outcome::AnswerIsNo,
            outcome => outcome,
        })
    }

    /// Does with an answer what would have been done with it at once.
    fn write_answer(
        &self,
        batch: &OpenBatch,
        path: &Path,
        mut answer: Result<Reply, Failure>,
    ) -> anyhow::Result<Made> {
        if let Ok(reply) = &mut answer {
            let price = Prices::built_in().cost(&batch.model, &reply.usage);
            reply.usage.cost = price.map(|price| price * SHARE_OF_PRICE);
        }
        let style = ValueEnum::from_str(&batch.style, false).map_err(UsageError::new)?;
        let with_answer = Titles {
            maker: Maker {
                source: Source::Model(Asker {
                    provider: Arc::new(Answered::new(batch.model.clone(), answer)),
                    stop: self.runner.stop.stop.clone(),
                }),
                style,
                ..self.maker.clone()
            },
            state: self.state.clone(),
            ..*self
        };
        let session = NamedSession::new(&path.display().to_string(), Ok(path.to_owned()));
        Ok(Made {
            is_alone: false,
            ..of_named(&with_answer, &session, &self.arguments.common.source)
        })
    }

    fn finish(&self, all: Vec<Made>, io: &mut Io) -> anyhow::Result<Outcome> {
        let mut writer = output::writer(self.runner.form, io)?;
        let mut summary = Summary::new(self.runner);
        for made in all {
            let is_asked =
                matches!(&made.result, Err(nothing) if nothing.reason == Reason::InBatch);
            if !is_asked {
                summary.note(&made);
            }
            self.runner.print(self, made, &mut writer)?;
        }
        let outcome = summary.outcome(self.arguments.common.side.exit_status);
        Ok(self.runner.stop.or(outcome))
    }
}

fn titles(count: usize) -> String {
    counted(count as u64, "title", "titles")
}

/// The questions in parts that a batch can hold.
fn parts<Item: AsRef<str>>(
    questions: Vec<(usize, Item)>,
    (most, most_bytes): (usize, usize),
) -> Vec<Vec<(usize, Item)>> {
    let mut parts: Vec<Vec<(usize, Item)>> = Vec::new();
    let mut bytes = 0;
    for question in questions {
        // Room for the name, and for what is around a request.
        let length = question.1.as_ref().len() + 256;
        bytes += length;
        match parts.last_mut() {
            Some(part) if part.len() < most && bytes <= most_bytes => part.push(question),
            _ => {
                bytes = length;
                parts.push(vec![question]);
            }
        }
    }
    parts
}

impl AsRef<str> for Question {
    fn as_ref(&self) -> &str {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_holds_no_more_than_it_may() {
        let question = |place, length| (place, "x".repeat(length));
        let questions = vec![
            question(0, 10),
            question(1, 10),
            question(2, 600),
            question(3, 10),
        ];
        let places = |limits| -> Vec<Vec<usize>> {
            let parts = parts(questions.clone(), limits).into_iter();
            parts
                .map(|part| part.into_iter().map(|(place, _)| place).collect())
                .collect()
        };
        assert_eq!(places((2, 10_000)), [[0, 1], [2, 3]]);
        assert_eq!(places((9, 900)), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(places((9, 1)), [[0], [1], [2], [3]]);
        assert!(parts(Vec::<(usize, String)>::new(), (9, 9)).is_empty());
    }
}
