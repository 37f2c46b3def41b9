//! The seed corpus of a fuzz target, and mutations of it, for an ordinary compiler.

use std::fs;
use std::path::Path;

/// Number of mutations, unless `TURNPIPE_FUZZ_MUTATIONS` is set. A number and not a time, so that a fast machine checks
/// the same texts as a slow one.
const MUTATIONS: usize = 3000;

/// Checks each file of the corpus of `target`, whole and truncated after each of its first bytes, and then mutations
/// that insert `tokens`.
pub(crate) fn run(target: &str, tokens: &[&str], check: fn(&[u8])) {
    let texts = corpus(target);
    for text in &texts {
        for end in (0..=text.len().min(150)).chain([text.len()]) {
            check(&text[..end]);
        }
    }
    let count = std::env::var("TURNPIPE_FUZZ_MUTATIONS").ok();
    let count = count.map_or(MUTATIONS, |count| count.parse().unwrap());
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..count {
        let mut text = texts[numbers.below(texts.len())].clone();
        for _ in 0..=numbers.below(6) {
            text = mutate(&text, &texts, tokens, &mut numbers);
        }
        check(&text);
    }
}

/// Returns the files of the corpus of a target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let entries = fs::read_dir(corpus).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    assert!(files.len() >= 5, "the corpus of {target} is missing");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

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
fn mutate(text: &[u8], texts: &[Vec<u8>], tokens: &[&str], numbers: &mut Numbers) -> Vec<u8> {
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
            tokens[numbers.below(tokens.len())].as_bytes(),
            after,
        ]
        .concat(),
    }
}
