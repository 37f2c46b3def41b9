//! `examples/agent.sh` and `examples/ci-review.sh` with independent servers.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::skip::search_path;
use crate::turns::Agent;
use crate::{aimock, llama};

/// Runs a script in the agent's folder.
fn script(agent: &Agent, name: &str, arguments: &[&str]) -> Output {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let binaries = Path::new(env!("CARGO_BIN_EXE_turnpipe")).parent().unwrap();
    let mut command = Command::new(examples.join(name));
    agent.environment(&mut command);
    command
        .args(arguments)
        .env("PATH", format!("{}:{}", binaries.display(), search_path()))
        .env("TURNPIPE_MODEL", &agent.model)
        .env("ENFORCE", "auto")
        .stdin(Stdio::null());
    command.output().unwrap()
}

pub(crate) fn run(folder: &Path) {
    let servers = [aimock::start(folder), llama::start(folder)];
    let [scripted, grammar] = &servers;
    let finding = "::error file=say.sh,line=1::`eval` runs any command\n";
    let rows = [
        ("openai", scripted, "All is seen.", Some(1), finding),
        ("llamacpp", grammar, "There is a directory.", Some(0), ""),
    ];
    for (provider, server, last_words, status, annotations) in rows {
        let url = server.url("/v1");
        let agent = Agent::new(provider, "OPENAI_BASE_URL", url, "--partial");
        agent.configure("llamacpp", server);
        let run = script(&agent, "agent.sh", &["s.jsonl", "LOOK_TWICE"]);
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(0), "{provider}: {stderr}");
        assert!(String::from_utf8_lossy(&run.stdout).contains(last_words));
        assert!(stderr.contains("**Task:** LOOK"), "{provider}: {stderr}");

        let commits = "git init -q . && echo 'echo $1' > say.sh && git add . && git commit -qm 1 &&
            echo 'eval \"$1\"' > say.sh && git commit -qam 2";
        let mut git = Command::new("sh");
        agent.environment(git.args(["-c", commits]));
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "a");
            git.env(format!("GIT_{who}_EMAIL"), "a@b");
        }
        assert!(git.status().unwrap().success());
        let run = script(&agent, "ci-review.sh", &["HEAD~1..HEAD", "review"]);
        assert_eq!(
            String::from_utf8_lossy(&run.stdout),
            annotations,
            "{provider}"
        );
        assert_eq!(run.status.code(), status, "{provider}");
        println!("agent.sh and ci-review.sh work with {provider}");
    }
}
