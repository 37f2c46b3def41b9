//! Decides whether a session has moved on from its title.

use std::collections::VecDeque;

use super::builtin;
use super::driver::SessionExcerpt;
use super::excerpt::Excerpt;
use super::outcome::{NoText, Reason};
use super::title::telling_words;
use crate::agent::timestamp;
use crate::message::Origin;
use crate::session::{Scope, TitleSource};

/// Minimum number of requests since the title, and the number of last ones to compare it with.
const MIN_REQUESTS: usize = 3;

/// Returns what was said since a session got its title, if the title is stale: the user did not set it, at least three
/// requests that name a topic followed, no fewer than before it unless the agent has compacted the conversation since,
/// and the last three share no word with it or with the first request.
///
/// # Errors
/// The title is not stale or its time is not known, for this reason; or the session cannot be read.
pub(super) fn since_stale_title(session: &SessionExcerpt) -> Result<Excerpt, NoText> {
    let title = session.facts.title.as_ref().ok_or(Reason::Untitled)?;
    if title.source == TitleSource::Manual {
        return Err(Reason::ManualTitle.into());
    }
    let session = &session.session;
    let made = session.title_time(title).map_err(NoText::unreadable)?;
    let made = made.ok_or(Reason::UnknownTitleTime)?;
    let (mut since, mut is_later) = (Excerpt::default(), false);
    let (mut before, mut after, mut first) = (0, 0, None);
    let mut last = VecDeque::new();
    let messages = session.messages(Scope::Live).map_err(NoText::unreadable)?;
    for message in messages {
        let message = message.map_err(NoText::unreadable)?;
        let time = timestamp(message.time.as_deref());
        is_later = time.map_or(is_later, |time| time > made);
        let request = builtin::topic(&message);
        first = first.or_else(|| request.clone());
        match request {
            Some(request) if is_later => {
                after += 1;
                last.push_back(request);
                if last.len() > MIN_REQUESTS {
                    last.pop_front();
                }
            }
            Some(_) => before += 1,
            None if is_later && message.origin == Origin::Compaction => before = 0,
            None => {}
        }
        if is_later {
            since.note(message);
        }
    }
    let known = telling_words(&format!("{} {}", title.text, first.unwrap_or_default()));
    let is_known = |word: &String| known.iter().any(|known| is_same_word(known, word));
    let is_about_it = last
        .iter()
        .any(|request| telling_words(request).iter().any(is_known));
    if after < MIN_REQUESTS.max(before) || is_about_it {
        return Err(Reason::TitleFits.into());
    }
    Ok(since)
}

/// Minimum length in bytes of a word that is the start of the same word in another form.
const MIN_STEM: usize = 4;

/// Whether two words differ in their ends at most: `login` and `logins`.
fn is_same_word(one: &str, other: &str) -> bool {
    let has_stem = one.len().min(other.len()) >= MIN_STEM;
    one == other || has_stem && (one.starts_with(other) || other.starts_with(one))
}
