use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::io::Environment;
use crate::run::tools::test_context::Session;
use crate::run::tools::{ShellGuarantees, WriteProtection};
use crate::shell::{Verdict, analyse};

/// Returns a session with a repository and no user settings.
fn session() -> Session {
    let mut session = Session::new();
    let home = session.path("").display().to_string();
    let mut variables: BTreeMap<&str, String> = BTreeMap::new();
    variables.insert("PATH", std::env::var("PATH").unwrap());
    variables.insert("HOME", home);
    session.context.environment = std::sync::Arc::new(Environment::from_iter(variables));
    session.context.shell.protection = WriteProtection::Assumed;
    fs::write(session.path("a.txt"), "a\n").unwrap();
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "-qm",
            "first",
        ],
    ] {
        git(&session, arguments);
    }
    session
}

fn git(session: &Session, arguments: &[&str]) {
    let status = std::process::Command::new("git")
        .args(arguments)
        .current_dir(session.path(""))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", session.path(""))
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

fn assess_command(session: &Session, command: &str) -> Assessment {
    assess(command, &analyse(command), &session.context)
}

fn is_read_only(session: &Session, command: &str) -> bool {
    assess_command(session, command).access == Access::reads_everything()
}

/// Whether the first command of a line only reads on its own.
fn is_first_read_only(session: &Session, command: &str) -> bool {
    let Action::Command { line, .. } = assess_command(session, command).action else {
        return false;
    };
    line.commands
        .first()
        .is_some_and(|first| first.verdict.is_read_only())
}

#[test]
fn git_in_a_list_only_reads_if_its_configuration_is_clean() {
    let session = session();
    assert!(is_first_read_only(&session, "git log -3 && npm test"));
    assert!(!is_first_read_only(
        &session,
        "git -C elsewhere log -3 && npm test"
    ));
    git(&session, &["config", "log.showSignature", "true"]);
    assert!(!is_first_read_only(&session, "git log -3 && npm test"));
    assert!(is_first_read_only(&session, "ls && npm test"));
}

#[test]
fn commands_that_only_read_have_access_without_writing() {
    let session = session();
    for command in ["ls", "git status", "git diff | cat", "(cd .. && ls)"] {
        let Assessment { access, why, .. } = assess_command(&session, command);
        assert_eq!(access, Access::reads_everything(), "{command}: {why}");
    }
    for command in ["touch x", "cd .. && make", "make", "git add .", "ls >x"] {
        assert_eq!(
            assess_command(&session, command).access,
            Access::everything(),
            "{command}"
        );
    }
    // The next call starts elsewhere, but no file changes.
    let moves = assess_command(&session, "cd .. && ls").access;
    assert!(moves.is_read_only() && !moves.is_side_effect_free());
    assert!(
        moves.conflicts_with(&Access::reads("/a")) && !moves.conflicts_with(&Access::nothing())
    );
    assert!(assess_command(&session, "ls | tee x").why.contains("tee"));
}

/// A call and `check shell` have the same verdict.
#[test]
fn permission_and_check_shell_use_the_same_verdict() {
    let session = session();
    let files = ["attacks", "commands", "refused_by_others", "read_only"]
        .map(|name| format!("tests/data/shell/{name}.jsonl"));
    let mut rows = 0;
    for file in files {
        for line in fs::read_to_string(file).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let Some(command) = row["command"].as_str() else {
                continue;
            };
            let analysis = analyse(command);
            // Only without requirements, which depend on the directory.
            if matches!(&analysis.verdict, Verdict::ReadOnly { requires } if !requires.is_empty()) {
                continue;
            }
            let access = assess(command, &analysis, &session.context).access;
            assert_eq!(
                access.is_read_only(),
                analysis.verdict.is_read_only(),
                "{command}"
            );
            rows += 1;
        }
    }
    assert!(rows > 800, "{rows}");
}

#[test]
fn settings_that_run_programs_make_git_a_writer() {
    let rows: &[(&str, &str, &str)] = &[
        ("core.fsmonitor", "evil", "git status"),
        ("diff.external", "evil", "git diff"),
        ("diff.x.command", "evil", "git diff"),
        ("diff.x.textconv", "evil", "git log -p"),
        ("diff.x.textconv", "evil", "git show"),
        ("filter.x.clean", "evil", "git status"),
        ("log.showSignature", "true", "git log"),
        ("pretty.x", "%G?", "git log --format=x"),
        ("remote.origin.promisor", "true", "git log"),
    ];
    for (key, value, command) in rows {
        let session = session();
        assert!(is_read_only(&session, command), "{command} before");
        git(&session, &["config", key, value]);
        assert!(!is_read_only(&session, command), "{command} with {key}");
        let why = assess_command(&session, command).why;
        let name = key.to_lowercase();
        let name = name.replace(".x.", ".*.").replace(".origin.", ".*.");
        assert!(why.contains(&name), "{why}");
    }
}

#[test]
fn included_and_separate_settings_count() {
    let session = session();
    fs::write(session.path("more"), "[core]\n\tfsmonitor = evil\n").unwrap();
    git(&session, &["config", "include.path", "../more"]);
    assert!(!is_read_only(&session, "git status"));

    let session = self::session();
    git(&session, &["config", "extensions.worktreeConfig", "true"]);
    fs::write(
        session.path(".git/config.worktree"),
        "[core]\n\tfsmonitor = evil\n",
    )
    .unwrap();
    assert!(!is_read_only(&session, "git status"));
}

#[test]
fn settings_that_are_known_to_be_harmless_do_not_count() {
    let session = session();
    for (key, value) in [
        ("core.hooksPath", "hooks"),
        ("user.name", "x"),
        ("core.fsmonitor", "false"),
        ("branch.main.vscode-merge-base", "origin/main"),
    ] {
        git(&session, &["config", key, value]);
    }
    assert!(is_read_only(&session, "git status"));
    git(&session, &["config", "alias.st", "!evil"]);
    assert!(!is_read_only(&session, "git status"));
}

#[test]
fn other_repositories_have_their_own_settings() {
    let session = session();
    fs::create_dir(session.path("sub")).unwrap();
    assert!(is_read_only(&session, "git -C sub status"));
    assert!(is_read_only(&session, "(cd sub && git status)"));
    let inner = session.path("sub");
    assert!(
        std::process::Command::new("git")
            .args(["init", "-q"])
            .current_dir(&inner)
            .status()
            .unwrap()
            .success()
    );
    fs::write(inner.join(".git/config"), "[core]\n\tfsmonitor = evil\n").unwrap();
    assert!(!is_read_only(&session, "git -C sub status"));
    assert!(!is_read_only(&session, "(cd sub && git status)"));
    assert!(!is_read_only(&session, "(cd sub; cd ..; git status)"));
    assert!(is_read_only(&session, "git status"));
    assert!(!is_read_only(&session, "git -C missing status"));
}

/// Only our shell is known to prevent git from writing its index and running a hook.
#[test]
fn a_hook_after_writing_the_index_counts_unless_the_shell_prevents_it() {
    let session = session();
    let mut foreign = session.context.decision.clone();
    foreign.shell = ShellGuarantees::foreign(WriteProtection::Assumed);
    let reads_there = |command: &str| {
        let assessment = assess(command, &analyse(command), &foreign);
        assessment.access.is_read_only()
    };
    assert!(reads_there("git status"));
    for hooks in [".git/hooks", "elsewhere"] {
        fs::create_dir_all(session.path(hooks)).unwrap();
        fs::write(session.path(hooks).join("post-index-change"), "").unwrap();
        assert!(!reads_there("git status"), "{hooks}");
        assert!(reads_there("git log"), "{hooks}");
        assert!(is_read_only(&session, "git status"), "{hooks}");
        fs::remove_file(session.path(hooks).join("post-index-change")).unwrap();
        git(&session, &["config", "core.hooksPath", "elsewhere"]);
        assert!(reads_there("git status"), "{hooks}");
    }
}

#[test]
fn submodules_have_their_own_settings() {
    let session = session();
    fs::write(session.path(".gitmodules"), "[submodule \"x\"]\n").unwrap();
    assert!(!is_read_only(&session, "git status"));
    assert!(is_read_only(&session, "git log"));
}

#[test]
fn programs_of_the_workspace_are_not_those_of_the_table() {
    let mut session = session();
    let bin = session.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("ls"), "").unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    session.context.environment = std::sync::Arc::new(Environment::from_iter([("PATH", path)]));
    assert!(!is_read_only(&session, "cat a.txt | xargs ls"));
    assert!(is_read_only(&session, "cat a.txt"));
    // The directory of the session may be a link to the workspace.
    let link = session.path("link");
    std::os::unix::fs::symlink(".", &link).unwrap();
    let directory = std::mem::replace(&mut session.context.directory, link.clone());
    let allowed = std::mem::replace(&mut session.context.allowed_directories, vec![link]);
    assert!(!is_read_only(&session, "ls"));
    session.context.directory = directory;
    session.context.allowed_directories = allowed;
    // Programs started by a command are found in the same directories.
    fs::write(bin.join("xz"), "").unwrap();
    assert!(is_read_only(&session, "sed -n 1p a.txt"));
    assert!(!is_read_only(&session, "tar -tf a.tar"));
    // The agent may name any of these shells.
    fs::write(bin.join("zsh"), "").unwrap();
    assert!(!is_read_only(&session, "cat a.txt"));
}

#[test]
fn scripts_may_start_programs_of_the_workspace() {
    let mut session = session();
    let elsewhere = tempfile::tempdir().unwrap();
    let bin = session.path("bin");
    fs::create_dir(&bin).unwrap();
    let script = elsewhere.path().join("wc");
    fs::write(&script, "#!/usr/bin/env python3\n").unwrap();
    let elsewhere = elsewhere.path().display();
    let mut with = |path: String| {
        session.context.environment = std::sync::Arc::new(Environment::from_iter([("PATH", path)]));
        is_read_only(&session, "wc a.txt")
    };
    assert!(with(format!("{elsewhere}:/usr/bin")));
    assert!(!with(format!("{}:{elsewhere}:/usr/bin", bin.display())));
}

#[test]
fn an_empty_search_path_of_another_shell_is_the_working_directory() {
    let mut session = session();
    session.context.shell = ShellGuarantees::foreign(WriteProtection::Absent);
    let directory = session.context.directory.clone();
    fs::write(directory.join("ls"), "").unwrap();
    let with = |path: &str| std::sync::Arc::new(Environment::from_iter([("PATH", path)]));
    session.context.environment = with("/usr/bin:/bin");
    assert!(is_read_only(&session, "ls"));
    session.context.environment = with("");
    assert!(!is_read_only(&session, "ls"));
    session.context.environment = std::sync::Arc::default();
    assert!(!is_read_only(&session, "ls"), "without PATH");
}

#[test]
fn variables_that_change_how_commands_read_their_words_need_approval() {
    let mut session = session();
    let mut with = |name, value| {
        let set = Environment::from_iter([("PATH", "/usr/bin:/bin"), (name, value)]);
        session.context.environment = std::sync::Arc::new(set);
        ["(command cd x && ls)", "sed -n -e p a.txt"].map(|command| is_read_only(&session, command))
    };
    assert_eq!(with("CDPATH", "/o"), [false, true]);
    assert_eq!(with("CDPATH", ""), [true, true]);
    assert_eq!(with("POSIXLY_CORRECT", ""), [false, false]);
    assert_eq!(with("HOME", "."), [false, false]);
}

/// The analysis of languages may be wrong; then only the kernel prevents writes.
#[test]
fn languages_are_only_trusted_where_the_kernel_enforces_reading() {
    let mut session = session();
    let languages = [
        "find . -name \"$x\"",
        "ls | xargs cat",
        "tar -tf a.tar",
        "gzip -cd a.gz",
        "unzip -l a.zip",
        "git status",
        "[[ -f a.txt ]] && ls",
        "cat a.txt | (yq -r .a)",
        "timeout 5 xargs cat",
    ];
    let core = [
        "ls -la | head -3 && wc -l a.txt",
        "grep -rn a . | sort | uniq -c",
        "for f in a b; do cat $f; done",
        "[ -f a.txt ] && jq .a b.json",
        "echo $((1 + 2))",
        "find . -name a.txt | head -3",
        "sed -n 1p a.txt | awk '{print \"\\t\" $1}'",
    ];
    for command in languages {
        assert!(is_read_only(&session, command), "{command}");
    }
    // The children of a test session do not run in a lane.
    session.context.shell.protection = WriteProtection::Lane;
    for command in languages {
        let assessment = assess(command, &analyse(command), &session.context);
        assert_eq!(assessment.access, Access::everything(), "{command}");
        assert!(assessment.why.contains("the kernel enforces"), "{command}");
    }
    for command in core {
        let assessment = assess(command, &analyse(command), &session.context);
        assert_eq!(assessment.access, Access::reads_everything(), "{command}");
    }
}

/// The lane has no network, so such a command is run in the serial lane, although it only reads.
/// `/` is the default directory of containers; the programs there are the system's.
#[test]
fn programs_of_the_system_are_not_those_of_a_working_directory_above_them() {
    let mut session = session();
    let project = session.path("");
    let system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let bin = session.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/usr/bin", session.path("usr-bin")).unwrap();
    let path = |first: &str| format!("{}:{system}", session.path(first).display());
    // The working directory, the search path, and whether `ls` is a system program.
    let rows = [
        ("/", system.to_owned(), true),
        ("/usr", system.to_owned(), true),
        ("/usr/bin", system.to_owned(), false),
        ("/", path("bin"), true),
        ("/", path("usr-bin"), false),
        (project.to_str().unwrap(), path("bin"), true),
        (project.to_str().unwrap(), path("usr-bin"), false),
    ];
    for (directory, path, expected) in &rows {
        session.context.directory = directory.into();
        session.context.allowed_directories = vec![directory.into()];
        session.context.environment = std::sync::Arc::new(Environment::from_iter([("PATH", path)]));
        let analysis = check_requirements(analyse("ls"), &session.context);
        assert_eq!(
            analysis.verdict.is_read_only(),
            *expected,
            "{directory} {path}: {analysis:?}"
        );
    }
    // A program found before the system program.
    fs::write(bin.join("ls"), "").unwrap();
    session.context.environment =
        std::sync::Arc::new(Environment::from_iter([("PATH", &rows[3].1)]));
    for directory in ["/", project.to_str().unwrap()] {
        session.context.directory = directory.into();
        session.context.allowed_directories = vec![directory.into()];
        assert!(
            !check_requirements(analyse("ls"), &session.context)
                .verdict
                .is_read_only()
        );
    }
    // A link into the project, as created by `npm link`.
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(bin.join("ls"), elsewhere.path().join("ls")).unwrap();
    let path = format!("{}:{system}", elsewhere.path().display());
    session.context.environment = std::sync::Arc::new(Environment::from_iter([("PATH", &path)]));
    assert!(
        !check_requirements(analyse("ls"), &session.context)
            .verdict
            .is_read_only()
    );
}

/// A read-only part needs no rule unless its program may belong to the project.
#[test]
fn parts_that_name_programs_of_the_workspace_do_not_only_read() {
    let mut session = session();
    let bin = session.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("head"), "").unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    session.context.environment = std::sync::Arc::new(Environment::from_iter([("PATH", path)]));
    let only_read = |command: &str| {
        let action = assess_command(&session, command).action;
        let Action::Command { line, .. } = action else {
            panic!("{action:?}");
        };
        line.commands
            .iter()
            .map(|part| part.verdict.is_read_only())
            .collect::<Vec<bool>>()
    };
    assert_eq!(only_read("ls && head a.txt && make"), [true, false, false]);
    assert_eq!(
        only_read("cat a.txt | xargs head; make"),
        [true, false, false]
    );
    fs::write(bin.join("bash"), "").unwrap();
    assert_eq!(only_read("ls && make"), [false, false]);
}

#[test]
fn text_that_the_locale_may_read_otherwise_is_not_known_to_read() {
    let mut session = session();
    let path = std::env::var("PATH").unwrap();
    for (locale, command, is_known) in [
        ("zh_CN.GBK", "wc -c 你", false),
        ("zh_CN.GBK", "wc -c a.txt", true),
        ("C@gbk", "wc -c 你", false),
        ("zh_CN", "wc -c 你", false),
        ("de_DE.UTF-8", "wc -c 你", true),
        ("C", "wc -c 你", true),
        ("C", "LC_ALL=zh_CN.GBK sort a.txt", false),
        ("C", "LC_ALL=C.utf8 sort a.txt", true),
    ] {
        let variables = [("PATH", path.as_str()), ("LANG", locale)];
        session.context.environment = std::sync::Arc::new(Environment::from_iter(variables));
        assert_eq!(
            is_read_only(&session, command),
            is_known,
            "{locale}: {command}"
        );
    }
}

#[test]
fn directories_of_path_that_differ_by_process_are_refused() {
    let mut session = session();
    let usual = std::env::var("PATH").unwrap();
    std::os::unix::fs::symlink("/proc/self/cwd", session.path("here")).unwrap();
    for first in ["/proc/self/cwd/b", session.path("here").to_str().unwrap()] {
        let path = format!("{first}:{usual}");
        session.context.environment = std::sync::Arc::new(Environment::from_iter([("PATH", path)]));
        assert!(!is_read_only(&session, "wc a.txt"), "{first}");
    }
}
