//! The proxy of the sandbox, with a client of another project.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use turnpipe::http::{Engine, Reach};
use turnpipe::sandbox::{DomainRules, Proxy, ProxyPolicy};

use crate::skip::lacks;

/// Answers one request with a text.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello ";
            stream.write_all(answer).unwrap();
        }
    });
    port
}

#[test]
fn curl_reaches_permitted_servers_only() {
    if lacks("curl") {
        return;
    }
    let server = format!("local.test:{}", server());
    let policy = ProxyPolicy {
        rules: DomainRules::new(std::slice::from_ref(&server), &[]).unwrap(),
        reach: Reach::PublicAndPrivate,
        look_up: |_, port| Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]),
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _proxy = Proxy::start(listener, Arc::new(policy), &Engine::default()).unwrap();
    let curl = |options: &[&str], url: &str| {
        let mut command = Command::new("curl");
        command.args([
            "-q",
            "-sS",
            "--noproxy",
            "",
            "-w",
            "%{http_code} %{http_connect}",
        ]);
        command.arg("-x").arg(format!("http://{address}"));
        let output = command.args(options).arg(url).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let url = format!("http://{server}/");
    assert_eq!(curl(&[], &url), "hello 200 000");
    assert_eq!(curl(&["--proxytunnel"], &url), "hello 200 200");
    let reason = "turnpipe: other.test:80: not in `sandbox.network.allowedDomains`\n";
    assert_eq!(curl(&[], "http://other.test/"), format!("{reason}403 000"));
    assert_eq!(curl(&[], "https://other.test/"), "000 403");
}
