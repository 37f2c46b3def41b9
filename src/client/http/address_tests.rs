use super::*;

#[test]
fn paths_are_joined_with_any_slashes() {
    let rows = [
        (
            "https://a.b/v1",
            "chat/completions",
            "https://a.b/v1/chat/completions",
        ),
        ("https://a.b/v1/", "/chat", "https://a.b/v1/chat"),
        ("https://a.b", "api/chat", "https://a.b/api/chat"),
        (
            "https://a.b/x?api-version=1#f",
            "chat",
            "https://a.b/x/chat?api-version=1",
        ),
        (
            "http://[::1]:8/g",
            "m:s?alt=sse",
            "http://[::1]:8/g/m:s?alt=sse",
        ),
        ("http://h/?k=1", "m?alt=sse", "http://h/m?k=1&alt=sse"),
    ];
    for (base, path, expected) in rows {
        let joined = Address::parse(base).unwrap().join(path);
        assert_eq!(joined.to_string(), expected);
    }
}

#[test]
fn repeated_parts_of_a_path_are_found() {
    let rows = [
        ("https://a.b/v1/v1/messages", Some("v1")),
        ("https://a.b/v1/messages", None),
        (
            "https://a.b/x/chat/completions/chat/completions",
            Some("chat/completions"),
        ),
        ("https://a.b/v1/x/v1", None),
        ("https://a.b//x", None),
        ("https://a.b", None),
    ];
    for (address, expected) in rows {
        let found = Address::parse(address).unwrap().repeated_part();
        assert_eq!(found.as_deref(), expected, "{address}");
    }
}

#[test]
fn other_addresses_are_refused_without_being_repeated() {
    for text in [
        "",
        "localhost:8080",
        "ftp://a/b",
        "file:///x",
        "https://",
        "//a",
    ] {
        assert!(Address::parse(text).is_err(), "{text}");
    }
    let error = Address::parse("https://me:canary@host/").unwrap_err();
    assert_eq!(error, UnusableAddress::Credentials);
    assert!(!error.to_string().contains("canary"));
}

#[test]
fn secrets_stay_on_private_networks_or_are_encrypted() {
    let allowed = [
        "https://api.example.com",
        "http://localhost:8000",
        "http://127.0.0.1:1",
        "http://127.9.9.9",
        "http://[::1]:4",
        "http://[fd00::2]",
        "http://[::ffff:10.0.0.1]",
        "http://10.1.2.3",
        "http://172.20.0.5:11434",
        "http://192.168.1.7",
        "http://gpu:8000",
        "http://gpu.lan",
        "http://HOST.docker.internal:11434",
    ];
    for text in allowed {
        let address = Address::parse(text).unwrap();
        assert_eq!(
            address.check_secrets_allowed(PlainText::Nearby),
            Ok(()),
            "{text}"
        );
    }
    let refused = [
        "http://api.example.com/v1",
        "http://8.8.8.8",
        "http://172.32.0.1",
        "http://[2001:db8::1]",
        "http://[::ffff:8.8.8.8]",
        "http://localhost.example.com",
        "http://0.0.0.0",
    ];
    for text in refused {
        let address = Address::parse(text).unwrap();
        assert!(
            address.check_secrets_allowed(PlainText::Nearby).is_err(),
            "{text}"
        );
        assert_eq!(address.check_secrets_allowed(PlainText::Anywhere), Ok(()));
    }
}
