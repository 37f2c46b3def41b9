//! What is wrong with a session file.

use std::collections::{BTreeMap, HashMap};
use std::io;

use jiff::Timestamp;

use super::format::Shape;
use super::lines::Place;
use super::node::Key;
use super::transcript::{Scope, Session};
use crate::dialog::{Origin, Pairs};
use crate::wire::records::DamageKind;

/// How many unknown kinds are told one by one.
const MOST_IDS: usize = 10_000;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub kind: DamageKind,
    /// More about it.
    pub detail: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// Where, in bytes.
    pub offset: Option<u64>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The session, if the file tells.
    pub session_id: Option<String>,
    /// Lines that are not blank.
    pub lines: u64,
    /// Records.
    pub records: u64,
    /// Records by kind.
    pub kinds: BTreeMap<String, u64>,
    /// What is wrong, lines first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// How many findings there are of each kind.
    pub fn sums(&self) -> BTreeMap<DamageKind, u64> {
        let mut sums = BTreeMap::new();
        for finding in &self.findings {
            *sums.entry(finding.kind).or_insert(0) += 1;
        }
        sums
    }

    /// Whether nothing is lost or broken. Calls without results, new kinds and the like are
    /// everyday life.
    pub fn is_sound(&self) -> bool {
        let is_damage = |finding: &Finding| {
            matches!(
                finding.kind,
                DamageKind::Line | DamageKind::DuplicateId | DamageKind::Cycle
            )
        };
        !self.findings.iter().any(is_damage)
    }
}

impl Session {
    /// Looks at the whole file.
    ///
    /// # Errors
    /// Reading failed.
    pub fn check(&self) -> io::Result<Report> {
        let mut check = Check::default();
        if self.is_document() {
            self.each_record(&mut |place, record| check.record(self, record, place, 0))?;
        } else {
            self.each_line(&mut |line| {
                if line.is_blank() {
                    return;
                }
                check.report.lines += 1;
                let is_pending = !line.terminated && line.records.is_empty();
                for damage in line.damage {
                    check.report.findings.push(Finding {
                        kind: if is_pending {
                            DamageKind::Pending
                        } else {
                            DamageKind::Line
                        },
                        detail: damage.reason.clone(),
                        line: Some(line.number),
                        offset: Some(damage.offset),
                    });
                }
                for (place, record) in line.records() {
                    check.record(self, record, place, line.number);
                }
            })?;
        }
        if self.format().shape() == Shape::Tree {
            check.tree(self)?;
        }
        check.pairs(self)?;
        Ok(check.report)
    }
}

#[derive(Default)]
struct Check {
    report: Report,
    ids: HashMap<Key, u64>,
    latest: Option<Timestamp>,
    unknown: BTreeMap<String, (u64, u64)>,
    /// The message id of the last row with usage.
    metered: Option<String>,
}

impl Check {
    fn record(&mut self, session: &Session, record: &str, place: Place, line: u64) {
        let format = session.format();
        let envelope = format.envelope(record);
        self.report.records += 1;
        let label = envelope.label();
        if !format.knows(&envelope) && !self.unknown.contains_key(&label) {
            self.unknown.insert(label.clone(), (line, place.offset));
            self.find(
                DamageKind::UnknownKind,
                format!("records of the kind {label} are not known"),
                line,
                place,
            );
        }
        *self.report.kinds.entry(label).or_insert(0) += 1;
        if self.report.session_id.is_none() {
            let mut facts = super::Facts::default();
            format.facts(record, &mut facts);
            self.report.session_id = facts.session_id;
        }
        // Rows of a log are written again on purpose.
        if format.shape() == Shape::Tree
            && let Some(uuid) = &envelope.uuid
            && let Some(first) = self.ids.insert(Key::of(uuid), line)
        {
            self.find(
                DamageKind::DuplicateId,
                format!("id {uuid} was on line {first} already"),
                line,
                place,
            );
        }
        if let Some(time) = envelope
            .time
            .and_then(|time| time.parse::<Timestamp>().ok())
        {
            match self.latest {
                Some(latest) if time < latest => {
                    self.find(
                        DamageKind::TimeOrder,
                        format!("{time} comes after {latest}"),
                        line,
                        place,
                    );
                }
                _ => self.latest = Some(time),
            }
        }
        for message in format.messages(record) {
            if message.origin != Origin::Reply || message.usage.is_none() {
                continue;
            }
            if message.id.is_some() && message.id == self.metered {
                self.find(
                    DamageKind::RepeatedUsage,
                    "the same reply tells its tokens again: the last time counts".to_owned(),
                    line,
                    place,
                );
            }
            self.metered = message.id;
        }
    }

    fn find(&mut self, kind: DamageKind, detail: String, line: u64, place: Place) {
        self.report.findings.push(Finding {
            kind,
            detail,
            line: (line > 0).then_some(line),
            offset: (line > 0).then_some(place.offset),
        });
    }

    fn tree(&mut self, session: &Session) -> io::Result<()> {
        let tree = session.tree()?;
        let found = [
            (
                DamageKind::MissingParent,
                "its parent is not in the file",
                tree.missing_parents(),
            ),
            (DamageKind::Cycle, "it is its own ancestor", tree.cycles()),
        ];
        for (kind, detail, places) in found {
            for place in places {
                self.report.findings.push(Finding {
                    kind,
                    detail: detail.to_owned(),
                    line: None,
                    offset: Some(place.offset),
                });
            }
        }
        Ok(())
    }

    fn pairs(&mut self, session: &Session) -> io::Result<()> {
        let mut pairs = Pairs::default();
        session.each_message(Scope::AllBranches, &mut |message| {
            pairs.note(&message);
            std::ops::ControlFlow::Continue(())
        })?;
        let found = [
            (DamageKind::OrphanResult, "result", pairs.orphans()),
            (DamageKind::UnansweredCall, "call", pairs.unanswered()),
        ];
        for (kind, what, ids) in found {
            for id in ids.iter().take(MOST_IDS) {
                self.report.findings.push(Finding {
                    kind,
                    detail: format!("{what} {id}"),
                    line: None,
                    offset: None,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
