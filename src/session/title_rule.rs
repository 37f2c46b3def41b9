//! Which title counts, by the records that give titles, seen from the end of a file. Pure.

use std::time::Duration;

use jiff::Timestamp;

use super::format::Precedence;
use crate::jsonl::SearchControl;

/// How far behind an automatic title one looks for a manual one that lost a race, in bytes.
const RACE_DISTANCE: u64 = 1024 * 1024;

/// A manual title that was written less than this before an automatic one lost a race: the writer
/// of the latter did not see it.
const RACE_TIME: Duration = Duration::from_mins(1);

/// Where a title comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TitleSource {
    /// A person chose it, or the record does not say.
    Manual,
    /// A model made it.
    Auto,
    /// It is a summary of the conversation.
    Summary,
}

impl TitleSource {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Summary => "summary",
        }
    }
}

/// A title and where it comes from; both are from one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The title, as it stands in the file.
    pub text: String,
    /// Where it comes from.
    pub source: TitleSource,
}

/// Whether an automatic title was written over a manual one on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It says nothing about that.
    Ordinary,
    /// A person asked for it.
    OnRequest,
}

/// What a record that gives a title says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleRecord {
    /// The title. An empty one takes the title away.
    pub title: Title,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Whether it may stand above a manual title.
    pub standing: Standing,
}

/// See the module.
#[derive(Debug)]
pub(super) struct TitleRule {
    precedence: Precedence,
    best: Option<TitleRecord>,
}

impl TitleRule {
    /// No title was seen.
    pub(super) fn new(precedence: Precedence) -> Self {
        Self {
            precedence,
            best: None,
        }
    }

    /// Takes the next record from the end, which stands on the line at `offset`; says how far one
    /// must look on.
    pub(super) fn offer(&mut self, record: TitleRecord, offset: u64) -> SearchControl {
        let is_manual = record.title.source == TitleSource::Manual;
        let Some(best) = &mut self.best else {
            let control = match (self.precedence, record.standing) {
                _ if is_manual => SearchControl::Stop,
                (Precedence::Manual, _) => SearchControl::Continue,
                (Precedence::Later, Standing::OnRequest) => SearchControl::Stop,
                (Precedence::Later, Standing::Ordinary) => {
                    SearchControl::DownTo(offset.saturating_sub(RACE_DISTANCE))
                }
            };
            self.best = Some(record);
            return control;
        };
        if is_manual {
            if self.precedence == Precedence::Manual || lost_a_race(&record, best) {
                self.best = Some(record);
            }
            return SearchControl::Stop;
        }
        if best.title == record.title {
            // Agents append the title again now and then: it was given when it first appeared.
            best.time = record.time.or(best.time);
        }
        SearchControl::Continue
    }

    /// The title that counts.
    pub(super) fn finish(self) -> Option<Title> {
        self.best
            .map(|record| record.title)
            .filter(|title| !title.text.is_empty())
    }
}

fn lost_a_race(manual: &TitleRecord, automatic: &TitleRecord) -> bool {
    let (Some(before), Some(after)) = (manual.time, automatic.time) else {
        return false;
    };
    let limit = after.checked_sub(RACE_TIME);
    limit.is_ok_and(|limit| before > limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str, source: TitleSource, second: Option<i64>) -> TitleRecord {
        TitleRecord {
            title: Title {
                text: text.to_owned(),
                source,
            },
            time: second.map(|second| Timestamp::from_second(1000 + second).unwrap()),
            standing: Standing::Ordinary,
        }
    }

    fn manual(text: &str, second: i64) -> TitleRecord {
        record(text, TitleSource::Manual, Some(second))
    }

    fn auto(text: &str, second: i64) -> TitleRecord {
        record(text, TitleSource::Auto, Some(second))
    }

    /// Offers records, the last one of the file first, until the rule has heard enough.
    fn winner(precedence: Precedence, records: &[TitleRecord]) -> Option<String> {
        let mut rule = TitleRule::new(precedence);
        for record in records {
            if rule.offer(record.clone(), 9) == SearchControl::Stop {
                break;
            }
        }
        rule.finish().map(|title| title.text)
    }

    #[test]
    fn the_last_title_counts_but_for_lost_races() {
        let on_request = TitleRecord {
            standing: Standing::OnRequest,
            ..auto("a", 50)
        };
        let timeless = record("a", TitleSource::Auto, None);
        let rows: [(&[TitleRecord], Option<&str>); 11] = [
            (&[], None),
            (&[manual("m", 0), auto("a", -5)], Some("m")),
            (&[auto("a", 0)], Some("a")),
            (&[auto("a", 59), manual("m", 0)], Some("m")),
            (&[auto("a", 60), manual("m", 0)], Some("a")),
            (&[on_request, manual("m", 0)], Some("a")),
            (&[timeless, manual("m", 0)], Some("a")),
            (&[auto("b", 70), auto("a", 59), manual("m", 0)], Some("b")),
            // The second is the first again, appended at the end of the session.
            (&[auto("a", 900), auto("a", 30), manual("m", 0)], Some("m")),
            (&[manual("", 0), manual("m", 0)], None),
            (
                &[auto("a", 100), manual("m", 0), manual("n", 99)],
                Some("a"),
            ),
        ];
        for (records, expected) in rows {
            assert_eq!(
                winner(Precedence::Later, records).as_deref(),
                expected,
                "{records:?}"
            );
        }
    }

    #[test]
    fn a_manual_title_may_stand_above_all_others() {
        let rows: [(&[TitleRecord], &str); 3] = [
            (&[auto("a", 900), auto("b", 30), manual("m", 0)], "m"),
            (&[auto("a", 900), auto("b", 30)], "a"),
            (&[manual("m", 900), auto("b", 930)], "m"),
        ];
        for (records, expected) in rows {
            assert_eq!(
                winner(Precedence::Manual, records).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn one_looks_a_mebibyte_behind_an_automatic_title() {
        let mut rule = TitleRule::new(Precedence::Later);
        let place = 3 * RACE_DISTANCE;
        assert_eq!(
            rule.offer(auto("a", 0), place),
            SearchControl::DownTo(2 * RACE_DISTANCE)
        );
        let mut rule = TitleRule::new(Precedence::Manual);
        assert_eq!(rule.offer(auto("a", 0), place), SearchControl::Continue);
    }
}
