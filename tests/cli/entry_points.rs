//! The entry points that decide about a call: `run-tools`, `hook`, `check permission` and `check shell`.
//! They differ only in the guarantees of the shell that would run the call.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::skip::{is_full_run, sample};
use crate::turnpipe::run_in;

/// The decisions of the entry points about one call.
#[derive(Debug)]
struct Decisions {
    /// `hook pre-tool-use`: the decision, if it was asked and made a decision.
    plain_hook: Option<String>,
    /// The same with `--trust-analysis`, in bash.
    hook: Option<String>,
    /// The record of `check permission`.
    permission: Value,
    /// The record of `check shell`, for a command.
    shell: Value,
    /// The outcome of `run-tools --plan` if the call would not run.
    outcome: Option<String>,
}

/// Runs all entry points on calls in a directory, under the same rules.
///
/// `asks` returns for the index of a call whether the plain hook and the hook with `--trust-analysis` get it.
fn run_entry_points(
    directory: &Path,
    rules: &[&str],
    calls: &[(&str, Value)],
    asks: impl Fn(usize) -> (bool, bool),
) -> Vec<Decisions> {
    let lines = |line: &dyn Fn(&str, &Value) -> Value| -> Vec<u8> {
        let lines = calls
            .iter()
            .map(|(tool, input)| format!("{}\n", line(tool, input)));
        lines.collect::<String>().into_bytes()
    };
    let records = |arguments: &[&str], input: &[u8]| -> Vec<Value> {
        let output = run_in(directory, arguments, input);
        assert_eq!(output.status, Some(0), "{arguments:?} {output:?}");
        let lines = output.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let hook = |extra: &[&str], tool: &str, input: &Value| {
        let input = json!({
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "cwd": directory,
        });
        let arguments = [&["hook", "pre-tool-use"], extra, rules].concat();
        let answer = records(&arguments, input.to_string().as_bytes()).pop()?;
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        Some(decision.as_str().unwrap().to_owned())
    };
    let permission = records(
        &[&["check", "permission"], rules].concat(),
        &lines(&|tool, input| json!({"name": tool, "input": input, "cwd": directory})),
    );
    let shell = records(
        &["check", "shell"],
        &lines(&|_, input| {
            let command = input["command"].as_str().unwrap_or("true");
            json!({"command": command, "cwd": directory})
        }),
    );
    let content = calls.iter().enumerate().map(|(id, (tool, input))| {
        json!({"type": "tool_use", "id": id.to_string(), "name": tool, "input": input})
    });
    let message = json!({"role": "assistant", "content": content.collect::<Vec<Value>>()});
    let directory_name = directory.to_str().unwrap();
    let plan = [
        "run-tools",
        "--no-echo",
        "--plan",
        "--cwd",
        directory_name,
        "--state-dir",
    ];
    let state = directory.join("../state");
    let plan = records(
        &[&plan[..], &[state.to_str().unwrap()], rules].concat(),
        message.to_string().as_bytes(),
    );
    let planned = plan
        .iter()
        .flat_map(|batch| batch["calls"].as_array().unwrap());
    let planned: Vec<&Value> = planned.collect();
    assert_eq!(
        (permission.len(), shell.len(), planned.len()),
        (calls.len(), calls.len(), calls.len())
    );
    let answered = permission.into_iter().zip(shell);
    let result = calls.iter().enumerate().zip(answered);
    result
        .map(|((id, (tool, input)), (permission, shell))| {
            let (asks_plain, asks_trusting) = asks(id);
            let answer_if = |is_asked: bool, extra: &[&str]| {
                let answer = is_asked.then(|| hook(extra, tool, input));
                answer.flatten()
            };
            let id = id.to_string();
            let call = planned
                .iter()
                .find(|call| call["tool_use_id"] == id.as_str());
            Decisions {
                plain_hook: answer_if(asks_plain, &[]),
                hook: answer_if(asks_trusting, &["--trust-analysis", "--shell", "bash"]),
                permission,
                shell,
                outcome: call.unwrap()["outcome"].as_str().map(str::to_owned),
            }
        })
        .collect()
}

/// Returns the decision of the hook that matches a record of `check permission`.
fn hook_expectation(permission: &Value) -> Option<&str> {
    let decision = permission["decision"].as_str().unwrap();
    let by = &permission["decided_by"];
    let is_said = match decision {
        "deny" => true,
        "ask" => by.get("rule").is_some(),
        _ => permission["tool"] == "Bash" || by.get("builtin").is_none(),
    };
    is_said.then_some(decision)
}

#[test]
fn rows_of_permission_are_decided_alike() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/permission");
    let read = |name: &str| fs::read_to_string(data.join(name)).unwrap();
    let tables = ["decisions.jsonl", "modes.jsonl"].map(read).concat();
    let hooks = ["hook-reading.jsonl", "hook-rules.jsonl"]
        .map(read)
        .concat();
    // Calls by the arguments of their decision.
    let mut rows: BTreeMap<Vec<String>, Vec<(&str, Value)>> = BTreeMap::new();
    for line in tables.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let mut rules = Vec::new();
        for list in ["deny", "ask", "allow"] {
            for rule in row[list].as_array().into_iter().flatten() {
                rules.extend([format!("--{list}"), rule.as_str().unwrap().to_owned()]);
            }
        }
        match row["mode"].as_str() {
            // Needs a model.
            Some("auto") => continue,
            Some(mode) => rules.extend(["--permission-mode".to_owned(), mode.to_owned()]),
            None => {}
        }
        let path = |field: &str| project.join(row[field].as_str().unwrap());
        let call = if let Some(command) = row["command"].as_str() {
            ("Bash", json!({ "command": command }))
        } else if let Some(url) = row["url"].as_str() {
            ("WebFetch", json!({"url": url, "prompt": "x"}))
        } else if row["read"].is_string() {
            ("Read", json!({"file_path": path("read")}))
        } else if row["write"].is_string() {
            ("Write", json!({"file_path": path("write"), "content": ""}))
        } else {
            // A tool that `run-tools` does not have.
            continue;
        };
        rows.entry(rules).or_default().push(call);
    }
    for line in hooks.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let arguments = row["arguments"].as_array().unwrap().iter();
        let arguments: Vec<String> = arguments
            .map(|one| one.as_str().unwrap().to_owned())
            .collect();
        let (tool, input) = (&row["input"]["tool_name"], &row["input"]["tool_input"]);
        if !arguments.iter().any(|one| one == "--trust-analysis") && tool == "Bash" {
            let call = json!({"command": input["command"]});
            rows.entry(arguments).or_default().push(("Bash", call));
        }
    }
    let rows: Vec<_> = rows.into_iter().collect();
    let count: usize = rows.iter().map(|(_, calls)| calls.len()).sum();
    assert!(count > 250, "{count}");
    // Each row starts several processes: all of them take more than a minute of CPU time.
    in_parallel(&sample(rows, 10, |_| ()), |(rules, calls)| {
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        for result in run_entry_points(&project, &rules, calls, |_| (true, true)) {
            let output = format!("{rules:?}: {result:?}");
            let expected = hook_expectation(&result.permission);
            // Only the hook leaves reads outside the project, which a variable, braces or standard input
            // may name, to the agent.
            let may_read_elsewhere = result.permission["decided_by"]["builtin"] == "read-only"
                && (output.contains(['$', '~', '/'])
                    || result.permission["command"].to_string().contains('{')
                    || ["xargs", "-exec"].iter().any(|name| output.contains(name)));
            if !(may_read_elsewhere && result.hook.is_none()) {
                assert_eq!(result.hook.as_deref(), expected, "{output}");
            }
            let allowed = result.permission["decision"] == "allow";
            let is_blank = result.shell["command"] == "";
            match result.outcome.as_deref() {
                Some("invalid_input") => {}
                outcome => assert_eq!(outcome, (!allowed).then_some("denied"), "{output}"),
            }
            if rules.is_empty() && result.hook.as_deref() == Some("allow") {
                assert!(
                    is_blank || result.shell["verdict"] == "read-only",
                    "{output}"
                );
            }
            if result.plain_hook.as_deref() == Some("allow") {
                assert_eq!(result.hook.as_deref(), Some("allow"), "{output}");
            }
        }
    });
}

/// Runs a check for each row, on several threads.
fn in_parallel<Row: Sync>(rows: &[Row], check: impl Fn(&Row) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(row);
                }
            });
        }
    });
}

/// Additions that make a repository hostile: lines for `.git/config`, and files. `EVIL` is a program that
/// leaves a mark.
const HOSTILE: &[(&str, &[(&str, &str)])] = &[
    ("", &[]),
    ("[core]\nfsmonitor = EVIL", &[]),
    ("[core]\nfsmonitor = true", &[]),
    ("[CORE]\nFsMonitor = EVIL", &[]),
    ("", &[(".git/hooks/post-index-change", "EVIL")]),
    ("", &[(".git/hooks/post-index-change", "-> ../../evil")]),
    ("", &[(".git/hooks/post-index-change", "-> /nowhere")]),
    (
        "",
        &[
            (".git/hooks/pre-commit", "EVIL"),
            (".git/hooks/post-checkout", "EVIL"),
        ],
    ),
    (
        "[core]\nhooksPath = hooks",
        &[("hooks/post-index-change", "EVIL")],
    ),
    ("[core]\nhooksPath = .", &[("post-index-change", "EVIL")]),
    (
        "[core]\nhooksPath = ./sub/../hooks",
        &[("hooks/post-index-change", "EVIL")],
    ),
    ("[core]\nhooksPath = hooks", &[]),
    (
        "[core]\nhooksPath = DIRECTORY/hooks",
        &[("hooks/post-index-change", "EVIL")],
    ),
    (
        "[include]\npath = ../extra",
        &[
            ("extra", "[core]\nhooksPath = hooks"),
            ("hooks/post-index-change", "EVIL"),
        ],
    ),
    (
        "[include]\npath = ../extra",
        &[("extra", "[core]\nfsmonitor = EVIL")],
    ),
    ("[include]\npath = ../missing", &[]),
    (
        "[includeIf \"gitdir:**\"]\npath = ../extra",
        &[("extra", "[core]\nfsmonitor = EVIL")],
    ),
    (
        "[includeIf \"onbranch:**\"]\npath = ../extra",
        &[("extra", "[diff]\nexternal = EVIL")],
    ),
    (
        "[include]\npath = ../one",
        &[
            ("one", "[include]\npath = two"),
            ("two", "[diff]\nexternal = EVIL"),
        ],
    ),
    ("[diff]\nexternal = EVIL", &[]),
    (
        "[diff \"x\"]\ncommand = EVIL",
        &[(".gitattributes", "* diff=x")],
    ),
    (
        "[diff \"x\"]\ntextconv = EVIL",
        &[(".gitattributes", "* diff=x")],
    ),
    (
        "[diff \"x\"]\ntextconv = EVIL",
        &[(".git/info/attributes", "* diff=x")],
    ),
    (
        "[core]\nattributesFile = attributes\n[diff \"x\"]\ntextconv = EVIL",
        &[("attributes", "* diff=x")],
    ),
    (
        "[filter \"x\"]\nclean = EVIL",
        &[(".gitattributes", "* filter=x")],
    ),
    (
        "[filter \"x\"]\nsmudge = EVIL",
        &[(".gitattributes", "* filter=x")],
    ),
    (
        "[filter \"lfs\"]\nprocess = EVIL\nrequired = true",
        &[(".gitattributes", "* filter=lfs")],
    ),
    ("[core]\npager = EVIL", &[]),
    (
        "[pager]\nstatus = EVIL\nlog = EVIL\ndiff = EVIL\nshow = EVIL",
        &[],
    ),
    ("[alias]\nstatus = !EVIL\nst = !EVIL\nlog = !EVIL", &[]),
    ("[core]\neditor = EVIL\n[sequence]\neditor = EVIL", &[]),
    (
        "[core]\nsshCommand = EVIL\naskPass = EVIL\ngitProxy = EVIL",
        &[],
    ),
    ("[credential]\nhelper = !EVIL", &[]),
    ("[gpg]\nprogram = EVIL\n[log]\nshowSignature = true", &[]),
    ("[gpg]\nprogram = EVIL\n[format]\npretty = %G?", &[]),
    (
        "[gpg \"ssh\"]\nprogram = EVIL\n[pretty]\noneline = %GK",
        &[],
    ),
    (
        "[core]\nalternateRefsCommand = EVIL",
        &[(".git/objects/info/alternates", "/nowhere")],
    ),
    ("[index]\nsparse = true\n[core]\nsparseCheckout = true", &[]),
    (
        "[remote \"origin\"]\nurl = ext::EVIL\npromisor = true\n[protocol \"ext\"]\nallow = always",
        &[],
    ),
    (
        "[core]\nrepositoryFormatVersion = 1\n[extensions]\npartialClone = origin\n[remote \"origin\"]\nurl = ext::EVIL",
        &[],
    ),
    (
        "[remote \"origin\"]\nurl = ext::EVIL\nfetch = +refs/*:refs/*",
        &[],
    ),
    ("[remote \"origin\"]\nuploadpack = EVIL\nvcs = evil", &[]),
    (
        "[log]\ndiffMerges = remerge\n[merge \"x\"]\ndriver = EVIL",
        &[(".gitattributes", "* merge=x")],
    ),
    ("[submodule \"x\"]\nurl = ext::EVIL", &[]),
    (
        "[submodule \"x\"]\nactive = true\nupdate = !EVIL",
        &[(".gitmodules", "[submodule \"x\"]\npath = sub\nurl = x")],
    ),
    (
        "",
        &[(
            ".gitmodules",
            "[submodule \"x\"]\npath = sub\nurl = ext::EVIL",
        )],
    ),
    ("[diff]\nsubmodule = log", &[]),
    ("[status]\nsubmoduleSummary = true", &[]),
    (
        "[core]\nrepositoryFormatVersion = 1\n[extensions]\nworktreeConfig = true",
        &[(".git/config.worktree", "[core]\nfsmonitor = EVIL")],
    ),
    ("[core]\nworktree = ../../other", &[]),
    ("[core]\nbare = true", &[]),
    (
        "[hook \"x\"]\nevent = post-index-change\ncommand = EVIL",
        &[],
    ),
    ("[evil]\ncommand = EVIL", &[]),
    ("[uploadpack]\npackObjectsHook = EVIL", &[]),
    ("[broken", &[]),
    ("[core]\nfsmonitor = EVIL\r", &[]),
    ("[core]\n\tfsmonitor = \"EVIL\" ; x", &[]),
    ("[core]\nfsmonitor = \\\nEVIL", &[]),
    (
        "[interactive]\ndiffFilter = EVIL\n[difftool \"x\"]\ncmd = EVIL\n[mergetool \"x\"]\ncmd = EVIL",
        &[],
    ),
    (
        "[tar \"x\"]\ncommand = EVIL\n[web]\nbrowser = EVIL\n[browser \"x\"]\ncmd = EVIL",
        &[],
    ),
    (
        "[trace2]\neventTarget = EVIL\n[core]\nuntrackedCache = true\nsplitIndex = true",
        &[],
    ),
    (
        "[url \"ext::EVIL\"]\ninsteadOf = https://\n[safe]\nbareRepository = all",
        &[],
    ),
    (
        "[man \"x\"]\ncmd = EVIL\n[guitool \"x\"]\ncmd = EVIL\n[sendemail]\nsmtpServer = EVIL",
        &[],
    ),
    (
        "[diff]\nautoRefreshIndex = true\n[core]\nhooksPath = hooks",
        &[("hooks/post-index-change", "EVIL")],
    ),
    (
        "",
        &[
            ("sub/.git", "gitdir: ../evil.git"),
            ("evil.git/HEAD", "ref: refs/heads/x"),
            ("evil.git/config", "[core]\nfsmonitor = EVIL"),
            ("evil.git/objects/x", ""),
            ("evil.git/refs/x", ""),
        ],
    ),
    (
        "",
        &[
            ("sub/HEAD", "ref: refs/heads/x"),
            ("sub/config", "[core]\nfsmonitor = EVIL"),
            ("sub/objects/x", ""),
            ("sub/refs/x", ""),
        ],
    ),
    (
        "",
        &[
            ("sub/.git/HEAD", "ref: refs/heads/x"),
            ("sub/.git/config", "[diff]\nexternal = EVIL"),
            ("sub/.git/objects/x", ""),
            ("sub/.git/refs/x", ""),
        ],
    ),
];

const COMMANDS: [&str; 7] = [
    "git status",
    "git status --short | head -3",
    "git diff",
    "git log -p | head",
    "git show HEAD",
    "git -C sub status",
    "cd sub && git log --oneline",
];

/// The hooks of these repositories must not run: turnpipe only reads them.
#[test]
fn hostile_repositories_are_judged_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("MARK");
    let evil = folder.path().join("evil");
    fs::write(&evil, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let template = folder.path().join("template");
    fs::create_dir_all(template.join("sub")).unwrap();
    fs::write(template.join("a.txt"), "a\n").unwrap();
    fs::write(template.join("sub/b.txt"), "b\n").unwrap();
    git(&template, &["init", "-q"]);
    git(&template, &["add", "."]);
    git(&template, &["commit", "-qm", "first"]);
    let mut places: Vec<PathBuf> = Vec::new();
    let repositories = HOSTILE.iter().enumerate();
    for (number, (config, files)) in sample(repositories, 10, |_| ()) {
        let repository = folder.path().join(format!("{number}/repository"));
        copy(&template, &repository);
        // Without these the index looks unchanged.
        fs::write(repository.join("a.txt"), "b\n").unwrap();
        let filled = |text: &str| {
            let text = text.replace("EVIL", evil.to_str().unwrap());
            text.replace("DIRECTORY", repository.to_str().unwrap())
        };
        let settings = repository.join(".git/config");
        let before = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, format!("{before}{}\n", filled(config))).unwrap();
        for (name, content) in *files {
            let path = repository.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match (content.strip_prefix("-> "), *content) {
                (Some(target), _) => symlink(target, &path).unwrap(),
                (None, "EVIL") => {
                    fs::copy(&evil, &path).unwrap();
                }
                (None, content) => fs::write(&path, filled(content)).unwrap(),
            }
        }
        places.push(repository);
    }
    // An index that lists a repository, a linked work tree, a bare repository, and settings of both.
    let listed = folder.path().join("listed/repository");
    copy(&template, &listed);
    let entry = format!("160000,{},inner", "1".repeat(40));
    git(&listed, &["update-index", "--add", "--cacheinfo", &entry]);
    let main = folder.path().join("linked/main");
    copy(&template, &main);
    let linked = folder.path().join("linked/repository");
    git(&main, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    copy(&evil, &main.join(".git/hooks/post-index-change"));
    let bare = folder.path().join("bare/repository");
    git(
        folder.path(),
        &["init", "-q", "--bare", bare.to_str().unwrap()],
    );
    copy(&evil, &bare.join("hooks/post-index-change"));
    let no_repository = folder.path().join("none/repository");
    fs::create_dir_all(no_repository.join("sub")).unwrap();
    places.extend([listed, linked, bare, no_repository]);
    let floor = if is_full_run() { 60 } else { 8 };
    assert!(places.len() >= floor, "{}", places.len());
    let calls = COMMANDS.map(|command| ("Bash", json!({ "command": command })));
    let numbered: Vec<(usize, PathBuf)> = places.into_iter().enumerate().collect();
    in_parallel(&numbered, |(number, place)| {
        // The plain hook allows simple forms only: one command in each is enough. The other hook decides as
        // `check shell` does: each command is asked in a third of them.
        let trusting = |index| (index + number) % 3 == 0;
        let asks = |index| (index == number % COMMANDS.len(), trusting(index));
        let config = fs::read_to_string(place.join(".git/config")).unwrap_or_default();
        for (index, (result, command)) in run_entry_points(place, &[], &calls, asks)
            .iter()
            .zip(COMMANDS)
            .enumerate()
        {
            let output = format!("{command} in {}:\n{config}\n{result:#?}", place.display());
            let (hook, plain) = (result.hook.as_deref(), result.plain_hook.as_deref());
            let reads = result.shell["verdict"] == "read-only";
            let allowed = result.permission["decision"] == "allow";
            assert_eq!(hook == Some("allow"), reads && trusting(index), "{output}");
            assert_eq!(result.outcome.is_none(), allowed, "{output}");
            assert!(allowed || !reads, "{output}");
            if plain == Some("allow") {
                assert!(reads, "{output}");
                let mut shell = std::process::Command::new("bash");
                let run = shell.args(["-c", command]).current_dir(place);
                assert!(run.env("GIT_TERMINAL_PROMPT", "0").output().is_ok());
            }
            // Only our own shell prevents git from writing its index and running that hook.
            let why = result.shell["reason"].as_str().unwrap();
            let has_hook = why.contains("post-index-change");
            assert_eq!(has_hook, allowed && !reads, "{output}");
        }
    });
    assert!(!mark.exists(), "a program of a repository ran");
}

fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status();
    assert!(status.unwrap().success(), "git {arguments:?}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let status = Command::new("cp").arg("-R").args([from, to]).status();
    assert!(status.unwrap().success());
}
