//! Masking of secrets in text and in JSON.

use std::borrow::Cow;

use serde_json::Value;

use super::secrets::{find_secrets, is_placeholder, is_secret};

/// Replacement for a secret.
pub const MASK: &str = "[redacted]";

/// Masks all secrets in a text.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = find_secrets(text);
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

/// Masks secrets in all strings of a JSON value, and strings whose member name denotes a secret. Returns the
/// number of strings with secrets.
pub fn redact_strings(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => match redact(text) {
            Cow::Owned(masked) => {
                *text = masked;
                1
            }
            Cow::Borrowed(_) => 0,
        },
        Value::Array(elements) => elements.iter_mut().map(redact_strings).sum(),
        Value::Object(members) => {
            let members = members.into_iter();
            let found = members.map(|(name, member)| match member {
                Value::String(text) if is_secret(name, text) && !is_placeholder(text) => {
                    MASK.clone_into(text);
                    1
                }
                _ => redact_strings(member),
            });
            found.sum()
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
