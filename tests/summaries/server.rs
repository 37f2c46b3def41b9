//! A model server with responses from the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::turnpipe::Run;

/// Runs a command with `input` on a pipe.
pub(crate) fn run_with_input(mut command: Command, input: &str) -> Run {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // The child may exit before it has read everything.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A server on a local port that records its requests.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) bodies: Arc<Mutex<Vec<Value>>>,
    pub(crate) most_at_once: Arc<AtomicUsize>,
}

/// Returns the status and body of a response. A body that starts with `HTTP/` is the whole response.
pub(crate) type Answer = dyn Fn(&Value) -> (u16, String) + Send + Sync;

impl Server {
    pub(crate) fn start(delay: Duration, answer: Box<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
        let most_at_once: Arc<AtomicUsize> = Arc::default();
        let running: Arc<AtomicUsize> = Arc::default();
        let answer: Arc<Answer> = Arc::from(answer);
        let (seen, most) = (Arc::clone(&bodies), Arc::clone(&most_at_once));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (seen, most, running, answer) = (
                    Arc::clone(&seen),
                    Arc::clone(&most),
                    Arc::clone(&running),
                    Arc::clone(&answer),
                );
                std::thread::spawn(move || {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    // The client may have closed the connection.
                    let _ = serve(stream, delay, &seen, &*answer);
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self {
            address,
            bodies,
            most_at_once,
        }
    }

    /// Returns the binary, with this server as `openai`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::turnpipe::command();
        command
            .args(arguments)
            .env("OPENAI_BASE_URL", format!("http://{}/v1", self.address))
            .env("OPENAI_API_KEY", CANARY)
            .env("TURNPIPE_FAST_MODEL", "openai:small");
        command
    }
}

/// A key that must never be shown.
pub(crate) const CANARY: &str = "sk-canary-0123456789abcdef";

fn serve(
    stream: TcpStream,
    delay: Duration,
    seen: &Mutex<Vec<Value>>,
    answer: &Answer,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let lowered = line.to_ascii_lowercase();
        if let Some(value) = lowered.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, text) = answer(&body);
    seen.lock().unwrap().push(body);
    std::thread::sleep(delay);
    let mut stream = stream;
    if text.starts_with("HTTP/") {
        return stream.write_all(text.as_bytes());
    }
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
}

/// Returns a completion with this message.
pub(crate) fn completion(message: &Value) -> String {
    json!({
        "id": "c", "object": "chat.completion", "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": if message.get("tool_calls").is_some() { "tool_calls" } else { "stop" }}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    })
    .to_string()
}

pub(crate) fn text_reply(text: &str) -> String {
    completion(&json!({"role": "assistant", "content": text}))
}

pub(crate) fn titles(title: &str) -> String {
    call_reply(&json!({"title": title}).to_string())
}

/// Returns a reply with a call of the function for structured output, with these arguments.
pub(crate) fn call_reply(arguments: &str) -> String {
    completion(
        &json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "respond_in_schema", "arguments": arguments}},
        ]}),
    )
}
