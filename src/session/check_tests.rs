use super::*;

fn report(lines: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, lines).unwrap();
    Session::open(&path).unwrap().check().unwrap()
}

fn kinds(report: &Report) -> Vec<DamageKind> {
    report.sums().into_keys().collect()
}

#[test]
fn a_sound_file_has_no_findings() {
    let report = report(include_str!(
        "../../tests/data/session/claude-parallel.jsonl"
    ));
    assert_eq!(report.findings, []);
    assert!(report.is_sound());
    assert_eq!(report.records, report.lines);
}

#[test]
fn every_kind_of_damage_is_found() {
    let report = report(include_str!(
        "../../tests/data/session/claude-damaged.jsonl"
    ));
    assert!(!report.is_sound());
    assert_eq!(
        kinds(&report),
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
    // Both records of the glued line were recovered.
    assert_eq!(report.kinds["brand-new"], 1);
    let glued = report
        .findings
        .iter()
        .find(|finding| finding.kind == DamageKind::Line);
    assert_eq!(glued.and_then(|finding| finding.line), Some(2));
}
