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
        assert_eq!(address.admit_secrets(PlainText::Nearby), Ok(()), "{text}");
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
        assert!(address.admit_secrets(PlainText::Nearby).is_err(), "{text}");
        assert_eq!(address.admit_secrets(PlainText::Anywhere), Ok(()));
    }
}

fn literal(url: &str) -> IpAddr {
    match Address::parse(url).unwrap().host() {
        Host::Machine(address) => address,
        Host::Name(name) => panic!("{url}: {name} is a name"),
    }
}

#[test]
fn networks_parse_and_have_no_host_bits() {
    for (network, _) in NETWORKS.iter() {
        assert_eq!(network.trunc(), *network);
    }
    assert_eq!(NETWORKS.len(), 32);
}

#[test]
fn only_the_public_internet_is_reached() {
    let public = [
        "http://1.1.1.1",
        "http://8.8.8.8:8080",
        "http://172.32.0.1",
        "http://172.15.255.255",
        "http://100.63.255.255",
        "http://100.128.0.1",
        "http://192.0.1.1",
        "http://198.20.0.1",
        "http://223.255.255.255",
        "http://[2606:4700::1111]",
        "http://[::ffff:8.8.8.8]",
        "http://[64:ff9b::8.8.8.8]",
    ];
    for url in public {
        assert_eq!(Reach::Public.check(literal(url)), Ok(()), "{url}");
    }
    let private = [
        "http://127.0.0.1",
        "http://127.1",
        "http://127.255.255.254",
        "http://2130706433",
        "http://0x7f000001",
        "http://0177.0.0.1",
        "http://0x7f.1",
        "http://10.0.0.1",
        "http://172.16.0.1",
        "http://172.31.255.255",
        "http://192.168.1.1",
        "http://3232235777",
        "http://100.64.0.1",
        "http://[::1]",
        "http://[0:0:0:0:0:0:0:1]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:a00:1]",
        "http://[64:ff9b::10.0.0.1]",
        "http://[fd00::1]",
        "http://[fc00::1]",
    ];
    for url in private {
        assert!(Reach::Public.check(literal(url)).is_err(), "{url}");
        assert_eq!(Reach::PublicAndPrivate.check(literal(url)), Ok(()), "{url}");
        assert_eq!(Reach::Anywhere.check(literal(url)), Ok(()), "{url}");
    }
    let never = [
        "http://0.0.0.0",
        "http://0",
        "http://0.1.2.3",
        "http://169.254.169.254",
        "http://2852039166",
        "http://0xa9fea9fe",
        "http://0251.0376.0251.0376",
        "http://169.254.1.1",
        "http://100.100.100.200",
        "http://168.63.129.16",
        "http://192.0.0.192",
        "http://192.0.2.1",
        "http://198.18.0.1",
        "http://198.51.100.1",
        "http://203.0.113.1",
        "http://224.0.0.1",
        "http://239.255.255.250",
        "http://240.0.0.1",
        "http://255.255.255.255",
        "http://[::]",
        "http://[::ffff:169.254.169.254]",
        "http://[::ffff:0.0.0.0]",
        "http://[::169.254.169.254]",
        "http://[::127.0.0.1]",
        "http://[64:ff9b::169.254.169.254]",
        "http://[64:ff9b:1::1]",
        "http://[fd00:ec2::254]",
        "http://[fd00:ec2::23]",
        "http://[fd20:ce::254]",
        "http://[fd00:c1::a9fe:a9fe]",
        "http://[fd00:42::42]",
        "http://[fd00:a9fe:a9fe::1]",
        "http://169.254.42.42",
        "http://169.254.170.2",
        "http://169.254.0.23",
        "http://[fe80::a9fe:a9fe]",
        "http://[fe80::1]",
        "http://[fec0::1]",
        "http://[ff02::1]",
        "http://[2001:db8::1]",
        "http://[3fff::1]",
        "http://[2001::1]",
        "http://[2002:7f00:1::]",
        "http://[100::1]",
    ];
    for url in never {
        assert!(
            Reach::PublicAndPrivate.check(literal(url)).is_err(),
            "{url}"
        );
        assert!(Reach::Public.check(literal(url)).is_err(), "{url}");
    }
}

#[test]
fn errors_name_the_option() {
    let refused = |url: &str| Reach::Public.check(literal(url)).unwrap_err().to_string();
    assert_eq!(
        refused("http://[::ffff:127.0.0.1]"),
        "127.0.0.1 is this machine, which must not be accessed without \
         `--allow-private-addresses`"
    );
    assert_eq!(
        refused("http://169.254.169.254"),
        "169.254.169.254 is a metadata service, which must not be accessed"
    );
}

#[test]
fn only_nearby_machines_are_reached_without_encryption() {
    let rows = [
        (
            Reach::Public,
            "http://docs.rs/a?b#c",
            "https://docs.rs/a?b#c",
        ),
        (
            Reach::Public,
            "http://docs.rs:8080/",
            "https://docs.rs:8080/",
        ),
        (Reach::Public, "http://localhost/", "https://localhost/"),
        (
            Reach::PublicAndPrivate,
            "http://localhost:1/",
            "http://localhost:1/",
        ),
        (Reach::PublicAndPrivate, "http://[::1]/", "http://[::1]/"),
        (
            Reach::PublicAndPrivate,
            "http://docs.rs/",
            "https://docs.rs/",
        ),
    ];
    for (reach, given, asked) in rows {
        let address = reach.preferred(Address::parse(given).unwrap());
        assert_eq!(address.to_string(), asked);
    }
}
