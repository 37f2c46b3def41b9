//! Ranks sessions by the words of a query, with BM25 over the parts of their messages.

use super::run::{SearchHit, TextMatches, collect_strings};
use super::words::QueryWords;
use crate::files::discover::Candidate;
use crate::files::lines::RawLines;
use crate::files::listed::ListedSession;
use crate::files::open::SessionError;
use crate::list::listing::{Failures, Listing, keep_unreadable};
use crate::read::description::describe_session;
use crate::read::session::{Session, visit_entries_on_line};
use crate::read::tail::MessageLines;
use crate::read::title::NameIndexes;
use crate::read::tree::Scope;
use turnpipe_core::message::{Block, Message, Origin};
use turnpipe_core::text::MatchExcerpt;
use turnpipe_formats::agent::{Detail, LineClass};
use turnpipe_formats::records::SessionRankedRecord;

/// A part of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    /// The title, or else the first prompt.
    Title,
    /// Text typed by the user.
    Prompt,
    /// Text written by the model.
    Reply,
    /// Input of calls.
    Call,
    /// Results, and what agents added.
    Other,
}

const FIELD_COUNT: usize = 5;

/// Weight of a word in each field.
const WEIGHTS: [f64; FIELD_COUNT] = [6.0, 3.0, 1.0, 0.5, 0.2];

/// Influence of the length of each field.
const LENGTH_INFLUENCE: [f64; FIELD_COUNT] = [0.3, 0.6, 0.6, 0.6, 0.6];

/// Saturation of repeats of a word.
const SATURATION: f64 = 1.5;

/// A session with its score.
#[derive(Debug)]
pub struct RankedSession {
    /// The session.
    pub session: Box<ListedSession>,
    /// The score. Only comparable within a search.
    pub score: f64,
    /// The indices of the words of the query that it contains.
    pub words: Vec<usize>,
    /// The first of the message parts with the most words.
    pub passage: Option<SearchHit>,
}

impl RankedSession {
    /// Returns the record about the session, which has this rank for these words.
    pub fn into_record(self, rank: u64, words: &[String]) -> SessionRankedRecord {
        let ListedSession {
            path, agent, facts, ..
        } = *self.session;
        let hit = self.passage.as_ref();
        let found = self.words.into_iter().map(|word| words[word].clone());
        SessionRankedRecord {
            rank,
            score: (self.score * 1000.0).round() / 1000.0,
            words: found.collect(),
            last_activity: facts.last_activity.map(|time| time.to_string()),
            about: describe_session(path, agent, facts),
            line: hit.and_then(|hit| hit.line),
            role: hit.map(|hit| hit.role),
            block: hit.map(|hit| hit.place),
            snippet: hit.map(|hit| hit.excerpt.text()),
        }
    }
}

/// Counts of words in a session.
#[derive(Default)]
struct Counts {
    /// The index of the file.
    candidate: usize,
    /// Occurrences of each word in each field.
    words: Vec<[u32; FIELD_COUNT]>,
    /// The length of each field, in bytes.
    lengths: [u64; FIELD_COUNT],
    passage: Option<Box<SearchHit>>,
}

/// Counts the words of one session.
struct Counter<'a> {
    query: &'a QueryWords,
    counts: Counts,
    /// The number of different words in the passage, and whether the user typed it.
    best: (usize, bool),
}

/// Returns the best of the sessions among `candidates` that `listing` admits, at most `limit`, and the files that
/// could not be read.
pub fn rank_all(
    candidates: &[Candidate],
    listing: &Listing,
    query: &QueryWords,
    limit: usize,
) -> (Vec<RankedSession>, Failures) {
    listing.prepare(candidates);
    let names = NameIndexes::default();
    let mut collection = Collection::new(query.as_slice().len());
    let candidates: Vec<&Candidate> = candidates.iter().collect();
    let look = |candidate: &Candidate| count_words(candidate, listing, query, &names);
    let failed = listing.examine_each(&candidates, look, |candidate, counts| {
        collection.add(Counts {
            candidate,
            ..counts
        });
    });
    let mut failed = keep_unreadable(failed);
    let mut ranked = Vec::new();
    for (score, counts) in collection.take_best(limit) {
        let candidate = candidates[counts.candidate];
        let session = Session::open_with(&candidate.path, &listing.selection.named_roots);
        let listed =
            session.and_then(|session| listing.examine(&session, candidate.context, &names));
        match listed {
            Ok(Some(session)) => ranked.push(RankedSession {
                session,
                score,
                words: counts.find_matching_words().collect(),
                passage: counts.passage.map(|passage| *passage),
            }),
            Ok(None) => {}
            Err(error) => failed.push((candidate.path.clone(), error)),
        }
    }
    (ranked, failed)
}

/// Returns the counts of a session, unless it is filtered out.
fn count_words(
    candidate: &Candidate,
    listing: &Listing,
    query: &QueryWords,
    names: &NameIndexes,
) -> Result<Option<Counts>, SessionError> {
    let Some(session) = listing.open(candidate)? else {
        return Ok(None);
    };
    let Some(listed) = listing.examine(&session, candidate.context, names)? else {
        return Ok(None);
    };
    let mut counter = Counter {
        query,
        counts: Counts {
            words: vec![[0; FIELD_COUNT]; query.as_slice().len()],
            ..Counts::default()
        },
        best: (0, false),
    };
    if let Some(title) = listed.facts.heading() {
        counter.add_text(Field::Title, title);
    }
    counter.add_session(&session)?;
    Ok(Some(counter.counts))
}

impl Counter<'_> {
    fn add_session(&mut self, session: &Session) -> Result<(), SessionError> {
        if session.is_document() {
            for message in session.messages(Scope::AllBranches)? {
                self.add_message(None, &message?);
            }
            return Ok(());
        }
        let mut messages = MessageLines::new(Some(session.format()));
        let mut entries = session.entries();
        let mut lines = RawLines::new(session.reader(), &[])?;
        while let Some(line) = lines.next()? {
            let is_read = match (session.format().reading.classify)(line.text) {
                LineClass::NoMessage | LineClass::Cost => false,
                LineClass::Anything => true,
                LineClass::Results | LineClass::NoText => self.query.may_match(line.text),
            };
            if !is_read {
                self.counts.lengths[Field::Other as usize] += line.length;
                continue;
            }
            let detail = if self.query.may_match(line.text) {
                Detail::Full
            } else {
                Detail::Counts
            };
            visit_entries_on_line(
                line.offset,
                line.text,
                &mut entries,
                detail,
                &mut |_, entry| {
                    for message in messages.convert_entry(entry) {
                        self.add_message(Some(line.number), &message);
                    }
                },
            );
        }
        Ok(())
    }

    fn add_message(&mut self, line: Option<u64>, message: &Message) {
        for block in &message.blocks {
            let (field, texts) = match block {
                Block::Text(text) => {
                    let field = match message.origin {
                        Origin::Prompt => Field::Prompt,
                        Origin::Reply | Origin::Summary | Origin::Recap => Field::Reply,
                        _ => Field::Other,
                    };
                    (field, vec![text.clone()])
                }
                Block::Call(call) => (Field::Call, collect_strings(call.input.get())),
                Block::Result(result) => (Field::Other, vec![result.text()]),
                Block::Thinking(_) | Block::Media(_) => continue,
            };
            let Some((words, text, first)) = texts
                .iter()
                .filter_map(|text| {
                    let (words, first) = self.add_text(field, text)?;
                    Some((words, text, first))
                })
                .max_by_key(|(words, ..)| *words)
            else {
                continue;
            };
            let is_typed = field == Field::Prompt;
            if (words, is_typed) > self.best {
                self.best = (words, is_typed);
                let found = TextMatches {
                    first: MatchExcerpt::new(text, first),
                    count: words as u64,
                };
                let hit = SearchHit::new(line, message, block, found);
                self.counts.passage = hit.map(Box::new);
            }
        }
    }

    /// Counts the words in a text. Returns the number of different ones, and the position of the first.
    fn add_text(&mut self, field: Field, text: &str) -> Option<(usize, std::ops::Range<usize>)> {
        let counts = &mut self.counts;
        counts.lengths[field as usize] += text.len() as u64;
        let mut seen = vec![false; counts.words.len()];
        let mut first = None;
        self.query.visit_matches(text, &mut |word, range| {
            counts.words[word][field as usize] += 1;
            seen[word] = true;
            first.get_or_insert(range);
        });
        Some((seen.iter().filter(|seen| **seen).count(), first?))
    }
}

impl Counts {
    /// Returns the indices of the words that the session contains.
    fn find_matching_words(&self) -> impl Iterator<Item = usize> {
        let words = self.words.iter().enumerate();
        words
            .filter(|(_, fields)| fields.iter().any(|count| *count > 0))
            .map(|(word, _)| word)
    }
}

/// The sessions of a search.
struct Collection {
    sessions: u64,
    /// The sum of the lengths of each field.
    lengths: [u64; FIELD_COUNT],
    /// The number of sessions with each word.
    sessions_with: Vec<u64>,
    /// The sessions with a word.
    found: Vec<Counts>,
}

impl Collection {
    fn new(words: usize) -> Self {
        Self {
            sessions: 0,
            lengths: [0; FIELD_COUNT],
            sessions_with: vec![0; words],
            found: Vec::new(),
        }
    }

    fn add(&mut self, counts: Counts) {
        self.sessions += 1;
        for (sum, length) in self.lengths.iter_mut().zip(counts.lengths) {
            *sum += length;
        }
        let mut is_found = false;
        for word in counts.find_matching_words() {
            self.sessions_with[word] += 1;
            is_found = true;
        }
        if is_found {
            self.found.push(counts);
        }
    }

    /// Returns the best sessions with their scores.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn take_best(self, limit: usize) -> Vec<(f64, Counts)> {
        let sessions = self.sessions as f64;
        let rarity: Vec<f64> = self
            .sessions_with
            .iter()
            .map(|with| {
                let with = *with as f64;
                (1.0 + (sessions - with + 0.5) / (with + 0.5)).ln()
            })
            .collect();
        let average = self.lengths.map(|sum| (sum as f64 / sessions).max(1.0));
        let score = |counts: &Counts| -> f64 {
            let words = counts.words.iter().zip(&rarity).map(|(fields, rarity)| {
                let weight: f64 = (0..FIELD_COUNT)
                    .map(|field| {
                        let length = counts.lengths[field] as f64 / average[field];
                        let influence = LENGTH_INFLUENCE[field];
                        let norm = 1.0 - influence + influence * length;
                        WEIGHTS[field] * f64::from(fields[field]) / norm
                    })
                    .sum();
                rarity * weight / (SATURATION + weight)
            });
            words.sum()
        };
        let mut scored: Vec<(f64, Counts)> = self
            .found
            .into_iter()
            .map(|counts| (score(&counts), counts))
            .collect();
        // The last changed sessions come first among equals: the sort is stable.
        scored.sort_by(|one, other| other.0.total_cmp(&one.0));
        scored.truncate(limit);
        scored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that contains words in one field, whose other fields are empty.
    fn counts(field: Field, words: [u32; 2], length: u64) -> Counts {
        let in_field = |count| {
            let mut fields = [0; FIELD_COUNT];
            fields[field as usize] = count;
            fields
        };
        let mut lengths = [0; FIELD_COUNT];
        lengths[field as usize] = length;
        Counts {
            words: words.map(in_field).to_vec(),
            lengths,
            ..Counts::default()
        }
    }

    /// Returns the positions of the best sessions.
    fn best(sessions: Vec<Counts>, limit: usize) -> Vec<usize> {
        let mut collection = Collection::new(2);
        for (candidate, counts) in sessions.into_iter().enumerate() {
            collection.add(Counts {
                candidate,
                ..counts
            });
        }
        let best = collection.take_best(limit).into_iter();
        best.map(|(_, counts)| counts.candidate).collect()
    }

    #[test]
    fn the_shortest_of_sessions_with_the_same_words_is_the_best() {
        let lengths = [600, 100, 300, 200, 300];
        let sessions = lengths.map(|length| counts(Field::Reply, [1, 0], length));
        assert_eq!(best(sessions.into(), 5), [1, 3, 2, 4, 0]);
    }

    #[test]
    fn a_word_counts_by_its_field() {
        use Field::{Call, Other, Prompt, Reply, Title};
        let fields = [Other, Reply, Title, Call, Prompt];
        let sessions = fields.map(|field| counts(field, [1, 0], 100));
        assert_eq!(best(sessions.into(), 5), [2, 4, 1, 3, 0]);
    }

    #[test]
    fn rare_words_and_several_words_count_more_than_repeats() {
        let rows = [[1, 0], [2, 0], [9, 0], [0, 1], [1, 1], [0, 0]];
        let sessions = rows.map(|words| counts(Field::Reply, words, 100));
        assert_eq!(best(sessions.into(), 9), [4, 3, 2, 1, 0]);
        let sessions = rows.map(|words| counts(Field::Reply, words, 100));
        assert_eq!(best(sessions.into(), 2), [4, 3]);
    }
}
