//! Checks session files for damage.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Write};

use jiff::Timestamp;
use serde_json::Value;

use crate::files::distinct::Key;
use crate::files::lines::Place;
use crate::read::session::Session;
use crate::read::tree::{Scope, Tree};
use turnpipe_core::message::{Pairs, SessionId};
use turnpipe_core::text::{format_count, format_number, redact_strings};
use turnpipe_formats::agent::{Detail, Entry, Meter, Shape};
use turnpipe_formats::records::{DamageKind, SessionCheckRecord, SessionDamageRecord};

/// Maximum number of listed calls without a result, and of results without a call.
const MAX_IDS: usize = 10_000;

/// Findings that mean lost or broken data. Others, such as calls without results, are normal.
const DAMAGE: [DamageKind; 4] = [
    DamageKind::Line,
    DamageKind::DuplicateId,
    DamageKind::Cycle,
    DamageKind::TokenCount,
];

/// Maximum plausible number of tokens of a reply.
const MAX_REPLY_TOKENS: u64 = 100_000_000;

/// Maximum plausible number of tokens of a whole run or session.
const MAX_TOTAL_TOKENS: u64 = 1_000_000_000_000;

/// Whether a check looks for records that seem to contain a key or a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretSearch {
    /// Does not look for secrets.
    Off,
    /// Looks for secrets, which takes longer.
    On,
}

impl Session {
    /// Writes every whole record into a file, one per line.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub fn write_whole_records(&self, file: File) -> io::Result<()> {
        let mut writer = BufWriter::new(file);
        let mut written = Ok(());
        self.visit_lines(&mut |line| {
            for (_, record) in line.records() {
                if written.is_ok() {
                    written = writeln!(writer, "{record}");
                }
            }
        })?;
        written?;
        let file = writer.into_inner().map_err(IntoInnerError::into_error)?;
        file.sync_all()
    }

    /// Checks the whole file. Returns the totals and the findings, starting with findings about lines. Records with
    /// secrets come last.
    ///
    /// # Errors
    /// Reading failed.
    pub fn check(
        &self,
        secrets: SecretSearch,
    ) -> io::Result<(SessionCheckRecord, Vec<SessionDamageRecord>)> {
        let mut check = Check {
            totals: SessionCheckRecord {
                path: self.file.path.display().to_string(),
                agent: Some(self.agent().name().to_owned()),
                ..SessionCheckRecord::default()
            },
            ..Check::default()
        };
        let shape = self.format().reading.shape;
        if let Some(document) = self.document() {
            for row in &document.rows {
                let entry = self.format().read(row, Detail::Full);
                check.add_entry(shape, entry.unwrap_or_default(), None);
            }
            if document.is_cut_off {
                let reason = "the document is cut off".to_owned();
                check.add_finding(DamageKind::Line, reason, None, None);
            }
        } else {
            let mut entries = self.entries();
            self.visit_lines(&mut |line| {
                if line.is_blank() {
                    return;
                }
                check.totals.lines += 1;
                let kind = if !line.is_terminated && line.records.is_empty() {
                    DamageKind::Pending
                } else {
                    DamageKind::Line
                };
                for damage in line.damage {
                    let (reason, at) = (damage.reason.clone(), Some(damage.offset));
                    check.add_finding(kind, reason, Some(line.number), at);
                }
                for (place, record) in line.records() {
                    let entry = entries.read(record, Detail::Full);
                    check.add_entry(shape, entry.unwrap_or_default(), Some((line.number, place)));
                }
            })?;
            let end = entries.finish().and_then(|last| last.end);
            if end.is_some() {
                let detail = "the stream has no end".to_owned();
                check.add_finding(DamageKind::Interrupted, detail, None, None);
            }
        }
        check.check_links();
        check.check_pairs(self)?;
        if secrets == SecretSearch::On {
            check.check_secrets(self)?;
        }
        let findings = &check.totals.findings;
        check.totals.ok = !DAMAGE.iter().any(|kind| findings.contains_key(kind));
        Ok((check.totals, check.findings))
    }
}

#[derive(Default)]
struct Check {
    totals: SessionCheckRecord,
    findings: Vec<SessionDamageRecord>,
    tree: Tree,
    /// The line on which each id first occurred. Documents have no lines.
    ids: HashMap<Key, u64>,
    latest: Option<Timestamp>,
    unknown: BTreeSet<String>,
}

impl Check {
    fn add_entry(&mut self, shape: Shape, entry: Entry, found: Option<(u64, Place)>) {
        let (line, place) = found.unzip();
        let offset = place.map(|place| place.offset);
        let time = entry.timestamp();
        self.totals.records += 1;
        if let (Shape::Tree, Some(place)) = (shape, place) {
            self.tree.add(&entry, place);
        }
        let label = entry.label();
        if !entry.is_known && self.unknown.insert(label.clone()) {
            let detail = format!("unknown kind of record: {label}");
            self.add_finding(DamageKind::UnknownKind, detail, line, offset);
        }
        *self.totals.kinds.entry(label).or_insert(0) += 1;
        let replies = entry.messages.iter().filter_map(|message| message.usage);
        let replies = replies.map(|usage| (usage, MAX_REPLY_TOKENS));
        let metered = entry.meters.iter().filter_map(|meter| match meter {
            Meter::Request { usage, .. } => Some((*usage, MAX_REPLY_TOKENS)),
            Meter::Reading { total: usage, .. } | Meter::Total { usage, .. } => {
                Some((*usage, MAX_TOTAL_TOKENS))
            }
            Meter::Output { .. } => None,
        });
        let side_cost = entry.side_cost.iter();
        let aside = side_cost.map(|cost| (cost.usage, MAX_TOTAL_TOKENS));
        let counted: Vec<_> = replies.chain(metered).chain(aside).collect();
        for (usage, _) in counted
            .iter()
            .filter(|(usage, limit)| usage.total() > *limit)
        {
            let detail = format!("{} tokens", format_number(usage.total()));
            self.add_finding(DamageKind::TokenCount, detail, line, offset);
        }
        let session_id = &mut self.totals.session_id;
        *session_id = session_id.take().or(entry.facts.session_id.map(SessionId));
        // Logs repeat rows on purpose.
        if shape == Shape::Tree
            && let Some(uuid) = &entry.uuid
            && let Some(first) = self
                .ids
                .insert(Key::from_id(uuid), line.unwrap_or_default())
        {
            let detail = format!("id {uuid} already occurs on line {first}");
            self.add_finding(DamageKind::DuplicateId, detail, line, offset);
        }
        // The records that a fork copied are older than its first record.
        if let Some(time) = time.filter(|_| !entry.facts.is_head) {
            match self.latest {
                Some(latest) if time < latest => {
                    let detail = format!("{time} comes after {latest}");
                    self.add_finding(DamageKind::TimeOrder, detail, line, offset);
                }
                _ => self.latest = Some(time),
            }
        }
    }

    fn add_finding(
        &mut self,
        kind: DamageKind,
        detail: String,
        line: Option<u64>,
        offset: Option<u64>,
    ) {
        *self.totals.findings.entry(kind).or_insert(0) += 1;
        self.findings.push(SessionDamageRecord {
            path: self.totals.path.clone(),
            kind,
            detail,
            line,
            offset,
        });
    }

    fn check_links(&mut self) {
        for place in self.tree.find_orphans() {
            let detail = "its parent is not in the file".to_owned();
            self.add_finding(DamageKind::MissingParent, detail, None, Some(place.offset));
        }
        for place in self.tree.find_cycles() {
            let detail = "it is its own ancestor".to_owned();
            self.add_finding(DamageKind::Cycle, detail, None, Some(place.offset));
        }
    }

    fn check_secrets(&mut self, session: &Session) -> io::Result<()> {
        let mut note = |record: &str, line: Option<u64>, offset: Option<u64>| {
            let value = serde_json::from_str::<Value>(record);
            let count = value.map_or(0, |mut value| redact_strings(&mut value));
            if count > 0 {
                let detail = format_count(count, "string", "strings");
                self.add_finding(DamageKind::Secret, detail, line, offset);
            }
        };
        for row in session
            .document()
            .iter()
            .flat_map(|document| &document.rows)
        {
            note(row, None, None);
        }
        session.visit_lines(&mut |line| {
            for (place, record) in line.records() {
                note(record, Some(line.number), Some(place.offset));
            }
        })
    }

    fn check_pairs(&mut self, session: &Session) -> io::Result<()> {
        let mut pairs = Pairs::default();
        for message in session.messages(Scope::AllBranches)? {
            pairs.add(&message?);
        }
        let found = [
            (DamageKind::OrphanResult, "result", pairs.orphans()),
            (DamageKind::UnansweredCall, "call", pairs.unanswered_calls()),
        ];
        for (kind, noun, ids) in found {
            for id in ids.iter().take(MAX_IDS) {
                self.add_finding(kind, format!("{noun} {id}"), None, None);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &str) -> (SessionCheckRecord, Vec<SessionDamageRecord>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, lines).unwrap();
        Session::open(&path)
            .unwrap()
            .check(SecretSearch::Off)
            .unwrap()
    }

    #[test]
    fn an_undamaged_file_has_no_findings() {
        let (totals, findings) = check(include_str!(
            "../../../../tests/data/session/claude-parallel.jsonl"
        ));
        assert_eq!(findings, []);
        assert!(totals.ok);
        assert_eq!(totals.records, totals.lines);
        assert_eq!(totals.agent.as_deref(), Some("claude"));
    }

    #[test]
    fn only_the_last_line_can_be_unfinished() {
        let sound = include_str!("../../../../tests/data/session/claude-parallel.jsonl");
        let kinds = |end: &str| check(&format!("{sound}{end}")).0.findings.into_keys();
        assert!(kinds("{\"torn\":").eq([DamageKind::Pending]));
        assert!(kinds("{\"torn\":\n").eq([DamageKind::Line]));
    }

    #[test]
    fn every_kind_of_damage_is_found() {
        let (totals, findings) = check(include_str!(
            "../../../../tests/data/session/claude-damaged.jsonl"
        ));
        assert!(!totals.ok);
        assert_eq!(
            totals.findings.into_keys().collect::<Vec<_>>(),
            [
                DamageKind::Line,
                DamageKind::Pending,
                DamageKind::UnknownKind,
                DamageKind::DuplicateId,
                DamageKind::MissingParent,
                DamageKind::Cycle,
                DamageKind::OrphanResult,
                DamageKind::UnansweredCall,
                DamageKind::TimeOrder,
            ]
        );
        let row = |tokens: u64| {
            format!(
                r#"{{"type":"assistant","uuid":"u","sessionId":"s","message":{{"id":"m","role":"assistant","content":"x","usage":{{"input_tokens":1,"output_tokens":{tokens}}}}}}}"#
            )
        };
        let counts = |tokens| {
            check(&row(tokens))
                .0
                .findings
                .get(&DamageKind::TokenCount)
                .copied()
        };
        assert_eq!(
            (counts(1_000_000), counts(7_000_000_000_000)),
            (None, Some(1))
        );
        // Both records of the glued line were recovered.
        assert_eq!(totals.kinds["brand-new"], 1);
        let mut findings = findings.iter();
        let glued = findings.find(|finding| finding.kind == DamageKind::Line);
        assert_eq!(glued.and_then(|finding| finding.line), Some(2));
    }
}
