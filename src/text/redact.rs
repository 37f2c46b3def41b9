//! Masking what looks like a key or a password.
//!
//! Knows only common formats. Other secrets look like any other text, so this is a best effort and
//! no guarantee.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// What stands in for a secret.
pub const MASK: &str = "[redacted]";

/// Patterns of secrets, after parts of texts, in lower case, of which each match has one: most texts
/// have none, and need no patterns. A group named `kept` stays, because it shows the kind of secret.
const FORMS: [(&str, &str); 19] = [
    // A private key with all its lines; one that is cut off, too.
    (
        "-----begin",
        r"(?s)(?<kept>-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
    ("sk-ant-", r"\b(?<kept>sk-ant-)[A-Za-z0-9_-]{8,}"),
    ("sk-", r"\b(?<kept>sk-(?:proj-|or-v1-)?)[A-Za-z0-9_-]{20,}"),
    (
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"\b(?<kept>gh[pousr]_)[A-Za-z0-9]{30,}",
    ),
    ("github_pat_", r"\b(?<kept>github_pat_)[A-Za-z0-9_]{30,}"),
    ("glpat-", r"\b(?<kept>glpat-)[A-Za-z0-9_-]{20,}"),
    ("akia asia", r"\b(?<kept>(?:AKIA|ASIA))[0-9A-Z]{16}\b"),
    ("aiza", r"\b(?<kept>AIza)[A-Za-z0-9_-]{35}"),
    ("xox", r"\b(?<kept>xox[abeoprs]-)[A-Za-z0-9-]{10,}"),
    ("_live_", r"\b(?<kept>(?:sk|rk)_live_)[A-Za-z0-9]{16,}"),
    ("hf_", r"\b(?<kept>hf_)[A-Za-z0-9]{30,}"),
    ("npm_", r"\b(?<kept>npm_)[A-Za-z0-9]{36}"),
    ("pypi-", r"\b(?<kept>pypi-)[A-Za-z0-9_-]{16,}"),
    (
        "eyj",
        r"\b(?<kept>eyJ)[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    (
        "authorization",
        r"(?i)(?<kept>\bauthorization\s*:\s*(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{8,}",
    ),
    ("bearer", r"(?i)(?<kept>\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}"),
    (
        "--",
        r"(?i)(?<kept>--(?:token|password|secret|api-key)[ =])[^\s$]\S*",
    ),
    // User and password of an address.
    ("://", r"(?<kept>\b[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@"),
    // Whatever is called so. A name in place of a value, as in `token=$TOKEN`, is no secret.
    (
        "key secret passw credential token",
        r#"(?i)(?<kept>\b[a-z0-9_]*(?:api[_-]?key|secret|passwd|password|access[_-]?key|credentials?|(?:access|auth)[_-]?token)["']?\s*[:=]\s*["']?)[A-Za-z0-9._~+/=-]{6,}"#,
    ),
];

/// All forms at once; of several that match at a place the first counts.
static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms: Vec<String> = (0..)
        .zip(FORMS)
        .map(|(number, (_, form)): (usize, (_, &str))| {
            form.replace("<kept>", &format!("<kept{number}>"))
        })
        .collect();
    // The forms are part of the program, and a test holds them to be right.
    Regex::new(&forms.join("|")).ok()
});

/// The text with a mask in place of what looks like a secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let mut parts = FORMS.iter().flat_map(|(parts, _)| parts.split(' '));
    if !parts.any(|part| lower.contains(part)) {
        return Cow::Borrowed(text);
    }
    let Some(secret) = &*SECRET else {
        return Cow::Owned(MASK.to_owned());
    };
    secret.replace_all(text, |found: &Captures<'_>| {
        let kept = found.iter().skip(1).flatten().next();
        format!("{}{MASK}", kept.map_or("", |kept| kept.as_str()))
    })
}

/// Masks secrets in whichever string of a JSON value they stand, and strings whose member is called as
/// secrets are.
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
                    Value::String(text) if is_secret(name, text) => MASK.clone_into(text),
                    _ => redact_strings(member),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a member of this name holds a secret, as it would after `=`. There a secret ends with the
/// word; here it is the whole text.
fn is_secret(name: &str, text: &str) -> bool {
    let is_a_value = !text.is_empty() && !text.starts_with('$');
    is_a_value && matches!(redact(&format!("{name}=somebody")), Cow::Owned(_))
}

/// Whether a variable of this name usually holds a secret.
pub fn names_secret(name: &str) -> bool {
    const ENDINGS: &str =
        "TOKEN SECRET PASSWORD PASSWD PASSPHRASE APIKEY CREDENTIAL CREDENTIALS COOKIE";
    const WORDS: &str = "KEY PAT PASS PWD SSHPASS";
    let name = name.to_ascii_uppercase();
    let is_secret = |word: &str| {
        WORDS.split(' ').any(|known| known == word)
            || ENDINGS.split(' ').any(|ending| word.ends_with(ending))
    };
    name.split('_').any(is_secret) || name.ends_with("_AUTH") || name.ends_with("CONNECTION_STRING")
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
            "secret": "$SECRET", "key": "Enter", "tokens": "two", "secrets_file": "a", "access_token": "",
        });
        redact_strings(&mut value);
        let expected = serde_json::json!({
            "password": MASK, "apiKey": MASK, "nested": [{"client_secret": MASK}],
            "secret": "$SECRET", "key": "Enter", "tokens": "two", "secrets_file": "a", "access_token": "",
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn variables_are_secret_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_BEARER_TOKEN_BEDROCK",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "PGPASSWORD",
            "MYSQL_PWD",
            "npm_config__authToken",
            "NPM_CONFIG__AUTH",
            "AZURE_STORAGE_CONNECTION_STRING",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "MAX_TOKENS",
            "TOKENIZERS_PARALLELISM",
            "SSH_AUTH_SOCK",
            "SSH_ASKPASS",
            "XAUTHORITY",
            "KEYBOARD",
            "GIT_AUTHOR_NAME",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_more_is_masked_the_second_time(text in "(sk-|password=|[a-z0-9 ]){0,12}") {
            let once = redact(&text).into_owned();
            prop_assert_eq!(redact(&once), &*once);
        }
    }
}
