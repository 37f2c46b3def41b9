//! The environment of programs in a sandbox.

use std::ffi::OsString;
use std::fs;

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
