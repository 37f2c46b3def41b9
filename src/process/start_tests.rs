use std::os::unix::fs::PermissionsExt;

use super::super::{Capture, Limits, Stdin};
use super::*;
use crate::process::command::PipeMaker;

fn command() -> Command {
    let variables = [("TMPDIR", "/a"), ("TMPDIR2", "/b"), ("A", "TMPDIR=/c")];
    Command {
        program: "/bin/sh".into(),
        arguments: vec!["".into()],
        environment: variables
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        directory: "/".into(),
        stdin: Stdin::Null,
        report: None,
        capture: Capture::default(),
        limits: Limits::with_timeout(std::time::Duration::ZERO),
    }
}

fn prepare(command: &Command) -> Result<Start, SpawnError> {
    let (theirs, _ours) = PipeMaker::default().make(command).unwrap();
    Start::prepare(command, theirs)
}

#[test]
fn a_variable_is_replaced_or_added() {
    let mut start = prepare(&command()).unwrap();
    assert_eq!(start.arguments, [c"/bin/sh".into(), CString::default()]);
    for (name, value) in [("TMPDIR", "/private"), ("NEW", "")] {
        start.set_variable(name, value.as_ref()).unwrap();
    }
    let expected = [c"TMPDIR2=/b", c"A=TMPDIR=/c", c"TMPDIR=/private", c"NEW="];
    assert_eq!(start.environment, expected.map(CString::from));
}

#[test]
fn a_nul_byte_is_refused() {
    for part in 0..3 {
        let mut command = command();
        match part {
            0 => command.arguments = vec!["a\0b".into()],
            1 => command.environment = [("A".into(), "a\0b".into())].into(),
            _ => command.directory = "a\0b".into(),
        }
        assert!(prepare(&command).is_err(), "{part}");
    }
}

fn write_program(path: &Path, mode: u32) {
    std::fs::write(path, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn find(program: &str, path: Option<&str>, directory: &Path) -> Option<PathBuf> {
    let environment: Vec<(OsString, OsString)> = path
        .map(|path| ("PATH".into(), path.into()))
        .into_iter()
        .collect();
    find_program(OsStr::new(program), &environment, directory).map(Cow::into_owned)
}

#[test]
fn the_first_executable_file_of_the_path_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for folder in ["a", "b", "c", "a/tool"] {
        std::fs::create_dir(root.join(folder)).unwrap();
    }
    write_program(&root.join("b/tool"), 0o644);
    write_program(&root.join("c/tool"), 0o755);
    write_program(&root.join("here"), 0o755);
    let tool = Some(root.join("c/tool"));
    let absolute = format!("{0}/a:{0}/b:{0}/c", root.display());
    assert_eq!(find("tool", Some(&absolute), root), tool);
    assert_eq!(find("tool", Some("missing:a:b:c"), root), tool);
    assert_eq!(find("here", Some("a:"), root), Some(root.join("here")));
    assert_eq!(find("here", Some("a:b"), root), None);
    assert_eq!(find("", Some("a:c"), root), None);
}

#[test]
fn a_name_with_a_slash_is_not_looked_up() {
    let dir = tempfile::tempdir().unwrap();
    let found = find("./tool", Some("/bin"), dir.path());
    assert_eq!(found, Some(PathBuf::from("./tool")));
}

#[test]
fn without_path_the_default_is_searched() {
    assert!(find("sh", None, Path::new("/")).is_some());
}
