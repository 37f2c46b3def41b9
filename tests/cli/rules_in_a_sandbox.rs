//! The rows of decisions that a sandbox holds and rules on text do not see: none of the commands reads or changes a
//! file that its rules name.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::sandbox::{SECRET, binary, is_sandbox_usable};
use crate::skip::{is_full_run, is_missing, search_path};

/// A row of `decisions.jsonl`.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    held: String,
    command: Option<String>,
    #[serde(default)]
    links: BTreeMap<PathBuf, Option<PathBuf>>,
}

/// The files that rules name, in a home directory of their own.
struct Home {
    directory: tempfile::TempDir,
    unreadable: Vec<String>,
    unchangeable: Vec<String>,
    files: Vec<File>,
}

impl Home {
    fn new(row: &Row) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("u/proj/src")).unwrap();
        let mut home = Self {
            directory,
            unreadable: Vec::new(),
            unchangeable: Vec::new(),
            files: Vec::new(),
        };
        for rule in row.deny.iter().chain(&row.ask) {
            let (tool, pattern) = rule
                .trim_end_matches(')')
                .split_once('(')
                .unwrap_or_default();
            match tool {
                "Read" => home.unreadable.push(pattern.to_owned()),
                "Edit" => home.unchangeable.push(pattern.to_owned()),
                _ => continue,
            }
            // The files that a pattern may name: without wildcards, and with names in place of them.
            let name = pattern
                .replace("**/", "")
                .replace("**", "x")
                .replace('*', "a");
            let path = match name.strip_prefix("~/") {
                Some(below) => home.path("u").join(below),
                None => home
                    .project()
                    .join(name.trim_start_matches("./").trim_start_matches('/')),
            };
            home.write(&path);
        }
        for (link, target) in &row.links {
            let Some(target) = target else { continue };
            let place = |path: &Path| home.path("").join(path.strip_prefix("/home").unwrap());
            let (link, target) = (place(link), place(target));
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            // A row may have a link in place of a file.
            let _ = symlink(target, link);
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("u/proj")
    }

    fn write(&mut self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, SECRET).unwrap();
        self.files.push(File::open(path).unwrap());
    }

    /// Runs a command where it can change nothing else; returns whether it read or changed a file. With `confined`, in
    /// a sandbox with the rules.
    fn is_allowed(&self, command: &str, confined: bool) -> bool {
        let command = command.replace("/home/u", &self.path("u").to_string_lossy());
        let mut words = Command::new("bwrap");
        words
            .args([
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "--die-with-parent",
            ])
            .args(["--unshare-pid", "--unshare-net", "--unshare-ipc", "--bind"])
            .args([self.directory.path(), self.directory.path()])
            .arg("--chdir")
            .arg(self.project());
        if confined {
            let reads = self
                .unreadable
                .iter()
                .flat_map(|pattern| ["--deny-read", pattern]);
            let writes = self
                .unchangeable
                .iter()
                .flat_map(|pattern| ["--deny-write", pattern]);
            words
                .arg(binary())
                .args(["sandbox", "--mode", "files", "--required"])
                .args(reads)
                .args(writes)
                .arg("--");
        }
        let output = words
            .args(["timeout", "-k1", "3", "bash", "-c", &command])
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.path("u"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(!printed.contains("turnpipe: cannot"), "{printed}");
        // Directories above it may be moved.
        let is_changed = |file: &File| {
            let mut content = vec![0; SECRET.len() + 1];
            let length = file.read_at(&mut content, 0).unwrap();
            content[..length] != *SECRET.as_bytes() || file.metadata().unwrap().nlink() == 0
        };
        printed.contains(SECRET) && !self.unreadable.is_empty() || self.files.iter().any(is_changed)
    }
}

#[test]
fn a_sandbox_holds_what_rules_on_text_do_not_see() {
    if !is_sandbox_usable() || is_missing("bwrap") {
        return;
    }
    let rows = include_str!("../data/permission/decisions.jsonl").lines();
    let rows = rows.map(|line| serde_json::from_str::<Row>(line).unwrap());
    let rows: Vec<Row> = rows.filter(|row| row.held == "sandbox").collect();
    let step = if is_full_run() { 1 } else { 12 };
    let mut effective = 0;
    let mut wrong = Vec::new();
    for row in rows.iter().step_by(step) {
        let command = row.command.as_deref().unwrap();
        if Home::new(row).is_allowed(command, true) {
            wrong.push(command);
        }
        if is_full_run() {
            effective += usize::from(Home::new(row).is_allowed(command, false));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Many need programs, networks or files that are not there; the others must have the effect without a sandbox.
    let all = rows.len();
    assert!(!is_full_run() || effective > 60, "{effective} of {all}");
    eprintln!("{effective} of {all} have the effect without a sandbox");
}
