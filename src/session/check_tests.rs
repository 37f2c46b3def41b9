use super::*;

fn check(lines: &str) -> (SessionCheckRecord, Vec<SessionDamageRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, lines).unwrap();
    Session::open(&path).unwrap().check().unwrap()
}

#[test]
fn an_undamaged_file_has_no_findings() {
    let (totals, findings) = check(include_str!(
        "../../tests/data/session/claude-parallel.jsonl"
    ));
    assert_eq!(findings, []);
    assert!(totals.ok);
    assert_eq!(totals.records, totals.lines);
    assert_eq!(totals.agent.as_deref(), Some("claude"));
}

#[test]
fn only_the_last_line_can_be_unfinished() {
    let sound = include_str!("../../tests/data/session/claude-parallel.jsonl");
    let kinds = |end: &str| check(&format!("{sound}{end}")).0.findings.into_keys();
    assert!(kinds("{\"torn\":").eq([DamageKind::Pending]));
    assert!(kinds("{\"torn\":\n").eq([DamageKind::Line]));
}

#[test]
fn every_kind_of_damage_is_found() {
    let (totals, findings) = check(include_str!(
        "../../tests/data/session/claude-damaged.jsonl"
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
    // Both records of the glued line were recovered.
    assert_eq!(totals.kinds["brand-new"], 1);
    let mut findings = findings.iter();
    let glued = findings.find(|finding| finding.kind == DamageKind::Line);
    assert_eq!(glued.and_then(|finding| finding.line), Some(2));
}
