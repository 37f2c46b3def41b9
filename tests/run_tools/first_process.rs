//! A run as the first process of a container, which inherits all orphans.

use std::process::{Command, Stdio};

use crate::bench::{Bench, bash, pairs};
use crate::skip::skip;

#[test]
fn the_first_process_of_a_container_returns_all_results_and_ends() {
    let namespaces = ["-Urpf", "--mount-proc"];
    let allowed = Command::new("unshare")
        .args(namespaces)
        .arg("true")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !allowed {
        skip("user namespaces");
        return;
    }
    let bench = Bench::new();
    let calls = [
        bash("parent", "echo $PPID"),
        // Two orphans in separate sessions: one ends by itself, the other does not.
        bash(
            "orphans",
            "setsid sleep 0.05 > /dev/null 2>&1 & setsid sleep 1000 > /dev/null 2>&1 &",
        ),
        bash("held", "setsid sleep 1000 & echo held"),
        bash("failing", "exit 3"),
    ];
    bench.write("calls", calls.concat());
    let run = bench.shell(
        "timeout -s KILL 60 unshare -Urpf --mount-proc \"$TURNPIPE\" run-tools --no-echo \
         --permission-mode bypassPermissions < calls",
    );
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(
        run.outcomes(),
        pairs(&[
            ("parent", "ok"),
            ("orphans", "ok"),
            ("held", "ok"),
            ("failing", "error")
        ])
    );
    assert_eq!(run.content("parent"), "1");
    assert!(run.content("held").starts_with("held"));
}
