use proptest::prelude::*;

use super::*;

#[test]
fn values_of_file_variables_are_paths() {
    assert!(!is_secret("ROOT_PASSWORD_FILE", "/run/secrets/root"));
    assert!(is_secret("ROOT_PASSWORD_FILE", "canary"));
    assert!(is_secret("ROOT_PASSWORD", "/run/secrets/root"));
    assert!(!is_secret("REDIS_URL", "redis://localhost:6379"));
    assert!(is_secret("API_TOKEN", "true"));
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
