//! The commands in the documentation produce the output shown there.
//!
//! Every fenced `console` block of the README and of `docs/` is run with `bash` in the repository:
//! a line `$ command` (continued by lines that begin with `> `), then its standard
//! output. The binary's directory is first in the `PATH`, the environment is empty except for a
//! fixed clock, seeded ids and an empty state directory, and the repository counts as `/repo`.
//! A command that requires a missing program is skipped.
//!
//! `TURNPIPE_UPDATE=1 cargo test --test docs` updates the output in the blocks.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![expect(
    clippy::print_stderr,
    reason = "the test runner shows it if a command fails"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod skip;

/// Programs that the documentation uses and a machine may lack.
const OPTIONAL_PROGRAMS: [&str; 3] = ["jq", "parallel", "python3"];

/// Whether this machine has no sandbox; then its examples are skipped.
fn is_sandbox_missing() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnpipe"));
    let command = command.args(["sandbox", "--", "true"]);
    let status = command.current_dir(&folder).status().unwrap();
    if !status.success() {
        skip::skip("mount namespaces");
    }
    !status.success()
}

/// A command of a block and the output below it.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    /// Lines `$ …` and `> …` as written.
    prompt: Vec<String>,
    output: Vec<String>,
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Example(Example),
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || !in_block {
            in_block = is_fence && !in_block && line.trim() == "```console";
            parts.push(Part::Text(line.to_owned()));
        } else if line.starts_with("$ ") {
            parts.push(Part::Example(Example {
                prompt: vec![line.to_owned()],
                output: Vec::new(),
            }));
        } else if let Some(Part::Example(example)) = parts.last_mut() {
            if line.starts_with("> ") && example.output.is_empty() {
                example.prompt.push(line.to_owned());
            } else {
                example.output.push(line.to_owned());
            }
        } else {
            parts.push(Part::Text(line.to_owned()));
        }
    }
    parts
}

impl Example {
    fn script(&self) -> String {
        let lines: Vec<&str> = self.prompt.iter().map(|line| &line[2..]).collect();
        lines.join("\n")
    }

    /// Returns the output of the command, or `None` if it cannot run here.
    fn expected_output(&self) -> Option<Vec<String>> {
        let script = self.script();
        let words: Vec<&str> = script.split_whitespace().collect();
        let missing = OPTIONAL_PROGRAMS
            .iter()
            .find(|program| words.contains(program) && skip::is_missing(program));
        if missing.is_some() || (script.contains("sandbox") && is_sandbox_missing()) {
            return None;
        }
        let repository = repository();
        let binary = Path::new(env!("CARGO_BIN_EXE_turnpipe"));
        let state = tempfile::tempdir().unwrap();
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(&repository)
            .env_clear()
            .env(
                "PATH",
                format!(
                    "{}:{}",
                    binary.parent().unwrap().display(),
                    skip::search_path()
                ),
            )
            .env("TURNPIPE_CLOCK", "2026-01-02T03:04:05Z")
            .env("TURNPIPE_ID_SEED", "1")
            .env("XDG_STATE_HOME", state.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        eprint!("{script}\n{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        let printed = printed.replace(repository.to_str().unwrap(), "/repo");
        Some(printed.lines().map(str::to_owned).collect())
    }
}

fn repository() -> PathBuf {
    fs::canonicalize(env!("CARGO_MANIFEST_DIR")).unwrap()
}

fn pages() -> Vec<PathBuf> {
    let repository = repository();
    let mut pages = vec![
        repository.join("README.md"),
        repository.join("CONTRIBUTING.md"),
        repository.join("SECURITY.md"),
    ];
    for entry in fs::read_dir(repository.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

#[test]
fn commands_print_what_the_pages_say() {
    let update = std::env::var_os("TURNPIPE_UPDATE").is_some();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let mut rewritten = String::new();
        for part in parts(&text) {
            let lines = match part {
                Part::Text(line) => vec![line],
                Part::Example(example) => {
                    let Some(printed) = example.expected_output() else {
                        rewritten.extend(
                            [example.prompt, example.output]
                                .concat()
                                .iter()
                                .flat_map(|line| [line, "\n"]),
                        );
                        continue;
                    };
                    compared += 1;
                    if printed != example.output {
                        wrong.push(format!(
                            "{}: {}\nshown:\n{}\nprinted:\n{}\n",
                            page.display(),
                            example.script(),
                            example.output.join("\n"),
                            printed.join("\n")
                        ));
                    }
                    [example.prompt, printed].concat()
                }
            };
            for line in lines {
                rewritten.push_str(&line);
                rewritten.push('\n');
            }
        }
        if update && rewritten != text {
            fs::write(&page, rewritten).unwrap();
        }
    }
    assert!(compared > 0, "no command was run");
    assert!(
        update || wrong.is_empty(),
        "{}\nrun `TURNPIPE_UPDATE=1 cargo test --test docs`, look at the difference and commit it",
        wrong.join("\n")
    );
}

/// Local files that a page links to, and pages that code and scripts name.
#[test]
fn links_lead_to_files() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            let is_local = !target.contains("://") && !target.is_empty();
            if is_local && !page.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    let repository = repository();
    for directory in ["src", "tests", "examples", "benches", "scripts"] {
        let walk = ignore::Walk::new(repository.join(directory)).flatten();
        for file in walk.filter(|entry| entry.path().is_file()) {
            let text = fs::read(file.path()).unwrap();
            let text = String::from_utf8_lossy(&text);
            for name in text.split("docs/").skip(1) {
                let Some((name, _)) = name.split_once(".md") else {
                    continue;
                };
                let is_name = name
                    .chars()
                    .all(|each| each.is_ascii_lowercase() || each == '-');
                let page = repository.join(format!("docs/{name}.md"));
                if is_name
                    && !page.exists()
                    && !file.path().starts_with(repository.join("tests/data"))
                {
                    broken.push(format!("{}: docs/{name}.md", file.path().display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Modules (`exec::schedule`) and files of tests (`run_tools/damage`) that a page names in backticks.
#[test]
fn modules_and_tests_that_pages_name_exist() {
    let repository = repository();
    let mut missing = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            let is_path = |separator: &str| {
                name.contains(separator)
                    && name.split(separator).all(|part| {
                        !part.is_empty()
                            && part
                                .chars()
                                .all(|each| each == '_' || each.is_ascii_lowercase())
                    })
            };
            let (roots, path): (&[&str], _) = if is_path("::") {
                (
                    &[
                        "src",
                        "crates/core/src",
                        "crates/formats/src",
                        "crates/guard/src",
                        "crates/sessions/src",
                    ],
                    name.replace("::", "/"),
                )
            } else if is_path("/") && page.ends_with("conformance.md") {
                (&["tests", "."], name.to_owned())
            } else {
                continue;
            };
            let exists = |root: &&str| {
                let path = repository.join(root).join(&path);
                path.is_dir()
                    || path.with_extension("rs").is_file()
                    || path.with_extension("sh").is_file()
            };
            if !roots.iter().any(exists) {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_picture_can_be_drawn_again() {
    let picture = Example {
        prompt: vec!["$ python3 docs/picture.py".to_owned()],
        output: Vec::new(),
    };
    let Some(drawn) = picture.expected_output() else {
        return;
    };
    let kept = fs::read_to_string(repository().join("docs/picture.svg")).unwrap();
    // Only parts that do not depend on the time are compared: the lanes and the tables.
    let lasting = |lines: Vec<String>| -> Vec<String> {
        let texts = lines.into_iter().filter(|line| line.contains("<text"));
        let lasting = texts.filter(|line| !line.contains("\"call\"") && !line.contains("\"dim\""));
        lasting
            .map(|line| line.split_once('>').unwrap().1.to_owned())
            .collect()
    };
    let kept = lasting(kept.lines().map(str::to_owned).collect());
    assert_eq!(lasting(drawn), kept);
    assert!(kept.len() > 8);
}

#[test]
fn blocks_are_separated_from_text() {
    let page = "text\n```console\n$ one \\\n> two\nout\n$ three\n```\n```sh\n$ not run\n```\n";
    let example = |prompt: &[&str], output: &[&str]| {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Part::Example(Example {
            prompt: owned(prompt),
            output: owned(output),
        })
    };
    let text = |line: &str| Part::Text(line.to_owned());
    assert_eq!(
        parts(page),
        [
            text("text"),
            text("```console"),
            example(&["$ one \\", "> two"], &["out"]),
            example(&["$ three"], &[]),
            text("```"),
            text("```sh"),
            text("$ not run"),
            text("```"),
        ]
    );
}
