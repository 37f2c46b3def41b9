//! Decides whether a session has moved on from its title.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::builtin;
use super::excerpt::{Excerpt, MessageTexts};
use super::outcome::{NoText, Reason};
use super::title::telling_words;
use crate::agent::timestamp;
use crate::message::Origin;
use crate::session::{Facts, Scope, Session, TitleSource};

/// Minimum number of requests after the title, and number of the last ones that it is compared with.
const MIN_REQUESTS: usize = 3;

/// A text fits if at least one in this many of its words is still used.
const WORDS_PER_USED: usize = 3;

/// Minimum length of a compared word, in bytes.
const MIN_WORD: usize = 3;

/// Minimum number of letters that two forms of a word share.
const MIN_STEM: usize = 4;

/// The requests of a session that name a topic, before and after the time of its title.
#[derive(Default)]
struct Requests {
    /// Number before the title; 0 once the agent has compacted the conversation after it.
    before: usize,
    /// Number after the title.
    after: usize,
    /// The first request of the session.
    first: Option<String>,
    /// The last requests after the title, up to `MIN_REQUESTS`, each with all messages from it on.
    latest: VecDeque<Excerpt>,
}

impl Requests {
    fn read(session: &Session, title_time: Timestamp) -> Result<Self, NoText> {
        let (mut requests, mut is_later) = (Self::default(), false);
        for message in session.messages(Scope::Live).map_err(NoText::unreadable)? {
            let message = message.map_err(NoText::unreadable)?;
            is_later =
                timestamp(message.time.as_deref()).map_or(is_later, |time| time > title_time);
            let request = builtin::quote_topic(&message);
            match &request {
                Some(_) if is_later => {
                    requests.after += 1;
                    requests.latest.push_back(Excerpt::default());
                    if requests.latest.len() > MIN_REQUESTS {
                        requests.latest.pop_front();
                    }
                }
                Some(_) => requests.before += 1,
                None if is_later && message.origin == Origin::Compaction => requests.before = 0,
                None => {}
            }
            requests.first = requests.first.or(request);
            for excerpt in &mut requests.latest {
                excerpt.note(message.clone());
            }
        }
        Ok(requests)
    }
}

/// Returns the conversation from the third-last request on if the title is stale. A title is stale if
///
/// - the user did not set it,
/// - at least three requests that name a topic followed, and no fewer than before it, unless the agent has compacted the
///   conversation since, and
/// - from the third-last request on, fewer than a third of the words of the title are used, and fewer than a third of
///   the words of the first request.
///
/// # Errors
/// The title is missing, not stale or of unknown time, or the session cannot be read.
pub(super) fn since_stale_title(session: &Session, facts: &Facts) -> Result<Excerpt, NoText> {
    let title = facts.title.as_ref().ok_or(Reason::Untitled)?;
    if title.source == TitleSource::Manual {
        return Err(Reason::ManualTitle.into());
    }
    let title_time = session.title_time(title).map_err(NoText::unreadable)?;
    let mut requests = Requests::read(session, title_time.ok_or(Reason::UnknownTitleTime)?)?;
    let since = requests.latest.pop_front().unwrap_or_default();
    if requests.after < MIN_REQUESTS.max(requests.before) {
        return Err(Reason::TitleFits.into());
    }
    let collected = since.collect_texts();
    let texts: Vec<String> = collected.texts().iter().map(MessageTexts::text).collect();
    let used_words = telling_words(&texts.join("\n"));
    let fits = |text: &str| {
        let mut words = telling_words(text);
        words.retain(|word| word.len() >= MIN_WORD);
        let is_used = |word: &&String| used_words.iter().any(|used| is_same_word(used, word));
        words.iter().filter(is_used).count() * WORDS_PER_USED >= words.len()
    };
    if fits(&title.text) || requests.first.is_some_and(|first| fits(&first)) {
        return Err(Reason::TitleFits.into());
    }
    Ok(since)
}

/// Whether two words differ at most in their endings: `login` and `logins`, `automate` and `automation`.
fn is_same_word(one: &str, other: &str) -> bool {
    let same = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let shorter = one.chars().count().min(other.chars().count());
    one == other || same >= MIN_STEM && 3 * same >= 2 * shorter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_other_forms() {
        for (one, other, expected) in [
            ("login", "logins", true),
            ("automating", "automation", true),
            ("záchody", "záchodech", true),
            ("log", "logs", false),
            ("parser", "parcel", false),
        ] {
            assert_eq!(is_same_word(one, other), expected, "{one} {other}");
        }
    }
}
