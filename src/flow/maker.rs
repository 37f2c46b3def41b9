//! Makes titles and recaps of conversations: by rules, or by asking a model.

use std::sync::Arc;

use super::ask::{Asker, Cost};
use super::each::Pace;
use super::excerpt::Excerpt;
use super::reason::{NoResult, Reason};
use crate::dialog::Role;
use crate::model::{Failure, Request};
use crate::side::recap::{RECAP_MESSAGES, clean_recap, recap_request};
use crate::side::title::{
    FEWEST_MESSAGES, TITLE_FUNCTION, TITLE_MESSAGES, TitleStyle, clean_title, title_question,
    title_request,
};
use crate::side::{Language, LanguageChoice, Rejection, Said, builtin, dominant_language};

/// What makes titles and recaps.
#[derive(Clone)]
pub enum Source {
    /// Nothing.
    Nobody,
    /// The rules.
    Rules,
    /// A model, asked no more often than the pace allows.
    Model(Asker, Arc<Pace>),
}

/// Makes titles and recaps.
#[derive(Clone)]
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
        let (asker, pace) = match &self.source {
            Source::Nobody => return Err(Reason::NoFastModel.into()),
            Source::Rules => return self.title_by_rules(excerpt),
            Source::Model(asker, pace) => (asker, pace),
        };
        let request = self.title_question(excerpt).ok_or(Reason::EmptyHistory)?;
        let language = self.language_of(excerpt);
        let (answer, cost) = ask(asker, pace, &request, |reply| {
            let value = reply
                .structured(TITLE_FUNCTION)
                .map_err(|error| error.to_string())?;
            match &value["title"] {
                serde_json::Value::String(title) => Ok(title.clone()),
                serde_json::Value::Number(number) => Ok(number.to_string()),
                _ => Err("the answer has no title".to_owned()),
            }
        })?;
        let title = clean_title(&answer, self.style)
            .map_err(|rejection| rejected(rejection, cost.clone()))?;
        checked(title, language, asker, cost)
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
            TitleStyle::Kebab => clean_title(&title, TitleStyle::Kebab)
                .map_err(|rejection| rejected(rejection, None))?,
        };
        Ok(by_rules(text))
    }

    /// The recap of a conversation.
    ///
    /// # Errors
    /// Why there is no recap.
    pub fn recap(&self, excerpt: &Excerpt) -> Result<Product, NoResult> {
        let (asker, pace) = match &self.source {
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
            Source::Model(asker, pace) => (asker, pace),
        };
        let request = self.recap_question(excerpt).ok_or(Reason::EmptyHistory)?;
        let language = self.language_of(excerpt);
        let (answer, cost) = ask(asker, pace, &request, |reply| Ok(reply.text.clone()))?;
        let recap = clean_recap(&answer).map_err(|rejection| rejected(rejection, cost.clone()))?;
        checked(recap, language, asker, cost)
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

fn ask(
    asker: &Asker,
    pace: &Pace,
    request: &Request,
    read: impl FnOnce(&crate::model::Reply) -> Result<String, String>,
) -> Result<(String, Option<Cost>), NoResult> {
    if asker.stop.is_stopped() {
        return Err(Reason::Aborted.into());
    }
    pace.wait();
    let (reply, cost) = asker.ask(request);
    match reply {
        _ if asker.stop.is_stopped() => Err(NoResult::from(Reason::Aborted).at_cost(cost)),
        Ok(reply) => match read(&reply) {
            Ok(answer) => Ok((answer, cost)),
            Err(error) => Err(NoResult::from(Reason::ModelError)
                .because(error)
                .at_cost(cost)),
        },
        Err(Failure::Aborted) => Err(NoResult::from(Reason::Aborted).at_cost(cost)),
        Err(failure) => {
            let reason = match failure {
                Failure::Empty { .. } => Reason::EmptyResult,
                _ => Reason::ModelError,
            };
            Err(NoResult::from(reason).of_failure(&failure).at_cost(cost))
        }
    }
}

fn rejected(rejection: Rejection, cost: Option<Cost>) -> NoResult {
    let why = match rejection {
        Rejection::Empty => "the answer is empty",
        Rejection::Refusal => "the answer is a refusal",
        Rejection::NoTag => "the answer has no tag",
        Rejection::PromptEcho => "the answer repeats an example of the prompt",
    };
    NoResult::from(Reason::EmptyResult)
        .because(why)
        .at_cost(cost)
}

/// The answer, if it is in the language that was asked for.
fn checked(
    text: String,
    language: Option<Language>,
    asker: &Asker,
    cost: Option<Cost>,
) -> Result<Product, NoResult> {
    if let Some(language) = language
        && !language.may_be_that_of(&text)
    {
        let why = format!("the answer is not in {}", language.name());
        return Err(NoResult::from(Reason::EmptyResult)
            .because(why)
            .at_cost(cost));
    }
    Ok(Product {
        text,
        model: asker.provider.name().to_owned(),
        cost,
    })
}
