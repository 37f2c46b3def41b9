//! Runs the fuzz targets on their seed corpus, with an ordinary compiler.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

#[path = "../fuzz/checks/jsonl_reader.rs"]
mod jsonl_reader;
#[path = "../fuzz/checks/shell_analyse.rs"]
mod shell_analyse;

/// Returns the files of the corpus of a target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files: Vec<_> = fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() >= 5, "the corpus of {target} is missing");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Runs a target on each file of its corpus, whole and truncated after each of its first bytes.
fn run(target: &str, check: fn(&[u8])) {
    for data in corpus(target) {
        for end in (0..=data.len().min(150)).chain([data.len()]) {
            check(&data[..end]);
        }
    }
}

#[test]
fn jsonl_reader() {
    run("jsonl_reader", jsonl_reader::check);
}

#[test]
fn shell_analyse() {
    run("shell_analyse", shell_analyse::check);
}

/// Texts that mutations insert.
const TOKENS: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "(",
    ")",
    "{ ",
    "; }",
    "<",
    ">",
    ">&",
    "<(",
    "<<E\n",
    "\nE\n",
    "<<<",
    "'",
    "\"",
    "`",
    "$(",
    "$((",
    "))",
    "${",
    "}",
    "$x",
    "$'",
    "\\",
    "\\\n",
    "#",
    "*",
    "[",
    "]",
    "{a,b}",
    "[[ ",
    " ]]",
    "! ",
    "~",
    "=",
    "a=",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    ";;",
    "time ",
    "-n",
    "é",
    "2>&1",
    "\t",
    "rm x",
];

/// A generator of numbers (xorshift), seeded.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }
}

/// Changes a text in one place: removes, repeats or inserts something, or continues with another text.
fn mutated(text: &[u8], texts: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let at = numbers.below(text.len() + 1);
    let end = (at + numbers.below(12)).min(text.len());
    let (before, after) = text.split_at(at);
    match numbers.below(5) {
        0 => [before, &text[end..]].concat(),
        1 => [before, &text[at..end], after].concat(),
        2 => {
            let other = &texts[numbers.below(texts.len())];
            [before, &other[numbers.below(other.len() + 1)..]].concat()
        }
        _ => [
            before,
            TOKENS[numbers.below(TOKENS.len())].as_bytes(),
            after,
        ]
        .concat(),
    }
}

/// Runs on mutations of the corpus: a fixed number, or for the seconds in `TURNPIPE_FUZZ_SECONDS`.
#[test]
fn shell_analyse_of_mutations() {
    const MUTATIONS: usize = 3000;
    let seconds = std::env::var("TURNPIPE_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    let texts = corpus("shell_analyse");
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let begun = Instant::now();
    for round in 0.. {
        if seconds.map_or(round >= MUTATIONS, |seconds| begun.elapsed() >= seconds) {
            break;
        }
        let mut text = texts[numbers.below(texts.len())].clone();
        for _ in 0..=numbers.below(6) {
            text = mutated(&text, &texts, &mut numbers);
        }
        shell_analyse::check(&text);
    }
}
