use super::*;
use turnpipe_core::message::{Block, Call, Message, Origin, Role, ToolResult};

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
        end: None,
    })
}

/// Builds nodes from `parent>id`, or `parent~logical parent>id`, and their kinds.
fn tree(rows: &[(&str, Part, Option<&str>)]) -> Tree {
    let mut tree = Tree::default();
    for (offset, (link, part, message)) in (0..).zip(rows) {
        let (parent, rest) = link.split_once('>').unwrap();
        let (id, pairs) = rest.split_once(' ').unwrap_or((rest, ""));
        let (parent, logical) = parent.split_once('~').unwrap_or((parent, ""));
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
            logical_parent: (!logical.is_empty()).then(|| logical.to_owned()),
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

fn branch(tree: Tree) -> (Vec<u64>, u64) {
    branch_of(tree, Scope::SinceCompaction)
}

fn branch_of(tree: Tree, scope: Scope) -> (Vec<u64>, u64) {
    let branch = tree.find_branch(scope);
    let places = branch.places.iter().map(|place| place.offset);
    (places.collect(), branch.abandoned_turns)
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
    assert_eq!(branch(tree(&rows)), (vec![0, 3], 2));
}

#[test]
fn a_rewind_without_successors_is_an_end() {
    let rows = [
        (">a", TURN, None),
        ("a>b", TURN, None),
        ("a>r", Part::Step, None),
    ];
    assert_eq!(branch(tree(&rows)), (vec![0, 2], 1));
}

#[test]
fn subagents_count_only_without_other_records() {
    let mixed = [(">a", TURN, None), (">s", Part::Side, None)];
    assert_eq!(branch(tree(&mixed)).0, [0]);
    let only = [(">s", Part::Side, None), ("s>t", Part::Side, None)];
    assert_eq!(branch(tree(&only)).0, [0, 1]);
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
    assert_eq!(branch(tree(&rows)), (vec![0, 1, 2, 3, 4, 5], 0));
    let late = [
        (">u", TURN, None),
        ("u>a1 call:1", TURN, Some("m")),
        ("u>a2 call:2", TURN, Some("m")),
        ("a2>r2 answer:2", TURN, None),
        ("a1>r1 answer:1", TURN, None),
        ("r1>b", TURN, None),
    ];
    assert_eq!(branch(tree(&late)), (vec![0, 1, 2, 3, 4, 5], 0));
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
    assert_eq!(branch(tree(&rows(Some("b")))), (vec![0, 1, 2, 3], 0));
    assert_eq!(branch(tree(&rows(Some("m")))), (vec![0, 1, 3], 0));
    assert_eq!(branch(tree(&rows(None))), (vec![0, 1, 3], 0));
    assert_eq!(tree(&rows(None)).duplicate_count, 1);
}

#[test]
fn the_branch_continues_before_compactions_and_gaps() {
    let gap = |compaction| {
        tree(&[
            (">a", TURN, None),
            ("a>left", TURN, None),
            ("a>b", TURN, None),
            (compaction, Part::Step, None),
            ("c>d", TURN, None),
        ])
    };
    assert_eq!(branch(gap(">c")), (vec![3, 4], 3));
    let whole = (vec![0, 2, 3, 4], 1);
    assert_eq!(branch_of(gap("~b>c"), Scope::Live), whole);
    assert_eq!(branch(gap("~b>c")), (vec![3, 4], 3));
    assert_eq!(branch_of(gap("~lost>c"), Scope::Live), whole);
    // A missing parent does not mean a compaction.
    assert_eq!(branch(gap("lost~lost>c")), whole);
}

#[test]
fn cycles_end_the_walk_and_missing_parents_do_not() {
    let circle = [
        ("c>a", TURN, None),
        ("a>b", TURN, None),
        ("b>c", TURN, None),
        ("c>d", TURN, None),
    ];
    assert_eq!(tree(&circle).find_cycles().len(), 1);
    assert_eq!(branch(tree(&circle)), (vec![0, 1, 2, 3], 0));
    let own = tree(&[("a>a", TURN, None), ("a>b", TURN, None)]);
    assert_eq!(branch(own).0, [0, 1]);
    let gap = tree(&[(">a", TURN, None), ("x>b", TURN, None), ("b>c", TURN, None)]);
    assert_eq!(gap.find_orphans().len(), 1);
    assert!(gap.find_cycles().is_empty());
    assert_eq!(branch(gap), (vec![0, 1, 2], 0));
    assert_eq!(branch(Tree::default()), (vec![], 0));
}

/// A comparison with the definition, on random files: forks, repeated ids, parents that follow or are
/// missing, and messages with several records.
mod properties {
    use proptest::prelude::*;

    use super::*;

    type Row = (u8, Option<u8>, Option<u8>, Option<u8>, u8, Option<u8>);

    fn row() -> impl Strategy<Value = Row> {
        let id = || 0..12_u8;
        (
            id(),
            prop::option::weighted(0.9, id()),
            prop::option::weighted(0.1, id()),
            prop::option::weighted(0.5, id()),
            0..4_u8,
            prop::option::weighted(0.4, 0..4_u8),
        )
    }

    /// Whether a record of this part has a call. Others have a result.
    fn calls(part: u8) -> bool {
        part.is_multiple_of(2)
    }

    /// Returns the live branch in the words of the module's documentation, with plain lists.
    fn expected(rows: &[Row]) -> Vec<u64> {
        let mut nodes: Vec<(usize, Row)> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let is_used = nodes.iter().any(|(_, known)| known.0 == row.0);
            if !is_used || row.3 == Some(row.0) {
                nodes.push((at, *row));
            }
        }
        let find = |id: Option<u8>| nodes.iter().rposition(|(_, row)| Some(row.0) == id);
        let is_end = |row: &Row| row.4 < 2;
        let leaf = nodes.iter().rposition(|(_, row)| is_end(row));
        let mut next = leaf.or(nodes.len().checked_sub(1));
        let mut branch = Vec::new();
        while let Some(at) = next.filter(|at| !branch.contains(at)) {
            branch.push(at);
            let row = nodes[at].1;
            let earlier = || nodes[..at].iter().rposition(|(_, row)| row.4 == 0);
            let has_parent = row.1.is_some() || row.2.is_some();
            next = find(row.1)
                .or_else(|| find(row.2))
                .or_else(|| earlier().filter(|_| has_parent));
        }
        branch.reverse();
        let mut order: Vec<usize> = Vec::new();
        for at in &branch {
            let message = nodes[*at].1.3;
            let all = || 0..nodes.len();
            let siblings = all().filter(|other| message.is_some() && nodes[*other].1.3 == message);
            let mut late = Vec::new();
            for sibling in siblings {
                order.push(sibling);
                let call = nodes[sibling].1.5.filter(|_| calls(nodes[sibling].1.4));
                let is_answer = |at: &usize| !calls(nodes[*at].1.4) && nodes[*at].1.5 == call;
                late.extend(all().filter(|at| call.is_some() && is_answer(at)));
            }
            late.retain(|at| !branch.contains(at));
            late.sort_unstable();
            order.push(*at);
            order.extend(late);
        }
        let mut placed = Vec::new();
        for at in order {
            if !placed.contains(&at) {
                placed.push(at);
            }
        }
        placed.iter().map(|at| nodes[*at].0 as u64).collect()
    }

    proptest! {
        #[test]
        fn the_branch_is_that_of_the_definition(rows in prop::collection::vec(row(), 0..24)) {
            let name = |id: Option<u8>| id.map(|id| format!("id{id}")).unwrap_or_default();
            let parts = [TURN, Part::Step, Part::Aside, Part::Side];
            let texts: Vec<(String, Part, Option<String>)> = rows.iter().map(|row| {
                let pair = match row.5 {
                    None => String::new(),
                    Some(call) if calls(row.4) => format!(" call:{call}"),
                    Some(call) => format!(" answer:{call}"),
                };
                let link = format!("{}~{}>{}{pair}", name(row.1), name(row.2), name(Some(row.0)));
                (link, parts[row.4 as usize], row.3.map(|id| name(Some(id))))
            }).collect();
            let texts: Vec<_> = texts
                .iter()
                .map(|(link, part, message)| (link.as_str(), *part, message.as_deref()))
                .collect();
            prop_assert_eq!(branch_of(tree(&texts), Scope::Live).0, expected(&rows));
        }
    }
}
