//! What holds for the sessions of every agent, with one sample of each.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use turnpipe::agent::{Agent, Detail, detect_format, list_session_roots};

use crate::bench::{Run, files, run, turnpipe};

/// A session of an agent.
struct Sample {
    agent: Agent,
    /// Its files in `tests/data`, and where the agent keeps them below the home directory. The first one is the session.
    files: &'static [(&'static str, &'static str)],
    /// The place of the first file of another session beside it.
    other: &'static str,
}

const SAMPLES: [Sample; 11] = [
    Sample {
        agent: Agent::Claude,
        files: &[
            (
                "session/claude-subagents.jsonl",
                ".claude/projects/-w/11111111-2222-4333-8444-000000000001.jsonl",
            ),
            (
                "session/claude-subagents/subagents/agent-aa52773.jsonl",
                ".claude/projects/-w/11111111-2222-4333-8444-000000000001/subagents/agent-aa52773.jsonl",
            ),
        ],
        other: ".claude/projects/-w/11111111-2222-4333-8444-000000000002.jsonl",
    },
    Sample {
        agent: Agent::Qwen,
        files: &[(
            "agents/qwen/shells.session.jsonl",
            ".qwen/projects/-w/chats/11111111-2222-4333-8444-000000000001.jsonl",
        )],
        other: ".qwen/projects/-w/chats/11111111-2222-4333-8444-000000000002.jsonl",
    },
    Sample {
        agent: Agent::Codex,
        files: &[(
            "agents/codex/mixed.session.jsonl",
            ".codex/sessions/2026/01/02/rollout-1.jsonl",
        )],
        other: ".codex/sessions/2026/01/02/rollout-2.jsonl",
    },
    Sample {
        agent: Agent::Gemini,
        files: &[(
            "agents/gemini/shells.session.jsonl",
            ".gemini/tmp/p/chats/session-1.jsonl",
        )],
        other: ".gemini/tmp/p/chats/session-2.jsonl",
    },
    Sample {
        agent: Agent::Pi,
        files: &[(
            "agents/pi/shells.session.jsonl",
            ".pi/agent/sessions/--w--/1.jsonl",
        )],
        other: ".pi/agent/sessions/--w--/2.jsonl",
    },
    Sample {
        agent: Agent::Opencode,
        files: &[(
            "agents/opencode/par.session.json",
            "exported/session-1.json",
        )],
        other: "exported/session-2.json",
    },
    Sample {
        agent: Agent::Copilot,
        files: &[
            (
                "more_agents/copilot/11111111-2222-4333-8444-000000000001/events.jsonl",
                ".copilot/session-state/11111111-2222-4333-8444-000000000001/events.jsonl",
            ),
            (
                "more_agents/copilot/11111111-2222-4333-8444-000000000001/workspace.yaml",
                ".copilot/session-state/11111111-2222-4333-8444-000000000001/workspace.yaml",
            ),
        ],
        other: ".copilot/session-state/11111111-2222-4333-8444-000000000002/events.jsonl",
    },
    Sample {
        agent: Agent::Droid,
        files: &[
            (
                "more_agents/droid/droid-one.jsonl",
                ".factory/sessions/-w/droid-one.jsonl",
            ),
            (
                "more_agents/droid/droid-one.settings.json",
                ".factory/sessions/-w/droid-one.settings.json",
            ),
        ],
        other: ".factory/sessions/-w/droid-two.jsonl",
    },
    Sample {
        agent: Agent::Cursor,
        files: &[(
            "more_agents/cursor/-w/agent-transcripts/22222222-2222-4333-8444-000000000001/\
             22222222-2222-4333-8444-000000000001.jsonl",
            ".cursor/projects/-w/agent-transcripts/22222222-2222-4333-8444-000000000001/\
             22222222-2222-4333-8444-000000000001.jsonl",
        )],
        other: ".cursor/projects/-w/agent-transcripts/22222222-2222-4333-8444-000000000002/\
                22222222-2222-4333-8444-000000000002.jsonl",
    },
    Sample {
        agent: Agent::Kimi,
        files: &[
            (
                "more_agents/kimi/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000001/agents/main/wire.jsonl",
                ".kimi-code/sessions/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000001/agents/main/wire.jsonl",
            ),
            (
                "more_agents/kimi/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000001/agents/agent-0/wire.jsonl",
                ".kimi-code/sessions/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000001/agents/agent-0/wire.jsonl",
            ),
            (
                "more_agents/kimi/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000001/state.json",
                ".kimi-code/sessions/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000001/state.json",
            ),
        ],
        other: ".kimi-code/sessions/wd_w_0123456789ab/session_33333333-2222-4333-8444-000000000002/agents/main/wire.jsonl",
    },
    Sample {
        agent: Agent::Goose,
        files: &[(
            "more_agents/goose/session-1.json",
            "exported/session-1.json",
        )],
        other: "exported/session-2.json",
    },
];

/// A home directory with the sample of an agent.
struct Home {
    directory: tempfile::TempDir,
    sample: &'static Sample,
}

impl Home {
    fn with_sample(sample: &'static Sample) -> Self {
        let home = Self {
            directory: tempfile::tempdir().unwrap(),
            sample,
        };
        for (from, to) in sample.files {
            home.copy(from, to);
        }
        home
    }

    fn copy(&self, from: &str, to: &str) {
        let path = self.path(to);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(data(from), path).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn session(&self) -> PathBuf {
        self.path(self.sample.files[0].1)
    }

    /// Runs a command that finds the session in its usual place, or in the root that the sample has.
    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = turnpipe(arguments);
        command.env("HOME", self.directory.path());
        if self.sample.files[0].1.starts_with("exported/") {
            command.arg("--root").arg(self.path("exported"));
        }
        let result = run(command);
        let agent = self.sample.agent;
        assert_eq!(
            result.status,
            Some(0),
            "{agent:?} {arguments:?}: {}",
            result.messages
        );
        result
    }

    fn record(&self, arguments: &[&str]) -> Value {
        self.run(arguments).records().swap_remove(0)
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

fn all_homes() -> impl Iterator<Item = Home> {
    SAMPLES.iter().map(Home::with_sample)
}

fn lines(home: &Home) -> Vec<String> {
    let text = fs::read_to_string(home.session()).unwrap();
    match home.sample.agent {
        Agent::Opencode | Agent::Goose => turnpipe::agent::read_document(&text).unwrap().1,
        _ => text.lines().map(str::to_owned).collect(),
    }
}

/// Returns a text of the repository.
fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn every_agent_has_a_sample() {
    let sampled: Vec<Agent> = SAMPLES.iter().map(|sample| sample.agent).collect();
    let known = Agent::ALL
        .into_iter()
        .filter(|agent| agent.product().is_some());
    assert_eq!(sampled, known.collect::<Vec<_>>());
}

#[test]
fn pages_and_help_name_every_agent_and_its_directories() {
    let files = run(turnpipe(&["help", "files"])).text;
    let readme = page("README.md");
    let (readme, sessions) = (
        readme.split_whitespace().collect::<Vec<_>>().join(" "),
        page("docs/sessions.md"),
    );
    for product in Agent::ALL.into_iter().filter_map(Agent::product) {
        assert!(files.contains(product), "help files: {product}");
        assert!(readme.contains(product), "README.md: {product}");
        assert!(
            sessions.contains(&format!("\n| {product} | ")),
            "docs/sessions.md: {product}"
        );
    }
    let home = [("HOME", "~")].into_iter().collect();
    for root in list_session_roots(&home) {
        let path = root.path.display().to_string();
        assert!(files.contains(&path), "help files: {path}");
    }
}

#[test]
fn a_session_is_found_in_its_usual_place() {
    for home in all_homes() {
        let listed = home.run(&["session", "list", "--all", "--json"]).records();
        let agents: Vec<&Value> = listed.iter().map(|record| &record["agent"]).collect();
        assert_eq!(agents, [home.sample.agent.name()], "{listed:?}");
    }
}

/// The first record that a format recognises decides. Some later ones look like those of other agents.
#[test]
fn a_session_is_recognised_by_its_records() {
    for home in all_homes() {
        let found = lines(&home).iter().find_map(|line| detect_format(line));
        assert_eq!(found.map(|format| format.agent), Some(home.sample.agent));
    }
}

/// A list reads less of a record than a view.
#[test]
fn facts_do_not_depend_on_what_else_is_read() {
    for home in all_homes() {
        let format = home.sample.agent.format();
        for line in lines(&home) {
            let facts = |detail| format!("{:?}", format.read(&line, detail).unwrap().facts);
            assert_eq!(facts(Detail::Outline), facts(Detail::Full), "{line}");
        }
    }
}

#[test]
fn all_views_agree_on_tokens_and_calls() {
    for home in all_homes() {
        let agent = home.sample.agent;
        let counts = home.record(&["session", "list", "--all", "--json", "--counts"]);
        let counts = &counts["counts"];
        let stats = home.record(&["session", "stats", "--json"]);
        assert_eq!(counts["usage"], stats["usage"], "{agent:?}");
        let calls = home
            .run(&["session", "calls", "latest", "--json"])
            .records();
        let own = calls.iter().filter(|call| call["subagent"] == false);
        assert_eq!(counts["calls"], own.count(), "{agent:?}");
        home.run(&[
            "session",
            "export",
            home.path("atif").to_str().unwrap(),
            "latest",
            "-o",
            "atif",
        ]);
        let mut found = Vec::new();
        files(&home.path("atif"), &[".atif.json"], &mut found);
        let file = found.pop().unwrap();
        let trajectory: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let output = &trajectory["final_metrics"]["total_completion_tokens"];
        assert_eq!(
            output.as_u64().unwrap_or(0),
            counts["usage"]["output_tokens"],
            "{agent:?}"
        );
    }
}

/// What belongs to a session is deleted with it.
#[test]
fn nothing_of_another_session_belongs_to_one() {
    for home in all_homes() {
        let agent = home.sample.agent;
        home.copy(home.sample.files[0].0, home.sample.other);
        let other = home.path(home.sample.other);
        let listed = home.record(&["session", "list", "--all", "--json"]);
        let id = listed["session_id"].as_str().unwrap_or_default();
        for path in (agent.format().layout.belongings)(&home.session(), id) {
            assert!(!other.starts_with(&path), "{agent:?}: {}", path.display());
            assert!(
                path.starts_with(home.directory.path()),
                "{agent:?}: {}",
                path.display()
            );
            assert_ne!(
                path,
                home.session().parent().unwrap().parent().unwrap(),
                "{agent:?}"
            );
        }
    }
}

#[test]
fn a_title_that_is_written_is_read() {
    for home in all_homes() {
        let agent = home.sample.agent;
        let session = home.session();
        let session = session.to_str().unwrap();
        let written = home.record(&[
            "title",
            "--write",
            "--replace",
            "--model",
            "builtin",
            session,
        ]);
        let title = written["title"]
            .as_str()
            .unwrap_or_else(|| panic!("{agent:?}: {written}"));
        let listed = home.record(&["session", "list", "--all", "--json"]);
        assert_eq!(listed["title"], title, "{agent:?}: {written}");
    }
}
