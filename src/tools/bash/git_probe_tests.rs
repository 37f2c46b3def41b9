use std::os::unix::fs::symlink;

use super::*;
use crate::io::Environment;
use crate::process::Supervisor;
use crate::tools::{ShellGuarantees, WriteProtection};

#[test]
fn settings_by_scope() {
    let rows: &[(&str, &str, GitScope, bool)] = &[
        ("core.fsmonitor", "x", GitScope::WorkTree, true),
        ("core.fsmonitor", "x", GitScope::Objects, true),
        ("core.fsmonitor", "true", GitScope::WorkTree, true),
        ("core.fsmonitor", "FALSE", GitScope::WorkTree, false),
        ("core.alternateRefsCommand", "x", GitScope::Objects, true),
        ("index.sparse", "true", GitScope::Objects, true),
        ("diff.external", "", GitScope::WorkTree, true),
        ("diff.A.b.textconv", "x", GitScope::WorkTree, true),
        ("diff.renames", "true", GitScope::WorkTree, false),
        ("log.showsignature", "true", GitScope::Objects, true),
        ("log.showsignature", "true", GitScope::WorkTree, true),
        ("format.pretty", "%h %G?", GitScope::Objects, true),
        ("format.pretty", "%h %+GG", GitScope::Objects, true),
        ("pretty.x", "%<(9)%GS", GitScope::Objects, true),
        ("log.diffMerges", "remerge", GitScope::WorkTree, true),
        ("log.diffMerges", "remerge", GitScope::Objects, false),
        ("format.pretty", "oneline", GitScope::Objects, false),
        ("remote.origin.url", "x", GitScope::WorkTree, false),
        ("remote.origin.promisor", "true", GitScope::Objects, true),
        (
            "remote.origin.partialCloneFilter",
            "",
            GitScope::Objects,
            true,
        ),
        ("extensions.partialClone", "", GitScope::Objects, true),
        ("submodule.x.url", "", GitScope::WorkTree, true),
        ("submodule.x.url", "x", GitScope::WorkTree, true),
    ];
    for (key, value, scope, expected) in rows {
        assert_eq!(
            runs_something(key, value, *scope),
            *expected,
            "{key}={value} {scope:?}"
        );
    }
}

#[test]
fn unreadable_settings_are_not_clean() {
    let spawners = Arc::new(Supervisor::default().spawners(1));
    let place = Requirement::CleanGitConfig(GitUse {
        steps: Vec::new(),
        scope: GitScope::Objects,
    });
    let directory = tempfile::tempdir().unwrap();
    let probe_for = |path: &str, shell| {
        GitProbe::new(&DecisionContext {
            directory: directory.path().to_owned(),
            allowed_directories: Vec::new(),
            own_directory: None,
            environment: Arc::new(Environment::from_iter([("PATH", path)])),
            kept_variables: Arc::default(),
            lane: Arc::clone(&spawners),
            shell,
            sandbox: None,
        })
    };
    let probe = |path: &str| probe_for(path, ShellGuarantees::OWN);
    let usual = std::env::var("PATH").unwrap();
    let asked = probe(&usual);
    assert_eq!(asked.settle(&place, directory.path()), Ok(()));
    assert!(
        asked
            .settle(&place, &directory.path().join("missing"))
            .is_err()
    );
    std::fs::create_dir(directory.path().join(".git")).unwrap();
    std::fs::write(directory.path().join(".git/HEAD"), "ref: refs/heads/x\n").unwrap();
    for name in ["objects", "refs"] {
        std::fs::create_dir(directory.path().join(".git").join(name)).unwrap();
    }
    let config = directory.path().join(".git/config");
    for (section, is_known) in [
        ("user", true),
        ("hook \"x\"", false),
        ("include", false),
        ("includeIf \"gitdir:/x/\"", false),
    ] {
        std::fs::write(&config, format!("[{section}]\nname = x\n")).unwrap();
        let asked = probe(&usual);
        let is_clean = asked.settle(&place, directory.path()).is_ok();
        assert_eq!(is_clean, is_known, "{section}");
    }
    // Only the shell of another agent may have a terminal, and so start a pager, and change times.
    let foreign = ShellGuarantees::foreign(WriteProtection::Absent);
    std::fs::write(&config, "").unwrap();
    let inside = directory.path().join("inside");
    symlink(".git", &inside).unwrap();
    let shared = directory.path().join(".git/sharedindex.0");
    std::fs::write(&shared, "").unwrap();
    assert!(probe(&usual).settle(&place, directory.path()).is_ok());
    let asked = probe_for(&usual, foreign);
    assert!(asked.settle(&place, directory.path()).is_err());
    assert!(asked.settle(&place, &inside).is_err());
    std::fs::remove_file(&shared).unwrap();
    let index = directory.path().join(".git/index");
    std::fs::write(&index, b"DIRC no index").unwrap();
    assert!(probe(&usual).settle(&place, directory.path()).is_ok());
    let asked = probe_for(&usual, foreign);
    assert!(asked.settle(&place, directory.path()).is_err());
    std::fs::remove_file(&index).unwrap();
    for section in ["core]\npager = x", "pager]\nlog = x"] {
        std::fs::write(&config, format!("[{section}\n")).unwrap();
        assert!(probe(&usual).settle(&place, directory.path()).is_ok());
        let asked = probe_for(&usual, foreign);
        assert!(asked.settle(&place, directory.path()).is_err(), "{section}");
    }
    let network = Requirement::CleanGitConfig(GitUse {
        steps: Vec::new(),
        scope: GitScope::Network,
    });
    for (setting, is_clean) in [
        ("remote \"o\"]\nurl = https://example.com/a", true),
        ("remote \"o\"]\nurl = git@example.com:a/b\nfetch = x", true),
        ("remote \"o\"]\nurl = ext::sh", false),
        ("remote \"o\"]\nuploadpack = x", false),
        ("credential]\nhelper = !x", false),
        ("core]\nsshCommand = x", false),
        ("branch \"main\"]\nremote = upstream", true),
        ("branch \"main\"]\nremote = git://example.com/x", false),
        ("url \"ext::x\"]\ninsteadOf = https://", false),
        ("protocol \"ext\"]\nallow = always", false),
        ("http]\nproxy = http://example.com", false),
    ] {
        std::fs::write(&config, format!("[{setting}\n")).unwrap();
        let settled = probe(&usual).settle(&network, directory.path());
        assert_eq!(settled.is_ok(), is_clean, "{setting}: {settled:?}");
        assert!(
            probe(&usual).settle(&place, directory.path()).is_ok(),
            "{setting}"
        );
    }
    std::fs::write(&config, "").unwrap();
    std::fs::write(directory.path().join(".npmrc"), "").unwrap();
    assert!(probe(&usual).settle(&network, directory.path()).is_err());
    std::fs::write(&config, "[broken\n").unwrap();
    let asked = probe(&usual);
    assert!(asked.settle(&place, directory.path()).is_err());
    let asked = probe("/nowhere");
    assert!(asked.settle(&place, &std::env::temp_dir()).is_err());
}

#[test]
fn a_sparse_index_is_recognized_without_its_extension() {
    let directory = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(directory.path()).args(arguments);
        let status = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output();
        assert!(status.unwrap().status.success(), "{arguments:?}");
    };
    for name in ["sub", "big"] {
        std::fs::create_dir(directory.path().join(name)).unwrap();
        std::fs::write(directory.path().join(name).join("file"), name).unwrap();
    }
    git(&["init", "-q"]);
    git(&["add", "."]);
    let user = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git(&[&user[..], &["commit", "-qm", "files"]].concat());
    let foreign = ShellGuarantees::foreign(WriteProtection::Absent);
    let settle = || probe_of(directory.path(), foreign, GitScope::Objects);
    assert_eq!(settle(), Ok(()));
    git(&["sparse-checkout", "set", "--cone", "--sparse-index", "sub"]);
    std::fs::remove_file(directory.path().join(".git/config.worktree")).unwrap();
    git(&["config", "--unset", "extensions.worktreeConfig"]);
    assert!(settle().is_err());
    let path = directory.path().join(".git/index");
    let mut index = std::fs::read(&path).unwrap();
    let at = memmem::find(&index, b"sdir").unwrap();
    index.drain(at..at + 8);
    let end = index.len() - 20;
    // Git does not compare a sum of zeros.
    index[end..].fill(0);
    std::fs::write(&path, index).unwrap();
    assert!(settle().is_err());
}

#[test]
fn remotes_in_old_files_choose_servers() {
    let directory = tempfile::tempdir().unwrap();
    let remotes = directory.path().join(".git/remotes");
    for name in ["objects", "refs", "remotes"] {
        std::fs::create_dir_all(directory.path().join(".git").join(name)).unwrap();
    }
    std::fs::write(directory.path().join(".git/HEAD"), "ref: refs/heads/x\n").unwrap();
    let settle = || probe_of(directory.path(), ShellGuarantees::OWN, GitScope::Network);
    assert_eq!(settle(), Ok(()));
    std::fs::write(remotes.join("origin"), "URL: git://example.com/x\n").unwrap();
    assert!(settle().is_err());
}

/// Returns an empty repository with one commit.
fn repository() -> (tempfile::TempDir, impl Fn(&[&str])) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let git = move |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(&path)
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        let done = git
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output();
        assert!(done.unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    (directory, git)
}

#[test]
fn directories_that_the_shell_and_git_take_for_others_are_refused() {
    let (directory, _) = repository();
    let path = |name: &str| directory.path().join(name);
    for name in ["k/d", "k/y", "y", "plain/in"] {
        std::fs::create_dir_all(path(name)).unwrap();
    }
    symlink("k/d", path("link")).unwrap();
    let probe = probe_in(directory.path(), ShellGuarantees::OWN);
    for (steps, is_certain) in [
        (&["plain/in/.."][..], true),
        (&["link"], true),
        (&["link/../y"], false),
        (&["link", "../y"], false),
        (&["k/d", "../y"], true),
    ] {
        let requirement = Requirement::CleanGitConfig(GitUse {
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
            scope: GitScope::Objects,
        });
        let settled = probe.settle(&requirement, directory.path());
        assert_eq!(settled.is_ok(), is_certain, "{steps:?}: {settled:?}");
    }
    let requirement = Requirement::CleanGitConfig(GitUse {
        steps: vec!["../y".to_owned()],
        scope: GitScope::Objects,
    });
    assert!(probe.settle(&requirement, &path("link")).is_err());
}

#[test]
fn entries_of_the_index_are_files_of_the_work_tree() {
    let (directory, git) = repository();
    let index = directory.path().join(".git/index");
    let foreign = ShellGuarantees::foreign(WriteProtection::Absent);
    let settle = |shell| probe_of(directory.path(), shell, GitScope::WorkTree);
    let id = "0123456789012345678901234567890123456789";
    git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        "100644",
        id,
        "a/top",
    ]);
    assert_eq!(settle(ShellGuarantees::OWN), Ok(()));
    let change = |at: usize, bytes: &[u8]| {
        let mut text = std::fs::read(&index).unwrap();
        text[at..at + bytes.len()].copy_from_slice(bytes);
        let end = text.len() - 20;
        // Git does not compare a sum of zeros.
        text[end..].fill(0);
        std::fs::write(&index, text).unwrap();
    };
    // The mode and the name of the first entry.
    change(74, b"../to");
    assert!(settle(foreign).is_err());
    change(74, b"a/top");
    change(36, &0o160_755_u32.to_be_bytes());
    assert!(settle(ShellGuarantees::OWN).is_err());
}

#[test]
fn directories_of_user_settings_are_the_same_for_every_process() {
    let (directory, _) = repository();
    for (home, is_clear) in [
        ("/tmp", true),
        ("", true),
        (".", false),
        ("/proc/self/cwd", false),
    ] {
        let environment = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", home.to_owned()),
        ];
        let probe = GitProbe::new(&DecisionContext {
            environment: Arc::new(Environment::from_iter(environment)),
            ..context_in(directory.path(), ShellGuarantees::OWN)
        });
        let requirement = Requirement::CleanGitConfig(GitUse {
            steps: Vec::new(),
            scope: GitScope::Objects,
        });
        let settled = probe.settle(&requirement, directory.path());
        assert_eq!(settled.is_ok(), is_clear, "{home}: {settled:?}");
    }
}

#[test]
fn other_repositories_are_not_shown_to_agents() {
    let foreign = ShellGuarantees::foreign(WriteProtection::Absent);
    let settle = |directory: &Path| probe_of(directory, foreign, GitScope::Objects).is_ok();
    let (directory, git) = repository();
    assert!(settle(directory.path()));
    git(&["worktree", "add", "-q", "linked"]);
    assert!(settle(&directory.path().join("linked")));
    let (other, _) = repository();
    let named = other.path().join("named");
    std::fs::create_dir(&named).unwrap();
    let to = directory.path().join(".git");
    std::fs::write(named.join(".git"), format!("gitdir: {}\n", to.display())).unwrap();
    assert!(!settle(&named));
    git(&["config", "core.worktree", "/etc"]);
    assert!(!settle(directory.path()));
    let alternates = other.path().join(".git/objects/info/alternates");
    std::fs::write(alternates, to.join("objects").as_os_str().as_bytes()).unwrap();
    assert!(!settle(other.path()));
}

fn probe_of(directory: &Path, shell: ShellGuarantees, scope: GitScope) -> Result<(), String> {
    let steps = Vec::new();
    let requirement = Requirement::CleanGitConfig(GitUse { steps, scope });
    probe_in(directory, shell).settle(&requirement, directory)
}

fn probe_in(directory: &Path, shell: ShellGuarantees) -> GitProbe {
    GitProbe::new(&context_in(directory, shell))
}

fn context_in(directory: &Path, shell: ShellGuarantees) -> DecisionContext {
    let environment = Environment::from_iter([("PATH", std::env::var("PATH").unwrap())]);
    DecisionContext {
        directory: directory.to_owned(),
        allowed_directories: Vec::new(),
        own_directory: None,
        environment: Arc::new(environment),
        kept_variables: Arc::default(),
        lane: Arc::new(Supervisor::default().spawners(1)),
        shell,
        sandbox: None,
    }
}
