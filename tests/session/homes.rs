//! Several homes of one agent: `--home`, `--by home`, `[agents.NAME.homes]`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Run, turnpipe};

const NAMED: &str = "[agents.claude.homes]\nwork = \"~/.claude-work\"\nprivate = \"~/.claude\"\n\
                     [agents.codex.homes]\nwork = \"~/.codex-work\"\n";

/// Writes a session of one reply with ten tokens.
fn write_session(home: &Path, number: u32) {
    let id = format!("5e550000-0000-4000-8000-{number:012}");
    let row = |kind: &str, message: Value| {
        json!({"type": kind, "uuid": format!("{id}-{kind}"), "parentUuid": null, "sessionId": id,
            "timestamp": "2026-01-01T10:00:00Z", "cwd": "/w", "message": message})
    };
    let reply = json!({"id": format!("msg_{number}"), "role": "assistant", "model": "m",
        "usage": {"input_tokens": 10, "output_tokens": 0}, "content": [{"type": "text", "text": "needle"}]});
    let rows = [
        row("user", json!({"role": "user", "content": "go"})),
        row("assistant", reply),
    ];
    let folder = home.join("projects/p");
    fs::create_dir_all(&folder).unwrap();
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    fs::write(folder.join(format!("{id}.jsonl")), lines.join("\n") + "\n").unwrap();
}

fn run(home: &Path, config: &str, arguments: &[&str]) -> Run {
    let file = home.join("config.toml");
    fs::write(&file, config).unwrap();
    let mut command = turnpipe(&["--config", file.to_str().unwrap()]);
    command.env("HOME", home).args(arguments);
    crate::bench::run(command)
}

/// Two accounts, with one session in both, and a Codex account beside the usual one.
fn two_accounts() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    for (account, numbers) in [(".claude", 1..3), (".claude-work", 2..5)] {
        numbers.for_each(|number| write_session(&home.join(account), number));
    }
    for account in [".codex", ".codex-work"] {
        let rollout = home
            .join(account)
            .join(format!("sessions/rollout-x{account}.jsonl"));
        fs::create_dir_all(rollout.parent().unwrap()).unwrap();
        let id = account.replace('.', "id-");
        let meta = json!({"timestamp": "2026-01-01T10:00:00Z", "type": "session_meta",
            "payload": {"id": id, "cwd": "/w"}});
        let prompt = json!({"timestamp": "2026-01-01T10:00:00Z", "type": "event_msg",
            "payload": {"type": "user_message", "message": "go"}});
        fs::write(rollout, format!("{meta}\n{prompt}\n")).unwrap();
    }
    folder
}

#[test]
fn homes_are_listed_by_name_and_a_copied_session_counts_once_under_both() {
    let folder = two_accounts();
    let home = folder.path();
    let listed =
        |arguments: &[&str]| run(home, NAMED, &[&["list", "--json"], arguments].concat()).records();
    let count = |arguments: &[&str]| listed(arguments).len();
    assert_eq!(count(&[]), 6);
    assert_eq!(count(&["--home", "work"]), 4);
    assert_eq!(count(&["--home", "work", "--agent", "claude"]), 3);
    assert_eq!(count(&["--home", "private"]), 2);
    assert_eq!(count(&["--home", home.join(".codex").to_str().unwrap()]), 1);
    let homes = listed(&["--agent", "claude"]).into_iter().map(|record| {
        let id = record["session_id"].as_str().unwrap().to_owned();
        (id[id.len() - 1..].to_owned(), record["homes"].clone())
    });
    let mut homes: Vec<(String, Value)> = homes.collect();
    homes.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("1".to_owned(), json!(["private"])),
        ("2".to_owned(), json!(["private", "work"])),
        ("3".to_owned(), json!(["work"])),
        ("4".to_owned(), json!(["work"])),
    ];
    assert_eq!(homes, expected);
    let stats = run(home, NAMED, &["stats", "--by", "home", "--json"]).records();
    let sums = stats.iter().map(|record| {
        (
            &record["dimensions"]["home"],
            &record["usage"]["input_tokens"],
        )
    });
    let sums: Vec<(String, u64)> = sums
        .map(|(home, tokens)| (home.as_str().unwrap().to_owned(), tokens.as_u64().unwrap()))
        .collect();
    let expected = [("private", 10), ("private, work", 10), ("work", 20)];
    assert_eq!(sums, expected.map(|(name, sum)| (name.to_owned(), sum)));
    let all = &run(home, NAMED, &["stats", "--json"]).records()[0];
    assert_eq!(
        (&all["sessions"], &all["usage"]["input_tokens"]),
        (&json!(6), &json!(40))
    );
    let work = &run(home, NAMED, &["stats", "--home", "work", "--json"]).records()[0];
    assert_eq!(work["usage"]["input_tokens"], 30);
    let hits = run(
        home,
        NAMED,
        &["search", "--home", "private", "-l", "needle"],
    );
    assert_eq!(hits.text.lines().count(), 2);
    let doctor = run(home, NAMED, &["doctor", "-o", "text"]);
    assert!(
        doctor.text.contains(".claude-work/projects"),
        "{}",
        doctor.text
    );
}

#[test]
fn homes_without_a_name_are_told_apart_by_their_directories() {
    let folder = two_accounts();
    let home = folder.path();
    let [one, other] =
        [".claude", ".claude-work"].map(|name| home.join(name).display().to_string());
    let mut command = turnpipe(&["stats", "--by", "home", "--agent", "claude", "--json"]);
    command.env("CLAUDE_CONFIG_DIR", format!("{one},{other}"));
    let names = crate::bench::run(command)
        .records()
        .into_iter()
        .map(|record| record["dimensions"]["home"].clone());
    let names: Vec<Value> = names.collect();
    assert_eq!(
        names,
        [one.clone(), format!("{one}, {other}"), other.clone()]
    );
    let mut command = turnpipe(&["list", "--json", "--root", &one, "--root", &other]);
    command.env("HOME", home);
    let shared = crate::bench::run(command)
        .records()
        .into_iter()
        .filter(|record| record["homes"].is_array());
    let shared: Vec<Value> = shared.map(|record| record["homes"].clone()).collect();
    assert_eq!(shared, [json!([one, other])]);
}

#[test]
fn wrong_homes_are_errors_that_say_what_to_write() {
    let folder = two_accounts();
    let home = folder.path();
    let cases = [
        (
            NAMED,
            "x",
            "turnpipe: unknown home `x`\nhint: homes: private, work\n",
        ),
        (
            "",
            "x",
            "turnpipe: unknown home `x`\nhint: `[agents.claude.homes]` in the configuration names homes\n",
        ),
        (
            "[agents.mine]\nroot = \"x\"\nformat = \"codex\"\nhomes.a = \"y\"\n",
            "a",
            "only known agents have homes",
        ),
        (
            "[agents.claude]\n",
            "a",
            "this is the name of a known agent",
        ),
    ];
    for (config, name, problem) in cases {
        let said = run(home, config, &["list", "--home", name]);
        assert_eq!(said.status, Some(2), "{}", said.messages);
        assert!(said.messages.contains(problem), "{}", said.messages);
    }
}
