//! Finds secrets in text, and names whose values are secrets.
//!
//! The names and shapes of secrets are in `secrets.toml`. Secrets without a known name or shape are
//! not found.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

/// Maximum length of a name, in bytes; longer runs of letters are data.
const MAX_NAME: usize = 100;

/// Maximum length of the text examined after a name, in bytes. Bounds the time for text that
/// consists of names.
const MAX_EXAMINED: usize = 256;

/// Parts of names whose values may be plain words.
const PASSWORD_WORDS: [&str; 3] = ["pass", "pwd", "secret"];

/// Minimum length of a secret in code, in bytes.
const MIN_IN_CODE: usize = 6;

/// Maximum size of the cache of a pattern, in bytes.
const DFA_CACHE: usize = 64 * 1024;

/// Matches the text after a name: group 1 is the text before the value; the value is quoted in groups 2 to 4,
/// or unquoted in group 5.
const ASSIGNED: &str = r#"(?x)^
    (\\*["']?\]? (?:[\ \t]* (?: :[\ \t]*[&'A-Za-z0-9_<>\[\],|\ ]{1,30}=[\ \t] | => | := | ={1,3} | : | > ) [\ \t]* | \ +))
    (?: \\+["'] SCHEME ((?:[^"'\\\n]|\\[^"'])*)
      | [bru]?" SCHEME ((?:[^"\\\n]|\\.)*)
      | [bru]?' SCHEME ((?:[^'\\\n]|\\.)*)
      | SCHEME ([^\s"'`,;<>(){}\[\]|&\\:=][^\s"'`,;<>(){}\[\]|&\\]*))"#;

/// The beginning of the first and the last line of a key.
const DASHES: &str = "-----";

/// Minimum length of a line of a key, in bytes.
const MIN_LINE: usize = 16;

/// Schemes of `Authorization`, before the secret.
const SCHEME: &str = r"(?:(?i:bearer|basic|token|bot|apikey|negotiate)\ +)?";

/// Finds the text after a name.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| compile(&ASSIGNED.replace("SCHEME", SCHEME)));

/// The file `secrets.toml`, which describes the fields, as `build.rs` writes it. Each pattern is compiled when a text
/// needs it.
static SECRETS: Secrets = include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

struct Secrets {
    beginnings: Beginnings,
    shapes: &'static [Shape],
    endings: LazyLock<Regex>,
    names: &'static [(NameClass, LazyLock<Regex>)],
    placeholder: LazyLock<Regex>,
}

/// Maximum number of classes of bytes; a power of two, which makes an index cheap to check.
const CLASSES: usize = 64;

/// The prefixes of shapes and the parts of names, by their last two bytes.
struct Beginnings {
    /// The class of each byte; bytes at the end of no beginning have class 0.
    classes: [u8; 256],
    /// A number in `groups` by the classes of two bytes.
    group_of: [[u8; CLASSES]; CLASSES],
    /// Beginnings with the same last two bytes, the longest first. The first group is empty.
    groups: &'static [&'static [Beginning]],
}

struct Beginning {
    /// In lower case.
    text: &'static str,
    /// The shape in `shapes`, unless this is a part of a name.
    shape: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NameClass {
    Harmless,
    Address,
    Usually,
    Secret,
}

struct Shape {
    at: &'static [&'static str],
    rest: LazyLock<Regex>,
    is_any_case: bool,
    is_before: bool,
}

impl Beginnings {
    /// Calls a function with the position and the shape of each beginning in a text, in the order of their ends, also
    /// if they overlap.
    fn for_each(&self, text: &str, mut examine: impl FnMut(Range<usize>, Option<usize>)) {
        let bytes = text.as_bytes();
        let mut before = 0;
        for (last, byte) in bytes.iter().enumerate() {
            let class = usize::from(self.classes[usize::from(*byte)]) % CLASSES;
            let group = self.group_of[before][class];
            before = class;
            if group == 0 {
                continue;
            }
            let end = last + 1;
            for beginning in self.groups[usize::from(group)] {
                let at = end.saturating_sub(beginning.text.len())..end;
                if bytes[at.clone()].eq_ignore_ascii_case(beginning.text.as_bytes()) {
                    examine(at, beginning.shape);
                }
            }
        }
    }
}

impl Secrets {
    fn class(&self, name: &str) -> NameClass {
        let words = snake_case(name);
        // Compiling the patterns takes longer than most programs that only need this.
        let mut has_part = false;
        let note = |_: Range<usize>, shape: Option<usize>| has_part |= shape.is_none();
        self.beginnings.for_each(&words, note);
        if !has_part {
            return NameClass::Harmless;
        }
        let name = self.endings.replace(&words, "");
        let mut classes = self.names.iter().filter(|(_, names)| names.is_match(&name));
        classes
            .next()
            .map_or(NameClass::Harmless, |(class, _)| *class)
    }

    /// Finds all secrets in a text. They may overlap.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        // The end of the last name, and the secret with the greatest end.
        let (mut examined, mut masked) = (0, 0..0);
        self.beginnings.for_each(text, |part, shape| {
            // The text of a name ends with the line, but not a key in it.
            let is_key = text[part.start..].starts_with(DASHES);
            if masked.contains(&part.start) && part.end <= masked.end && !is_key {
                return;
            }
            let secret = if let Some(shape) = shape {
                self.find_shaped(&self.shapes[shape], text, part)
            } else if part.end > examined {
                let start = examined.min(part.start);
                let start = start
                    + text[start..part.start]
                        .trim_end_matches(is_name_character)
                        .len();
                let rest = &text[part.end..];
                examined = text.len() - rest.trim_start_matches(is_name_character).len();
                let name = start..examined;
                (name.len() <= MAX_NAME)
                    .then(|| self.find_assigned(text, name))
                    .flatten()
            } else {
                None
            };
            if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
                if secret.end > masked.end {
                    masked = secret.clone();
                }
                found.push(secret);
            }
        });
        found
    }

    /// Finds the secret after a prefix of a shape.
    fn find_shaped(&self, shape: &Shape, text: &str, at: Range<usize>) -> Option<Range<usize>> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let before = &text[..at.start];
        // The escape of a line break ends in a letter.
        let is_escape = matches!(before.as_bytes(), [.., b'\\', b'n' | b'r' | b't']);
        let preceding = before.as_bytes().last().filter(|_| !is_escape);
        let continues = is_word(&text.as_bytes()[at.start]) && preceding.is_some_and(is_word);
        let is_known = shape.at.contains(&&text[at.clone()]);
        if continues || !(shape.is_any_case || is_known) {
            return None;
        }
        // A key is searched as far as the line with dashes before or after it, so that the time is linear.
        let line = |dashes: usize| text.floor_char_boundary(dashes + MAX_NAME);
        let range = if shape.is_before {
            let start = text[..at.start].rfind(DASHES);
            start.map_or(0, |start| start + DASHES.len())..line(at.end)
        } else if shape.at[0].starts_with(DASHES) {
            let next = text[at.end..].match_indices(DASHES).nth(1);
            at.end..next.map_or(text.len(), |(dashes, _)| line(at.end + dashes))
        } else {
            at.end..text.len()
        };
        let captures = shape.rest.captures(&text[range.clone()])?;
        let found = captures.iter().flatten().last()?;
        let is_key = shape.at[0].starts_with(DASHES) && has_key_line(found.as_str());
        let is_secret = is_key || !self.placeholder.is_match(found.as_str());
        let start = range.start + found.start();
        Some(start..start + if is_secret { found.len() } else { 0 })
    }

    /// Finds the secret that is assigned to a name.
    fn find_assigned(&self, text: &str, name: Range<usize>) -> Option<Range<usize>> {
        let (before, start) = (&text[..name.start], name.end);
        let rest = &text[start..text.floor_char_boundary(start + MAX_EXAMINED)];
        let name = &text[name];
        let next = rest.trim_start_matches([' ', '\t']).bytes().next()?;
        if !b"\"'\\]=:>".contains(&next) && !name.starts_with("--") {
            return None;
        }
        let captures = ASSIGNMENT.captures(rest)?;
        let sign = captures.get(1)?.as_str();
        let found = (2..=5).find_map(|group| captures.get(group))?;
        let (is_bare, value) = (captures.get(5).is_some(), found.as_str());
        let after = &rest[found.end()..];
        let is_flag = name.starts_with("--") && !sign.contains(':');
        let is_assigned = match sign.trim_matches(' ') {
            "" => is_flag,
            sign if sign.contains('>') && !sign.contains('=') => before.ends_with('<'),
            sign => sign.contains([':', '=']),
        };
        let is_expression = is_bare && (after.starts_with(['(', '[', '{', '`']) || is_path(value));
        if !is_assigned || is_expression || self.placeholder.is_match(value) {
            return None;
        }
        let is_connection =
            before.ends_with(';') && name.starts_with(|name: char| name.is_ascii_uppercase());
        let is_setting =
            sign == "=" && (is_variable(name) || is_connection || before.ends_with("export "));
        let is_argument = is_flag || sign == "=" && before.ends_with(['?', '&']);
        let is_secret = match self.class(name) {
            NameClass::Harmless => false,
            NameClass::Address => is_setting && !value.contains("://"),
            NameClass::Usually => is_setting || is_random(value),
            NameClass::Secret if is_setting || is_argument => true,
            NameClass::Secret => {
                // `spring.datasource.password=`, but not `user.password = hashed`.
                let is_dotted = sign == "=" && before.ends_with('.');
                let key = |letter: char| is_dotted && (is_name_character(letter) || letter == '.');
                let line = before
                    .trim_end_matches(key)
                    .trim_end_matches([' ', '\t', '-']);
                let begins = line.is_empty() || line.ends_with(['\n', ';', '<']);
                let rest = after.trim_start_matches([' ', '\t', '\r']);
                let ends = rest.is_empty() || rest.starts_with(['\n', ';', '<']);
                self.is_literal(name, value, !is_bare || begins && ends)
            }
        };
        if !is_secret {
            return None;
        }
        let (begin, examined_end) = (start + found.start(), start + found.end());
        // The value may continue after the examined text.
        let unseen = after.is_empty().then_some(&text[examined_end..]);
        let cut_off = unseen.and_then(|rest| rest.find(['"', '\'', '\n']));
        let end = examined_end + cut_off.unwrap_or(unseen.map_or(0, str::len));
        let is_key = |shape: &&Shape| {
            shape.at[0].starts_with(DASHES) && text[begin..].starts_with(shape.at[0])
        };
        let key = self
            .shapes
            .iter()
            .find(is_key)
            .and_then(|shape| self.find_shaped(shape, text, begin..begin + shape.at[0].len()));
        Some(key.map_or(begin..end, |key| key.start..key.end.max(end)))
    }

    /// Whether a value in code is a secret, not an expression, a type or a message. `may_be_word`:
    /// plain words count too.
    fn is_literal(&self, name: &str, value: &str, may_be_word: bool) -> bool {
        let is_digit = |letter: char| letter.is_ascii_digit();
        let is_word = |word: &str| {
            word.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        };
        let stem = value.trim_end_matches(is_digit);
        let is_path = value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        let is_name = stem.is_empty()
            || is_path && !is_random(value) && self.class(stem) == NameClass::Secret;
        let is_code = value.contains([' ', '\t']) || value.contains("://") || is_variable(value);
        if value.len() < MIN_IN_CODE || is_name || is_code && !is_random(value) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        let mut parts = value.split(['.', ':', '-', '?', '/']);
        match stem {
            _ if is_word(value) => {
                may_be_word
                    && PASSWORD_WORDS.iter().any(|word| name.contains(word))
                    && value.bytes().all(|byte| byte.is_ascii_lowercase())
            }
            stem if is_word(stem) => may_be_word,
            // Not `config.value` or `Type::V2`.
            _ => !parts.all(|part| is_word(part.trim_end_matches(is_digit))),
        }
    }
}

fn compile(pattern: &str) -> Regex {
    // Bounds the memory of the lazy automaton.
    let built = RegexBuilder::new(pattern).dfa_size_limit(DFA_CACHE).build();
    #[expect(clippy::expect_used, reason = "patterns are a part of the program")]
    built.expect("a valid pattern")
}

/// Returns the words of a name in lower case, joined by `_`. A leading underscore is kept.
fn snake_case(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut letters = name.chars().peekable();
    let mut last = ' ';
    while let Some(letter) = letters.next() {
        let ends_acronym = letters.peek().is_some_and(char::is_ascii_lowercase);
        let is_start = letter.is_ascii_uppercase()
            && (last.is_ascii_lowercase() || last.is_ascii_uppercase() && ends_acronym);
        let is_break = !letter.is_alphanumeric();
        if (is_start || is_break) && !words.ends_with('_') && (!words.is_empty() || letter == '_') {
            words.push('_');
        }
        if !is_break {
            words.push(letter.to_ascii_lowercase());
        }
        last = letter;
    }
    words.truncate(words.trim_end_matches('_').len());
    words
}

/// Whether a name has the form of an environment variable: `API_KEY`, `TF_VAR_api_key`.
fn is_variable(name: &str) -> bool {
    name.starts_with('_')
        || name.contains("__")
        || name.starts_with(|first: char| first.is_ascii_uppercase())
            && (name.contains('_') || !name.contains(|letter: char| letter.is_ascii_lowercase()))
}

/// Whether a value looks random: without words, and with the letters and digits of a key.
pub fn is_random(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    value.len() >= 16
        && value.bytes().all(|byte| byte.is_ascii_graphic() && !b"./:".contains(&byte))
        && count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_alphabetic) >= 3
        && value.split(|letter: char| !letter.is_ascii_lowercase()).all(|run| run.len() < 6)
        // Not a UUID or a date.
        && count(|byte| *byte == b'-') < 3
}

/// Whether a text contains a line of a key, not only words about it.
fn has_key_line(text: &str) -> bool {
    let is_key_character = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
    let class = |byte: u8| (byte.is_ascii_uppercase(), byte.is_ascii_lowercase());
    let mut lines = text
        .split(|letter| !is_key_character(letter))
        .map(str::as_bytes);
    lines.any(|line| {
        line.len() >= MIN_LINE && line.iter().any(|byte| class(*byte) != class(line[0]))
    })
}

fn is_name_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-".contains(letter)
}

fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~']) && !value.contains(['+', '='])
        || value.starts_with("./")
        || value.starts_with("../")
}

/// Finds all secrets in a text. They may overlap.
pub(super) fn find_secrets(text: &str) -> Vec<Range<usize>> {
    SECRETS.find(text)
}

/// Whether a value is a placeholder for a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    SECRETS.placeholder.is_match(value)
}

/// Whether the name of a variable or member makes its value a secret. A path is not a secret if the
/// name ends with `file` or `path`.
pub fn is_secret(name: &str, value: &str) -> bool {
    let is_secret = match SECRETS.class(name) {
        NameClass::Harmless => false,
        NameClass::Address => !value.contains("://"),
        NameClass::Usually => !is_path(value) && (is_variable(name) || is_random(value)),
        NameClass::Secret => true,
    };
    let is_file_name = || {
        ["file", "path"]
            .iter()
            .any(|end| snake_case(name).ends_with(end))
    };
    is_secret && !(is_path(value) && is_file_name())
}

/// Whether values with this name are usually secrets.
pub fn is_secret_name(name: &str) -> bool {
    matches!(SECRETS.class(name), NameClass::Secret | NameClass::Usually)
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
