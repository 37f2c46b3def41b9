use std::io::{self, Read};

use proptest::prelude::*;

use super::super::test_samples::{interesting_byte, mutate, object_line};
use super::super::{Damage, FirstValue, MAX_LINE_BYTES, Piece, Prefilter, Record, first_value};
use super::{MULTILINE_DELIMITERS, Reader, UnwantedLines};

/// Returns one part per read, with an interruption before each.
struct Chunks {
    parts: Vec<Vec<u8>>,
    interrupted: bool,
}

impl Chunks {
    /// Splits `input` into parts with these `lengths`, which repeat.
    fn new(input: &[u8], lengths: &[usize]) -> Self {
        let mut parts = Vec::new();
        let mut rest = input;
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (part, others) = rest.split_at((*length).clamp(1, rest.len()));
            parts.push(part.to_vec());
            rest = others;
        }
        parts.reverse();
        Self {
            parts,
            interrupted: false,
        }
    }
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let Some(mut part) = self.parts.pop() else {
            return Ok(0);
        };
        let rest = part.split_off(part.len().min(buffer.len()));
        if !rest.is_empty() {
            self.parts.push(rest);
        }
        buffer[..part.len()].copy_from_slice(&part);
        Ok(part.len())
    }
}

fn prefilter() -> Prefilter {
    Prefilter::new(&["\"w\"", "wanted"]).unwrap()
}

/// Returns a prefilter that matches every line.
fn match_all() -> Prefilter {
    Prefilter::new(&[""]).unwrap()
}

fn pieces(source: impl Read, prefilter: Prefilter) -> Vec<Piece> {
    pieces_of(Reader::new(source, prefilter))
}

/// Returns the pieces, with lines without a needle checked.
fn read_checked(source: impl Read) -> Vec<Piece> {
    pieces_of(Reader::new(source, prefilter()).with_unwanted(UnwantedLines::Checked))
}

fn pieces_of(mut reader: Reader<impl Read>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while let Some(piece) = reader.next_piece().unwrap() {
        pieces.push(piece);
    }
    assert_eq!(reader.next_piece().unwrap(), None);
    pieces
}

fn join(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(Piece::raw).copied().collect()
}

/// Results that do not depend on the chunks of the input: the text of each record, each damage, with the
/// number, the offset and the termination of its line.
type Line = (u64, u64, bool, Vec<String>, Vec<Damage>);

fn lines(pieces: &[Piece]) -> Vec<Line> {
    let line = |piece: &Piece| match piece {
        Piece::Line {
            raw,
            number,
            offset,
        } => {
            let (records, damage) = piece.records();
            let texts: Vec<String> = records
                .iter()
                .map(|record| record.text(raw).to_owned())
                .collect();
            assert_eq!(visit(piece), (texts.clone(), damage.clone()));
            Some((*number, *offset, raw.ends_with(b"\n"), texts, damage))
        }
        Piece::Plain { .. } | Piece::LongLine { .. } => None,
    };
    pieces.iter().filter_map(line).collect()
}

/// Returns the records that a reader of JSON objects visits.
fn visit(piece: &Piece) -> (Vec<String>, Vec<Damage>) {
    let mut texts = Vec::new();
    let damage = piece.visit_records(|text| {
        let is_object = first_value(text.as_bytes()) == FirstValue::Object(0..text.len());
        if is_object {
            texts.push(text.to_owned());
        }
        is_object
    });
    (texts, damage)
}

/// Returns the texts and reasons of a single line.
fn texts_and_damage(input: &[u8]) -> (Vec<String>, Vec<(String, u64)>) {
    let mut texts = Vec::new();
    let mut reasons = Vec::new();
    for (_, _, _, line_texts, damage) in lines(&pieces(input, match_all())) {
        texts.extend(line_texts);
        reasons.extend(
            damage
                .into_iter()
                .map(|damage| (damage.reason, damage.offset)),
        );
    }
    (texts, reasons)
}

/// Returns one string per piece, after checking that they do not depend on how the input is split.
fn texts_of(input: &[u8], unwanted: UnwantedLines) -> Vec<String> {
    let cuts: [&[usize]; 3] = [&[1], &[7, 2], &[100_000]];
    let mut all = cuts.into_iter().map(|cuts| {
        let reader = Reader::new(Chunks::new(input, cuts), prefilter()).with_unwanted(unwanted);
        let pieces = pieces_of(reader);
        assert_eq!(join(&pieces), input, "{cuts:?}");
        let mut texts = Vec::new();
        for (_, _, _, records, damage) in lines(&pieces) {
            texts.extend(records);
            texts.extend(damage.iter().map(Damage::to_string));
        }
        texts
    });
    let first = all.next().unwrap();
    assert!(all.all(|texts| texts == first));
    first
}

#[test]
fn an_object_may_span_several_lines() {
    let wanted = "{\n  \"w\": 1\n}\n";
    let object = wanted.trim_end();
    let tabs = "{\n\t\"w\": {\n\t}\n}";
    let windows = object.replace('\n', "\r\n");
    let rows: [(String, &[&str]); 17] = [
        (wanted.to_owned(), &[object]),
        (object.to_owned(), &[object]),
        (
            format!("{{\"w\":0}}\n{wanted}{{\"w\":2}}\n"),
            &["{\"w\":0}", object, "{\"w\":2}"],
        ),
        (format!("{{}}\n{wanted}{wanted}"), &[object, object]),
        (tabs.to_owned(), &[tabs]),
        // As Gemini's API prints a stream.
        (format!("[{object}\n,\n{object}\n]\n"), &[object, object]),
        (
            format!("[{object}\r\n,\r\n{object}\r\n]\r\n"),
            &[object, object],
        ),
        (
            "[{\"w\":1}\r\n,\r\n{\"w\":2}\r\n]".to_owned(),
            &["{\"w\":1}", "{\"w\":2}"],
        ),
        (
            format!("{windows}\r\n{{\"w\":2}}\r\n"),
            &[&windows, "{\"w\":2}"],
        ),
        // As `jq` prints a list, whole or with one element per line.
        (
            "[\n  {\n    \"w\": 1\n  },\n  {}\n]\n".to_owned(),
            &["{\n    \"w\": 1\n  }", "{}"],
        ),
        (
            "[{\"w\":1},{\"w\":2}]\n{\"w\":3}".to_owned(),
            &["{\"w\":1}", "{\"w\":2}", "{\"w\":3}"],
        ),
        // An unfinished object yields nothing.
        (
            "[{\"w\":1},{\"w\":".to_owned(),
            &["input line 1 (byte 8): text after a record"],
        ),
        (
            "[\n  {\"w\":1},\n{}\n".to_owned(),
            &["input line 2 (byte 11): text after a record"],
        ),
        (
            "[{\"w\":1},2]\n".to_owned(),
            &["input line 1 (byte 8): text after a record"],
        ),
        ("{\n  \"x\": 1\n}\n".to_owned(), &[]),
        // Other input is read line by line.
        ("{\n{\"w\":1}\n}\n".to_owned(), &["{\"w\":1}"]),
        ("{\n  1\n{\"w\":1}".to_owned(), &["{\"w\":1}"]),
    ];
    for (input, expected) in rows {
        assert_eq!(
            texts_of(input.as_bytes(), UnwantedLines::Unread),
            expected,
            "{input}"
        );
    }
    let sound = format!("[{object}\n,\n{object}\n]\n[\n  {{}}\n]\n[{{}},{{}}]\n{windows}\n");
    assert_eq!(
        texts_of(sound.as_bytes(), UnwantedLines::Checked),
        [object, object, &windows]
    );
}

#[test]
fn an_object_on_several_lines_is_not_held_forever() {
    let mut input = b"{\n".to_vec();
    for _ in 0..MAX_LINE_BYTES / 1000 + 100 {
        input.extend([b' '; 999]);
        input.push(b'\n');
    }
    input.extend(b"}\n{\"w\":1}\n");
    let mut reader = Reader::new(&input[..], prefilter());
    let first = reader.next_piece().unwrap().unwrap();
    assert!(first.raw().len() <= MAX_LINE_BYTES + 1);
    let pieces: Vec<_> = std::iter::once(first).chain(pieces_of(reader)).collect();
    assert_eq!(join(&pieces), input);
    assert_eq!(lines(&pieces).len(), 1);
}

#[test]
fn bad_input_matrix() {
    const UTF8: &str = "invalid UTF-8";
    const NULS: &str = "NUL bytes next to a record";
    const OTHER: &str = "not a JSON object";
    const CONTROL: &str =
        "not JSON: control character (\\u0000-\\u001F) found while parsing a string";
    const GLUED: &str = "several records on one line";
    const CUT: &str = "record is cut off";
    type Row<'a> = (&'a [u8], &'a [&'a str], &'a [(&'a str, u64)]);
    let table: &[Row] = &[
        (b"", &[], &[]),
        (b"\n\r\n \t\n", &[], &[]),
        (b"\xef\xbb\xbf", &[], &[]),
        (b"\xef\xbb\xbf{\"a\":1}\n{}\n", &["{\"a\":1}", "{}"], &[]),
        (
            b"{}\n\xef\xbb\xbf{}\n",
            &["{}"],
            &[("not JSON: expected value", 3)],
        ),
        (b"{\"a\":1}\r\n {} \r\n", &["{\"a\":1}", "{}"], &[]),
        (b"{}\n\0\0{}\0\n", &["{}", "{}"], &[(NULS, 3)]),
        (
            b"{\"a\":\"\xff\xc3\"}\n{\"b\":\"\xc3\xa9\"}",
            &["{\"a\":\"\u{fffd}\u{fffd}\"}", "{\"b\":\"\u{e9}\"}"],
            &[(UTF8, 6)],
        ),
        (
            b"\xff{}\n",
            &[],
            &[("not JSON: expected value", 0), (UTF8, 0)],
        ),
        (
            b"{\"a\":\"\\ud83d\xff\"}",
            &["{\"a\":\"\\ufffd\u{fffd}\"}"],
            &[(UTF8, 12)],
        ),
        (b"{\"a\":\"\\uD83D\"}", &["{\"a\":\"\\ufffd\"}"], &[]),
        (
            b"{\"a\":\"\\ud83d\\ude00\"}",
            &["{\"a\":\"\\ud83d\\ude00\"}"],
            &[],
        ),
        (b"{\"a\":\"x\x01\"}\n{}", &["{}"], &[(CONTROL, 7)]),
        (b"{\"a\":1,\"a\":2}", &["{\"a\":1,\"a\":2}"], &[]),
        (b"{\"a\":1e999}", &["{\"a\":1e999}"], &[]),
        (
            b"{\"a\":1}{\"b\":2}\n",
            &["{\"a\":1}", "{\"b\":2}"],
            &[(GLUED, 7)],
        ),
        (
            b"{\"type\":\"assistant\",\"mes{\"type\":\"user\"}\n",
            &["{\"type\":\"user\"}"],
            &[("record is cut off and glued to the next one", 0)],
        ),
        (b"{\"a\":[{\"b\":1}\n{}", &["{}"], &[(CUT, 0)]),
        (b"{}\n{\"a\":[{\"b\":1}", &["{}"], &[(CUT, 3)]),
        (
            b"1\nnull\n[17]\n\"a\"",
            &[],
            &[(OTHER, 0), (OTHER, 2), (OTHER, 7), (OTHER, 12)],
        ),
    ];
    for (input, texts, reasons) in table {
        let shown = String::from_utf8_lossy(input);
        let (seen_texts, seen_reasons) = texts_and_damage(input);
        assert_eq!(seen_texts, *texts, "{shown:?}");
        let expected: Vec<_> = reasons
            .iter()
            .map(|(text, at)| ((*text).to_owned(), *at))
            .collect();
        assert_eq!(seen_reasons, expected, "{shown:?}");
    }
}

#[test]
fn depth_is_not_damage() {
    let line = format!("{}1{}\n", "{\"w\":".repeat(100_000), "}".repeat(100_000));
    let pieces = pieces(line.as_bytes(), prefilter());
    let [piece @ Piece::Line { raw, .. }] = pieces.as_slice() else {
        panic!("not a single line");
    };
    let (records, damage) = piece.records();
    assert_eq!(records[0].text(raw), line.trim_end());
    assert!(damage.is_empty());
    // Without a needle it is passed on.
    let line = line.replace('w', "x");
    for pieces in [
        super::tests::pieces(line.as_bytes(), prefilter()),
        read_checked(line.as_bytes()),
    ] {
        assert!(matches!(pieces.as_slice(), [Piece::Plain { .. }]));
    }
}

#[test]
fn lines_without_a_needle_are_returned_in_runs() {
    let input = "{\"a\":1}\n\n{\"b\":2}\r\n{\"w\":3}\n{\"c\":4}\n{bad\n{\"d\":5}";
    let wanted = Piece::Line {
        raw: b"{\"w\":3}\n".to_vec(),
        number: 4,
        offset: 18,
    };
    let bad = Piece::Line {
        raw: b"{bad\n".to_vec(),
        number: 6,
        offset: 34,
    };
    let damage = Damage {
        reason: "not JSON: key must be a string".into(),
        line: 6,
        offset: 35,
    };
    assert_eq!(wanted.records(), (vec![Record::Range(0..7)], vec![]));
    assert_eq!(bad.records(), (vec![], vec![damage]));
    let plain = |text: &str| Piece::Plain {
        raw: text.as_bytes().to_vec(),
    };
    let before = plain("{\"a\":1}\n\n{\"b\":2}\r\n");
    assert_eq!(
        pieces(input.as_bytes(), prefilter()),
        [
            before.clone(),
            wanted.clone(),
            plain("{\"c\":4}\n{bad\n"),
            plain("{\"d\":5}"),
        ]
    );
    assert_eq!(
        read_checked(input.as_bytes()),
        [
            before,
            wanted,
            plain("{\"c\":4}\n"),
            bad,
            plain("{\"d\":5}")
        ]
    );
}

/// Neither damaged lines without a needle nor lines that may start an object restart the searches: one for needles
/// and one for each possible start of an object.
#[test]
fn hostile_lines_are_searched_in_linear_time() {
    for line in ["x\n", "{\n", "[{\r\n", "{\nx\n", "[\n]\n"] {
        let input = line.repeat(100_000);
        let reader = Reader::new(input.as_bytes(), prefilter());
        let mut reader = reader.with_unwanted(UnwantedLines::Checked);
        let mut pieces = 0;
        while reader.next_piece().unwrap().is_some() {
            pieces += 1;
        }
        assert!(pieces > 50_000, "{line:?}: {pieces}");
        let limit = (2 + MULTILINE_DELIMITERS.len()) * input.len();
        assert!(reader.searched <= limit, "{line:?}: {}", reader.searched);
    }
}

#[test]
fn all_records_of_a_glued_line_are_delivered() {
    let pieces = pieces(b"{\"a\":1}{\"w\":2}{\"b\":3}".as_slice(), prefilter());
    let lines = lines(&pieces);
    assert_eq!(lines[0].3, ["{\"a\":1}", "{\"w\":2}", "{\"b\":3}"]);
    assert_eq!(lines[0].4.len(), 2);
}

/// The reader only reads again after all whole lines were returned.
#[test]
fn a_whole_line_is_returned_before_the_next_read() {
    struct ChunkSource(Vec<&'static [u8]>);
    impl Read for ChunkSource {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = self.0.pop().ok_or(io::ErrorKind::WouldBlock)?;
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }
    let source = ChunkSource(vec![b"3}\n{\"w\"", b"{\"a\":1}\n{\"w\":2}\n{\"w\":"]);
    let mut reader = Reader::new(source, prefilter());
    let mut raws = Vec::new();
    for _ in 0..2 {
        raws.push(reader.next_piece().unwrap().unwrap().raw().to_vec());
    }
    assert!(!reader.has_piece());
    raws.push(reader.next_piece().unwrap().unwrap().raw().to_vec());
    // A failed read loses nothing and can be repeated.
    for _ in 0..2 {
        let error = reader.next_piece().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
    reader.source.0.push(b":4}\n");
    raws.push(reader.next_piece().unwrap().unwrap().raw().to_vec());
    assert_eq!(
        raws,
        [
            b"{\"a\":1}\n".as_slice(),
            b"{\"w\":2}\n",
            b"{\"w\":3}\n",
            b"{\"w\":4}\n"
        ]
    );
}

#[test]
fn long_lines_are_returned_in_parts() {
    let long = |length: usize| format!("{{\"w\":\"{}\"}}", "x".repeat(length - 8)).into_bytes();
    for (length, is_long) in [
        (MAX_LINE_BYTES, false),
        (MAX_LINE_BYTES + 1, true),
        (40 << 20, true),
    ] {
        for newline in [b"\n".as_slice(), b""] {
            let tail: &[u8] = if newline.is_empty() {
                b""
            } else {
                b"{\"w\":1}"
            };
            let input = [b"{\"w\":0}\n", long(length).as_slice(), newline, tail].concat();
            let mut reader = Reader::new(input.as_slice(), prefilter());
            let mut output = Vec::new();
            let mut damages = 0;
            let mut ends = Vec::new();
            let mut numbers = Vec::new();
            while let Some(piece) = reader.next_piece().unwrap() {
                assert!(piece.raw().len() <= MAX_LINE_BYTES + 1);
                output.extend_from_slice(piece.raw());
                match &piece {
                    Piece::LongLine {
                        damage,
                        number,
                        offset,
                        is_last,
                        ..
                    } => {
                        damages += usize::from(damage.is_some());
                        ends.extend(is_last.then(|| piece.raw().ends_with(b"\n")));
                        assert_eq!((*number, *offset), (2, 8));
                    }
                    Piece::Line { number, .. } => {
                        assert!(piece.records().1.is_empty());
                        numbers.push(*number);
                    }
                    Piece::Plain { .. } => panic!("plain"),
                }
            }
            assert!(output == input);
            assert_eq!(damages, usize::from(is_long));
            let expected: &[u64] = match (is_long, newline.is_empty()) {
                (false, false) => &[1, 2, 3],
                (false, true) => &[1, 2],
                (true, false) => &[1, 3],
                (true, true) => &[1],
            };
            assert_eq!(numbers, expected);
            assert_eq!(
                ends,
                if is_long {
                    vec![!newline.is_empty()]
                } else {
                    vec![]
                }
            );
        }
    }
}

/// Returns lines of all kinds, valid and damaged.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => object_line(),
        2 => Just(b"{\"w\":\"wanted\"}".to_vec()),
        2 => mutate(object_line()),
        1 => prop::sample::select(vec![
            b"".to_vec(), b"\r".to_vec(), b"\0\0".to_vec(), b"\xef\xbb\xbf".to_vec(),
            b"{\"w\":\"\xff\"}".to_vec(), b"{\"w\":\"\\ud83d\"}".to_vec(), b"{\"w\":1,\"x".to_vec(),
        ]),
        1 => prop::collection::vec(interesting_byte(), 0..20),
    ];
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("")];
    prop::collection::vec((line, end), 0..8).prop_map(|lines| {
        lines
            .iter()
            .flat_map(|(line, end)| [line.as_slice(), end.as_bytes()].concat())
            .collect()
    })
}

proptest! {
    #[test]
    fn pieces_do_not_depend_on_chunks(
        input in input(),
        lengths in prop::collection::vec(1..40_usize, 1..6),
    ) {
        let at_once = pieces(input.as_slice(), prefilter());
        prop_assert_eq!(&join(&at_once), &input);
        let in_parts = pieces(Chunks::new(&input, &lengths), prefilter());
        prop_assert_eq!(&join(&in_parts), &input);
        prop_assert_eq!(lines(&in_parts), lines(&at_once));
        let at_once = read_checked(input.as_slice());
        let in_parts = read_checked(Chunks::new(&input, &lengths));
        prop_assert_eq!(&join(&in_parts), &input);
        prop_assert_eq!(lines(&in_parts), lines(&at_once));
    }

    #[test]
    fn noise_is_passed_on(input in prop::collection::vec(any::<u8>(), 0..200), length in 1..40_usize) {
        prop_assert_eq!(join(&pieces(Chunks::new(&input, &[length]), prefilter())), input.clone());
        prop_assert_eq!(join(&pieces(Chunks::new(&input, &[length]), match_all())), input);
    }

    #[test]
    fn records_are_objects_that_parse(input in input()) {
        for (_, _, _, texts, _) in lines(&pieces(input.as_slice(), match_all())) {
            for text in texts {
                prop_assert_eq!(first_value(text.as_bytes()), FirstValue::Object(0..text.len()));
                let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
                // A number may be out of range; no other error is allowed.
                let fine = value.map_or_else(|error| error.to_string().contains("out of range"), |value| value.is_object());
                prop_assert!(fine, "{}", text);
            }
        }
    }

    #[test]
    fn plain_lines_are_unwanted(input in input()) {
        for piece in pieces(input.as_slice(), prefilter()) {
            if let Piece::Plain { raw } = piece {
                prop_assert_eq!(prefilter().find(&raw, 0), None);
            }
        }
    }

    /// Checked lines are plain if they have neither damage nor a needle.
    #[test]
    fn plain_lines_are_sound_if_checked(input in input()) {
        for piece in read_checked(input.as_slice()) {
            match &piece {
                Piece::Plain { raw } => {
                    prop_assert_eq!(prefilter().find(raw, 0), None);
                    prop_assert!(std::str::from_utf8(raw).is_ok());
                    // A list may start here, and end on a later line.
                    let is_json = |text: &[u8]| {
                        [text, text.strip_prefix(b"[").unwrap_or_default()]
                            .iter()
                            .any(|text| serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok())
                    };
                    if is_json(raw) {
                        continue;
                    }
                    for line in raw.split(|byte| *byte == b'\n') {
                        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                        let is_no_record = line.starts_with(b":") || matches!(line.trim_ascii(), b"" | b"," | b"]");
                        prop_assert!(is_json(line) || is_no_record);
                    }
                }
                Piece::Line { .. } => {
                    let is_wanted = prefilter().find(piece.raw(), 0).is_some();
                    prop_assert!(is_wanted || !piece.records().1.is_empty());
                }
                Piece::LongLine { .. } => prop_assert!(false, "no line is that long"),
            }
        }
    }
}
