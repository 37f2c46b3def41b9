//! The hook scripts of `examples/hooks`, which were written for Claude Code.

use std::path::Path;

use crate::bench::{BYPASS, Bench, bash, call, pairs};

#[test]
fn hook_scripts_work_unchanged() {
    let Some(bench) = Bench::with_program("jq") else {
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hooks");
    bench.write(".claude/settings.json", "");
    let copied = bench.shell(&format!(
        "mkdir .claude/hooks && cp {examples}/*.sh .claude/hooks && \
         cp {examples}/scripts-settings.json .claude/settings.json && \
         git init -q --bare remote && git init -q -b main . && \
         git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first",
        examples = examples.display()
    ));
    assert_eq!(copied.status, Some(0), "{copied:?}");
    bench.write("kept/file", "x");
    let file = bench.work().join("new.json");
    let calls = bash("block", "rm -rf kept")
        + &bash("rewrite", "git push ./remote main")
        + &call(
            "format",
            "Write",
            &serde_json::json!({"file_path": file, "content": "{\"a\":1}"}),
        )
        + &bash("notify", "echo gone wrong >&2; exit 3");
    let arguments = [&BYPASS[..], &["--settings", ".claude/settings.json"]].concat();
    let run = bench.run(&arguments, calls);
    let expected = [
        ("block", "hook_blocked"),
        ("rewrite", "ok"),
        ("format", "ok"),
        ("notify", "error"),
    ];
    assert_eq!(run.outcomes(), pairs(&expected), "{run:?}");
    assert!(run.content("block").contains("move it to the trash"));
    assert_eq!(bench.read("kept/file"), "x");
    let pushed = bench.shell("git -C remote rev-parse --verify -q main");
    assert_eq!(pushed.status, Some(1), "{pushed:?}");
    assert_eq!(bench.read("new.json"), "{\n  \"a\": 1\n}\n");
    assert!(bench.read("failures.log").starts_with("Bash failed: "));
}
