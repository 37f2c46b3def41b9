//! `install.sh`, with releases in a directory.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::skip::{is_missing, skip};

const INSTALLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A directory with one release, whose program is a script.
struct Releases {
    dir: tempfile::TempDir,
}

impl Releases {
    fn new(program: &str) -> Self {
        let releases = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let name = Self::name();
        let content = releases.dir.path().join(&name);
        std::fs::create_dir_all(&content).unwrap();
        std::fs::create_dir(releases.release()).unwrap();
        std::fs::write(content.join("turnpipe"), program).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(content.join("turnpipe"), mode).unwrap();
        let archive = releases.archive();
        let tar = Command::new("tar")
            .arg("-czf")
            .args([&archive, Path::new(&name)])
            .current_dir(&releases.dir)
            .status();
        assert!(tar.unwrap().success());
        releases.publish_checksum(&std::fs::read(archive).unwrap());
        releases
    }

    fn name() -> String {
        format!(
            "turnpipe-{VERSION}-{}-unknown-linux-musl",
            std::env::consts::ARCH
        )
    }

    fn release(&self) -> PathBuf {
        self.dir.path().join(format!("v{VERSION}"))
    }

    fn archive(&self) -> PathBuf {
        self.release().join(format!("{}.tgz", Self::name()))
    }

    fn publish_checksum(&self, archive: &[u8]) {
        use sha2::Digest as _;
        let mut lines = String::new();
        for byte in sha2::Sha256::digest(archive) {
            write!(lines, "{byte:02x}").unwrap();
        }
        writeln!(lines, "  {}.tgz", Self::name()).unwrap();
        std::fs::write(self.release().join("SHA256SUMS"), lines).unwrap();
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("home/.local/bin/turnpipe")
    }

    /// Runs the installer as `curl … | sh` does.
    fn install(&self, arguments: &[&str]) -> Output {
        self.install_from("file://", arguments)
    }

    fn install_from(&self, host: &str, arguments: &[&str]) -> Output {
        Command::new("sh")
            .args(["-s", "--", "--from"])
            .arg(format!("{host}{}", self.dir.path().display()))
            .args(arguments)
            .env("HOME", self.dir.path().join("home"))
            .stdin(std::fs::File::open(INSTALLER).unwrap())
            .output()
            .unwrap()
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.install(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(!self.target().exists());
        String::from_utf8(output.stderr).unwrap()
    }
}

const PROGRAM: &str = "#!/bin/sh\necho turnpipe of a test\n";

#[test]
fn the_installer_installs_the_release_it_belongs_to_and_replaces_an_older_one() {
    let releases = Releases::new(PROGRAM);
    for _ in 0..2 {
        let output = releases.install(&[]);
        assert!(output.status.success(), "{output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(
            stdout.starts_with("installed turnpipe of a test in "),
            "{stdout}"
        );
        assert!(stdout.contains("is not in PATH"), "{stdout}");
        assert_eq!(std::fs::read_to_string(releases.target()).unwrap(), PROGRAM);
        let beside = std::fs::read_dir(releases.target().parent().unwrap());
        assert_eq!(beside.unwrap().count(), 1);
    }
}

#[test]
fn the_installer_downloads_with_curl() {
    if is_missing("curl") {
        return;
    }
    let releases = Releases::new(PROGRAM);
    // A directory needs no curl; an address with a host does.
    let output = releases.install_from("file://localhost", &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(releases.target().exists());
}

#[test]
fn the_installer_installs_nothing_that_differs_from_its_checksum_or_does_not_run() {
    let releases = Releases::new(PROGRAM);
    releases.publish_checksum(b"another archive");
    let message = releases.refusal(&[]);
    assert!(message.contains("published checksum"), "{message}");

    std::fs::write(releases.release().join("SHA256SUMS"), "").unwrap();
    let message = releases.refusal(&[]);
    assert!(message.contains("SHA256SUMS does not list"), "{message}");

    let message = releases.refusal(&["--version", "9.9.9"]);
    assert!(message.contains("v9.9.9"), "{message}");

    let broken = Releases::new("#!/bin/sh\nexit 1\n");
    let message = broken.refusal(&[]);
    assert!(message.contains("does not run here"), "{message}");
}

#[test]
fn only_systems_with_archives_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let uname = dir.path().join("uname");
    let path = format!(
        "{}:{}",
        dir.path().display(),
        std::env::var("PATH").unwrap()
    );
    for (system, archive) in [
        ("Linux x86_64", Some("x86_64")),
        ("Linux aarch64", Some("aarch64")),
        ("Linux arm64", Some("aarch64")),
        ("Linux riscv64", None),
        ("Darwin x86_64", None),
        ("Darwin arm64", None),
        ("FreeBSD amd64", None),
    ] {
        std::fs::write(&uname, format!("#!/bin/sh\necho '{system}'\n")).unwrap();
        std::fs::set_permissions(&uname, std::fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new("sh")
            .args([
                INSTALLER,
                "--from",
                "file:///nonexistent",
                "--to",
                "/nonexistent",
            ])
            .env("PATH", &path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{system}");
        let message = String::from_utf8(output.stderr).unwrap();
        let expected = match archive {
            Some(machine) => {
                let name = format!("turnpipe-{VERSION}-{machine}-unknown-linux-musl.tgz");
                format!("install.sh: cannot download file:///nonexistent/v{VERSION}/{name}\n")
            }
            None => format!(
                "install.sh: no archive for {system}, only for Linux on x86_64 and aarch64; \
                 in a copy of the sources, run: cargo install --locked --path .\n"
            ),
        };
        assert!(message.ends_with(&expected), "{message}");
    }
}

#[test]
fn an_archive_has_the_files_that_its_pages_link_to() {
    if !cfg!(target_os = "linux") {
        return skip("GNU cp");
    }
    let dir = tempfile::tempdir().unwrap();
    let (files, copy) = (dir.path().join("files"), dir.path().join("copy"));
    let list = |from: &Path, to: &Path| {
        std::fs::create_dir(to).unwrap();
        let mut script = Command::new(from.join("scripts/release.sh"));
        script.arg("--files").arg(to).output().unwrap()
    };
    let output = list(Path::new(env!("CARGO_MANIFEST_DIR")), &files);
    assert!(output.status.success(), "{output:?}");
    for name in ["docs/guide.md", "examples/hooks", "data/prices.toml"] {
        assert!(files.join(name).exists(), "{name}");
    }
    // The script copies from its own directory.
    std::fs::create_dir(files.join("scripts")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/release.sh");
    std::fs::copy(script, files.join("scripts/release.sh")).unwrap();
    let page = "[a](https://example.com) [b](guide.md#c) [d](../src/lib.rs)\n";
    std::fs::write(files.join("docs/guide.md"), page).unwrap();
    let output = list(&files, &copy);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = "./docs/guide.md: the archive lacks ../src/lib.rs\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
}

#[test]
fn the_installer_writes_through_no_link_and_into_no_directory() {
    let releases = Releases::new(PROGRAM);
    let home = releases.target().parent().unwrap().to_owned();
    let outside = releases.dir.path().join("outside");
    std::fs::create_dir_all(outside.join("dir")).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(outside.join("file"), "kept").unwrap();
    let entries = |path: &Path| std::fs::read_dir(path).unwrap().count();

    // The shell keeps its process number when it becomes the installer.
    let installed = Command::new("sh")
        .args([
            "-c",
            "ln -s \"$2\" \"$1/.turnpipe.$$\"; shift 2; exec sh -s -- --from \"$@\"",
            "sh",
        ])
        .args([&home, &outside.join("file")])
        .arg(format!("file://{}", releases.dir.path().display()))
        .env("HOME", releases.dir.path().join("home"))
        .stdin(std::fs::File::open(INSTALLER).unwrap())
        .output()
        .unwrap();
    assert!(installed.status.success(), "{installed:?}");
    assert_eq!(std::fs::read(outside.join("file")).unwrap(), b"kept");
    // The planted link, and the program.
    assert_eq!(entries(&home), 2);

    for is_link in [false, true] {
        std::fs::remove_file(releases.target()).unwrap();
        if is_link {
            std::os::unix::fs::symlink(outside.join("dir"), releases.target()).unwrap();
        } else {
            std::fs::create_dir(releases.target()).unwrap();
        }
        let output = releases.install(&[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.contains("turnpipe is a directory; nothing was installed"),
            "{message}"
        );
        assert!(output.stdout.is_empty());
        assert_eq!(
            (entries(&outside.join("dir")), entries(&releases.target())),
            (0, 0)
        );
        assert_eq!(entries(&home), 2);
        if !is_link {
            std::fs::remove_dir(releases.target()).unwrap();
            std::fs::write(releases.target(), "").unwrap();
        }
    }
    // A link to a file is replaced.
    std::fs::remove_file(releases.target()).unwrap();
    std::os::unix::fs::symlink(outside.join("file"), releases.target()).unwrap();
    assert!(releases.install(&[]).status.success());
    assert_eq!(std::fs::read(outside.join("file")).unwrap(), b"kept");
    assert_eq!(std::fs::read_to_string(releases.target()).unwrap(), PROGRAM);
}

#[test]
fn the_action_gives_its_inputs_to_the_installer() {
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    let action = std::fs::read_to_string(action).unwrap();
    let (_, script) = action.split_once("run: |\n").unwrap();
    let releases = Releases::new(PROGRAM);
    let file = |name: &str| releases.dir.path().join(name);
    let status = Command::new("sh")
        .args(["-e", "-c", script])
        .env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR"))
        .env("GITHUB_PATH", file("path"))
        .env("GITHUB_OUTPUT", file("output"))
        .env("RUNNER_TEMP", releases.dir.path())
        .env("VERSION", VERSION)
        .env(
            "RELEASES",
            format!("file://{}", releases.dir.path().display()),
        )
        .status();
    assert!(status.unwrap().success());
    let path = std::fs::read_to_string(file("path")).unwrap();
    let installed = Path::new(path.trim_end()).join("turnpipe");
    assert_eq!(std::fs::read_to_string(&installed).unwrap(), PROGRAM);
    let output = std::fs::read_to_string(file("output")).unwrap();
    assert_eq!(output, format!("path={}\n", installed.display()));
}
