//! Titles and recaps of session files: reads the session, decides whether a text is wanted, and
//! writes it into the session's files.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::excerpt::Excerpt;
use super::generator::{Generator, Kind, TextEngine};
use super::outcome::{NoText, Reason, Text, extension};
use super::recap::RecapSkipped;
use super::staleness::since_stale_title;
use crate::agent::NamedRoots;
use crate::client::model::Request;
use crate::io::Moment;
use crate::jsonl::Mapping;
use crate::message::SessionId;
use crate::session::durable::{self, FileSystems, RecordError};
use crate::session::record::{ForeignSession, RecordOutcome};
use crate::session::{Facts, ManualTitle, Scope, Session, TitleSource, has_agent};
use crate::state::{SessionDirectory, SessionKey, SessionScope, SessionState, StateRoot};

/// Attempts of `--auto` to title a session.
const MAX_TITLE_ATTEMPTS: u32 = 3;

/// A generated text.
pub struct GeneratedText {
    /// The title or the recap.
    pub text: Text,
    /// The file that the text was written to; `None` if writing was not requested.
    pub record_outcome: Option<RecordOutcome>,
}

impl From<Text> for GeneratedText {
    fn from(text: Text) -> Self {
        Self {
            text,
            record_outcome: None,
        }
    }
}

/// A session with the part of its conversation that titles and recaps need.
pub struct SessionExcerpt {
    /// The session.
    pub session: Session,
    /// Its id, title and directory.
    pub facts: Facts,
    /// The conversation since its last compaction.
    pub excerpt: Excerpt,
}

impl SessionExcerpt {
    /// Reads the session in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path, named: &NamedRoots, mapping: Mapping) -> Result<Self, NoText> {
        let session = Session::open_with(path, named).map_err(NoText::unreadable)?;
        let facts = session.summary(mapping).map_err(NoText::unreadable)?;
        let excerpt = read_excerpt(&session, Scope::SinceCompaction).map_err(NoText::unreadable)?;
        Ok(Self {
            session,
            facts,
            excerpt,
        })
    }

    /// Returns the source of the current title.
    fn title_source(&self) -> Option<TitleSource> {
        self.facts.title.as_ref().map(|title| title.source)
    }
}

/// Returns the state of a session, if it has an id.
fn state_directory(
    path: &Path,
    session: &SessionExcerpt,
    state: &StateRoot,
) -> Result<Option<SessionDirectory>, NoText> {
    let key = session.facts.session_id.as_deref().map(|id| SessionKey {
        id: SessionId::from(id),
        scope: SessionScope::from_path(path),
    });
    let directory = key.map(|key| state.open_session(&key)).transpose();
    directory.map_err(NoText::unreadable)
}

fn read_excerpt(session: &Session, scope: Scope) -> io::Result<Excerpt> {
    let mut excerpt = Excerpt::default();
    for message in session.messages(scope)? {
        excerpt.note(message?);
    }
    Ok(excerpt)
}

/// The conditions for automatic texts.
pub enum Auto {
    /// No conditions: the user requested the text.
    Off,
    /// Titles: if there is none, and not after `MAX_TITLE_ATTEMPTS`.
    Titles {
        /// Whether titles are enabled by the environment and the settings.
        enabled: bool,
        /// Contains the number of attempts.
        state: StateRoot,
    },
    /// Recaps: after an absence, if nothing is unanswered.
    Recaps {
        /// Minimum absence; `None` if the caller has checked the conditions.
        away: Option<Duration>,
    },
}

/// Generates one kind of text for sessions and streams.
pub struct Driver {
    /// Writes the texts.
    pub generator: Generator,
    /// The conditions for automatic texts.
    pub auto: Auto,
    /// Set if texts are written into the session's files: whether a title replaces the user's.
    pub write: Option<ManualTitle>,
    /// Whether an existing text of the same kind stays.
    pub keeps_texts: bool,
    /// Whether only stale titles are replaced.
    pub only_stale: bool,
    /// Clock and ids.
    pub moment: Moment,
    /// The agents of the configuration.
    pub named_roots: NamedRoots,
    /// Whether files are mapped into memory.
    pub mapping: Mapping,
}

impl Driver {
    /// Generates the text about the conversation of a stream.
    ///
    /// # Errors
    /// Returns the reason if there is no text.
    pub fn write_for_stream(&self, excerpt: &Excerpt) -> Result<Text, NoText> {
        match &self.auto {
            Auto::Titles { enabled: false, .. } => return Err(Reason::Disabled.into()),
            // The stream has ended, so its agent no longer runs.
            Auto::Recaps { away: Some(away) } => self.check_recap_due(excerpt, *away, || false)?,
            Auto::Off | Auto::Titles { .. } | Auto::Recaps { away: None } => {}
        }
        self.generator.text(excerpt)
    }

    /// Generates the text about a session, and writes it into its files if requested.
    ///
    /// # Errors
    /// Returns the reason if there is no text.
    pub fn write_for_session(
        &self,
        path: &Path,
        session: &SessionExcerpt,
    ) -> Result<GeneratedText, NoText> {
        self.check_wanted(path, session)?;
        let since = self.since_title(session)?;
        self.start_attempt(path, session)?;
        let text = self
            .generate(session, since.as_ref())
            .and_then(|text| self.reject_outdated(path, session, text));
        let Some(manual_title) = self.write else {
            return Ok(text?.into());
        };
        let text = text.map_err(|no_text| self.write_cost(session, no_text))?;
        self.write(session, text, manual_title)
    }

    /// Returns the request to a model that [`Self::write_for_session`] would send; `None` if it would send none.
    ///
    /// # Errors
    /// Returns the reason if no text is wanted.
    pub fn request(
        &self,
        path: &Path,
        session: &SessionExcerpt,
    ) -> Result<Option<Request>, NoText> {
        self.check_wanted(path, session)?;
        let since = self.since_title(session)?;
        let excerpt = since.as_ref().unwrap_or(&session.excerpt);
        Ok(self.generator.request(excerpt))
    }

    /// Returns the part of the conversation that a new title is about, if only stale titles are replaced.
    fn since_title(&self, session: &SessionExcerpt) -> Result<Option<Excerpt>, NoText> {
        self.only_stale
            .then(|| since_stale_title(&session.session, &session.facts))
            .transpose()
    }

    /// Generates the text about the conversation, or about its part since a stale title. Rules also see messages before a
    /// compaction; a model sees the agent's summary instead.
    fn generate(&self, session: &SessionExcerpt, since: Option<&Excerpt>) -> Result<Text, NoText> {
        if let Some(since) = since {
            return self.generator.text(since);
        }
        let current = &session.excerpt;
        if matches!(self.generator.engine, TextEngine::Rules)
            && current.is_compacted()
            && let Ok(everything) = read_excerpt(&session.session, Scope::AllBranches)
        {
            return self.generator.text(&everything.followed_by(current));
        }
        self.generator.text(current)
    }

    /// Checks whether a text is wanted, cheap checks first.
    fn check_wanted(&self, path: &Path, session: &SessionExcerpt) -> Result<(), NoText> {
        match &self.auto {
            Auto::Titles { enabled, state } => self.check_untitled(path, session, *enabled, state),
            Auto::Recaps { away: Some(away) } => {
                let now = self.moment.clock.now().into();
                self.check_recap_due(&session.excerpt, *away, || {
                    has_agent(&session.session, &session.facts, now)
                })
            }
            Auto::Off if self.write == Some(ManualTitle::Keep) && !self.only_stale => {
                self.check_replaceable(session)
            }
            Auto::Off | Auto::Recaps { away: None } => Ok(()),
        }
    }

    /// Checks that the session has no text that must not be replaced.
    fn check_replaceable(&self, session: &SessionExcerpt) -> Result<(), NoText> {
        let reason = match (self.generator.kind, session.title_source()) {
            (Kind::Title(_), Some(TitleSource::Manual)) => Some(Reason::ManualTitle),
            (Kind::Title(_), Some(TitleSource::Auto)) if self.keeps_texts => {
                Some(Reason::AlreadyTitled)
            }
            (Kind::Recap, _) if self.keeps_texts && session.excerpt.gate().is_recapped() => {
                Some(Reason::from(RecapSkipped::NotEnoughNew))
            }
            _ => None,
        };
        reason.map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Checks that a session may be titled automatically.
    fn check_untitled(
        &self,
        path: &Path,
        session: &SessionExcerpt,
        enabled: bool,
        state: &StateRoot,
    ) -> Result<(), NoText> {
        match session.title_source() {
            Some(TitleSource::Manual) => return Err(Reason::ManualTitle.into()),
            Some(TitleSource::Auto) => return Err(Reason::AlreadyTitled.into()),
            Some(TitleSource::Summary) | None => {}
        }
        if let Some(directory) = state_directory(path, session, state)? {
            let state = SessionState::load(&directory).map_err(NoText::unreadable)?;
            if state.title_attempts >= MAX_TITLE_ATTEMPTS {
                return Err(Reason::AttemptLimit.into());
            }
        }
        if !enabled {
            return Err(Reason::Disabled.into());
        }
        if matches!(self.generator.engine, TextEngine::None) {
            return Err(Reason::NoFastModel.into());
        }
        Ok(())
    }

    /// Counts an attempt to title a session automatically.
    fn start_attempt(&self, path: &Path, session: &SessionExcerpt) -> Result<(), NoText> {
        let Auto::Titles { state, .. } = &self.auto else {
            return Ok(());
        };
        if let Some(directory) = state_directory(path, session, state)? {
            SessionState::update(&directory, |state| state.title_attempts += 1)
                .map_err(NoText::unreadable)?;
        }
        Ok(())
    }

    fn check_recap_due(
        &self,
        excerpt: &Excerpt,
        away: Duration,
        has_agent: impl FnOnce() -> bool,
    ) -> Result<(), NoText> {
        let now = self.moment.clock.now();
        let due = excerpt.gate().decide(now, away, has_agent);
        due.map_err(|skipped| Reason::from(skipped).into())
    }

    /// Rejects an automatic recap if the conversation continued while it was generated.
    fn reject_outdated(
        &self,
        path: &Path,
        session: &SessionExcerpt,
        text: Text,
    ) -> Result<Text, NoText> {
        if let Auto::Recaps { .. } = self.auto {
            let current = SessionExcerpt::read(path, &self.named_roots, self.mapping)?.excerpt;
            if current.message_count() != session.excerpt.message_count() {
                return Err(NoText::from(Reason::from(RecapSkipped::Busy)).at_cost(text.cost));
            }
        }
        Ok(text)
    }

    fn write(
        &self,
        session: &SessionExcerpt,
        text: Text,
        manual_title: ManualTitle,
    ) -> Result<GeneratedText, NoText> {
        let side = extension(Some(text.model.clone()), text.cost.as_ref());
        // Never fails: all keys of its maps are strings.
        let side = serde_json::to_value(side).unwrap_or_default();
        let outcome = self.write_into(session, |files| match self.generator.kind {
            Kind::Title(_) => files.write_title(&text.text, manual_title, &side),
            Kind::Recap => files.write_recap(&text.text, &side),
        });
        match outcome {
            Ok(RecordOutcome::KeptManualTitle) => {
                Err(NoText::from(Reason::ManualTitle).at_cost(text.cost))
            }
            Ok(outcome) => Ok(GeneratedText {
                text,
                record_outcome: Some(outcome),
            }),
            Err(error) => Err(NoText::unreadable(error).at_cost(text.cost)),
        }
    }

    /// Writes the cost of a request without a text into the session's side file.
    fn write_cost(&self, session: &SessionExcerpt, no_text: NoText) -> NoText {
        let Some(cost) = no_text.cost.as_deref() else {
            return no_text;
        };
        // Never fails: all keys of its maps are strings.
        let side = serde_json::to_value(extension(None, Some(cost))).unwrap_or_default();
        match self.write_into(session, |files| files.write_cost(&side)) {
            Ok(_) => no_text,
            Err(error) => no_text.because(error.to_string()),
        }
    }

    fn write_into(
        &self,
        session: &SessionExcerpt,
        write: impl FnOnce(&mut ForeignSession) -> Result<RecordOutcome, RecordError>,
    ) -> Result<RecordOutcome, RecordError> {
        let SessionExcerpt { session, facts, .. } = session;
        let systems = FileSystems::Local;
        let mut files = ForeignSession::new(session, facts, systems, self.moment.clone());
        let recorded = write(&mut files)?;
        files.finish(durable::Sync::Data)?;
        Ok(recorded)
    }
}
