//! The environment of programs in a sandbox.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::io::Environment;
use crate::process::{Privilege, Variables};

/// Directory with settings of `ssh` that belong to root. In the namespace of another user they belong to nobody, and
/// `ssh` refuses them.
const SYSTEM_SETTINGS: &str = "/etc/ssh/ssh_config.d";

/// The variable of programs in a sandbox, whose own attempts to create one fail.
const MARK: &str = "TURNPIPE_SANDBOX";

/// Checks that this process is not in a sandbox of turnpipe itself.
///
/// # Errors
/// It is, and says so.
pub fn check_unconfined(environment: &Environment) -> Result<(), String> {
    match environment.text(MARK) {
        Some(_) => Err(
            "already confined by a sandbox of turnpipe, in which no other can be created"
                .to_owned(),
        ),
        None => Ok(()),
    }
}

/// Returns variables for programs in a sandbox, unless the user has set them.
pub fn sandbox_variables(environment: &Environment) -> Variables {
    let mark = (OsString::from(MARK), OsString::from("files"));
    let has_settings = fs::read_dir(SYSTEM_SETTINGS).is_ok_and(|mut files| files.next().is_some());
    if Privilege::of_process() == Privilege::Root || !has_settings {
        return Variables::from([mark]);
    }
    let own = environment
        .text("HOME")
        .map(|home| format!("{home}/.ssh/config"));
    let own = own.filter(|path| fs::exists(path).unwrap_or(false));
    let settings = own.as_deref().unwrap_or("/dev/null");
    let quoted = shlex::try_quote(settings).map_or("/dev/null".into(), |quoted| quoted);
    let command = OsString::from(format!("ssh -F {quoted}"));
    Variables::from([mark, ("GIT_SSH_COMMAND".into(), command)])
}

/// Directories for caches, as variables, and their names in the private temporary directory.
const CACHES: [(&str, &str); 7] = [
    ("XDG_CACHE_HOME", "xdg"),
    ("npm_config_cache", "npm"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("GOCACHE", "go-build"),
    ("GOMODCACHE", "go-mod"),
    ("CARGO_TARGET_DIR", "cargo-target"),
];

/// Returns variables for programs in a workspace. Caches that it cannot change are replaced by temporary ones.
pub fn workspace_variables(environment: &Environment, writable: &[PathBuf]) -> Variables {
    let in_workspace = |name: &str| {
        let path = environment.get(name).map(Path::new);
        path.is_some_and(|path| writable.iter().any(|writable| path.starts_with(writable)))
    };
    let caches = CACHES.iter().filter(|(name, _)| {
        let is_needed = *name != "CARGO_TARGET_DIR" || environment.get(name).is_some();
        is_needed && !in_workspace(name)
    });
    let caches = caches.map(|(name, below)| {
        let path = Path::new("/tmp/cache").join(below);
        (OsString::from(name), path.into_os_string())
    });
    let mut variables: Vec<(OsString, OsString)> = sandbox_variables(environment)
        .iter()
        .filter(|(name, _)| environment.get(name.to_string_lossy().as_ref()).is_none())
        .cloned()
        .chain(caches)
        .collect();
    variables.push(("TMPDIR".into(), "/tmp".into()));
    variables.into_iter().collect()
}
