//! `sandbox`: what a command in it cannot do, and what it does as without.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::skip::{is_full_run, is_missing, search_path, skip};
use crate::turnpipe::command;

/// The files that the rules of these tests name.
const UNREADABLE: [&str; 2] = ["**/.env", "config/**"];
const UNCHANGEABLE: [&str; 2] = ["locked", "**/frozen/**"];

pub(crate) const SECRET: &str = "KEY=verysecret";

/// A user that runs the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The one of the test.
    Own,
    /// Another one without privileges, if the test runs as root.
    Ordinary,
}

/// Returns the users that this test can be.
pub(crate) fn users() -> Vec<User> {
    if rustix::process::geteuid().is_root() {
        vec![User::Own, User::Ordinary]
    } else {
        vec![User::Own]
    }
}

/// Returns the binary at a path that every user can reach.
pub(crate) fn binary() -> &'static Path {
    static COPY: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = COPY.get_or_init(|| {
        let directory = open_directory();
        let copy = directory.path().join("turnpipe");
        let original = env!("CARGO_BIN_EXE_turnpipe");
        if fs::hard_link(original, &copy).is_err() {
            fs::copy(original, &copy).unwrap();
        }
        (directory, copy)
    });
    path
}

/// Returns a directory that every user can enter.
fn open_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

/// A directory with files to protect, that the user owns.
pub(crate) struct Place {
    directory: tempfile::TempDir,
    user: User,
}

impl Place {
    pub(crate) fn new(user: User) -> Self {
        Self::in_directory(open_directory(), user)
    }

    /// Returns a place that is not among temporary files, which are private in a workspace.
    pub(crate) fn new_persistent(user: User) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self::in_directory(directory, user)
    }

    fn in_directory(directory: tempfile::TempDir, user: User) -> Self {
        let place = Self { directory, user };
        for directory in [
            "work/p/q",
            "work/config/deep",
            "work/frozen",
            "work/frozen-parent/frozen",
            "outside",
            "tmp",
            "work/free-dir",
        ] {
            fs::create_dir_all(place.path(directory)).unwrap();
        }
        for file in [".env", "p/q/.env", "config/key.pem", "config/deep/key.pem"] {
            fs::write(place.work().join(file), SECRET).unwrap();
        }
        for file in ["locked", "free", "frozen/file", "frozen-parent/frozen/file"] {
            fs::write(place.work().join(file), "original").unwrap();
        }
        let work = place.work();
        fs::hard_link(work.join(".env"), work.join("innocent")).unwrap();
        fs::hard_link(work.join("locked"), work.join("locked-link")).unwrap();
        symlink(".env", work.join("link")).unwrap();
        symlink("config", work.join("deeplink")).unwrap();
        symlink("../outside", work.join("outside")).unwrap();
        fs::hard_link(work.join("config/key.pem"), place.path("outside/innocent")).unwrap();
        if user == User::Ordinary {
            chown_path(place.directory.path());
        }
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Returns `turnpipe sandbox` with the rules of these tests, which runs a command.
    pub(crate) fn sandbox(&self, words: &[&str]) -> Command {
        self.sandbox_below(&[], words)
    }

    /// Returns the same, started by another program.
    pub(crate) fn sandbox_below(&self, outer: &[&str], words: &[&str]) -> Command {
        let reads = UNREADABLE
            .iter()
            .flat_map(|pattern| ["--deny-read", *pattern]);
        let writes = UNCHANGEABLE
            .iter()
            .flat_map(|pattern| ["--deny-write", *pattern]);
        let mut command = self.command(outer);
        command
            .args(["sandbox", "--mode", "files"])
            .args(reads)
            .args(writes)
            .arg("--")
            .args(words);
        command.stdin(Stdio::null());
        command
    }

    /// Returns `turnpipe run-tools` with the rules of these tests, and one call of a command tool.
    pub(crate) fn run_tools(&self, access: &str, script: &str) -> Command {
        let tools = self.path("tools.toml");
        let schema = "{ type = \"object\", properties = { script = { type = \"string\" } } }";
        let tool = format!(
            "[[tool]]\nname = \"Probe\"\ndescription = \"d\"\ninput_schema = {schema}\naccess = \"{access}\"\n\
             command = [\"timeout\", \"60\", \"bash\", \"-c\", \"{{script}}\"]\n"
        );
        fs::write(&tools, tool).unwrap();
        let input = serde_json::json!(
            {"type": "tool_use", "id": "1", "name": "Probe", "input": {"script": script}}
        );
        let calls = self.path("calls.jsonl");
        fs::write(&calls, format!("{input}\n")).unwrap();
        let rule = |tool| move |pattern: &&str| ["--deny".to_owned(), format!("{tool}({pattern})")];
        let mut command = self.command(&[]);
        command
            .args([
                "run-tools",
                "--no-echo",
                "--permission-mode",
                "bypassPermissions",
                "--tools",
            ])
            .arg(&tools)
            .args(UNREADABLE.iter().flat_map(rule("Read")))
            .args(UNCHANGEABLE.iter().flat_map(rule("Edit")))
            .stdin(File::open(calls).unwrap());
        command
    }

    pub(crate) fn command(&self, outer: &[&str]) -> Command {
        let mut words = outer.iter().map(Path::new).chain([binary()]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.directory.path())
            .env("TMPDIR", self.path("tmp"))
            .current_dir(self.work());
        if self.user == User::Ordinary {
            command.uid(1000).gid(1000);
        }
        command
    }

    pub(crate) fn run(&self, script: &str) -> Output {
        self.sandbox(&["bash", "-c", script]).output().unwrap()
    }

    /// Gives everything to the user.
    pub(crate) fn chown(&self) {
        if self.user == User::Ordinary {
            chown_path(self.directory.path());
        }
    }

    /// Opens the files that must not change. Their directories may be moved.
    fn open_protected(&self) -> Vec<File> {
        let files = [
            ".env",
            "p/q/.env",
            "config/key.pem",
            "locked",
            "frozen/file",
            "frozen-parent/frozen/file",
        ];
        let files = files.map(|name| File::open(self.work().join(name)).unwrap());
        files.into()
    }
}

/// Returns the content, the mode, the time of the last change and the number of names of files.
fn facts(files: &[File]) -> Vec<(String, u32, i64, u64)> {
    let facts = files.iter().map(|file| {
        let facts = file.metadata().unwrap();
        let mut content = vec![0; usize::try_from(facts.len()).unwrap()];
        file.read_exact_at(&mut content, 0).unwrap();
        let content = String::from_utf8(content).unwrap();
        (content, facts.mode(), facts.mtime(), facts.nlink())
    });
    facts.collect()
}

/// Makes everything below a directory the ordinary user's.
fn chown_path(path: &Path) {
    std::os::unix::fs::lchown(path, Some(1000), Some(1000)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            chown_path(&entry.unwrap().path());
        }
    }
}

pub(crate) fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr]
        .map(String::from_utf8_lossy)
        .concat()
}

/// Whether this machine can run a command in a sandbox; if not, the test is skipped.
pub(crate) fn is_sandbox_usable() -> bool {
    let output = Place::new(User::Own).run("echo works");
    let works = output.stdout == b"works\n";
    if !works {
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        skip("mount namespaces");
    }
    works
}

/// Answers every connection with the secret.
fn serve(listener: UnixListener) {
    thread::spawn(move || {
        for connection in listener.incoming() {
            // The client may have closed the connection.
            let _ = connection.unwrap().write_all(SECRET.as_bytes());
        }
    });
}

/// Runs every `step`-th probe as each user.
fn run_probes(step: usize, command: impl Fn(&Place, &str) -> Command) {
    let probes = fs::read_to_string("tests/data/sandbox/probes.sh").unwrap();
    let probes = probes.lines().filter(|line| !line.starts_with('#'));
    let step = if is_full_run() { 1 } else { step };
    let probes: Vec<&str> = probes.step_by(step).collect();
    for user in users() {
        for probe in &probes {
            let place = Place::new(user);
            attempt(&place, probe, command(&place, probe));
        }
    }
}

/// Checks that a probe prints no secret, and changes nothing that must not change.
fn attempt(place: &Place, probe: &str, mut command: Command) {
    static ABSTRACT: OnceLock<String> = OnceLock::new();
    let abstract_name = ABSTRACT.get_or_init(|| {
        let name = format!("turnpipe-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name);
        serve(UnixListener::bind_addr(&address.unwrap()).unwrap());
        name
    });
    serve(UnixListener::bind(place.work().join("service")).unwrap());
    symlink("service", place.work().join("service-link")).unwrap();
    if place.user == User::Ordinary {
        chown_path(place.directory.path());
    }
    let protected = place.open_protected();
    let before = facts(&protected);
    let here = File::open(place.work()).unwrap();
    let secret = File::open(place.work().join(".env")).unwrap();
    let locked = File::options()
        .append(true)
        .open(place.work().join("locked"))
        .unwrap();
    let given = [
        (7, here.as_raw_fd()),
        (8, secret.as_raw_fd()),
        (9, locked.as_raw_fd()),
    ];
    command
        .env("ABSTRACT", abstract_name)
        .env("OUTER", std::process::id().to_string());
    // SAFETY: only makes system calls.
    unsafe {
        command.pre_exec(move || {
            for (to, from) in given {
                if libc::dup2(from, to) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    let output = text(&command.output().unwrap());
    let user = place.user;
    assert!(
        !output.contains("verysecret"),
        "{user:?}: {probe}\n{output}"
    );
    let changed = ["changed\n", "changed\\n", "changed\""];
    assert!(
        !changed.iter().any(|sign| output.contains(sign)) && !output.ends_with("changed"),
        "{user:?}: {probe}\n{output}"
    );
    assert_eq!(facts(&protected), before, "{user:?}: {probe}\n{output}");
}

#[test]
fn no_probe_gets_past_the_masks() {
    if !is_sandbox_usable() || is_missing("perl") || is_missing("unshare") {
        return;
    }
    run_probes(5, |place, probe| {
        place.sandbox(&["timeout", "60", "bash", "-c", probe])
    });
}

#[test]
fn no_probe_gets_past_the_masks_of_a_run() {
    if !is_sandbox_usable() || is_missing("perl") || is_missing("unshare") {
        return;
    }
    for access in ["world", "read-only"] {
        run_probes(16, |place, probe| place.run_tools(access, probe));
    }
}

#[test]
fn no_probe_gets_past_the_masks_in_a_container() {
    if !is_sandbox_usable() || is_missing("perl") || is_missing("unshare") || is_missing("bwrap") {
        return;
    }
    let bwrap = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--"];
    run_probes(16, |place, probe| {
        place.sandbox_below(&bwrap, &["timeout", "60", "bash", "-c", probe])
    });
}

#[test]
fn a_command_is_as_without_a_sandbox() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        for (script, status, output) in [
            ("exit 3", 3, ""),
            ("cat free; cat", 0, "original"),
            ("echo out; echo err >&2", 0, "out\nerr\n"),
            ("diff <(echo a) <(echo a) && echo same", 0, "same\n"),
            (
                "echo new > made && mv made moved && mkdir d && mv moved d/ && cat d/moved",
                0,
                "new\n",
            ),
            ("sleep 1000 & kill $!; wait $!; echo $?", 0, "143\n"),
            ("(exec 5<>free; cat <&5)", 0, "original"),
            ("pwd -P | sed 's|.*/||'", 0, "work\n"),
            (
                "cat /proc/self/mounts > /dev/null && echo mounts",
                0,
                "mounts\n",
            ),
            (
                "umask; ulimit -n > /dev/null; id -u > /dev/null && echo ok",
                0,
                "0022\nok\n",
            ),
        ] {
            let run = place.run(script);
            assert_eq!(
                (run.status.code(), &*text(&run)),
                (Some(status), output),
                "{user:?}: {script}"
            );
        }
        // The command has the place of the process that was started: its number, and its end.
        let mut child = place.sandbox(&["sleep", "1000"]).spawn().unwrap();
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None);
    }
}

/// Sockets anywhere are masked, and the first mask is copied for the others.
#[test]
fn a_socket_that_vanishes_takes_no_other_mask_away() {
    if !is_sandbox_usable() {
        return;
    }
    let place = Place::new(User::Ordinary);
    place.chown();
    // Its sockets are the first files to be masked.
    let directory = tempfile::Builder::new().prefix(".a").tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let stops = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stops.load(Ordering::Relaxed) {
                let sockets: Vec<PathBuf> = (0..20)
                    .map(|index| directory.path().join(index.to_string()))
                    .collect();
                let listeners: Vec<_> = sockets.iter().map(UnixListener::bind).collect();
                drop(listeners);
                for socket in sockets {
                    fs::remove_file(socket).unwrap();
                }
            }
        });
        let runs = if is_full_run() { 400 } else { 80 };
        let outputs: Vec<String> = (0..runs).map(|_| text(&place.run("cat .env"))).collect();
        stops.store(true, Ordering::Relaxed);
        assert!(!outputs.iter().any(|output| output.contains("verysecret")));
    });
}

/// Another program renames a directory above a masked file, which then has its mask, or the sandbox does not start.
#[test]
fn a_directory_that_is_moved_takes_no_mask_away() {
    if !is_sandbox_usable() {
        return;
    }
    let place = Place::new(User::Ordinary);
    let (one, other) = (place.work().join("one"), place.work().join("other"));
    fs::create_dir(&one).unwrap();
    fs::copy(place.work().join(".env"), one.join(".env")).unwrap();
    place.chown();
    let stops = AtomicBool::new(false);
    let runs = if is_full_run() { 200 } else { 40 };
    let leaks = thread::scope(|scope| {
        scope.spawn(|| {
            while !stops.load(Ordering::Relaxed) {
                fs::rename(&one, &other).unwrap();
                fs::rename(&other, &one).unwrap();
            }
        });
        let outputs =
            (0..runs).map(|_| text(&place.run("cat one/.env other/.env one/.env other/.env")));
        let leaks = outputs
            .filter(|output| output.contains("verysecret"))
            .count();
        stops.store(true, Ordering::Relaxed);
        leaks
    });
    assert_eq!(leaks, 0, "of {runs}");
}

/// Otherwise another file could take the path, and no rule would apply to the moved one.
#[test]
fn directories_that_a_rule_names_cannot_be_moved() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        for (option, rule, script, kept) in [
            ("--deny-write", "p/q/**", "mv p x", "p/q/.env"),
            ("--deny-write", "p/q/.env", "mv p/q x", "p/q/.env"),
            (
                "--deny-read",
                "config/deep/*.pem",
                "mv config/deep x",
                "config/deep/key.pem",
            ),
            ("--deny-read", "config/**", "mv config x", "config/key.pem"),
            ("--deny-read", "**/config", "mv config x", "config/key.pem"),
        ] {
            let mut command = place.command(&[]);
            let sandbox = ["sandbox", "--mode", "files", option, rule, "--"];
            // A directory that cannot be renamed may be copied, but for what is unreadable.
            let script = format!("{script} || rm -rf x");
            let output = command.args(sandbox).args(["sh", "-c", &script]).output();
            let output = output.unwrap();
            assert!(!text(&output).is_empty(), "{user:?}, {rule}: {output:?}");
            let secret = fs::read_to_string(place.work().join(kept)).unwrap();
            assert_eq!(secret, SECRET, "{user:?}, {rule}");
        }
        let mut command = place.command(&[]);
        let rule = ["sandbox", "--mode", "files", "--deny-write", "p/q/**", "--"];
        let script = "mv free p/moved && mv p/moved p/again && mv p/again free && mv free-dir x";
        let output = command.args(rule).args(["sh", "-c", script]).output();
        assert_eq!(text(&output.unwrap()), "", "{user:?}");
        assert_eq!(fs::read(place.work().join("free")).unwrap(), b"original");
    }
}

/// The command can change the mode.
#[test]
fn a_directory_that_cannot_be_looked_at_is_named() {
    if !is_sandbox_usable() {
        return;
    }
    let place = Place::new(User::Ordinary);
    fs::create_dir(place.work().join("closed")).unwrap();
    place.chown();
    fs::set_permissions(
        place.work().join("closed"),
        fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    let output = text(&place.run("true"));
    assert!(
        output.contains("closed: it cannot be looked at"),
        "{output}"
    );
}

#[test]
fn masks_leave_nothing_behind() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
        let device = || fs::metadata("/dev/null").unwrap().mode();
        let protected = place.open_protected();
        let before = (mounts(), device(), facts(&protected));
        // Only its effects matter.
        let _ = place.run("chmod 000 .env; echo x > /dev/null; kill -9 $$");
        assert_eq!((mounts(), device(), facts(&protected)), before);
        assert!(!place.work().join(".env2").exists());
    }
}

#[test]
fn an_absolute_path_is_from_the_root() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        let key = place.path("outside/innocent").display().to_string();
        let mut command = place.command(&[]);
        command.args(["sandbox", "--mode", "files", "--deny-read", &key]);
        command.args(["--", "sh", "-c", "cat ../outside/innocent || echo held"]);
        let output = command.output().unwrap();
        assert_eq!(output.stdout, b"held\n", "{user:?}: {}", text(&output));
    }
}

#[test]
fn more_files_than_can_be_masked_are_refused() {
    if !is_sandbox_usable() {
        return;
    }
    let place = Place::new(User::Own);
    let many = place.work().join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..=20_000 {
        File::create(many.join(format!("{number}.key"))).unwrap();
    }
    let mut command = place.command(&[]);
    command.args(["sandbox", "--deny-read", "*.key", "--", "true"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", text(&output));
    let message = "files, only 20000; use rules that name fewer files";
    assert!(text(&output).contains(message), "{}", text(&output));
}

#[test]
fn links_below_a_denied_directory_are_not_followed() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        fs::write(place.path("outside/open"), "readable").unwrap();
        symlink("../../outside", place.work().join("config/other")).unwrap();
        symlink("/proc", place.work().join("p/processes")).unwrap();
        place.chown();
        let output = place.run("cat config/key.pem config/other/open; cat outside/open");
        let output = text(&output);
        assert!(output.contains("readable"), "{user:?}: {output}");
        assert!(!output.contains(SECRET), "{user:?}: {output}");
    }
}

#[test]
fn a_failure_has_a_status_of_its_own() {
    let place = Place::new(User::Own);
    let status = |arguments: &[&str]| {
        // Files of other tests appear and vanish in the directory of the tests.
        let mut command = command();
        let command = command.arg("sandbox").args(arguments);
        let output = command.current_dir(place.work()).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let rows: [(&[&str], i32, &str); 5] = [
        (&[], 125, "missing required argument"),
        (
            &["--deny-read", "a[", "--", "true"],
            125,
            "unclosed character class",
        ),
        (
            &["--settings", "/nonexistent", "--", "true"],
            125,
            "/nonexistent",
        ),
        (&["--bogus", "--", "true"], 125, "unexpected argument"),
        (&["--mode", "--", "true"], 125, ""),
    ];
    for (arguments, expected, message) in rows {
        let (code, stderr) = status(arguments);
        assert_eq!(code, Some(expected), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
    if !is_sandbox_usable() {
        return;
    }
    for (program, expected) in [("/nonexistent", 127), ("/", 126)] {
        let (code, stderr) = status(&["--", program]);
        assert_eq!(code, Some(expected), "{program}: {stderr}");
    }
    // A directory or a masked file as a standard stream would lead around the masks.
    for (name, part) in [(".", "descriptor 0"), (".env", "descriptor 0")] {
        let mut command = place.sandbox(&["cat"]);
        let output = command
            .stdin(File::open(place.work().join(name)).unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(125), "{name}");
        assert!(text(&output).contains(part), "{name}");
    }
}

#[test]
fn a_sandbox_in_a_sandbox_says_so() {
    if !is_sandbox_usable() {
        return;
    }
    let place = Place::new(User::Own);
    let inner = format!("{} sandbox -- true", binary().display());
    let run = place.run(&inner);
    assert_eq!(run.status.code(), Some(125), "{run:?}");
    assert!(text(&run).contains("already confined"), "{run:?}");
}

#[test]
fn without_user_namespaces_nothing_runs() {
    if !is_sandbox_usable() || is_missing("unshare") {
        return;
    }
    // In a namespace of its own, the limit concerns nobody else.
    let limit = format!(
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all --reuid 0 \
         {} sandbox -- echo ran",
        binary().display()
    );
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["-Ur", "sh", "-c", &limit])
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", home.path())
        .output()
        .unwrap();
    let output = text(&output);
    assert!(!output.contains("ran"), "{output}");
    assert!(output.contains("cannot create a"), "{output}");
}

#[test]
fn variables_with_secrets_stay_outside() {
    if !is_sandbox_usable() {
        return;
    }
    let place = Place::new(User::Own);
    let mut command = place.sandbox(&["env"]);
    command.env("API_TOKEN", "abcdef123456").env("PLAIN", "x");
    let output = text(&command.output().unwrap());
    assert!(
        output.contains("PLAIN=x") && !output.contains("abcdef123456"),
        "{output}"
    );
}

#[test]
fn git_works_beside_masked_files() {
    if !is_sandbox_usable() || is_missing("git") {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        let script = "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
            GIT_COMMITTER_EMAIL=a@b; mkdir repo; cd repo; git init -q; echo a > a; git add a; git commit -qm one; \
            git worktree add -q ../tree; cd ../tree; echo b >> a; git commit -qam two; \
            cd ..; git init -q outer; cd outer; git -c protocol.file.allow=always submodule --quiet add ../repo sub; \
            git commit -qm three; cd sub; echo c >> a; git commit -qam four; git log --format=%s | paste -sd,";
        let run = place.run(script);
        assert_eq!(text(&run), "four,one\n", "{user:?}");
    }
}
