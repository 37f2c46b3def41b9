//! A model server on this machine.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// Starts a server that replies to requests. Returns its address and a receiver of the requests.
pub(crate) fn server(
    answer: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static,
) -> (String, Receiver<Value>) {
    server_with_headers(move |_, body| answer(body))
}

/// Like [`server`]; the reply also depends on the request line and the headers, in lower case.
pub(crate) fn server_with_headers(
    answer: impl Fn(&str, &Value) -> (u16, String) + Send + Sync + 'static,
) -> (String, Receiver<Value>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", server.local_addr().unwrap());
    let (asked, requests) = channel();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let (mut stream, asked, answer) = (stream.unwrap(), asked.clone(), answer.clone());
            std::thread::spawn(move || {
                let mut request = Vec::new();
                let (head, body) = loop {
                    let mut piece = [0; 4096];
                    let length = stream.read(&mut piece).unwrap();
                    request.extend(&piece[..length]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    if let Some((head, body)) = text.split_once("\r\n\r\n")
                        && let Ok(body) = serde_json::from_str::<Value>(body)
                    {
                        break (head.to_lowercase(), body);
                    }
                };
                // The test may have ended.
                let _ = asked.send(body.clone());
                let (status, answer) = answer(&head, &body);
                // The client may have closed the connection.
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                    answer.len()
                );
            });
        }
    });
    (address, requests)
}

/// Returns a reply with this text.
pub(crate) fn text_reply(text: &str) -> (u16, String) {
    let message = json!({"role": "assistant", "content": text});
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14});
    let reply = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
    (200, reply.to_string())
}

/// Returns the last message of a request.
pub(crate) fn question(body: &Value) -> String {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    last["content"].as_str().unwrap().to_owned()
}
