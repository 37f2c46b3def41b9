//! `WebFetch`: permission and addresses.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::bench::{BYPASS, Bench, pairs};

#[test]
fn a_page_is_fetched_only_with_permission_and_only_from_where_it_is_allowed() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().unwrap();
            // The content of the request does not matter.
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\
                        content-length: 10\r\n\r\n<h1>Here  ";
            stream.write_all(page.as_bytes()).unwrap();
        }
    });
    let url = format!("http://127.0.0.1:{port}/");
    let input = json!({
        "type": "tool_use", "id": "a", "name": "web_fetch",
        "input": { "url": url, "prompt": "What is there?" },
    });
    let input = format!("{input}\n");
    let allowed = "--allow-private-addresses";

    let run = bench.run(&[allowed], input.clone());
    assert_eq!(run.outcomes(), pairs(&[("a", "denied")]), "{run:?}");

    let run = bench.run(&BYPASS, input.clone());
    assert_eq!(run.outcomes(), pairs(&[("a", "error")]), "{run:?}");
    assert!(run.content("a").contains(allowed), "{run:?}");

    let config = bench.write("config.toml", "allow_private_addresses = true\n");
    for more in [&[allowed][..], &["--config", config.to_str().unwrap()]] {
        let run = bench.run(&[&BYPASS[..], more].concat(), input.clone());
        assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
        assert_eq!(run.content("a"), "# Here");
    }
    let rule = ["--allow", "WebFetch(domain:127.0.0.1)", allowed];
    let run = bench.run(&rule, input.clone());
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    let rule = ["--allow", "WebFetch(domain:docs.rs)", allowed];
    let run = bench.run(&rule, input);
    assert_eq!(run.outcomes(), pairs(&[("a", "denied")]), "{run:?}");
    server.join().unwrap();
}
