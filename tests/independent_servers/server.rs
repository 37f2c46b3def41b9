//! A server process on a free port.

use std::io::{self, ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Server {
    pub(crate) port: u16,
    child: Child,
}

impl Server {
    /// Starts `command` with a port, and waits until the server listens.
    pub(crate) fn start(command: impl FnOnce(&str) -> Command) -> Self {
        let port = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let child = command(&port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { port, child };
        let deadline = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.child.try_wait().unwrap();
            assert_eq!(ended, None, "the server ended");
            assert!(Instant::now() < deadline, "the server does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the body of the response to a request that prepares a test or reads what it did. Such a request may be
    /// repeated: a busy server resets connections at times, which says nothing about the client under test.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.0\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        let answer = self.send(&request);
        let answer = answer.or_else(|error| match error.kind() {
            ErrorKind::ConnectionReset => self.send(&request),
            _ => Err(error),
        });
        let answer = answer.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        assert!(status.starts_with('2'), "{method} {path}: {answer}");
        body.to_owned()
    }

    fn send(&self, request: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.write_all(request.as_bytes())?;
        io::read_to_string(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
