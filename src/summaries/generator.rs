//! Titles and recaps of conversations, by rules or by a model, and the switches for them in the environment.

use serde_json::Value;

use super::ask::Asker;
use super::excerpt::Excerpt;
use super::outcome::{NoText, Reason, Text};
use super::recap::{
    RECAP_MESSAGES, clean_period_recap, clean_recap, period_request, recap_request,
};
use super::title::{
    MIN_MESSAGES, TITLE_FUNCTION, TitleStyle, clean_title, title_question, title_request,
};
use super::{Language, LanguageChoice, builtin};
use crate::client::model::{Failure, Reply, Request};

/// The writer of labels, titles and recaps.
pub enum TextEngine {
    /// No model is configured.
    None,
    /// The built-in rules.
    Rules,
    /// A model.
    Model(Asker),
}

/// A kind of text about a whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A title.
    Title(TitleStyle),
    /// A recap.
    Recap,
}

/// Writes one kind of text about conversations.
pub struct Generator {
    /// The kind of text.
    pub kind: Kind,
    /// The rules or the model.
    pub engine: TextEngine,
    /// The system prompt.
    pub instructions: String,
    /// The language of the text.
    pub language: LanguageChoice,
}

impl Generator {
    /// Writes the text about a conversation.
    ///
    /// # Errors
    /// Returns the reason if there is no text.
    pub fn text(&self, excerpt: &Excerpt) -> Result<Text, NoText> {
        let asker = match &self.engine {
            TextEngine::None => return Err(Reason::NoFastModel.into()),
            TextEngine::Rules => return self.apply_rules(excerpt),
            TextEngine::Model(asker) => asker,
        };
        let request = self.request(excerpt).ok_or(Reason::EmptyHistory)?;
        let language = self.language(excerpt);
        asker.text(&request, |reply, _| {
            let text = self.clean_reply(reply)?;
            match language.filter(|language| !language.is_plausible(&text)) {
                Some(language) => Err(NoText::unusable(format!("not in {}", language.name()))),
                None => Ok(text),
            }
        })
    }

    /// Returns the request to a model; `None` if the conversation is too short.
    pub fn request(&self, excerpt: &Excerpt) -> Option<Request> {
        let texts = excerpt.collect_texts();
        if texts.message_count().max(excerpt.message_count()) < MIN_MESSAGES {
            return None;
        }
        let language = self.language(excerpt);
        match self.kind {
            Kind::Title(_) => {
                let question =
                    title_question(&texts.recent_since_prompt(super::excerpt::TITLE_MESSAGES))?;
                Some(title_request(question, &self.instructions, language))
            }
            Kind::Recap => {
                let recent = texts.recent_since_prompt(RECAP_MESSAGES);
                recap_request(&recent, &self.instructions, language)
            }
        }
    }

    /// Returns the request for one recap over the sessions of `digest`, a page in Markdown.
    pub fn period_request(&self, digest: &str) -> Request {
        let language = match self.language {
            LanguageChoice::Named(language) => Some(language),
            LanguageChoice::Conversation => None,
        };
        period_request(digest, &self.instructions, language)
    }

    /// Asks the model for one recap over the sessions of `digest`, a page in Markdown.
    ///
    /// # Errors
    /// Returns the reason if there is no text.
    pub fn period_text(&self, digest: &str) -> Result<Text, NoText> {
        let TextEngine::Model(asker) = &self.engine else {
            return Err(Reason::NoFastModel.into());
        };
        asker.text(&self.period_request(digest), |reply, _| {
            Ok(clean_period_recap(&reply.text)?)
        })
    }

    fn clean_reply(&self, reply: &Reply) -> Result<String, NoText> {
        let Kind::Title(style) = self.kind else {
            return Ok(clean_recap(&reply.text)?);
        };
        let title = match &reply.structured_output(TITLE_FUNCTION)?["title"] {
            Value::String(title) => title.clone(),
            Value::Number(number) => number.to_string(),
            _ => {
                let reason = "the reply contains no title".to_owned();
                return Err(Failure::Malformed { reason }.into());
            }
        };
        Ok(clean_title(&title, style)?)
    }

    fn apply_rules(&self, excerpt: &Excerpt) -> Result<Text, NoText> {
        let messages = excerpt.to_messages();
        if messages.is_empty() {
            return Err(Reason::EmptyHistory.into());
        }
        let text = match self.kind {
            Kind::Title(TitleStyle::Sentence) => builtin::write_title(&messages),
            Kind::Title(style) => {
                // A vague title counts as missing.
                clean_title(&builtin::write_title(&messages), style).unwrap_or_default()
            }
            Kind::Recap => {
                let language = match self.language {
                    LanguageChoice::Named(language) => Some(language),
                    LanguageChoice::Conversation => None,
                };
                builtin::write_recap(&messages, language)
            }
        };
        if text.is_empty() {
            return Err(Reason::EmptyResult.into());
        }
        Ok(Text::builtin(text))
    }

    /// Returns the language of the text: the chosen one, or the language of the conversation, if
    /// known.
    fn language(&self, excerpt: &Excerpt) -> Option<Language> {
        match self.language {
            LanguageChoice::Named(language) => Some(language),
            LanguageChoice::Conversation => excerpt.language(),
        }
    }
}
