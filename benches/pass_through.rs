//! Throughput of unknown records: read, search for needles, echo; and throughput of checks.
//!
//! `cargo bench --bench pass_through` prints MB/s, the median and the best of several rounds, for each kind of
//! record and each step. On a busy machine the best is more reliable.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use turnpipe::jsonl::{FirstValue, Piece, Prefilter, Reader, Writer, first_value};

/// Needles of the commands, none of which is in the input.
const NEEDLES: [&str; 6] = [
    "tool_use",
    "tool_result",
    "tool_calls",
    "tool_call_id",
    "functionCall",
    "functionResponse",
];

const SIZE: usize = 2 << 20;
const ROUNDS: usize = 151;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let kinds = [
        ("texts, 200 B to 4 KB", texts()),
        ("code in texts (escapes)", code()),
        ("many short keys", short_keys()),
        ("numbers", numbers()),
        ("spaces after , and :", spaced()),
    ];
    for (name, input) in &kinds {
        writeln!(out, "{name}")?;
        let mut row = |what: &str, work: &mut dyn FnMut()| {
            let (median, best) = megabytes_per_second(input.len(), work);
            writeln!(out, "  {what:<24}{median:>8.0} MB/s, best {best:>8.0} MB/s")
        };
        row("reader and writer", &mut || pass(input))?;
        row("needle search alone", &mut || {
            let prefilter = prefilter();
            for slab in input.chunks(128 << 10) {
                black_box(prefilter.find(slab, 0));
            }
        })?;
        row("utf-8 check alone", &mut || {
            for slab in input.chunks(128 << 10) {
                let _ = black_box(simdutf8::compat::from_utf8(slab));
            }
        })?;
        row("json check alone", &mut || {
            for line in input.split_inclusive(|byte| *byte == b'\n') {
                assert!(matches!(first_value(line), FirstValue::Object(_)));
            }
        })?;
    }
    Ok(())
}

fn prefilter() -> Prefilter {
    match Prefilter::new(&NEEDLES) {
        Ok(prefilter) => prefilter,
        Err(error) => unreachable!("{error}"),
    }
}

/// Copies `input` through a reader and a writer that discards it.
fn pass(input: &[u8]) {
    let mut reader = Reader::new(input, prefilter());
    let mut writer = Writer::new(Sink(0));
    while let Ok(Some(piece)) = reader.next_piece() {
        assert!(matches!(piece, Piece::Plain { .. }));
        if writer.echo(piece.raw()).is_err() {
            return;
        }
    }
    assert!(writer.flush().is_ok());
    assert_eq!(writer.bytes_written(), input.len() as u64);
}

/// Counts bytes.
struct Sink(u64);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += black_box(bytes).len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn megabytes_per_second(bytes: usize, work: &mut dyn FnMut()) -> (f64, f64) {
    let mut seconds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "well below 2^53")]
    let megabytes = bytes as f64 / 1e6;
    (megabytes / seconds[ROUNDS / 2], megabytes / seconds[0])
}

/// A small generator, so that every run measures the same bytes.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides
    }

    fn words(&mut self, length: usize) -> String {
        const WORDS: [&str; 12] = [
            "the",
            "scheduler",
            "waits",
            "until",
            "no",
            "réponse",
            "conflicts",
            "with",
            "a",
            "call",
            "before",
            "it,",
        ];
        let mut text = String::new();
        while text.len() < length {
            text.push_str(WORDS[self.roll(WORDS.len())]);
            text.push(' ');
        }
        text
    }
}

fn fill(mut line: impl FnMut(&mut Dice) -> String) -> Vec<u8> {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut input = Vec::with_capacity(SIZE + (8 << 10));
    while input.len() < SIZE {
        input.extend_from_slice(line(&mut dice).as_bytes());
        input.push(b'\n');
    }
    input
}

fn texts() -> Vec<u8> {
    fill(|dice| {
        let length = 100 + dice.roll(3800);
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"6f9d1c1e-{:04x}-4b7e-9d55-0242ac120002\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}",
            dice.roll(0xffff),
            dice.words(length)
        )
    })
}

fn code() -> Vec<u8> {
    fill(|dice| {
        let mut text = String::new();
        for _ in 0..5 + dice.roll(60) {
            let words = dice.words(24);
            let _ = write!(
                text,
                "{}let x = \\\"{words}\\\";\\n",
                "\\t".repeat(dice.roll(4))
            );
        }
        format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}")
    })
}

fn short_keys() -> Vec<u8> {
    const KEYS: [&str; 10] = [
        "id", "type", "x", "name", "cwd", "isMeta", "ts", "model", "n", "level",
    ];
    fill(|dice| {
        let mut line = String::from("{\"type\":\"system\"");
        for _ in 0..8 + dice.roll(40) {
            let key = KEYS[dice.roll(KEYS.len())];
            let _ = match dice.roll(7) {
                0 => write!(line, ",\"{key}\":{}", dice.roll(100_000)),
                1 => write!(line, ",\"{key}\":true"),
                2 => write!(line, ",\"{key}\":null"),
                3 => write!(line, ",\"{key}\":{{\"a\":\"b\",\"c\":{}}}", dice.roll(9)),
                4 => write!(line, ",\"{key}\":[1,2,\"x\"]"),
                _ => write!(line, ",\"{key}\":\"v{}\"", dice.roll(1000)),
            };
        }
        line + "}"
    })
}

fn numbers() -> Vec<u8> {
    fill(|dice| {
        let mut line = String::from("{\"type\":\"usage\",\"values\":[0");
        for _ in 0..20 + dice.roll(100) {
            let (whole, fraction) = (dice.roll(10_000), dice.roll(1000));
            let _ = match dice.roll(3) {
                0 => write!(line, ",{whole}.{fraction}"),
                1 => write!(line, ",-{whole}"),
                _ => write!(line, ",{whole}"),
            };
        }
        line + "]}"
    })
}

/// JSON with the spaces that Python writes.
fn spaced() -> Vec<u8> {
    fill(|dice| {
        let length = 20 + dice.roll(400);
        format!(
            "{{\"type\": \"assistant\", \"id\": {}, \"tags\": [\"a\", \"b\"], \"text\": \"{}\", \"usage\": {{\"in\": {}, \"out\": {}}}}}",
            dice.roll(1000),
            dice.words(length),
            dice.roll(1000),
            dice.roll(1000)
        )
    })
}
