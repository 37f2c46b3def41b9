//! Masking of secrets in text and in named values.
//!
//! The names and shapes of secrets are in `secrets.toml`. Secrets without a known name or shape are
//! not found.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;

/// Replacement for a secret.
pub const MASK: &str = "[redacted]";

/// Maximum length of a name, in bytes; longer runs of letters are data.
const MAX_NAME: usize = 100;

/// Maximum length of the text examined after a name, in bytes. Bounds the time for text that
/// consists of names.
const MAX_EXAMINED: usize = 256;

/// Parts of names whose values may be plain words.
const WORDS_OF_PASSWORDS: [&str; 3] = ["pass", "pwd", "secret"];

/// Minimum length of a secret in code, in bytes.
const MIN_IN_CODE: usize = 6;

/// Maximum size of the cache of a pattern, in bytes.
const DFA_CACHE: usize = 64 * 1024;

/// Matches the text after a name: group 1 up to the value, then the value: quoted in groups 2 to 4,
/// unquoted in group 5.
const ASSIGNED: &str = r#"(?x)^
    (\\*["']?\]? (?:[\ \t]* (?: :[\ \t]*[&'A-Za-z0-9_<>\[\],|\ ]{1,30}=[\ \t] | => | := | ={1,3} | : | > ) [\ \t]* | \ +))
    (?: \\+["'] SCHEME ((?:[^"'\\\n]|\\[^"'])*)
      | [bru]?" SCHEME ((?:[^"\\\n]|\\.)*)
      | [bru]?' SCHEME ((?:[^'\\\n]|\\.)*)
      | SCHEME ([^\s"'`,;<>(){}\[\]|&\\:=][^\s"'`,;<>(){}\[\]|&\\]*))"#;

/// Schemes of `Authorization`, before the secret.
const SCHEME: &str = r"(?:(?i:bearer|basic|token|bot|apikey|negotiate)\ +)?";

static SECRETS: LazyLock<Secrets> = LazyLock::new(Secrets::load);

/// The file `secrets.toml`, which describes the fields.
#[derive(Deserialize)]
struct Table {
    parts: String,
    endings: String,
    placeholders: Vec<String>,
    names: Vec<Names>,
    shape: Vec<Shape>,
}

#[derive(Deserialize)]
struct Names {
    class: NameClass,
    patterns: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NameClass {
    Harmless,
    Address,
    Usually,
    Secret,
}

#[derive(Deserialize)]
struct Shape {
    at: String,
    rest: String,
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

struct Secrets {
    /// Finds the prefixes of shapes and the parts of names.
    finder: AhoCorasick,
    /// The shape of each pattern of `finder`; parts of names follow the shapes.
    shape_of: Vec<usize>,
    shapes: Vec<Shape>,
    endings: Regex,
    names: Vec<(NameClass, Regex)>,
    placeholder: Regex,
    assigned: Regex,
}

impl Secrets {
    #[expect(clippy::expect_used, reason = "the table is a part of the program")]
    fn load() -> Self {
        let table: Table = toml::from_str(include_str!("secrets.toml")).expect("a valid table");
        let begins = |(number, shape): (usize, &Shape)| vec![number; shape.at.split(' ').count()];
        let beginnings = table.shape.iter().flat_map(|shape| shape.at.split(' '));
        let whole = |patterns: &[String]| compile(&format!("(?s)^(?:{})$", patterns.join("|")));
        Self {
            finder: AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .kind(Some(AhoCorasickKind::DFA))
                .build(beginnings.chain(table.parts.split(' ')))
                .expect("few patterns"),
            shape_of: table.shape.iter().enumerate().flat_map(begins).collect(),
            endings: compile(&format!("(?:_(?:{}))+$", table.endings)),
            names: (table
                .names
                .iter()
                .map(|row| (row.class, whole(&row.patterns))))
            .collect(),
            placeholder: compile(&format!("(?is)^(?:{})$", table.placeholders.join("|"))),
            assigned: compile(&ASSIGNED.replace("SCHEME", SCHEME)),
            shapes: table.shape,
        }
    }

    fn class(&self, name: &str) -> NameClass {
        let words = words(name);
        let name = self.endings.replace(&words, "");
        let mut classes = self.names.iter().filter(|(_, names)| names.is_match(&name));
        classes
            .next()
            .map_or(NameClass::Harmless, |(class, _)| *class)
    }

    /// Finds the secret after a prefix of a shape.
    fn shaped(&self, shape: &Shape, text: &str, at: Range<usize>) -> Option<Range<usize>> {
        let is_any_case = shape.rest.contains("(?i)");
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let begins = text.as_bytes()[..at.start].last();
        let continues = is_word(&text.as_bytes()[at.start]) && begins.is_some_and(is_word);
        let is_known = shape.at.split(' ').any(|known| known == &text[at.clone()]);
        if continues || !(is_any_case || is_known) {
            return None;
        }
        let compiled = || compile(&format!("^(?:{})", shape.rest));
        let captures = shape
            .compiled
            .get_or_init(compiled)
            .captures(&text[at.end..])?;
        let found = captures.name("value").or(captures.get(0))?;
        (!self.placeholder.is_match(found.as_str()))
            .then(|| at.end + found.start()..at.end + found.end())
    }

    /// Finds the secret that is assigned to a name.
    fn assigned(&self, text: &str, name: Range<usize>) -> Option<Range<usize>> {
        let (before, start) = (&text[..name.start], name.end);
        let rest = &text[start..text.floor_char_boundary(start + MAX_EXAMINED)];
        let name = &text[name];
        let next = rest.trim_start_matches([' ', '\t']).bytes().next()?;
        if !b"\"'\\]=:>".contains(&next) && !name.starts_with("--") {
            return None;
        }
        let captures = self.assigned.captures(rest)?;
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
                let key = |letter: char| is_dotted && (is_of_name(letter) || letter == '.');
                let line = before
                    .trim_end_matches(key)
                    .trim_end_matches([' ', '\t', '-']);
                let begins = line.is_empty() || line.ends_with(['\n', ';', '<']);
                let ends = after.trim_start_matches([' ', '\t', '\r']);
                let ends = ends.is_empty() || ends.starts_with(['\n', ';', '<']);
                self.is_literal(name, value, !is_bare || begins && ends)
            }
        };
        if !is_secret {
            return None;
        }
        let end = start + found.end();
        let rest = after.is_empty().then_some(&text[end..]);
        let cut_off = rest.and_then(|rest| rest.find(['"', '\'', '\n']));
        Some(start + found.start()..end + cut_off.unwrap_or(0))
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
                    && WORDS_OF_PASSWORDS.iter().any(|word| name.contains(word))
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
fn words(name: &str) -> String {
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

/// Whether a value is random: no words, and the letters and digits of a key.
fn is_random(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    value.len() >= 16
        && value.bytes().all(|byte| byte.is_ascii_graphic() && !b"./:".contains(&byte))
        && count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_alphabetic) >= 3
        && value.split(|letter: char| !letter.is_ascii_lowercase()).all(|run| run.len() < 6)
        // Not a UUID or a date.
        && count(|byte| *byte == b'-') < 3
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-".contains(letter)
}

fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~']) && !value.contains(['+', '='])
        || value.starts_with("./")
        || value.starts_with("../")
}

/// Masks all secrets in a text.
pub fn redact(text: &str) -> Cow<'_, str> {
    let secrets = &*SECRETS;
    let mut found: Vec<Range<usize>> = Vec::new();
    // The end of the last name, and the secret with the greatest end.
    let (mut examined, mut masked) = (0, 0..0);
    for part in secrets.finder.find_overlapping_iter(text) {
        if masked.contains(&part.start()) && part.end() <= masked.end {
            continue;
        }
        let secret = if let Some(shape) = secrets.shape_of.get(part.pattern().as_usize()) {
            secrets.shaped(&secrets.shapes[*shape], text, part.range())
        } else if part.end() > examined {
            let start = examined.min(part.start());
            let start = start + text[start..part.start()].trim_end_matches(is_of_name).len();
            let rest = &text[part.end()..];
            examined = text.len() - rest.trim_start_matches(is_of_name).len();
            let name = start..examined;
            (name.len() <= MAX_NAME)
                .then(|| secrets.assigned(text, name))
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
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_unstable_by_key(|secret| secret.start);
    let (mut shown, mut end) = (String::with_capacity(text.len()), 0);
    for secret in found {
        if secret.start >= end {
            shown.push_str(&text[end..secret.start]);
            shown.push_str(MASK);
        }
        end = end.max(secret.end);
    }
    shown.push_str(&text[end..]);
    Cow::Owned(shown)
}

/// Masks secrets in all strings of a JSON value, and strings whose member name denotes a secret.
pub fn redact_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = redact(text) {
                *text = masked;
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(redact_strings),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text)
                        if is_secret(name, text) && !SECRETS.placeholder.is_match(text) =>
                    {
                        MASK.clone_into(text);
                    }
                    _ => redact_strings(member),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
    let names_file = || {
        ["file", "path"]
            .iter()
            .any(|end| words(name).ends_with(end))
    };
    is_secret && !(is_path(value) && names_file())
}

/// Whether values with this name are usually secrets.
pub fn names_secret(name: &str) -> bool {
    matches!(SECRETS.class(name), NameClass::Secret | NameClass::Usually)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_masked() {
        let long = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        let rows = [
            (
                format!("key sk-ant-{long} end"),
                "key sk-ant-[redacted] end",
            ),
            (format!("sk-proj-{long}"), "sk-proj-[redacted]"),
            (format!("ghp_{long}"), "ghp_[redacted]"),
            ("AKIAABCDEFGHIJKLMNOP".to_owned(), "AKIA[redacted]"),
            (
                format!("curl -H 'Authorization: Bearer {long}'"),
                "curl -H 'Authorization: Bearer [redacted]'",
            ),
            (format!("DB_PASSWORD={long}"), "DB_PASSWORD=[redacted]"),
            (
                format!(r#"{{"api_key": "{long}"}}"#),
                r#"{"api_key": "[redacted]"}"#,
            ),
            ("API_KEY=abcdef".to_owned(), "API_KEY=[redacted]"),
            (
                format!("twine upload -p pypi-{long}"),
                "twine upload -p pypi-[redacted]",
            ),
            (
                "deploy --token x1 --force".to_owned(),
                "deploy --token [redacted] --force",
            ),
            (
                "git clone https://me:pw@host/x".to_owned(),
                "git clone https://[redacted]host/x",
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----\nrest"
                    .to_owned(),
                "-----BEGIN RSA PRIVATE KEY-----[redacted]\nrest",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(redact(&text), expected);
        }
    }

    #[test]
    fn what_looks_like_none_stays() {
        for text in [
            "the password is checked in login.rs",
            "task-force sk-learn ghp_short",
            "token=$TOKEN",
            "secret: short",
            "deploy --token $TOKEN",
            "ssh://git@host:22/x",
            "Basic understanding of bearer tokens",
            "3c1f7a52-9a0e-4d37-8f4e-5b6d2c9e0a11",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn members_are_masked_by_their_names() {
        let mut value = serde_json::json!({
            "password": "p@ss word", "apiKey": "k", "nested": [{"client_secret": "s"}],
            "secret": "$SECRET", "key": "Enter", "tokens": "two", "secrets_file": "/a", "access_token": "",
        });
        redact_strings(&mut value);
        let expected = serde_json::json!({
            "password": MASK, "apiKey": MASK, "nested": [{"client_secret": MASK}],
            "secret": "$SECRET", "key": "Enter", "tokens": "two", "secrets_file": "/a", "access_token": "",
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn variables_are_secret_by_their_names() {
        for line in include_str!("../../tests/data/secret_names.txt").lines() {
            let (verdict, name) = line.split_at(1);
            let name = name.trim();
            let exported = format!("export {name}=canary");
            match verdict {
                "+" => {
                    assert!(is_secret(name, "canary"), "{name}");
                    assert!(!redact(&exported).contains("canary"), "{name}");
                }
                "-" => {
                    assert!(!is_secret(name, "canary"), "{name}");
                    assert_eq!(redact(&exported), exported);
                }
                _ => assert_eq!(verdict, "#"),
            }
        }
    }

    #[test]
    fn names_of_files_hold_paths() {
        assert!(!is_secret("ROOT_PASSWORD_FILE", "/run/secrets/root"));
        assert!(is_secret("ROOT_PASSWORD_FILE", "canary"));
        assert!(is_secret("ROOT_PASSWORD", "/run/secrets/root"));
        assert!(!is_secret("REDIS_URL", "redis://localhost:6379"));
        assert!(is_secret("API_TOKEN", "true"));
    }

    #[test]
    fn texts_are_masked_as_the_table_says() {
        for line in include_str!("../../tests/data/secret_texts.jsonl").lines() {
            let row: [String; 2] = serde_json::from_str(line).unwrap();
            assert_eq!(redact(&row[0]), row[1]);
        }
    }

    #[test]
    fn all_shapes_compile_and_have_a_source() {
        for shape in &SECRETS.shapes {
            compile(&format!("^(?:{})", shape.rest));
            assert!(shape.at.split(' ').all(|at| at.len() >= 2), "{}", shape.at);
        }
        let table: toml::Table = toml::from_str(include_str!("secrets.toml")).unwrap();
        for shape in table["shape"].as_array().unwrap() {
            assert!(shape["source"].as_str().unwrap().starts_with("https://"));
            assert!(!shape["of"].as_str().unwrap().is_empty());
        }
    }

    const PIECES: [&str; 34] = [
        "password",
        "token",
        "API_KEY",
        "key",
        "=",
        ": ",
        "\"",
        "'",
        "\\\"",
        "\n",
        " ",
        "://",
        "@",
        "u:p",
        "sk-",
        "ghp_",
        "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEA12",
        "Cookie: ",
        "a=b;",
        "--",
        "eyJ",
        ".",
        ";",
        "?",
        "&",
        "ä",
        "$X",
        "[redacted]",
        "bearer ",
        "(",
        "<",
    ];

    proptest! {
        #[test]
        fn nothing_more_is_masked_the_second_time(
            pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16),
        ) {
            let once = redact(&pieces.concat()).into_owned();
            prop_assert_eq!(redact(&once), &*once);
        }

        #[test]
        fn every_text_can_be_masked(text in "\\PC{0,60}", before in prop::sample::select(&PIECES[..])) {
            let text = format!("{before}{text}");
            prop_assert!(redact(&text).len() <= text.len() + text.len() * MASK.len());
        }

        #[test]
        fn no_secret_stays(
            secret in "[a-z][0-9][A-Z][A-Za-z0-9]{20,30}",
            form in prop::sample::select(&[
                "API_TOKEN={}", "export API_TOKEN='{}'; x", "{\"apiKey\": \"{}\"}", "password: {}\n", "--password {} -x",
                "Authorization: Bearer {}", "redis://:{}@host/0", "https://h/?token={}&x=1", "a;Password={};b=c",
                "<password>{}</password>", "curl -u me:{} h", "x-api-key: {}", "ghp_{}AAAAAAAAAA", "{\\\"token\\\":\\\"{}\\\"}",
            ][..]),
        ) {
            let text = form.replace("{}", &secret);
            prop_assert!(!redact(&text).contains(&secret), "{}", redact(&text));
        }
    }
}
