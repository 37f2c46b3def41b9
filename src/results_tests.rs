use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;

use super::*;
use crate::state::StateRoot;

fn session() -> (tempfile::TempDir, SessionDirectory) {
    let guard = tempfile::tempdir().unwrap();
    let session = StateRoot(guard.path().join("state"))
        .session(&"s".into())
        .unwrap();
    (guard, session)
}

#[test]
fn each_text_of_an_id_has_its_own_file() {
    let (_guard, session) = session();
    let id = "../toolu".into();
    let paths = ["one", "another", "one", "another", "third"].map(|text| {
        let persisted = persist(&session, &id, |sink| sink.write_all(text.as_bytes())).unwrap();
        assert_eq!(std::fs::read_to_string(&persisted.path).unwrap(), text);
        assert_eq!(persisted.size, text.len() as u64);
        persisted.path
    });
    assert_eq!((&paths[0], &paths[1]), (&paths[2], &paths[3]));
    assert_eq!(paths[0].parent().unwrap(), session.path().join(RESULTS));
    let mode = std::fs::metadata(&paths[1]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let (guard, session) = session();
    let target = guard.path().join("target");
    let directory = session.subdirectory(RESULTS).unwrap();
    symlink(&target, directory.join("toolu.txt")).unwrap();
    let written = persist(&session, &"toolu".into(), |sink| sink.write_all(b"x"));
    assert!(written.is_err());
    assert!(!target.exists());
}

#[test]
fn a_failed_write_leaves_nothing() {
    let (_guard, session) = session();
    let failing = persist(&session, &"toolu".into(), |sink| {
        sink.write_all(b"half")?;
        Err(io::Error::other("disk full"))
    });
    assert!(failing.is_err());
    let directory = session.subdirectory(RESULTS).unwrap();
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
}

#[test]
fn cut_at_a_line_feed_in_the_second_half_only() {
    let early = format!("{}\n{}", "a".repeat(500), "b".repeat(3000));
    assert_eq!(preview(&early).len(), 2000);
    let late = format!("{}\n{}", "a".repeat(1500), "b".repeat(3000));
    assert_eq!(preview(&late), "a".repeat(1500));
    let short = "a\nb";
    assert_eq!(preview(short), short);
}

proptest! {
    #[test]
    fn a_preview_is_a_bounded_prefix(text in "[a\n😀é]{0,3000}") {
        let shown = preview(&text);
        prop_assert!(text.starts_with(shown));
        prop_assert!(shown.encode_utf16().count() <= MAX_PREVIEW);
        if text.encode_utf16().count() > MAX_PREVIEW {
            prop_assert!(shown.encode_utf16().count() >= MAX_PREVIEW / 2 - 1);
        } else {
            prop_assert_eq!(shown, text.as_str());
        }
    }
}

fn candidate(key: &str, units: usize) -> BudgetCandidate {
    BudgetCandidate {
        key: key.to_owned(),
        units,
        replaceable: true,
    }
}

/// Returns the positions of the replaced results, for replacements of five units.
fn replaced(candidates: &[BudgetCandidate], budget: usize) -> Vec<usize> {
    let actions = decide(candidates, &BTreeMap::new(), budget, 5);
    let is_replaced = |position: &usize| actions[*position] == BudgetAction::Replace;
    (0..actions.len()).filter(is_replaced).collect()
}

#[test]
fn the_largest_results_are_replaced_until_the_rest_fits() {
    let candidates = [candidate("a", 40), candidate("b", 70), candidate("c", 60)];
    let rows: [(usize, &[usize]); 5] = [
        (170, &[]),
        (169, &[1]),
        (105, &[1]),
        (104, &[1, 2]),
        (0, &[0, 1, 2]),
    ];
    for (budget, expected) in rows {
        assert_eq!(replaced(&candidates, budget), expected, "{budget}");
    }
}

#[test]
fn earlier_decisions_are_final() {
    let log = BTreeMap::from([
        ("sent".to_owned(), None),
        ("gone".to_owned(), Some("stub".to_owned())),
    ]);
    let candidates = [
        candidate("sent", 90),
        candidate("gone", 90),
        candidate("new", 20),
    ];
    let actions = decide(&candidates, &log, 100, 5);
    let reapplied = BudgetAction::Reapply("stub".to_owned());
    assert_eq!(
        actions,
        [BudgetAction::Keep, reapplied, BudgetAction::Replace]
    );
}

#[test]
fn only_replaceable_and_longer_results_are_replaced() {
    let fixed = BudgetCandidate {
        replaceable: false,
        ..candidate("read", 500)
    };
    assert_eq!(replaced(&[fixed, candidate("b", 10)], 100), [1]);
    // The replacement would be longer.
    assert!(replaced(&[candidate("c", 5), candidate("d", 4)], 0).is_empty());
}

#[test]
fn a_declared_limit_is_capped_unless_it_is_raised() {
    let limits = ToolLimits::default();
    let of = |declared| limits.of("T", declared);
    assert_eq!(of(ResultLimit::Default), Some(50_000));
    assert_eq!(of(ResultLimit::Characters(20_000)), Some(20_000));
    assert_eq!(of(ResultLimit::Characters(100_000)), Some(50_000));
    assert_eq!(of(ResultLimit::Raised(100_000)), Some(100_000));
    assert_eq!(of(ResultLimit::Unlimited), None);
}

#[test]
fn the_configuration_overrides_the_tool() {
    let limits = [("Read", Some(10)), ("Bash", None)];
    let limits = limits.map(|(tool, limit)| (tool.to_owned(), limit));
    let limits = ToolLimits(limits.into());
    assert_eq!(limits.of("Read", ResultLimit::Unlimited), Some(10));
    assert_eq!(limits.of("Bash", ResultLimit::Default), None);
}

proptest! {
    #[test]
    fn deciding_again_changes_nothing(sizes in prop::collection::vec(0..100_usize, 0..20), budget in 0..400_usize) {
        const STUB: &str = "stub!";
        let candidates: Vec<_> =
            sizes.iter().enumerate().map(|(index, size)| candidate(&format!("t{index}"), *size)).collect();
        let first = decide(&candidates, &BTreeMap::new(), budget, STUB.len());
        let mut log = BTreeMap::new();
        let mut total = 0;
        for (candidate, action) in candidates.iter().zip(&first) {
            let is_replaced = *action == BudgetAction::Replace;
            total += if is_replaced { STUB.len() } else { candidate.units };
            log.insert(candidate.key.clone(), is_replaced.then(|| STUB.to_owned()));
        }
        let least: usize = sizes.iter().map(|size| (*size).min(STUB.len())).sum();
        prop_assert!(total <= budget.max(least));
        for (before, after) in first.iter().zip(decide(&candidates, &log, budget / 2, STUB.len())) {
            let expected = match before {
                BudgetAction::Replace => BudgetAction::Reapply(STUB.to_owned()),
                _ => BudgetAction::Keep,
            };
            prop_assert_eq!(after, expected);
        }
    }
}

#[test]
fn a_repeated_long_text_becomes_a_reference() {
    let mut seen = SeenResults::default();
    let text = "x".repeat(MIN_LENGTH);
    assert_eq!(seen.reference("Read", &"a".into(), &text), None);
    let again = seen.reference("Read", &"b".into(), &text).unwrap();
    assert!(again.contains("earlier call a"), "{again}");
    assert_eq!(seen.reference("Bash", &"c".into(), &text), None);
    assert_eq!(seen.reference("Read", &"d".into(), "short"), None);
    assert_eq!(seen.reference("Read", &"e".into(), "short"), None);
}

#[test]
fn a_reused_id_is_not_referred_to() {
    let mut seen = SeenResults::default();
    let (text, other) = ("x".repeat(MIN_LENGTH), "y".repeat(MIN_LENGTH));
    for (id, text) in [("a", &*text), ("a", "short"), ("b", &text), ("b", &other)] {
        assert_eq!(seen.reference("Bash", &id.into(), text), None);
    }
    assert_eq!(seen.reference("Bash", &"c".into(), &text), None);
    let again = seen.reference("Bash", &"d".into(), &other).unwrap();
    assert!(again.contains("earlier call b"), "{again}");
}

#[test]
fn keys_are_the_same_in_every_version() {
    let mut seen = SeenResults::default();
    seen.reference("Read", &"a".into(), &"x".repeat(MIN_LENGTH));
    let digest = "7b0bd700ce066ef35190fde2dd7a0bcce426b8e10e4d32613ab550105545faad";
    assert_eq!(
        seen.results.keys().next().unwrap(),
        &format!("Read-{digest}")
    );
}
