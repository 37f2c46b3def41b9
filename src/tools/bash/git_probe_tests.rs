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
        ("diff.external", "", GitScope::WorkTree, false),
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
            environment: Arc::new(Environment::from_iter([("PATH", path)])),
            kept_variables: Arc::default(),
            lane: Arc::clone(&spawners),
            shell,
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

fn probe_of(directory: &Path, shell: ShellGuarantees, scope: GitScope) -> Result<(), String> {
    let environment = Environment::from_iter([("PATH", std::env::var("PATH").unwrap())]);
    let probe = GitProbe::new(&DecisionContext {
        directory: directory.to_owned(),
        allowed_directories: Vec::new(),
        environment: Arc::new(environment),
        kept_variables: Arc::default(),
        lane: Arc::new(Supervisor::default().spawners(1)),
        shell,
    });
    let steps = Vec::new();
    let requirement = Requirement::CleanGitConfig(GitUse { steps, scope });
    probe.settle(&requirement, directory)
}
