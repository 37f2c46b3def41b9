//! Masking of secrets in text and in JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::secrets::{find_secrets, is_placeholder, is_secret};

/// Replacement for a secret.
pub const MASK: &str = "[redacted]";

/// Masks all secrets in a text.
pub fn redact(text: &str) -> Cow<'_, str> {
    // Most texts have none, and are not copied.
    if find_secrets(text).is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = text.to_owned();
    redact_parts(&mut [&mut masked], &[""]);
    Cow::Owned(masked)
}

/// Returns all secrets in a text.
pub fn secrets_in(text: &str) -> Vec<&str> {
    let found = find_secrets(text).into_iter();
    found.map(|secret| &text[secret]).collect()
}

/// Masks all secrets in the parts of a text, also secrets that span parts. Searches the parts joined by each of the
/// separators, which have the same length. Returns the number of parts with secrets.
pub fn redact_parts(parts: &mut [&mut String], separators: &[&str]) -> u64 {
    let join = |separator: &&str| {
        let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
        parts.join(separator)
    };
    // A single part has no separator.
    let searched = separators.len().min(parts.len());
    let joined: Vec<String> = separators[..searched].iter().map(join).collect();
    let mut found: Vec<_> = joined.iter().flat_map(|text| find_secrets(text)).collect();
    found.sort_unstable_by_key(|secret| secret.start);
    let (mut start, mut end, mut count) = (0, 0, 0);
    let mut secrets = found.into_iter().peekable();
    for part in parts {
        let part_end = start + part.len();
        let is_masked = end > start || secrets.peek().is_some_and(|secret| secret.start < part_end);
        if is_masked {
            let mut masked = String::with_capacity(part.len());
            let index_of = |position: usize| position.clamp(start, part_end) - start;
            while let Some(secret) = secrets.next_if(|secret| secret.start < part_end) {
                if secret.start >= end {
                    masked.push_str(&part[index_of(end)..index_of(secret.start)]);
                    masked.push_str(MASK);
                }
                end = end.max(secret.end);
            }
            masked.push_str(&part[index_of(end)..]);
            **part = masked;
            count += 1;
        }
        start = part_end + separators.first().map_or(0, |separator| separator.len());
    }
    count
}

/// Masks secrets in all strings of a JSON value, and strings whose member name denotes a secret. Returns the
/// number of strings with secrets.
pub fn redact_strings(value: &mut Value) -> u64 {
    // Elements of arrays may be lines of a text, or words of a command.
    redact_members(value, &["\n", " "])
}

/// Masks secrets like [`redact_strings`]. Strings of the same member of the elements of an array are parts of a text;
/// each of the separators may be between them.
pub fn redact_members(value: &mut Value, separators: &[&str]) -> u64 {
    let mut texts = BTreeMap::new();
    let named = collect_strings(value, "", "", &mut texts);
    let parts = texts.values_mut();
    let parts: u64 = parts.map(|parts| redact_parts(parts, separators)).sum();
    named + parts
}

/// Collects strings by the path of their members. Masks those whose `name` denotes a secret, and returns their number.
fn collect_strings<'a>(
    value: &'a mut Value,
    path: &str,
    name: &str,
    texts: &mut BTreeMap<String, Vec<&'a mut String>>,
) -> u64 {
    let path = format!("{path}\0{name}");
    match value {
        Value::String(text) if is_secret(name, text) && !is_placeholder(text) => {
            MASK.clone_into(text);
            1
        }
        Value::String(text) => {
            texts.entry(path).or_default().push(text);
            0
        }
        Value::Array(elements) => {
            let mut collect = |element| collect_strings(element, &path, "", texts);
            elements.iter_mut().map(&mut collect).sum()
        }
        Value::Object(members) => {
            let mut collect = |(name, member)| collect_strings(member, &path, name, texts);
            members
                .iter_mut()
                .map(|(name, member)| collect((name.as_str(), member)))
                .sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Masks secrets in JSON text. Text that is not JSON is masked as plain text.
pub fn redact_json(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(mut value) => {
            redact_strings(&mut value);
            value.to_string()
        }
        Err(_) => redact(json).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_like_secrets_is_masked() {
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
                "twine upload -p [redacted]",
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
    fn other_text_stays() {
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
        for line in include_str!("../../../../tests/data/secret_names.txt").lines() {
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
    fn texts_are_masked_as_in_the_table() {
        for line in include_str!("../../../../tests/data/secret_texts.jsonl").lines() {
            let row: [String; 2] = serde_json::from_str(line).unwrap();
            assert_eq!(redact(&row[0]), row[1]);
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
        fn masking_is_idempotent(
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
