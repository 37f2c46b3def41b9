use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

type Listener = std::net::TcpListener;
type Stream = std::net::TcpStream;

/// Number of times that `counted.test` was looked up.
static LOOK_UPS: AtomicUsize = AtomicUsize::new(0);

/// Resolves the names of these tests.
fn resolve_name(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    const LOCAL: [u8; 4] = [127, 0, 0, 1];
    const METADATA: [u8; 4] = [169, 254, 169, 254];
    let addresses = match name {
        "local.test" | "localhost" => vec![LOCAL],
        "metadata.test" => vec![METADATA],
        "mixed.test" => vec![[8, 8, 8, 8], LOCAL],
        // A name server that gives another address the second time.
        "counted.test" => match LOOK_UPS.fetch_add(1, Ordering::SeqCst) {
            0 => vec![LOCAL],
            _ => vec![METADATA],
        },
        _ => return Err(ErrorKind::NotFound.into()),
    };
    let addresses = addresses.into_iter().map(Ipv4Addr::from);
    Ok(addresses.map(|address| (address, port).into()).collect())
}

/// A proxy, and the address of its socket.
struct Fixture {
    proxy: Proxy,
    address: SocketAddr,
}

impl Fixture {
    fn new(reach: Reach, allowed: &[String]) -> Self {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let policy = ProxyPolicy {
            rules: DomainRules::new(allowed, &["denied.test".to_owned()]).unwrap(),
            reach,
            look_up: resolve_name,
        };
        let proxy = Proxy::start(listener, Arc::new(policy), &Engine::default()).unwrap();
        Self { proxy, address }
    }

    /// Permits names with the addresses of this machine.
    fn with_local_targets(allowed: &[String]) -> Self {
        Self::new(Reach::PublicAndPrivate, allowed)
    }

    fn send(&self, request: &str) -> Stream {
        let mut stream = Stream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Returns the whole answer to a request.
    fn ask(&self, request: &str) -> String {
        let mut answer = String::new();
        self.send(request).read_to_string(&mut answer).unwrap();
        answer
    }

    /// Opens a tunnel.
    fn tunnel(&self, server: &str) -> Stream {
        let mut stream = self.send(&connect_to(server));
        let mut head = [0; 19];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200 OK\r\n\r\n");
        stream
    }
}

fn connect_to(server: &str) -> String {
    format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n")
}

/// Starts a server that runs `serve` with each connection, and returns its port.
fn start(serve: fn(Stream)) -> u16 {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Sends back what it gets, until the client has sent everything.
fn echo(mut stream: Stream) {
    let mut back = stream.try_clone().unwrap();
    // The client may have closed the connection.
    let _ = io::copy(&mut stream, &mut back);
    let _ = back.shutdown(Shutdown::Write);
}

/// Answers a request with a redirect to another host.
fn redirect(mut stream: Stream) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        request.extend(byte);
    }
    assert!(
        String::from_utf8(request)
            .unwrap()
            .starts_with("GET /path?query HTTP/1.1\r\nHost: local.test:")
    );
    let answer = b"HTTP/1.1 302 Found\r\nLocation: http://other.test/\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(answer).unwrap();
}

#[test]
fn ten_megabytes_pass_both_ways_and_each_way_ends_on_its_own() {
    let server = format!("local.test:{}", start(echo));
    let fixture = Fixture::with_local_targets(std::slice::from_ref(&server));
    let mut stream = fixture.tunnel(&server);
    let sent: Vec<u8> = (0..10_000_000u32)
        .map(|number| number.to_le_bytes()[number as usize % 3])
        .collect();
    let mut writer = stream.try_clone().unwrap();
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            writer.write_all(&sent).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        received
    });
    assert!(received == sent);
}

#[test]
fn a_hundred_tunnels_are_open_at_once() {
    let server = format!("local.test:{}", start(echo));
    let fixture = Fixture::with_local_targets(std::slice::from_ref(&server));
    let mut streams: Vec<Stream> = (0..100).map(|_| fixture.tunnel(&server)).collect();
    for (number, stream) in (0u8..).zip(&mut streams) {
        stream.write_all(&[number; 3]).unwrap();
    }
    for (number, stream) in (0u8..).zip(&mut streams) {
        let mut back = [0; 3];
        stream.read_exact(&mut back).unwrap();
        assert_eq!(back, [number; 3]);
    }
}

#[test]
fn a_redirect_leads_to_a_new_request_which_is_checked() {
    let server = format!("local.test:{}", start(redirect));
    let fixture = Fixture::with_local_targets(std::slice::from_ref(&server));
    let answer = fixture.ask(&format!(
        "GET http://{server}/path?query HTTP/1.1\r\nHost: {server}\r\n\r\n"
    ));
    assert!(
        answer.starts_with("HTTP/1.1 302 Found\r\nLocation: http://other.test/\r\n"),
        "{answer}"
    );
    let answer = fixture.ask("GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    let reason = "\r\n\r\nturnpipe: other.test:80: not an allowed domain\n";
    assert!(answer.ends_with(reason), "{answer}");
}

#[test]
fn refusals_name_the_host_and_the_reason() {
    let allowed = ["*", "127.0.0.2", "169.254.169.254"].map(str::to_owned);
    let fixture = Fixture::new(Reach::Public, &allowed);
    let private =
        "127.0.0.1 is this machine, which must not be accessed without `--allow-private-addresses`";
    let metadata = "169.254.169.254 is a metadata service, which must not be accessed";
    let absent = "not an allowed domain";
    for (server, status, reason) in [
        ("denied.test:443", 403, "a denied domain"),
        ("example.com:22", 403, absent),
        ("127.0.0.1:443", 403, absent),
        ("[::1]:443", 403, absent),
        ("local.test:443", 403, private),
        ("localhost:443", 403, private),
        ("mixed.test:443", 403, private),
        ("metadata.test:80", 403, metadata),
        ("169.254.169.254:80", 403, metadata),
        ("absent.test:443", 502, "entity not found"),
    ] {
        let answer = fixture.ask(&connect_to(server));
        let expected = format!("\r\n\r\nturnpipe: {server}: {reason}\n");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{server}: {answer}"
        );
        assert!(answer.ends_with(&expected), "{server}: {answer}");
    }
}

#[test]
fn this_machine_is_reached_if_a_rule_names_it() {
    let port = start(echo);
    let servers = [format!("localhost:{port}"), format!("127.0.0.1:{port}")];
    let fixture = Fixture::new(Reach::Public, &servers);
    for server in &servers {
        let mut stream = fixture.tunnel(server);
        stream.write_all(b"x").unwrap();
        let mut back = [0];
        stream.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"x");
    }
}

#[test]
fn a_name_is_looked_up_once() {
    let server = format!("counted.test:{}", start(echo));
    let fixture = Fixture::with_local_targets(std::slice::from_ref(&server));
    drop(fixture.tunnel(&server));
    assert_eq!(LOOK_UPS.load(Ordering::SeqCst), 1);
    let answer = fixture.ask(&connect_to(&server));
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

#[test]
fn a_malformed_or_too_long_request_is_refused() {
    let fixture = Fixture::with_local_targets(&[]);
    let answer = fixture.ask("\x16\x03\x01\r\n\r\n");
    assert!(
        answer.starts_with("HTTP/1.1 400 Bad Request\r\n"),
        "{answer}"
    );
    let long = "x".repeat(100_000);
    let answer = fixture.ask(&format!(
        "GET http://other.test/ HTTP/1.1\r\nA: {long}\r\n\r\n"
    ));
    let reason = "turnpipe: the head of the request is incomplete or too long\n";
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.ends_with(reason),
        "{answer}"
    );
    let stream = fixture.send("GET http://other.test/");
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    (&stream).read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(reason), "{answer}");
}

#[test]
fn everything_ends_with_the_proxy() {
    let server = format!("local.test:{}", start(echo));
    let fixture = Fixture::with_local_targets(std::slice::from_ref(&server));
    let tunnel = fixture.tunnel(&server);
    let waiting = fixture.send("CONNECT local.test");
    let Fixture { proxy, address } = fixture;
    drop(proxy);
    for mut stream in [tunnel, waiting] {
        let mut byte = [0];
        assert!(matches!(stream.read(&mut byte), Ok(0) | Err(_)));
    }
    // Until the socket is closed, the system still accepts clients.
    if let Ok(mut late) = Stream::connect(address) {
        assert!(matches!(late.read(&mut [0]), Ok(0) | Err(_)));
    }
}
