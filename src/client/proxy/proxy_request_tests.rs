use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Option<ProxyRequest>, &'static str> {
    ProxyRequest::parse(text.as_bytes())
}

fn server(text: &str) -> HostAndPort {
    HostAndPort::parse(text).unwrap()
}

#[test]
fn a_tunnel_begins_after_its_head() {
    let request =
        parse("CONNECT Example.com.:443 HTTP/1.1\r\nHost: other.test\r\n\r\n\x16\x03").unwrap();
    let expected = ProxyRequest {
        server: server("example.com:443"),
        is_tunnel: true,
        beginning: b"\x16\x03".to_vec(),
    };
    assert_eq!(request, Some(expected));
}

#[test]
fn the_server_gets_the_path_and_no_headers_for_the_proxy() {
    let request = "POST http://u:p@Example.com:8080/a%20b?c#d HTTP/1.1\r\nhost: other.test\r\nAccept: */*\r\n\
        Connection: keep-alive\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\n\
        Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nContent-Length: 2\r\nX: \u{e9}\r\n\r\nok";
    let request = parse(request).unwrap().unwrap();
    let expected = "POST /a%20b?c HTTP/1.1\r\nHost: example.com:8080\r\nConnection: close\r\nAccept: */*\r\n\
        Content-Length: 2\r\nX: \u{e9}\r\n\r\nok";
    assert_eq!(String::from_utf8(request.beginning).unwrap(), expected);
    assert_eq!(request.server, server("example.com:8080"));
    let plain = parse("GET http://example.com HTTP/1.0\r\n\r\n")
        .unwrap()
        .unwrap();
    let expected = "GET / HTTP/1.0\r\nHost: example.com\r\nConnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(plain.beginning).unwrap(), expected);
    assert_eq!(plain.server, server("example.com:80"));
}

#[test]
fn a_part_of_a_head_is_no_request() {
    let whole = "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n";
    for end in 0..whole.len() {
        assert_eq!(parse(&whole[..end]), Ok(None), "{end}");
    }
    assert!(parse(whole).unwrap().is_some());
}

#[test]
fn other_requests_are_refused() {
    let server = "the target is not a host with a port";
    let url = "the target is not an `http://` URL";
    for (first, expected) in [
        ("CONNECT example.com", server),
        ("CONNECT example.com:", server),
        ("CONNECT example.com:https", server),
        ("CONNECT example.com:443/", server),
        ("CONNECT user@example.com:443", server),
        ("CONNECT http://example.com:443", server),
        ("CONNECT ::1:443", server),
        ("CONNECT [::1]", server),
        ("CONNECT :443", server),
        ("CONNECT example.com:70000", server),
        ("GET /", url),
        ("GET example.com:80", url),
        ("GET https://example.com/", url),
        ("GET ftp://example.com/", url),
        ("GET http:///", url),
        ("OPTIONS *", url),
    ] {
        let request = parse(&format!("{first} HTTP/1.1\r\n\r\n"));
        assert_eq!(request, Err(expected), "{first}");
    }
    for text in [
        "\x16\x03\x01\x02",
        "GET / HTTP/2\r\n\r\n",
        "GET / HTTP/1.1\r\na b\r\n\r\n",
    ] {
        assert_eq!(parse(text), Err("the request is malformed"), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in any::<Vec<u8>>(), first in "(GET|CONNECT) [!-~]{0,20} HTTP/1.1\r\n") {
        // It only must not panic.
        let _ = ProxyRequest::parse(&bytes);
        let whole = [first.as_bytes(), b"\r\n", &bytes].concat();
        if let Ok(Some(request)) = ProxyRequest::parse(&whole) {
            prop_assert!(request.beginning.ends_with(&bytes));
            prop_assert!(!request.is_tunnel || request.beginning == bytes);
        }
    }
}
