//! One request to a model for a label, a title, a recap, a verdict or advice.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::outcome::{Cost, NoText, Reason, Text};
use crate::io::CancelToken;
use crate::model::{Failure, PromptId, Provider, Reply, Request, Turn};
use crate::text::{counted, redact, terminal_safe, unfenced};

/// Maximum number of tokens in the reply to a probe; some models think first.
const PROBE_TOKENS: u32 = 1024;

/// Maximum number of similar names to list.
const MAX_NAMES: usize = 5;

/// Tries a model with a short request, and returns the result in words. A model may reply without being listed: some servers
/// have no list, or an incomplete one.
pub fn probe_model(provider: &dyn Provider, name: &str) -> (String, Result<(), String>) {
    let stop = CancelToken::default();
    let mut request = Request::new(PromptId("doctor_probe"), PROBE_TOKENS);
    let question = Turn::user("Answer with the word `ready`.");
    request.turns.push(question);
    let reply = provider.complete(&request, &stop);
    let listed = provider.models(&stop).unwrap_or_default();
    let count = counted(listed.len() as u64, "model", "models");
    match (reply, listed.is_empty()) {
        (Ok(_), true) => ("responded".to_owned(), Ok(())),
        (Ok(_), false) => (format!("responded; its server lists {count}"), Ok(())),
        (Err(failure), true) => ("configured".to_owned(), Err(failure.to_string())),
        (Err(failure), false) if listed.iter().any(|one| one == name) => {
            (format!("listed among {count}"), Err(failure.to_string()))
        }
        (Err(failure), false) => {
            let names = nearest(name, listed).join(", ");
            let problem = format!("{failure}; its server has {count}, such as {names}");
            ("not listed".to_owned(), Err(problem))
        }
    }
}

/// Returns the names most similar to `name`.
fn nearest(name: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort_by_cached_key(|other| strsim::damerau_levenshtein(name, other));
    names.truncate(MAX_NAMES);
    names
}

/// A model, and the token that cancels its requests.
#[derive(Clone)]
pub struct Asker {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Cancels running and future requests.
    pub stop: CancelToken,
}

impl Asker {
    /// Requests a reply. Returns it with its cost, if known.
    pub fn ask(&self, request: &Request) -> (Result<Reply, Failure>, Option<Cost>) {
        let reply = self.provider.complete(request, &self.stop);
        let cost = Reply::usage_of(&reply).map(|usage| Cost {
            model: self.provider.name().to_owned(),
            prompt: request.prompt,
            usage,
        });
        (reply, cost)
    }

    /// Requests a text, which `read` extracts from the reply.
    ///
    /// # Errors
    /// The request was cancelled or failed, or `read` rejects the reply.
    pub fn text(
        &self,
        request: &Request,
        read: impl FnOnce(&Reply) -> Result<String, NoText>,
    ) -> Result<Text, NoText> {
        let (reply, cost) = self.ask(request);
        let text = match reply {
            _ if self.stop.is_cancelled() => Err(Reason::Aborted.into()),
            Ok(reply) => read(&reply),
            Err(failure) => Err(failure.into()),
        };
        match text {
            Ok(text) => Ok(Text {
                text,
                model: self.provider.name().to_owned(),
                cost,
            }),
            Err(no_text) => Err(no_text.at_cost(cost)),
        }
    }
}

/// A second model that a run asks for judgements or advice.
pub struct Consultant {
    /// The model.
    pub provider: Arc<dyn Provider>,
    /// Called with the cost of each request.
    pub spent: Box<dyn Fn(Cost) + Send + Sync>,
}

impl Consultant {
    /// Requests a reply, until `cancel` fires.
    ///
    /// # Errors
    /// The request failed.
    pub fn ask(&self, request: &Request, cancel: &CancelToken) -> Result<Reply, Failure> {
        let asker = Asker {
            provider: Arc::clone(&self.provider),
            stop: cancel.clone(),
        };
        let (reply, cost) = asker.ask(request);
        cost.into_iter().for_each(&self.spent);
        reply
    }
}

/// Beginnings of refusals in the first person.
const REFUSALS: &str = "i can't|i can’t|i cannot|i'm unable|i’m unable|i am unable|i'm sorry|i’m sorry\
    |i am sorry|sorry,|sorry，|as an ai|我无法|我不能|抱歉";

/// Replies that mean that there is no text.
const EMPTY_REPLIES: &str =
    "n/a|na|none|null|undefined|unknown|untitled|no title|no label|no summary|not applicable";

/// Members of JSON replies that hold the text.
const MEMBERS: [&str; 5] = ["title", "label", "summary", "text", "result"];

/// Words with which models introduce a reply.
const ANNOUNCEMENTS: [&str; 5] = ["label", "title", "summary", "result", "output"];

/// Words that may precede an announcement.
const LEAD_INS: &str = "sure|okay|ok|certainly|here's|here’s|here is|session|suggested|the";

/// Returns the terminal-safe text of a reply, without secrets. If the reply is a JSON object, possibly fenced, the text
/// is a member of it.
pub(super) fn unwrapped(reply: &str) -> String {
    let bare = unfenced(reply);
    let object = bare.starts_with('{').then(|| serde_json::from_str(bare));
    let members: Map<String, Value> = object.and_then(Result::ok).unwrap_or_default();
    let text = MEMBERS.iter().find_map(|name| members.get(*name)?.as_str());
    // Hidden characters may split a secret.
    redact(&terminal_safe(text.unwrap_or(reply))).into_owned()
}

/// Whether a reply means that there is no text.
pub(super) fn is_empty_reply(text: &str) -> bool {
    let bare = bare(text);
    EMPTY_REPLIES.split('|').any(|empty| bare == empty)
}

/// Returns the text after an announcement, which may be emphasised: `**Label:** text`, `Here's the title: text`.
pub(super) fn announced(text: &str) -> Option<&str> {
    const COLONS: [char; 2] = [':', '：'];
    let start = text.find(|character| !matches!(character, '*' | '_'))?;
    let (marks, mut rest) = text.split_at(start);
    while let Some(after) = LEAD_INS.split('|').find_map(|words| {
        let is_lead_in = begins_with_words(rest, words);
        is_lead_in.then(|| rest[words.len()..].trim_start_matches([',', '!', '.', ' ']))
    }) {
        rest = after;
    }
    ANNOUNCEMENTS.iter().find_map(|word| {
        let head = rest.get(..word.len())?;
        let rest = rest[word.len()..].trim_start();
        let colon_inside = || rest.strip_prefix(COLONS)?.strip_prefix(marks);
        let colon_behind = || rest.strip_prefix(marks)?.trim_start().strip_prefix(COLONS);
        head.eq_ignore_ascii_case(word)
            .then(|| colon_inside().or_else(colon_behind))?
            .map(str::trim)
    })
}

/// Whether a text is a refusal in the first person.
pub(super) fn is_refusal(text: &str) -> bool {
    begins_with_any(text, REFUSALS)
}

/// Whether a text starts with any of these words, separated by `|`.
pub(super) fn begins_with_any(text: &str, words: &str) -> bool {
    words.split('|').any(|words| begins_with_words(text, words))
}

/// Whether a text repeats an example, apart from case and surrounding punctuation.
pub(super) fn is_echo(text: &str, example: &str) -> bool {
    let example = bare(example);
    !example.is_empty() && bare(text) == example
}

/// Returns a text in lower case without surrounding punctuation.
fn bare(text: &str) -> String {
    let lowered = text.to_lowercase();
    let bare = lowered.trim_matches(|edge: char| !edge.is_alphanumeric());
    bare.to_owned()
}

/// Whether a text starts with these whole words, in any case. Words consist of ASCII letters, digits
/// and `_`.
pub(super) fn begins_with_words(text: &str, words: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let head = text.get(..words.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(words))
        && !(words.ends_with(is_word) && text[words.len()..].starts_with(is_word))
}

#[cfg(test)]
mod answer_tests {
    use super::*;

    #[test]
    fn refusals_are_whole_words() {
        for text in [
            "I cannot do that",
            "SORRY, no",
            "抱歉，没有",
            "I’m unable to help",
        ] {
            assert!(is_refusal(text), "{text}");
        }
        for text in [
            "I cannotate",
            "ſorry, x",
            "Fix: I cannot log in",
            "Sorry state of tests",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
    }
}
