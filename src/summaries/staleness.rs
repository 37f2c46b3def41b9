//! Decides whether a session has moved on from its title.

use std::collections::VecDeque;

use super::builtin;
use super::excerpt::{Excerpt, MessageTexts};
use super::outcome::{NoText, Reason};
use super::title::telling_words;
use crate::agent::timestamp;
use crate::message::Origin;
use crate::session::{Facts, Scope, Session, TitleSource};

/// Minimum number of requests since the title, and the number of the last ones that are compared with it.
const MIN_REQUESTS: usize = 3;

/// A title fits if at least one of this many of its words is still used.
const WORDS_PER_USED: usize = 3;

/// Minimum length in bytes of a word that tells something.
const MIN_WORD: usize = 3;

/// Minimum number of letters that two forms of a word share.
const MIN_STEM: usize = 4;

/// Returns the conversation from the third-last request on, if the title is stale: the user did not set it, at least
/// three requests that name a topic followed, no fewer than before it unless the agent has compacted the conversation
/// since, and from the third-last one on, fewer than a third of the words of the title are used, and of those of the
/// first request.
///
/// # Errors
/// The title is not stale or its time is not known, for this reason; or the session cannot be read.
pub(super) fn since_stale_title(session: &Session, facts: &Facts) -> Result<Excerpt, NoText> {
    let title = facts.title.as_ref().ok_or(Reason::Untitled)?;
    if title.source == TitleSource::Manual {
        return Err(Reason::ManualTitle.into());
    }
    let made = session.title_time(title).map_err(NoText::unreadable)?;
    let made = made.ok_or(Reason::UnknownTitleTime)?;
    let (mut before, mut after, mut first, mut is_later) = (0, 0, None, false);
    // Each of the last requests, and all that follows it.
    let mut last: VecDeque<Excerpt> = VecDeque::new();
    for message in session.messages(Scope::Live).map_err(NoText::unreadable)? {
        let message = message.map_err(NoText::unreadable)?;
        is_later = timestamp(message.time.as_deref()).map_or(is_later, |time| time > made);
        let request = builtin::topic(&message);
        match &request {
            Some(_) if is_later => {
                after += 1;
                last.push_back(Excerpt::default());
                if last.len() > MIN_REQUESTS {
                    last.pop_front();
                }
            }
            Some(_) => before += 1,
            None if is_later && message.origin == Origin::Compaction => before = 0,
            None => {}
        }
        first = first.or(request);
        for excerpt in &mut last {
            excerpt.note(message.clone());
        }
    }
    let now = last.pop_front().unwrap_or_default();
    if after < MIN_REQUESTS.max(before) {
        return Err(Reason::TitleFits.into());
    }
    let said = now.spoken();
    let said: Vec<String> = said.said().iter().map(MessageTexts::text).collect();
    let used = telling_words(&said.join("\n"));
    let is_used = |text: &str| {
        let words = telling_words(text);
        let words = words.iter().filter(|word| word.len() >= MIN_WORD);
        let (found, missing): (Vec<_>, Vec<_>) =
            words.partition(|word| used.iter().any(|used| is_same_word(used, word)));
        found.len() * WORDS_PER_USED >= found.len() + missing.len()
    };
    if is_used(&title.text) || first.is_some_and(|first| is_used(&first)) {
        return Err(Reason::TitleFits.into());
    }
    Ok(now)
}

/// Whether two words differ in their ends at most: `login` and `logins`, `automate` and `automation`.
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
