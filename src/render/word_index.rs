//! The words of exported pages, in a compact form that the script of the index can search.
//!
//! The form is text: a line per word in alphabetical order, with the number of characters that it shares with the
//! word before, its other characters, a space, and the numbers of its sessions. `index.js` reads it.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};

use crate::io::retry_interrupted;
use crate::text::{Utf8Decoder, append};

/// Limits on the number of characters of a word. Longer ones are keys, digests and attachments.
const WORD_CHARACTERS: std::ops::RangeInclusive<usize> = 2..=40;

/// Maximum number of characters of a word with digits, if space is short.
const MAX_SHORT: usize = 8;

/// The digits of numbers: 5 bits each; digits of the first half end a number.
const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

/// Maximum number of shared characters: one digit of base 36.
const MAX_SHARED: usize = 35;

/// The words of pages, with the ascending numbers of their sessions.
#[derive(Debug, Default)]
pub struct WordIndex {
    words: BTreeMap<String, Vec<u32>>,
}

impl WordIndex {
    /// Adds the words of a page of this session. Sessions come in ascending order.
    pub fn add(&mut self, session: u32, words: HashSet<String>) {
        for word in words {
            let sessions = self.words.entry(word).or_default();
            if sessions.last() != Some(&session) {
                sessions.push(session);
            }
        }
    }

    /// Formats the words in at most `limit` bytes by omitting long words with digits if necessary, then
    /// all words with digits, or else the words of a single session.
    pub fn encode(&self, limit: usize) -> String {
        let has_digit = |word: &str| word.contains(|letter: char| letter.is_ascii_digit());
        let is_short = |word: &str| word.chars().count() <= MAX_SHORT;
        let mut text = String::new();
        for level in 0..4 {
            text = self.encode_words(|word, sessions| match level {
                0 => true,
                1 => is_short(word) || !has_digit(word),
                2 => !has_digit(word),
                _ => sessions.len() > 1,
            });
            if text.len() <= limit {
                break;
            }
        }
        text
    }

    fn encode_words(&self, is_kept: impl Fn(&str, &[u32]) -> bool) -> String {
        let mut text = String::new();
        let mut last = "";
        for (word, sessions) in &self.words {
            if !is_kept(word, sessions) {
                continue;
            }
            let pairs = last.chars().zip(word.chars()).take(MAX_SHARED);
            let same = pairs.take_while(|(first, second)| first == second);
            let (count, length) = same.fold((0, 0), |(count, length), (letter, _)| {
                (count + 1, length + letter.len_utf8())
            });
            text.push(char::from(DIGITS[count]));
            append!(text, "{} ", &word[length..]);
            let mut next = 0;
            for session in sessions {
                let mut number = session - next;
                while number >= 32 {
                    text.push(char::from(DIGITS[32 + (number % 32) as usize]));
                    number /= 32;
                }
                text.push(char::from(DIGITS[number as usize]));
                next = session + 1;
            }
            text.push('\n');
            last = word;
        }
        text
    }
}

/// Reads the words of an HTML page that [`Html`](super::Html) wrote.
///
/// # Errors
/// Reading failed.
pub fn page_words(mut page: impl Read) -> io::Result<HashSet<String>> {
    let mut words = Words::default();
    let mut pieces = Utf8Decoder::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match retry_interrupted(|| page.read(&mut buffer))? {
            0 => break,
            length => pieces
                .push(&buffer[..length])
                .chars()
                .for_each(|letter| words.add_letter(letter)),
        }
    }
    words.end_word();
    Ok(words.found)
}

/// Collects the words of a page outside tags and after its head.
#[derive(Default)]
struct Words {
    found: HashSet<String>,
    word: String,
    characters: usize,
    /// The character that ends the current tag or entity.
    end_character: Option<char>,
    tag: String,
    has_body: bool,
    /// The last character, if words are not separated in its script.
    last: Option<char>,
}

impl Words {
    fn add_letter(&mut self, letter: char) {
        if let Some(end) = self.end_character {
            if letter == end {
                self.end_character = None;
                self.has_body |= self.tag == "main";
            } else if self.tag.len() < 8 {
                self.tag.push(letter);
            }
            return;
        }
        match letter {
            '<' | '&' => {
                self.end_word();
                self.tag.clear();
                self.end_character = Some(if letter == '<' { '>' } else { ';' });
            }
            _ if !self.has_body => {}
            _ if has_no_spaces(letter) => {
                let last = self.last;
                self.end_word();
                if let Some(last) = last {
                    self.found.insert(String::from_iter([last, letter]));
                }
                self.last = Some(letter);
            }
            _ if letter.is_alphanumeric() || letter == '_' => {
                self.last = None;
                self.characters += 1;
                if self.characters <= *WORD_CHARACTERS.end() {
                    self.word.extend(letter.to_lowercase());
                }
            }
            _ => self.end_word(),
        }
    }

    fn end_word(&mut self) {
        if WORD_CHARACTERS.contains(&self.characters) && !self.found.contains(&self.word) {
            self.found.insert(self.word.clone());
        }
        self.word.clear();
        (self.characters, self.last) = (0, None);
    }
}

/// Whether words are not separated by spaces in the script of a character. Pairs of their characters are indexed.
fn has_no_spaces(letter: char) -> bool {
    matches!(
        letter,
        '\u{e00}'..='\u{e7f}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(page: &str) -> Vec<String> {
        let mut words: Vec<String> = page_words(page.as_bytes()).unwrap().into_iter().collect();
        words.sort();
        words
    }

    #[test]
    fn the_words_of_the_text_are_indexed() {
        let page = "<style>a { color: red }</style><main>\n<p class=\"reply\">json.Unmarshal<b>JSON</b> &lt;script\
                    &gt; Größe_1 日本語 x <img src=\"data:abc\"></p>";
        let expected = ["größe_1", "json", "script", "unmarshal", "日本", "本語"];
        assert_eq!(words(page), expected);
        let long = format!("<main>{} {}", "a".repeat(40), "b".repeat(41));
        assert_eq!(words(&long), ["a".repeat(40)]);
        assert_eq!(words(&page.replace("<main>", "")), [""; 0]);
    }

    #[test]
    fn words_share_their_beginning_with_the_one_before() {
        let mut index = WordIndex::default();
        for (session, words) in [
            (0, "log login"),
            (1, "login"),
            (40, "login größe1234 a12 größe"),
        ] {
            index.add(session, words.split(' ').map(str::to_owned).collect());
        }
        assert_eq!(
            index.encode(usize::MAX),
            "0a12 E1\n0größe E1\n51234 E1\n0log 0\n3in 00C1\n"
        );
        assert_eq!(index.encode(40), "0a12 E1\n0größe E1\n0log 0\n3in 00C1\n");
        assert_eq!(index.encode(30), "0größe E1\n0log 0\n3in 00C1\n");
        assert_eq!(index.encode(0), "0login 00C1\n");
    }
}
