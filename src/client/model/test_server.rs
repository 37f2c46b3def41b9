//! A server for tests that sends exactly the given bytes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Steps on one connection, after reading a request.
pub(super) type Script = Vec<Step>;

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Sends bytes in one piece.
    Send(Vec<u8>),
    /// Sends each byte in its own packet.
    SendBytewise(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Waits until the other side closes the connection.
    AwaitClose,
}

/// An observation of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Observation {
    /// A request: its first line and headers, and its body.
    Request { head: String, body: String },
    /// The other side closed the connection.
    Closed,
}

/// A server on a free port of this machine; each connection takes the next script.
pub(super) struct TestServer {
    pub(super) port: u16,
    seen: Receiver<Observation>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// Starts a server that ends after the last script.
    pub(super) fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, seen) = channel();
        let thread = std::thread::spawn(move || {
            for script in scripts {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                run_script(stream, &script, &sender);
            }
        });
        Self {
            port,
            seen,
            thread: Some(thread),
        }
    }

    /// Starts a server that sends each connection the next of these responses.
    pub(super) fn with_answers(answers: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let script = |answer| vec![Step::Send(answer)];
        Self::start(answers.into_iter().map(script).collect())
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns the next observation.
    pub(super) fn next(&self) -> Observation {
        self.seen.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    /// Returns all observations, once all scripts are done.
    pub(super) fn finish(mut self) -> Vec<Observation> {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        self.seen.try_iter().collect()
    }

    /// Returns the requests, once all scripts are done.
    pub(super) fn requests(self) -> Vec<(String, String)> {
        let request = |seen| match seen {
            Observation::Request { head, body } => Some((head, body)),
            Observation::Closed => None,
        };
        self.finish().into_iter().filter_map(request).collect()
    }
}

fn run_script(mut stream: TcpStream, script: &[Step], seen: &Sender<Observation>) {
    stream.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut stream) else {
        return;
    };
    // The test may have ended.
    let _ = seen.send(request);
    for step in script {
        // The client may have closed the connection.
        match step {
            Step::Send(bytes) => {
                // The client may have closed the connection.
                let _ = stream.write_all(bytes);
            }
            Step::SendBytewise(bytes) => {
                for byte in bytes {
                    if stream.write_all(&[*byte]).is_err() {
                        break;
                    }
                }
            }
            Step::Pause(time) => std::thread::sleep(*time),
            Step::AwaitClose => {
                let mut rest = [0; 64];
                while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
                // The test may have ended.
                let _ = seen.send(Observation::Closed);
            }
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Observation> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let count = stream.read(&mut buffer).ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length:")
                .map(str::to_owned)
        })
        .map_or(0, |length| length.trim().parse().unwrap());
    while bytes.len() < end + 4 + length {
        let count = stream.read(&mut buffer).ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
    let body = String::from_utf8(bytes[end + 4..].to_vec()).unwrap();
    Some(Observation::Request { head, body })
}

/// Returns a complete response: status and headers, then the body with its length.
pub(super) fn response_bytes(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let length = body.len().to_string();
    let mut bytes = head(status, headers, &[("content-length", &length)]);
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// Returns the start of a response that ends with the connection.
pub(super) fn open_answer(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    head(status, headers, &[])
}

fn head(status: u16, headers: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Reason\r\nconnection: close\r\n");
    for (name, value) in headers.iter().chain(more) {
        text.extend([*name, ": ", *value, "\r\n"]);
    }
    text.push_str("\r\n");
    text.into_bytes()
}
