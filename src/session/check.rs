//! Checks session files for damage.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use jiff::Timestamp;

use super::conversation::Scope;
use super::format::{Detail, Entry, Shape};
use super::lines::Place;
use super::opened::Session;
use super::tree::{Key, Tree};
use crate::dialog::Pairs;
use crate::wire::records::DamageKind;

/// How many unknown kinds are listed one by one.
const MOST_IDS: usize = 10_000;

/// A problem in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of problem.
    pub kind: DamageKind,
    /// Details.
    pub detail: String,
    /// The line number, from 1.
    pub line: Option<u64>,
    /// The offset in bytes.
    pub offset: Option<u64>,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The session id, if the file names one.
    pub session_id: Option<String>,
    /// Non-blank lines.
    pub lines: u64,
    /// Records.
    pub records: u64,
    /// Records by kind.
    pub kinds: BTreeMap<String, u64>,
    /// The problems, those of lines first.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The number of findings of each kind.
    pub fn sums(&self) -> BTreeMap<DamageKind, u64> {
        let mut sums = BTreeMap::new();
        for finding in &self.findings {
            *sums.entry(finding.kind).or_insert(0) += 1;
        }
        sums
    }

    /// Whether nothing is lost or broken. Calls without results and unknown kinds are normal.
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
    /// Checks the whole file.
    ///
    /// # Errors
    /// Reading failed.
    pub fn check(&self) -> io::Result<Report> {
        let mut check = Check::default();
        if self.is_document() {
            self.each_entry(Detail::Full, &mut |place, entry| {
                check.entry(self.format().shape, entry, place, 0);
            })?;
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
                    let entry = self.format().read(record, Detail::Full);
                    let shape = self.format().shape;
                    check.entry(shape, entry.unwrap_or_default(), place, line.number);
                }
            })?;
        }
        check.links();
        check.pairs(self)?;
        Ok(check.report)
    }
}

#[derive(Default)]
struct Check {
    report: Report,
    tree: Tree,
    ids: HashMap<Key, u64>,
    latest: Option<Timestamp>,
    unknown: BTreeSet<String>,
}

impl Check {
    fn entry(&mut self, shape: Shape, entry: Entry, place: Place, line: u64) {
        self.report.records += 1;
        if shape == Shape::Tree {
            self.tree.add(&entry, place);
        }
        let label = entry.label();
        if !entry.is_known && self.unknown.insert(label.clone()) {
            self.find(
                DamageKind::UnknownKind,
                format!("records of the kind {label} are not known"),
                line,
                place,
            );
        }
        *self.report.kinds.entry(label).or_insert(0) += 1;
        let session_id = &mut self.report.session_id;
        *session_id = session_id.take().or(entry.facts.session_id);
        // Logs repeat rows on purpose.
        if shape == Shape::Tree
            && let Some(uuid) = &entry.uuid
            && let Some(first) = self.ids.insert(Key::of(uuid), line)
        {
            self.find(
                DamageKind::DuplicateId,
                format!("id {uuid} was on line {first} already"),
                line,
                place,
            );
        }
        let time = entry.time.and_then(|time| time.parse::<Timestamp>().ok());
        if let Some(time) = time {
            match self.latest {
                Some(latest) if time < latest => self.find(
                    DamageKind::TimeOrder,
                    format!("{time} comes after {latest}"),
                    line,
                    place,
                ),
                _ => self.latest = Some(time),
            }
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

    fn links(&mut self) {
        let found = [
            (
                DamageKind::MissingParent,
                "its parent is not in the file",
                self.tree.missing_parents(),
            ),
            (
                DamageKind::Cycle,
                "it is its own ancestor",
                self.tree.cycles(),
            ),
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
