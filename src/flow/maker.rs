//! Makes titles and recaps of conversations: by rules, or by asking a model.

use super::ask::{Asker, Cost};
use super::excerpt::Excerpt;
use super::reason::{NoResult, Reason};
use crate::message::Role;
use crate::model::{Failure, Reply, Request};
use crate::side::recap::{RECAP_MESSAGES, clean_recap, recap_request};
use crate::side::title::{
    FEWEST_MESSAGES, TITLE_FUNCTION, TITLE_MESSAGES, TitleStyle, clean_title, title_question,
    title_request,
};
use crate::side::{Language, LanguageChoice, Said, builtin, dominant_language};

/// What makes titles and recaps.
pub enum Source {
    /// Nothing.
    Nobody,
    /// The rules.
    Rules,
    /// A model.
    Model(Asker),
}

/// Makes titles and recaps.
pub struct Maker {
    /// What makes them.
    pub source: Source,
    /// The system prompt.
    pub instructions: String,
    /// The language.
    pub language: LanguageChoice,
    /// How titles look.
    pub style: TitleStyle,
}

/// A title or a recap.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// The text: one line.
    pub text: String,
    /// What made it.
    pub model: String,
    /// What it cost.
    pub cost: Option<Cost>,
}

impl Maker {
    /// The title of a conversation.
    ///
    /// # Errors
    /// Why there is no title.
    pub fn title(&self, excerpt: &Excerpt) -> Result<Product, NoResult> {
        let asker = match &self.source {
            Source::Nobody => return Err(Reason::NoFastModel.into()),
            Source::Rules => return self.title_by_rules(excerpt),
            Source::Model(asker) => asker,
        };
        let request = self.title_question(excerpt).ok_or(Reason::EmptyHistory)?;
        let language = self.language_of(excerpt);
        answer(asker, &request, language, |reply| {
            let malformed = |reason| Failure::Malformed { reason };
            let value = reply.structured(TITLE_FUNCTION)?;
            let title = match &value["title"] {
                serde_json::Value::String(title) => title.clone(),
                serde_json::Value::Number(number) => number.to_string(),
                _ => return Err(malformed("it has no title".to_owned()).into()),
            };
            clean_title(&title, self.style)
                .map_err(|rejection| NoResult::unusable(rejection.to_string()))
        })
    }

    /// The request for a title; `None` if the conversation is too short.
    pub fn title_question(&self, excerpt: &Excerpt) -> Option<Request> {
        let spoken = excerpt.spoken();
        if spoken.messages().max(excerpt.messages()) < FEWEST_MESSAGES {
            return None;
        }
        let question = title_question(&spoken.recent_since_prompt(TITLE_MESSAGES))?;
        Some(title_request(
            question,
            &self.instructions,
            self.language_of(excerpt),
        ))
    }

    fn title_by_rules(&self, excerpt: &Excerpt) -> Result<Product, NoResult> {
        let texts = excerpt.texts();
        if excerpt.spoken().said().is_empty() && texts.is_empty() {
            return Err(Reason::EmptyHistory.into());
        }
        let title = builtin::title(&texts);
        if title.is_empty() {
            return Err(Reason::EmptyResult.into());
        }
        let text = match self.style {
            TitleStyle::Sentence => title,
            TitleStyle::Kebab => {
                clean_title(&title, TitleStyle::Kebab).map_err(|_| Reason::EmptyResult)?
            }
        };
        Ok(by_rules(text))
    }

    /// The recap of a conversation.
    ///
    /// # Errors
    /// Why there is no recap.
    pub fn recap(&self, excerpt: &Excerpt) -> Result<Product, NoResult> {
        let asker = match &self.source {
            Source::Nobody => return Err(Reason::NoFastModel.into()),
            Source::Rules => {
                let texts = excerpt.texts();
                if texts.is_empty() {
                    return Err(Reason::EmptyHistory.into());
                }
                let recap = builtin::recap(&texts);
                return if recap.is_empty() {
                    Err(Reason::EmptyResult.into())
                } else {
                    Ok(by_rules(recap))
                };
            }
            Source::Model(asker) => asker,
        };
        let request = self.recap_question(excerpt).ok_or(Reason::EmptyHistory)?;
        let language = self.language_of(excerpt);
        answer(asker, &request, language, |reply| {
            clean_recap(&reply.text).map_err(|rejection| NoResult::unusable(rejection.to_string()))
        })
    }

    /// The request for a recap; `None` if the conversation is too short.
    pub fn recap_question(&self, excerpt: &Excerpt) -> Option<Request> {
        let spoken = excerpt.spoken();
        if spoken.messages().max(excerpt.messages()) < FEWEST_MESSAGES {
            return None;
        }
        let said = spoken.recent_since_prompt(RECAP_MESSAGES);
        recap_request(&said, &self.instructions, self.language_of(excerpt))
    }

    /// The language of the answer: the one that the person writes in, if it can be detected.
    fn language_of(&self, excerpt: &Excerpt) -> Option<Language> {
        match self.language {
            LanguageChoice::Named(language) => Some(language),
            LanguageChoice::Conversation => {
                let spoken = excerpt.spoken();
                let said_by = |role: Role| {
                    let recent = spoken.said().iter().rev().take(TITLE_MESSAGES);
                    let said = recent.filter(|said| said.role == role).map(Said::text);
                    dominant_language(&said.collect::<Vec<_>>().join("\n\n"))
                };
                // A model answers in the language that it is asked in.
                said_by(Role::User).or_else(|| said_by(Role::Assistant))
            }
        }
    }
}

fn by_rules(text: String) -> Product {
    Product {
        text,
        model: builtin::MODEL.to_owned(),
        cost: None,
    }
}

/// What `read` finds in the answer of a model, if it is in the language that was asked for.
fn answer(
    asker: &Asker,
    request: &Request,
    language: Option<Language>,
    read: impl FnOnce(&Reply) -> Result<String, NoResult>,
) -> Result<Product, NoResult> {
    let (reply, cost) = asker.ask(request);
    let text = match reply {
        _ if asker.stop.is_cancelled() => Err(Reason::Aborted.into()),
        Ok(reply) => read(&reply),
        Err(failure) => Err(failure.into()),
    };
    let is_foreign = |text: &str| language.filter(|language| !language.may_be_that_of(text));
    match text {
        Ok(text) => match is_foreign(&text) {
            Some(language) => {
                let why = format!("it is not in {}", language.name());
                Err(NoResult::unusable(why).at_cost(cost))
            }
            None => Ok(Product {
                text,
                model: asker.provider.name().to_owned(),
                cost,
            }),
        },
        Err(nothing) => Err(nothing.at_cost(cost)),
    }
}
