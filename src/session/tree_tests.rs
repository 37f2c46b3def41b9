use super::*;
use crate::message::{Block, Call, Message, Origin, Role, ToolResult};

fn call(id: &str) -> Block {
    Block::Call(Call {
        id: id.to_owned(),
        name: "Read".to_owned(),
        input: Box::default(),
        signature: None,
    })
}

fn answer(id: &str) -> Block {
    Block::Result(ToolResult {
        id: id.to_owned(),
        parts: Vec::new(),
        failed: false,
    })
}

/// Builds a node from `parent>id` and its kind.
fn tree(rows: &[(&str, Part, Option<&str>)]) -> Tree {
    let mut tree = Tree::default();
    for (offset, (link, part, message)) in (0..).zip(rows) {
        let (parent, rest) = link.split_once('>').unwrap();
        let (id, pairs) = rest.split_once(' ').unwrap_or((rest, ""));
        let calls = pairs
            .split(' ')
            .filter_map(|word| word.strip_prefix("call:"));
        let answers = pairs
            .split(' ')
            .filter_map(|word| word.strip_prefix("answer:"));
        let blocks = calls.map(call).chain(answers.map(answer)).collect();
        let said = Message {
            id: message.map(str::to_owned),
            blocks,
            ..Message::new(Role::Assistant, Origin::Reply)
        };
        let entry = Entry {
            uuid: Some(id.to_owned()),
            parent: (!parent.is_empty()).then(|| parent.to_owned()),
            part: *part,
            messages: vec![said],
            ..Entry::default()
        };
        let place = Place {
            offset,
            length: 1,
            index: 0,
        };
        tree.add(&entry, place);
    }
    tree
}

fn branch(tree: &Tree) -> (Vec<u64>, u64) {
    let branch = tree.branch(Scope::SinceCompaction);
    let places = branch.places.iter().map(|place| place.offset);
    (places.collect(), branch.left_out)
}

const TURN: Part = Part::Turn;

#[test]
fn the_last_turn_determines_the_live_branch() {
    let rows = [
        (">a", TURN, None),
        ("a>b", TURN, None),
        ("b>c", TURN, None),
        // Rewound to a.
        ("a>d", TURN, None),
        ("d>e", Part::Aside, None),
    ];
    assert_eq!(branch(&tree(&rows)), (vec![0, 3], 2));
}

#[test]
fn a_rewind_without_successors_is_an_end() {
    let rows = [
        (">a", TURN, None),
        ("a>b", TURN, None),
        ("a>r", Part::Step, None),
    ];
    assert_eq!(branch(&tree(&rows)), (vec![0, 2], 1));
}

#[test]
fn subagents_count_only_without_other_records() {
    let mixed = [(">a", TURN, None), (">s", Part::Side, None)];
    assert_eq!(branch(&tree(&mixed)).0, [0]);
    let only = [(">s", Part::Side, None), ("s>t", Part::Side, None)];
    assert_eq!(branch(&tree(&only)).0, [0, 1]);
}

#[test]
fn parallel_calls_stay_with_their_results() {
    let rows = [
        (">u", TURN, None),
        ("u>a1 call:1", TURN, Some("m")),
        ("a1>a2 call:2", TURN, Some("m")),
        ("a1>r1 answer:1", TURN, None),
        ("a2>r2 answer:2", TURN, None),
        ("r2>b", TURN, Some("n")),
    ];
    // The first result's parent is its own record, which is not on the branch.
    assert_eq!(branch(&tree(&rows)), (vec![0, 1, 2, 3, 4, 5], 0));
    let late = [
        (">u", TURN, None),
        ("u>a1 call:1", TURN, Some("m")),
        ("u>a2 call:2", TURN, Some("m")),
        ("a2>r2 answer:2", TURN, None),
        ("a1>r1 answer:1", TURN, None),
        ("r1>b", TURN, None),
    ];
    assert_eq!(branch(&tree(&late)), (vec![0, 1, 2, 3, 4, 5], 0));
}

#[test]
fn a_repeated_record_counts_once_or_extends_its_message() {
    let rows = |message| {
        [
            (">a", TURN, None),
            ("a>b", TURN, message),
            ("a>b", TURN, message),
            ("b>c", TURN, None),
        ]
    };
    assert_eq!(branch(&tree(&rows(Some("b")))), (vec![0, 1, 2, 3], 0));
    assert_eq!(branch(&tree(&rows(Some("m")))), (vec![0, 1, 3], 0));
    assert_eq!(branch(&tree(&rows(None))), (vec![0, 1, 3], 0));
    assert_eq!(tree(&rows(None)).repeated, 1);
}

#[test]
fn the_branch_continues_before_compactions_and_gaps() {
    let mut gap = tree(&[
        (">a", TURN, None),
        ("a>left", TURN, None),
        ("a>b", TURN, None),
        (">c", Part::Step, None),
        ("c>d", TURN, None),
    ]);
    assert_eq!(branch(&gap), (vec![3, 4], 3));
    gap.nodes[3].logical_parent = Some(Key::of("b"));
    let whole = gap.branch(Scope::Live);
    let offsets: Vec<u64> = whole.places.iter().map(|place| place.offset).collect();
    assert_eq!((offsets, whole.left_out), (vec![0, 2, 3, 4], 1));
    gap.nodes[3].logical_parent = Some(Key::of("lost"));
    assert_eq!(gap.branch(Scope::Live), whole);
    // A missing parent does not mean a compaction.
    gap.nodes[3].parent = Some(Key::of("lost"));
    assert_eq!(gap.branch(Scope::SinceCompaction), whole);
}

#[test]
fn different_ids_have_different_keys() {
    let ids = [
        "",
        "a",
        "b",
        "2858a029-7d10-4ede-b828-eca2d41ea466",
        "f2e861eb",
    ];
    for (at, id) in ids.iter().enumerate() {
        assert!(ids[..at].iter().all(|other| Key::of(other) != Key::of(id)));
        assert_eq!(Key::of(id), Key::of(id));
    }
}

#[test]
fn cycles_end_the_walk_and_missing_parents_do_not() {
    let circle = [
        ("c>a", TURN, None),
        ("a>b", TURN, None),
        ("b>c", TURN, None),
        ("c>d", TURN, None),
    ];
    let circle = tree(&circle);
    assert_eq!(branch(&circle), (vec![0, 1, 2, 3], 0));
    assert_eq!(circle.cycles().len(), 1);
    let own = tree(&[("a>a", TURN, None), ("a>b", TURN, None)]);
    assert_eq!(branch(&own).0, [0, 1]);
    let gap = tree(&[(">a", TURN, None), ("x>b", TURN, None), ("b>c", TURN, None)]);
    assert_eq!(branch(&gap), (vec![0, 1, 2], 0));
    assert_eq!(gap.missing_parents().len(), 1);
    assert!(gap.cycles().is_empty());
    assert_eq!(branch(&Tree::default()), (vec![], 0));
}
