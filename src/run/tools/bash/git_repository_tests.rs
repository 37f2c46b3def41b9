use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use super::*;
use crate::io::Environment;
use crate::process::Supervisor;
use crate::run::tools::{ShellGuarantees, WriteProtection};

/// A directory with a repository in `main`, which has one commit.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write("main/a.txt", "a\n");
        place.write("main/sub/b.txt", "b\n");
        place.write("main/big/c.txt", "c\n");
        place.git("main", "init -q");
        place.git("main", "add .");
        place.git("main", "commit -qm first");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn git(&self, directory: &str, arguments: &str) {
        let mut git = std::process::Command::new("git");
        let settings = "-c user.name=a -c user.email=a@example.com -c protocol.file.allow=always";
        let arguments = settings.split(' ').chain(arguments.split(' '));
        git.current_dir(self.path(directory)).args(arguments);
        let done = git
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Checks a use of git in another agent's shell.
    fn check(&self, directory: &str, scope: GitScope) -> Result<(), String> {
        let foreign = ShellGuarantees::foreign(WriteProtection::Absent);
        check_in(&self.path(directory), &[], scope, foreign, &[])
    }

    /// Returns which of history and work tree may be read.
    fn reads(&self, directory: &str) -> [bool; 2] {
        [GitScope::Objects, GitScope::WorkTree].map(|scope| self.check(directory, scope).is_ok())
    }
}

fn check_in(
    directory: &Path,
    steps: &[&str],
    scope: GitScope,
    shell: ShellGuarantees,
    set: &[(&str, &str)],
) -> Result<(), String> {
    let steps = steps.iter().map(|&step| step.to_owned()).collect();
    let context = DecisionContext {
        directory: directory.to_owned(),
        allowed_directories: Vec::new(),
        own_directory: None,
        environment: Arc::new(set.iter().copied().collect::<Environment>()),
        kept_variables: Arc::default(),
        lane: Arc::new(Supervisor::default().spawners(1)),
        shell,
        sandbox: None,
    };
    check(&GitUse { steps, scope }, &context)
}

#[test]
fn common_repositories_are_read() {
    let place = Place::new();
    for name in ["fresh", "separate", "none"] {
        fs::create_dir(place.path(name)).unwrap();
    }
    place.git("fresh", "init -q");
    place.git("", "clone -q main clone");
    place.git("main", "worktree add -q ../linked");
    place.git("separate", "init -q --separate-git-dir ../separate.git");
    place.git("", "clone -q main hosted");
    place.git("hosted", "remote set-url origin git@github.com:a/b.git");
    place.git("hosted", "branch -q --track other origin/HEAD");
    place.git("hosted", "config user.name x");
    place.git("hosted", "config lfs.repositoryformatversion 0");
    place.git("", "clone -q main husky");
    place.git("husky", "config core.hooksPath .husky/_");
    place.git("", "clone -q main parent");
    place.git("parent", "submodule --quiet add ../main module");
    place.git("", "clone -q main sparse");
    place.git("sparse", "sparse-checkout set --cone sub");
    for (name, expected) in [
        (
            "none fresh clone clone/sub linked hosted husky",
            [true, true],
        ),
        ("sparse", [true, true]),
        ("parent", [true, false]),
        // Its settings name the work tree.
        ("parent/module clone/.git", [false, false]),
        ("separate", [false, false]),
        ("separate.git", [false, false]),
    ] {
        for name in name.split(' ') {
            let why = place.check(name, GitScope::WorkTree);
            assert_eq!(place.reads(name), expected, "{name}: {why:?}");
        }
    }
}

#[test]
fn unusual_repositories_are_not_read() {
    let place = Place::new();
    let cases: &[(&str, &[&str])] = &[
        ("cone", &["sparse-checkout set --cone --sparse-index sub"]),
        ("monitor", &["config core.fsmonitor x"]),
        ("include", &["config include.path ../more"]),
        ("filter", &["config filter.x.clean x"]),
        (
            "own_settings",
            &[
                "config extensions.worktreeConfig true",
                "config --worktree core.fsmonitor x",
            ],
        ),
        ("tree", &["config core.worktree /etc"]),
        ("home_hooks", &["config core.hooksPath ~/hooks"]),
        ("process_hooks", &["config core.hooksPath /proc/self/cwd"]),
        ("promisor", &["config remote.origin.promisor true"]),
    ];
    for (name, changes) in cases {
        place.git("", &format!("clone -q main {name}"));
        assert_eq!(place.reads(name), [true, true], "{name} before");
        for change in *changes {
            place.git(name, change);
        }
        assert_eq!(place.reads(name), [false, false], "{name}");
    }
    fs::create_dir(place.path("sha256")).unwrap();
    place.git("sha256", "init -q --object-format=sha256");
    place.git("", "clone -q --bare main bare");
    place.git("", "clone -q --shared main shared");
    // Git takes the repository above for that of a directory whose `.git` has no `HEAD`.
    place.write("monitor/inner/.git/config", "");
    for part in ["objects/pack", "refs"] {
        fs::create_dir_all(place.path("monitor/inner/.git").join(part)).unwrap();
    }
    for head in ["", "ref: x", "ref:refs/x", "0123"] {
        place.write("monitor/inner/.git/HEAD", head);
        assert_eq!(place.reads("monitor/inner"), [false, false], "{head}");
    }
    place.write("monitor/inner/.git/HEAD", "ref: refs/heads/x\n");
    assert_eq!(place.reads("monitor/inner"), [true, true]);
    for name in ["sha256", "bare", "shared", "cone", "missing"] {
        assert_eq!(place.reads(name), [false, false], "{name}");
    }
}

#[test]
fn only_ordinary_layouts_are_read() {
    let place = Place::new();
    let to_main = place.path("main/.git").display().to_string();
    for (name, target) in [
        ("file", "gitdir: ../main/.git\n"),
        ("absolute", &*format!("gitdir: {to_main}\n")),
        ("tab", "gitdir: ../main/.git\t"),
        ("lines", "gitdir: ../main/.git\n\n"),
        ("missing", "gitdir: ../nowhere\n"),
        ("process", "gitdir: /proc/self/cwd/../main/.git\n"),
    ] {
        place.write(&format!("{name}/.git"), target);
        assert_eq!(place.reads(name), [false, false], "{name}");
    }
    let plain = |name: &str| place.git("", &format!("clone -q main {name}"));
    for (name, part, target) in [
        ("config", "config", "../../main/.git/config"),
        ("input", "config", "/dev/stdin"),
        ("objects", "objects", "../../main/.git/objects"),
        ("pack", "objects/pack", "../../../main/.git/objects/pack"),
        ("refs", "refs", "../../main/.git/refs"),
        ("hooks", "hooks", "/tmp"),
        ("index", "index", "../../main/.git/index"),
    ] {
        plain(name);
        let part = place.path(&format!("{name}/.git/{part}"));
        fs::rename(&part, place.path("aside")).unwrap();
        symlink(target, &part).unwrap();
        assert_eq!(place.reads(name), [false, false], "{name}");
        // It may not exist.
        let _ = fs::remove_dir_all(place.path("aside"));
        let _ = fs::remove_file(place.path("aside"));
    }
    plain("shared");
    for text in ["../../main/.git\n", "..\n", "../..\n", "/proc/self/fd/0\n"] {
        place.write("shared/.git/commondir", text);
        assert_eq!(place.reads("shared"), [false, false], "{text}");
    }
    plain("pipe");
    let mut make = std::process::Command::new("mkfifo");
    let pipe = place.path("pipe/.git/config.worktree");
    assert!(make.arg(pipe).status().unwrap().success());
    assert_eq!(place.reads("pipe"), [false, false]);
    fs::create_dir(place.path("link")).unwrap();
    symlink("../main/.git", place.path("link/.git")).unwrap();
    symlink("main/sub", place.path("to_main")).unwrap();
    symlink("/proc/self/cwd/main", place.path("to_process")).unwrap();
    assert_eq!(place.reads("link"), [false, false]);
    assert_eq!(place.reads("to_main"), [true, true]);
    assert_eq!(place.reads("to_process"), [false, false]);
    // A linked work tree is one only if the git directory names it.
    place.git("main", "worktree add -q ../linked");
    fs::create_dir(place.path("stolen")).unwrap();
    fs::copy(place.path("linked/.git"), place.path("stolen/.git")).unwrap();
    assert_eq!(place.reads("linked"), [true, true]);
    assert_eq!(place.reads("stolen"), [false, false]);
}

#[test]
fn hooks_after_writing_the_index_count_in_shells_of_agents() {
    let place = Place::new();
    let own = || {
        check_in(
            &place.path("main"),
            &[],
            GitScope::WorkTree,
            ShellGuarantees::OWN,
            &[],
        )
    };
    place.write("main/.git/hooks/post-index-change", "");
    assert_eq!(place.reads("main"), [true, false]);
    assert_eq!(own(), Ok(()));
    fs::remove_file(place.path("main/.git/hooks/post-index-change")).unwrap();
    place.git("main", "config core.hooksPath sub/../.hooks");
    assert_eq!(place.reads("main"), [true, true]);
    place.write("main/.hooks/post-index-change", "");
    assert_eq!(place.reads("main"), [true, false]);
    assert_eq!(place.reads("main/sub"), [true, false]);
    assert_eq!(own(), Ok(()));
}

#[test]
fn directories_that_the_shell_and_git_take_for_others_are_refused() {
    let place = Place::new();
    for name in ["k/d", "k/y", "y", "plain/in"] {
        fs::create_dir_all(place.path("main").join(name)).unwrap();
    }
    let link = place.path("main/link");
    symlink("k/d", &link).unwrap();
    let check = |directory: &Path, steps: &[&str], set: &[(&str, &str)]| {
        check_in(
            directory,
            steps,
            GitScope::Objects,
            ShellGuarantees::OWN,
            set,
        )
        .is_ok()
    };
    let main = place.path("main");
    for (steps, is_certain) in [
        (&["plain/in/.."][..], true),
        (&["link"], true),
        (&["link/../y"], false),
        (&["link", "../y"], false),
        (&["k/d", "../y"], true),
        (&["missing"], false),
    ] {
        assert_eq!(check(&main, steps, &[]), is_certain, "{steps:?}");
    }
    assert!(check(&link, &["."], &[]));
    assert!(!check(&link, &["../y"], &[]));
    let named = [("PWD", link.to_str().unwrap())];
    assert!(check(&main.join("k/d"), &["../y"], &[]));
    assert!(!check(&main.join("k/d"), &["../y"], &named));
    for (home, is_clear) in [
        ("/tmp", true),
        ("", true),
        (".", false),
        ("/proc/self/cwd", false),
    ] {
        for name in ["HOME", "XDG_CONFIG_HOME"] {
            assert_eq!(
                check(&main, &[], &[(name, home)]),
                is_clear,
                "{name}={home}"
            );
        }
    }
}
