use proptest::prelude::*;

use super::super::Piece;
use super::super::test_samples::{mutate, object_line};
use super::super::value::{FirstValue, PARSED, first_value};
use super::{Defect, MAX_DEFECTS, find_objects, is_undamaged, only_record, split_line};

/// Returns the objects on the line, and the defects with their positions.
fn objects_and_defects(line: &str) -> (Vec<&str>, Vec<(Defect, usize)>) {
    let result = find_objects(line.as_bytes());
    let objects = result.objects.into_iter().map(|range| &line[range]);
    (objects.collect(), result.defects)
}

const WHOLE: &str = r#"{"type":"user","message":{"content":[]}}"#;

type Row<'a> = (&'a str, &'a [&'a str], &'a [(Defect, usize)]);

#[test]
fn damage_is_reported() {
    use Defect::{CutOff, Glued, NotAnObject, NotJson, NulBytes, Torn, TrailingText};
    let control =
        || NotJson("control character (\\u0000-\\u001F) found while parsing a string".into());
    let no_value = || NotJson("expected value".into());
    let table: &[Row] = &[
        ("", &[], &[]),
        (" \t\r\n", &[], &[]),
        ("{}\r\n", &["{}"], &[]),
        (" {\"a\":1} \n", &["{\"a\":1}"], &[]),
        // NUL runs
        ("\0\0\0", &[], &[(NulBytes, 0)]),
        ("\0\0{}\0\n", &["{}"], &[(NulBytes, 0)]),
        ("{\"a\":1}\0\0", &["{\"a\":1}"], &[(NulBytes, 7)]),
        ("{}\0{}", &["{}", "{}"], &[(NulBytes, 2)]),
        ("{\"a\":\"x\0\0{}", &["{}"], &[(Torn, 0), (NulBytes, 7)]),
        ("{\"a\":\"x\0\0", &[], &[(Torn, 0), (NulBytes, 7)]),
        ("{\"a\":\"x\0y\"}", &[], &[(control(), 7)]),
        // Glued records
        (
            "{\"a\":1}{\"b\":2}",
            &["{\"a\":1}", "{\"b\":2}"],
            &[(Glued, 7)],
        ),
        ("{} {}", &["{}", "{}"], &[(Glued, 3)]),
        ("{}{\"b\":", &["{}"], &[(CutOff, 2)]),
        ("5{}", &["{}"], &[(NotAnObject, 0)]),
        // Objects that something follows
        ("{\"a\":1},", &[], &[(TrailingText, 7)]),
        ("{\"a\":1}]", &[], &[(TrailingText, 7)]),
        ("{\"a\":1}}", &[], &[(TrailingText, 7)]),
        ("{\"a\":1}\"x", &[], &[(TrailingText, 7)]),
        ("{}{\"a\":1},", &["{}"], &[(TrailingText, 9)]),
        // Not objects
        ("null", &[], &[(NotAnObject, 0)]),
        ("[{}]", &[], &[(NotAnObject, 0)]),
        ("12 monkeys", &[], &[(NotAnObject, 0)]),
        ("hello", &[], &[(no_value(), 0)]),
        ("\u{feff}{}", &[], &[(no_value(), 0)]),
        // Raw control characters
        ("{\"a\":\"b\tc\"}", &[], &[(control(), 7)]),
        ("{\"\u{1}\":1}", &[], &[(control(), 2)]),
        ("{\"a\":{\"\u{1}\":1}}", &[], &[(control(), 7)]),
    ];
    for (line, objects, defects) in table {
        assert_eq!(
            objects_and_defects(line),
            (objects.to_vec(), defects.to_vec()),
            "{line:?}"
        );
    }
}

/// Every position at which a torn record is recognisable as separate from the next one.
#[test]
fn a_record_after_a_torn_one_is_recovered() {
    for torn in [
        "{",
        r#"{"type"#,
        r#"{"type":"assistant","mes"#,
        r#"{"type":"assistant","message""#,
        r#"{"type":"assistant""#,
        r#"{"type":"assistant","#,
        r#"{"type":"assistant","content":[{"text":"some words"#,
        r#"{"type":"assistant","content":[{"text":"some words\"#,
        r#"{"type":"assistant","content":[{"text":"some words\u12"#,
        r#"{"type":"assistant","content":[{"text":"a brace { "#,
        r#"{"type":"assistant","content":[{"text":"x"}"#,
        r#"{"n":12"#,
        r#"{"n":-"#,
        r#"{"n":1.5e"#,
        r#"{"n":tru"#,
        r#"{"n":[1,2"#,
        r#"{"type":"us{"type":"us"#,
    ] {
        let line = format!("{torn}{WHOLE}\n");
        let (objects, defects) = objects_and_defects(&line);
        assert_eq!(objects, [WHOLE], "{line}");
        assert_eq!(defects[0], (Defect::Torn, 0), "{line}");
        // The same if another record follows, or a second torn one.
        assert_eq!(
            objects_and_defects(&format!("{torn}{WHOLE}{WHOLE}")).0,
            [WHOLE, WHOLE]
        );
        assert_eq!(
            objects_and_defects(&format!("{torn}{WHOLE}{{\"a\":")).0,
            [WHOLE]
        );
    }
}

/// A record that could be a part of the torn one before it is treated as such.
#[test]
fn a_record_that_may_be_a_part_of_another_is_left_alone() {
    for torn in [
        r#"{"message":"#,
        r#"{"message": "#,
        r#"{"content":["#,
        r#"{"content":[1,"#,
        r#"{"content":[{},"#,
    ] {
        let line = format!("{torn}{WHOLE}");
        assert_eq!(
            objects_and_defects(&line),
            (vec![], vec![(Defect::CutOff, 0)]),
            "{line}"
        );
    }
}

/// The inner objects of a record with a hole or with unescaped quotes are not records.
#[test]
fn inner_objects_are_not_taken_for_records() {
    for line in [
        r#"{"content":[{"a":1{"type":"tool_use","input":{}}]}"#,
        r#"{"content":[{"a":1{"type":"tool_use","input":{}},{"type":"tool_use"}]}"#,
        r#"{"text":"use {"type":"tool_use","input":{}} for this"}"#,
        r#"{"text":"use {"type":"tool_use","input":{}}"}"#,
        r#"{"text":"\{"type":"tool_use"}"}"#,
        "{\"content\":[\0\0{\"type\":\"tool_use\"}]}",
        "{\"content\":\"\0\0{\"type\":\"tool_use\"}\"}",
        r#"ontent":[{"type":"tool_use"}]}"#,
        r#"{"type":"tool_use"}]}"#,
    ] {
        let (objects, defects) = objects_and_defects(line);
        assert!(objects.is_empty(), "{line}");
        assert!(!defects.is_empty(), "{line}");
    }
}

#[test]
fn hostile_lines_take_linear_time_and_few_reports() {
    for unit in ["{", "{\"a{", "{}", "5{", "{\"\0", "[", "{\"a\":1{\"b\":"] {
        let line = unit.repeat(100_000);
        let parsed = PARSED.get();
        assert!(find_objects(line.as_bytes()).defects.len() <= MAX_DEFECTS);
        assert!(PARSED.get() - parsed <= 2 * line.len(), "{unit}");
        let invalid = [line.as_bytes(), b"\xff"].concat();
        assert!(split_line(&invalid).1.len() <= MAX_DEFECTS, "{unit}");
    }
}

proptest! {
    #[test]
    fn every_object_is_one(
        parts in prop::collection::vec(
            prop_oneof![
                3 => object_line(),
                2 => mutate(object_line()),
                1 => prop::sample::select(vec![b"\0\0".to_vec(), b" ".to_vec(), b"\r".to_vec()]),
            ],
            0..4,
        )
    ) {
        let line = parts.concat();
        let result = find_objects(&line);
        let mut end = 0;
        for range in result.objects {
            prop_assert!(range.start >= end);
            end = range.end;
            let alone = first_value(&line[range.clone()]);
            prop_assert_eq!(alone, FirstValue::Object(0..range.len()));
        }
    }

    #[test]
    fn a_cut_off_record_yields_nothing(line in object_line(), cut in any::<prop::sample::Index>()) {
        let FirstValue::Object(span) = first_value(&line) else {
            return Err(TestCaseError::fail("a generated object does not validate"));
        };
        let end = span.start + cut.index(span.len());
        let result = find_objects(&line[..end]);
        prop_assert!(result.objects.is_empty());
        prop_assert_eq!(result.defects.is_empty(), end == span.start);
    }

    /// A prefix of a record never swallows or splits the whole record after it: that record is
    /// returned unchanged, or the line yields nothing.
    #[test]
    fn a_glued_record_is_returned_whole_or_not_at_all(
        torn in object_line(),
        cut in any::<prop::sample::Index>(),
    ) {
        let torn = &torn[..cut.index(torn.len())];
        let line = [torn, WHOLE.as_bytes()].concat();
        let objects: Vec<&[u8]> = find_objects(&line).objects.into_iter().map(|range| &line[range]).collect();
        if let Some((last, others)) = objects.split_last() {
            prop_assert_eq!(*last, WHOLE.as_bytes());
            prop_assert!(others.is_empty());
        }
    }

    /// A final newline makes no difference, and the quick check agrees with the full one.
    #[test]
    fn quick_and_full_checks_agree(line in "[{}\":a1,\\[\\] ]{0,20}") {
        let texts = |line: &str| {
            let (records, damage) = split_line(line.as_bytes());
            let records = records.iter();
            let texts: Vec<String> = records.map(|record| record.text(line.as_bytes()).to_owned()).collect();
            (texts, damage.is_empty())
        };
        let (records, sound) = texts(&line);
        prop_assert_eq!(texts(&format!("{line}\n")), (records.clone(), sound));
        // Lists are split before their elements are checked.
        let piece = Piece::Line { raw: line.clone().into(), number: 2, offset: 2 };
        prop_assert_eq!(is_undamaged(line.as_bytes()), piece.records().1.is_empty());
        prop_assert_eq!(only_record(line.as_bytes()).is_some(), sound && records.len() == 1);
        if let Some(only) = only_record(line.as_bytes()) {
            prop_assert_eq!(records, [only.to_owned()]);
        }
    }
}

#[test]
fn records_and_damage_of_a_line() {
    let rows: [(&[u8], &[&str], usize); 11] = [
        (b"{\"a\":1}\n", &["{\"a\":1}"], 0),
        (b"{\"a\":1}{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"], 1),
        (b"{\"a\":\"\xff\"}", &["{\"a\":\"\u{FFFD}\"}"], 1),
        (b"{\"a\":\"\\ud800\"}", &["{\"a\":\"\\ufffd\"}"], 0),
        (b"{\"a\":", &[], 1),
        (b"  \r\n", &[], 0),
        (b"data: {\"a\":1}\n", &["{\"a\":1}"], 0),
        (b"data:{\"a\":1}\r\n", &["{\"a\":1}"], 0),
        (b"data: [DONE]\n", &[], 0),
        (b"event: message_start\n", &[], 0),
        (b"data: {\"a\":\n", &[], 1),
    ];
    for (line, expected, wrong) in rows {
        let (records, damage) = split_line(line);
        let texts: Vec<String> = records
            .iter()
            .map(|record| record.text(line).to_lowercase())
            .collect();
        assert_eq!(texts, expected, "{}", String::from_utf8_lossy(line));
        let only = only_record(line);
        assert_eq!(only.is_some(), line == b"{\"a\":1}\n");
        assert_eq!(damage.len(), wrong, "{}", String::from_utf8_lossy(line));
        assert_eq!(
            is_undamaged(line),
            wrong == 0,
            "{}",
            String::from_utf8_lossy(line)
        );
    }
}
