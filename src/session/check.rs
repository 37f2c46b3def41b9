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
    fn find(&mut self, kind: DamageKind, detail: String, line: Option<u64>, offset: Option<u64>) {
        self.findings.push(Finding {
            kind,
            detail,
            line,
            offset,
        });
    }

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
                let kind = if !line.terminated && line.records.is_empty() {
                    DamageKind::Pending
                } else {
                    DamageKind::Line
                };
                for damage in line.damage {
                    let (reason, at) = (damage.reason.clone(), Some(damage.offset));
                    check.report.find(kind, reason, Some(line.number), at);
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
        let is_line = line > 0;
        let (line, offset) = (is_line.then_some(line), is_line.then_some(place.offset));
        self.report.find(kind, detail, line, offset);
    }

    fn links(&mut self) {
        for place in self.tree.missing_parents() {
            let detail = "its parent is not in the file".to_owned();
            let (kind, at) = (DamageKind::MissingParent, Some(place.offset));
            self.report.find(kind, detail, None, at);
        }
        for place in self.tree.cycles() {
            let detail = "it is its own ancestor".to_owned();
            let (kind, at) = (DamageKind::Cycle, Some(place.offset));
            self.report.find(kind, detail, None, at);
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
                self.report.find(kind, format!("{what} {id}"), None, None);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
