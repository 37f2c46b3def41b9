//! The proxy of the sandbox, with a client of another project.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use rustix::thread::UnshareFlags;
use turnpipe::client::http::{Engine, Reach};
use turnpipe::client::proxy::{DomainRules, Proxy, ProxyPolicy};

use crate::skip::{is_missing, skip};

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

/// Starts a proxy to one server on this machine.
fn proxy(listener: TcpListener, server: &str) -> Proxy {
    let policy = ProxyPolicy {
        rules: DomainRules::new(&[server.to_owned()], &[]).unwrap(),
        reach: Reach::PublicAndPrivate,
        look_up: |_, port| Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]),
    };
    Proxy::start(listener, Arc::new(policy), &Engine::default()).unwrap()
}

#[test]
fn it_serves_another_network_namespace() {
    if is_missing("ip") {
        return;
    }
    let (started, listener) = channel();
    let (go, ready) = channel::<String>();
    let client = thread::spawn(move || {
        // SAFETY: no descriptor of this thread belongs to a namespace that it needs.
        let entered = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) };
        if entered.is_err() {
            return None;
        }
        let up = Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status();
        assert!(up.unwrap().success());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        started.send(listener).unwrap();
        let server = ready.recv().unwrap();
        let (_, port) = server.split_once(':').unwrap();
        assert!(TcpStream::connect(format!("127.0.0.1:{port}")).is_err());
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET http://{server}/ HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        Some(answer)
    });
    let server = format!("local.test:{}", server());
    let _proxy = match listener.recv() {
        Ok(listener) => proxy(listener, &server),
        Err(_) => return skip("network namespaces"),
    };
    go.send(server).unwrap();
    let answer = client.join().unwrap().unwrap();
    assert!(answer.ends_with("\r\n\r\nhello "), "{answer}");
}

#[test]
fn curl_reaches_permitted_servers_only() {
    if is_missing("curl") {
        return;
    }
    let server = format!("local.test:{}", server());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _proxy = proxy(listener, &server);
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
    let reason = "turnpipe: other.test:80: not an allowed domain\n";
    assert_eq!(curl(&[], "http://other.test/"), format!("{reason}403 000"));
    assert_eq!(curl(&[], "https://other.test/"), "000 403");
}
