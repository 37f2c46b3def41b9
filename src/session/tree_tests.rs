use super::*;

/// A node by letters: `parent>id`, then what it is.
fn tree(rows: &[(&str, Part, Option<&str>)]) -> Tree {
    let mut tree = Tree::default();
    for (offset, (link, part, message)) in (0..).zip(rows) {
        let (parent, rest) = link.split_once('>').unwrap();
        let (id, pairs) = rest.split_once(' ').unwrap_or((rest, ""));
        let keys = |mark: &str| {
            let words = pairs.split(' ').filter_map(|word| word.strip_prefix(mark));
            words.map(Key::of).collect::<Vec<_>>()
        };
        let node = Node {
            id: Key::of(id),
            parent: (!parent.is_empty()).then(|| Key::of(parent)),
            part: *part,
            message: message.map(Key::of),
            calls: keys("call:"),
            answers: keys("answer:"),
        };
        let place = Place {
            offset,
            length: 1,
            index: 0,
        };
        tree.add(node, place);
    }
    tree
}

fn branch(tree: &Tree) -> (Vec<u64>, u64) {
    let branch = tree.branch();
    let places = branch.picks.iter().map(|pick| pick.place.offset);
    (places.collect(), branch.left_out)
}

const TURN: Part = Part::Turn;

#[test]
fn the_last_turn_decides_which_branch_lives() {
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
fn a_rewind_that_nothing_follows_is_an_end() {
    let rows = [
        (">a", TURN, None),
        ("a>b", TURN, None),
        ("a>r", Part::Step, None),
    ];
    assert_eq!(branch(&tree(&rows)), (vec![0, 2], 1));
}

#[test]
fn subagents_count_only_where_there_is_nothing_else() {
    let mixed = [(">a", TURN, None), (">s", Part::Side, None)];
    assert_eq!(branch(&tree(&mixed)).0, [0]);
    let only = [(">s", Part::Side, None), ("s>t", Part::Side, None)];
    assert_eq!(branch(&tree(&only)).0, [0, 1]);
}

#[test]
fn parallel_calls_stand_together_with_their_results() {
    let rows = [
        (">u", TURN, None),
        ("u>a1 call:1", TURN, Some("m")),
        ("a1>a2 call:2", TURN, Some("m")),
        ("a1>r1 answer:1", TURN, None),
        ("a2>r2 answer:2", TURN, None),
        ("r2>b", TURN, Some("n")),
    ];
    // The first result hangs off its own record, beside the branch.
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
fn a_record_that_is_written_again_stays_with_the_first() {
    let rows = [
        (">a", TURN, None),
        ("a>b", TURN, None),
        ("a>b", TURN, None),
        ("b>c", TURN, None),
    ];
    assert_eq!(branch(&tree(&rows)), (vec![0, 1, 2, 3], 0));
    assert_eq!(tree(&rows).repeated, 1);
}

#[test]
fn circles_and_missing_parents_end_the_walk() {
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
    assert_eq!(branch(&gap), (vec![1, 2], 1));
    assert_eq!(gap.missing_parents().len(), 1);
    assert!(gap.cycles().is_empty());
    assert_eq!(branch(&Tree::default()), (vec![], 0));
}
