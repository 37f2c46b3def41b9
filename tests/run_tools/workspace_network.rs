//! `run-tools --sandbox workspace --allow-domain`: calls reach these servers without approval.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::bench::{Bench, bash};
use crate::skip::{is_missing, skip};

/// Starts a server that answers each request with `reached`. Returns its port.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines();
            // The content of the request does not matter.
            let _ = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .count();
            // The client may have closed the connection.
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nreached\n");
        }
    });
    port
}

#[test]
fn calls_reach_the_servers_of_the_rules_without_approval() {
    if is_missing("curl") {
        return;
    }
    let bench = Bench::new();
    let (port, other) = (serve(), serve());
    let rule = format!("localhost:{port}");
    let options = [
        "--sandbox",
        "workspace",
        "--no-echo",
        "--on-error",
        "continue",
        "--deny",
        "Read(**/.env)",
    ];
    bench.write("make", "touch .env");
    bench.write("peek", "cat .env 2>&1");
    let fetch = |port: u16| format!("curl -s http://localhost:{port}/");
    let calls = [
        bash("a", &format!("{}; sh make", fetch(port))),
        // A new mask, and so other namespaces.
        bash("b", &format!("sh peek; {}", fetch(port))),
        bash("c", &fetch(other)),
        bash(
            "d",
            &format!("curl -s --noproxy '*' http://localhost:{port}/"),
        ),
    ];
    let with_domains = [&options[..], &["--allow-domain", &rule]].concat();
    let run = bench.run(&with_domains, calls.concat());
    let workspace = run.result("a")["turnpipe"]["sandbox"]["workspace"].clone();
    if workspace.is_null() || workspace["isolates_processes"] == false {
        return skip("workspaces");
    }
    assert_eq!(workspace["network"], "domains");
    assert_eq!(run.content("a"), "reached", "{run:?}");
    let content = run.content("b");
    assert!(
        content.contains("reached") && content.contains("Permission denied"),
        "{run:?}"
    );
    assert!(
        run.content("c").contains("not an allowed domain"),
        "{run:?}"
    );
    assert!(!run.content("d").contains("reached"), "{run:?}");
    let run = bench.run(&options, bash("a", &fetch(port)));
    let workspace = &run.result("a")["turnpipe"]["sandbox"]["workspace"];
    assert_eq!(
        *workspace,
        json!({"network": "off", "isolates_processes": true})
    );
    assert!(!run.content("a").contains("reached"), "{run:?}");
}

#[test]
fn invalid_domains_end_the_run() {
    let bench = Bench::new();
    for options in [
        ["--allow-domain", "http://a.test"].as_slice(),
        &["--allow-domain", "a.test", "--network", "on"],
    ] {
        let options = [&["--sandbox", "workspace"], options].concat();
        let run = bench.run(&options, bash("a", "touch made"));
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{run:?}");
    }
}
