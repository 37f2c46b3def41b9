use proptest::prelude::*;

use super::*;

fn rules(allowed: &[&str], denied: &[&str]) -> Result<DomainRules, String> {
    let texts = |list: &[&str]| {
        list.iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    DomainRules::new(&texts(allowed), &texts(denied))
}

#[test]
fn hosts_and_ports_are_compared_in_one_form() {
    let rules = rules(
        &[
            "example.com",
            "*.Example.org.",
            "api.test:8443",
            "*.wide.test:8443",
            "bücher.test",
            "8.8.8.8",
            "[2606:4700::1111]:443",
            "127.0.0.1:3000",
            "*-cdn.test",
            "part.test",
        ],
        &["bad.example.org", "part.test:80", "*.evil.example.org"],
    );
    let rules = rules.unwrap();
    let rows = [
        ("example.com", 443, true),
        ("example.com", 80, true),
        ("example.com", 8080, false),
        ("example.com", 22, false),
        ("example.com", 0, false),
        ("EXAMPLE.com", 443, true),
        ("example.com.", 443, true),
        ("ex%61mple.com", 443, true),
        ("www.example.com", 443, false),
        ("notexample.com", 443, false),
        ("example.com.evil.test", 443, false),
        ("example.org", 443, false),
        ("a.example.org", 443, true),
        ("a.b.example.org", 80, true),
        ("bad.example.org", 443, false),
        ("BAD.example.org.", 8080, false),
        ("a.bad.example.org", 443, true),
        ("x.evil.example.org", 443, false),
        ("api.test", 8443, true),
        ("api.test", 443, false),
        ("x.wide.test", 8443, true),
        ("wide.test", 8443, false),
        ("xn--bcher-kva.test", 443, true),
        ("BÜCHER.test", 443, true),
        ("eu-cdn.test", 443, true),
        ("eu-cdn.x.test", 443, false),
        ("part.test", 443, true),
        ("part.test", 80, false),
        ("8.8.8.8", 443, true),
        ("8.8.8.8.", 443, true),
        ("134744072", 443, true),
        ("0x8.010.8.8", 443, true),
        ("[::ffff:8.8.8.8]", 443, true),
        ("8.8.4.4", 443, false),
        ("[2606:4700:0:0::1111]", 443, true),
        ("[2606:4700::1111]", 80, false),
        ("2606:4700::1111", 443, false),
        ("127.1", 3000, true),
        ("127.0.0.1", 443, false),
        ("localhost", 3000, false),
        ("user@example.com", 443, false),
        ("example.com/", 443, false),
        ("example.com#", 443, false),
        ("example.com ", 443, false),
        ("", 443, false),
        (".", 443, false),
        (".example.com", 443, false),
        ("[fe80::1%eth0]", 443, false),
    ];
    for (host, port, expected) in rows {
        assert_eq!(rules.permits(host, port), expected, "{host} {port}");
    }
}

#[test]
fn a_star_allows_names_but_no_addresses() {
    let rules = rules(&["*", "*:8080"], &["*.internal"]).unwrap();
    for (host, port, expected) in [
        ("example.com", 443, true),
        ("localhost", 443, true),
        ("example.com", 8080, true),
        ("example.com", 22, false),
        ("metadata.google.internal", 80, false),
        ("8.8.8.8", 443, false),
        ("[2606:4700::1111]", 443, false),
        ("0x08080808", 443, false),
        ("8.8.8.8..", 443, false),
        ("8.8.8.8%2e%2e", 443, false),
        ("example.com..", 443, false),
    ] {
        assert_eq!(rules.permits(host, port), expected, "{host} {port}");
    }
    let nothing = self::rules(&[], &[]).unwrap();
    assert!(!nothing.permits("example.com", 443));
}

#[test]
fn private_addresses_need_a_rule_that_names_them() {
    let reach = |allowed: &[&str], server: &str| {
        let server = HostAndPort::parse(server).unwrap();
        rules(allowed, &[]).unwrap().check(&server, Reach::Public)
    };
    let private = Ok(Reach::PublicAndPrivate);
    assert_eq!(reach(&["*", "a.test"], "a.test:443"), Ok(Reach::Public));
    assert_eq!(reach(&["*"], "localhost:443"), Ok(Reach::Public));
    assert_eq!(reach(&["local*"], "localhost:443"), Ok(Reach::Public));
    assert_eq!(reach(&["*", "localhost"], "localhost:443"), private);
    assert_eq!(reach(&["LOCALHOST:3000"], "localhost.:3000"), private);
    assert_eq!(reach(&["10.0.0.1"], "10.0.0.1:80"), private);
}

#[test]
fn patterns_that_name_no_host_are_errors() {
    for text in [
        "",
        ".",
        ":443",
        "https://example.com",
        "example.com/path",
        "user@example.com",
        "example.com:",
        "example.com:http",
        "example.com:65536",
        "example.com:*",
        "a b",
        "::1",
        "[::1",
        "*.1",
        "256.256.256.256",
        "domain:example.com",
    ] {
        let error = rules(&[], &[text]).unwrap_err();
        let expected = format!("`{text}` is not a host such as `*.example.com:443`");
        assert_eq!(error, expected);
    }
}

proptest! {
    #[test]
    fn a_host_has_one_form(text in "[a-zA-Z0-9.:\\[\\]%xé*-]{0,12}(:[0-9]{1,5})?") {
        if let Some((host, port)) = parse_authority(&text) {
            let again = match port {
                Some(port) => format!("{host}:{port}"),
                None => host.to_string(),
            };
            prop_assert_eq!(parse_authority(&again), Some((host, port)));
        }
    }
}
