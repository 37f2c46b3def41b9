use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;

use super::*;
use crate::client::http::{HttpSettings, Reach, TimeLimits};
use crate::run::tools::test_context::Session;
use crate::run::tools::{Block, Web};

/// A server on this machine. `answer` receives the path of each request and the connection.
struct Server {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn new(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(first)) = lines.next() else {
                    continue;
                };
                while lines
                    .next()
                    .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
                {}
                counted.fetch_add(1, Ordering::SeqCst);
                answer(first.split(' ').nth(1).unwrap(), &mut stream);
            }
        });
        Self { port, requests }
    }

    /// Creates a server that sends the same response to every request.
    fn with_response(head: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self::new(move |_, stream| respond(stream, head, &body))
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn respond(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let length = body.len();
    // The client may have closed the connection.
    let _ = write!(
        stream,
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    // The client may have closed the connection.
    let _ = stream.write_all(body);
}

fn session(reach: Reach, total: Duration) -> Session {
    let mut session = Session::new();
    let settings = HttpSettings {
        limits: TimeLimits {
            total,
            ..TimeLimits::default()
        },
        ..HttpSettings::default()
    };
    session.context.web = Arc::new(Web::new(reach, settings));
    session
}

/// Returns a session that may fetch from this machine.
fn local_session() -> Session {
    session(Reach::PublicAndPrivate, Duration::from_mins(1))
}

fn fetch(session: &Session, url: &str) -> Result<String, String> {
    match session.call::<WebFetch>(json!({ "url": url })) {
        Ok(reply) => match reply.content {
            Content::Text(text) => Ok(text),
            Content::Blocks(blocks) => match blocks.as_slice() {
                [Block::Image { source }] => Ok(source.media_type.clone()),
                other => panic!("{other:?}"),
            },
        },
        Err(failure) => Err(failure.0),
    }
}

#[test]
fn a_page_is_converted_to_markdown() {
    let server = Server::with_response("200 OK\r\ncontent-type: text/html", "<h1>Hi</h1><p>you");
    let input = json!({ "url": server.url("/a#b"), "prompt": "What does it say?" });
    let (text, mut structured) = local_session().ok::<WebFetch>(input);
    assert_eq!(text, "# Hi\n\nyou");
    assert_eq!(structured["url"].take(), Value::from(server.url("/a#b")));
    assert_eq!(
        structured,
        json!({
            "bytes": 17,
            "code": 200,
            "codeText": "OK",
            "result": "# Hi\n\nyou",
            "durationMs": 0,
            "url": null,
        })
    );
}

#[test]
fn a_page_is_requested_once_and_continued_with_an_offset() {
    let body = "ä".repeat(MAX_PAGE_CHARACTERS) + "end";
    let server = Server::with_response("200 OK\r\ncontent-type: text/plain", body);
    let session = local_session();
    let page = |offset: usize| {
        session.call::<WebFetch>(json!({ "url": server.url("/"), "offset": offset }))
    };
    let Content::Text(first) = page(0).unwrap().content else {
        panic!("no text");
    };
    assert!(
        first.ends_with(
            "ä\n\n<system-reminder>PARTIAL view: characters 0 to 40000 of 40003. Fetch the page \
             again with offset 40000 to read on.</system-reminder>"
        ),
        "{first}"
    );
    assert_eq!(
        page(MAX_PAGE_CHARACTERS).unwrap().content,
        Content::Text("end".to_owned())
    );
    assert_eq!(
        page(MAX_PAGE_CHARACTERS + 3).unwrap_err().0,
        "The page has 40003 characters, fewer than the offset."
    );
    assert_eq!(server.requests(), 1);
}

#[test]
fn redirects_are_only_followed_on_one_server() {
    let server = Server::new(|path, stream| match path {
        "/a" => respond(stream, "302 Found\r\nlocation: b/?c=d", b""),
        "/b/?c=d" => respond(stream, "200 OK", b"here"),
        "/loop" => respond(stream, "301 Moved Permanently\r\nlocation: /loop", b""),
        "/away" => respond(
            stream,
            "307 Temporary Redirect\r\nlocation: //docs.rs/x y",
            b"",
        ),
        "/port" => respond(
            stream,
            "301 Moved Permanently\r\nlocation: http://127.0.0.1:1/",
            b"",
        ),
        "/metadata" => respond(
            stream,
            "302 Found\r\nlocation: http://169.254.169.254/",
            b"",
        ),
        "/file" => respond(stream, "302 Found\r\nlocation: file:///etc/passwd", b""),
        "/user" => respond(
            stream,
            "302 Found\r\nlocation: https://canary@docs.rs/",
            b"",
        ),
        _ => respond(stream, "304 Not Modified", b""),
    });
    let session = local_session();
    let seen = |path: &str| fetch(&session, &server.url(path));
    assert_eq!(seen("/a"), Ok("here".to_owned()));
    assert_eq!(
        seen("/loop"),
        Err("Fetch failed: more than 10 redirects".to_owned())
    );
    assert_eq!(server.requests(), 2 + 11);
    for (path, to) in [
        ("/away", "http://docs.rs/x%20y"),
        ("/port", "http://127.0.0.1:1/"),
        ("/metadata", "http://169.254.169.254/"),
    ] {
        let text = seen(path).unwrap();
        assert!(text.starts_with("REDIRECT DETECTED: "), "{text}");
        assert!(
            text.contains(&format!("\n\nRedirect URL: {to}\n\n")),
            "{text}"
        );
    }
    for path in ["/file", "/user", "/other"] {
        let error = seen(path).unwrap_err();
        assert!(error.starts_with("Fetch failed: the "), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}

#[test]
fn addresses_out_of_reach_are_not_connected_to() {
    let server = Server::with_response("200 OK", "secret");
    let port = server.port;
    let public = session(Reach::Public, Duration::from_mins(1));
    let hosts = "127.0.0.1 127.1 2130706433 0x7f.1 0177.0.0.1 0.0.0.0 localhost LOCALHOST [::1] [::] \
        [::ffff:127.0.0.1] 169.254.169.254 10.0.0.1";
    for host in hosts.split_whitespace() {
        for scheme in ["http", "https"] {
            let error = fetch(&public, &format!("{scheme}://{host}:{port}/")).unwrap_err();
            assert!(error.contains("must not be accessed"), "{host}: {error}");
        }
    }
    // Nearby addresses may be allowed; other special addresses never are.
    for host in ["0.0.0.0", "169.254.169.254", "[::]", "[fe80::1]"] {
        let error = fetch(&local_session(), &format!("http://{host}:{port}/")).unwrap_err();
        assert!(error.contains("must not be accessed"), "{host}: {error}");
    }
    assert_eq!(server.requests(), 0);
    let allowed = fetch(&local_session(), &format!("http://localhost:{port}/"));
    assert_eq!(allowed, Ok("secret".to_owned()));
}

#[test]
fn names_are_looked_up_even_if_a_proxy_would_connect() {
    let proxy = Server::with_response("200 OK", "through the proxy");
    let settings = HttpSettings {
        proxies: crate::client::http::Proxies {
            all: Some(crate::client::http::Secret::new(proxy.url(""))),
            ..Default::default()
        },
        ..HttpSettings::default()
    };
    let mut session = Session::new();
    session.context.web = Arc::new(Web::new(Reach::Public, settings.clone()));
    for url in ["http://localhost/", "http://127.0.0.1/"] {
        let error = fetch(&session, url).unwrap_err();
        assert!(error.contains("must not be accessed"), "{error}");
    }
    assert_eq!(proxy.requests(), 0);
    session.context.web = Arc::new(Web::new(Reach::PublicAndPrivate, settings));
    assert_eq!(
        fetch(&session, "http://localhost/"),
        Ok("through the proxy".to_owned())
    );
}

#[test]
fn responses_that_are_not_pages_are_errors() {
    let rows: [(&str, &[u8], &str); 4] = [
        (
            "404 Not Found",
            b"<p>no",
            "the request failed with status code 404 Not Found",
        ),
        (
            "500 Internal Server Error",
            b"",
            "status code 500 Internal Server Error",
        ),
        (
            "200 OK\r\ncontent-encoding: gzip",
            b"\x1f\x8b\x08\0\0\0\0\0",
            "the page came compressed (gzip), which was not requested",
        ),
        (
            "200 OK\r\ncontent-type: application/zip",
            b"PK\x03\x04\0",
            "the page is binary (application/zip, 5 bytes)",
        ),
    ];
    for (head, body, expected) in rows {
        let server = Server::with_response(head, body);
        let error = fetch(&local_session(), &server.url("/")).unwrap_err();
        assert!(error.ends_with(expected), "{error}");
        // Failures are not cached.
        fetch(&local_session(), &server.url("/")).unwrap_err();
        assert_eq!(server.requests(), 2);
    }
}

#[test]
fn a_picture_is_returned_as_an_image() {
    let gif = b"GIF89a\x05\0\x07\x01\0\0\0";
    let server = Server::with_response("200 OK\r\ncontent-type: image/gif", gif);
    assert_eq!(
        fetch(&local_session(), &server.url("/")),
        Ok("image/gif".to_owned())
    );
    let wide = b"GIF89a\xff\xff\x07\x01\0\0\0";
    let server = Server::with_response("200 OK\r\ncontent-type: image/gif", wide);
    let error = fetch(&local_session(), &server.url("/")).unwrap_err();
    assert!(error.contains("65535 x 263 pixels"), "{error}");
}

#[test]
fn a_body_without_end_is_cut_off() {
    let server = Server::new(|_, stream| {
        // The client may have closed the connection.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        while stream.write_all(&[b'x'; 1 << 14]).is_ok() {}
    });
    assert_eq!(
        fetch(&local_session(), &server.url("/")),
        Err("Fetch failed: the page (text/plain) has more than 10485760 bytes".to_owned())
    );
}

#[test]
fn a_slow_server_times_out() {
    let server = Server::new(|_, stream| {
        // The client may have closed the connection.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let session = session(Reach::PublicAndPrivate, Duration::from_millis(200));
    assert_eq!(
        fetch(&session, &server.url("/")),
        Err("Fetch failed: no complete response within 0.2 s".to_owned())
    );
}

#[test]
fn a_cancelled_fetch_ends_at_once() {
    let (arrived, waits) = mpsc::channel();
    let server = Server::new(move |_, stream| {
        // The test may have ended.
        let _ = arrived.send(stream.try_clone().unwrap());
    });
    let session = local_session();
    let cancel = session.cancel.clone();
    let canceller = std::thread::spawn(move || {
        let connection = waits.recv().unwrap();
        cancel.cancel();
        connection
    });
    let reply = session
        .call::<WebFetch>(json!({ "url": server.url("/") }))
        .unwrap();
    assert_eq!(reply.status, CallStatus::Cancelled);
    canceller.join().unwrap();
}

#[test]
fn only_web_addresses_are_accepted() {
    let session = local_session();
    for url in [
        "",
        "docs.rs",
        "ftp://a/",
        "file:///etc/passwd",
        "https://me:canary@a/",
        "https://",
    ] {
        let error = fetch(&session, url).unwrap_err();
        assert!(!error.contains("canary"), "{error}");
    }
}

#[test]
fn permission_applies_to_the_requested_address() {
    let assessed = |url: &str| {
        let input = json!({ "url": url });
        let call = crate::run::tools::builtin::BuiltIn::<WebFetch>::new();
        let call = crate::run::tools::Tool::prepare(&call, input.as_object().unwrap()).unwrap();
        call.assess(&Session::new().context)
    };
    let assessment = assessed(" HTTPS://Docs.RS:443/a/../b");
    let url = "https://docs.rs/b".to_owned();
    assert_eq!(assessment.action, Action::Fetch { url });
    assert_eq!(assessment.access, Access::nothing());
}
