//! The environment of programs in a sandbox.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::host_and_port::parse_authority;
use crate::process::{Network, PROXY_PORT, Privilege, Variables, Workspace};
use turnpipe_core::io::Environment;

/// Directory with settings of `ssh` that belong to root. In the namespace of another user they belong to the user
/// `nobody`, and `ssh` refuses them.
const SSH_SETTINGS: &str = "/etc/ssh/ssh_config.d";

/// The variable that marks programs in a sandbox. They cannot create another one.
const SANDBOX_VARIABLE: &str = "TURNPIPE_SANDBOX";

/// Checks that this process is not in a sandbox of turnpipe.
///
/// # Errors
/// It is in one; returns the message.
pub fn check_unconfined(environment: &Environment) -> Result<(), String> {
    match environment.text(SANDBOX_VARIABLE) {
        Some(_) => Err(
            "already confined by a sandbox of turnpipe, in which no other can be created"
                .to_owned(),
        ),
        None => Ok(()),
    }
}

/// Returns variables for programs in a sandbox. Variables of the user take precedence.
pub fn sandbox_variables(environment: &Environment) -> Variables {
    let mark = (OsString::from(SANDBOX_VARIABLE), OsString::from("files"));
    let has_settings = fs::read_dir(SSH_SETTINGS).is_ok_and(|mut files| files.next().is_some());
    if Privilege::from_process() == Privilege::Root || !has_settings {
        return Variables::from([mark]);
    }
    let of_user = environment
        .text("HOME")
        .map(|home| format!("{home}/.ssh/config"));
    let existing = of_user.filter(|path| fs::exists(path).unwrap_or(false));
    let settings = existing.as_deref().unwrap_or("/dev/null");
    let quoted = shlex::try_quote(settings).map_or("/dev/null".into(), |quoted| quoted);
    let command = OsString::from(format!("ssh -F {quoted}"));
    Variables::from([mark, ("GIT_SSH_COMMAND".into(), command)])
}

/// Variables with directories for caches, and names of these directories in the private temporary directory.
const CACHE_VARIABLES: [(&str, &str); 7] = [
    ("XDG_CACHE_HOME", "xdg"),
    ("npm_config_cache", "npm"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("GOCACHE", "go-build"),
    ("GOMODCACHE", "go-mod"),
    ("CARGO_TARGET_DIR", "cargo-target"),
];

/// Variables with the address of a proxy, or with the hosts that are reached without it. Each is also set in lower
/// case.
const PROXY_VARIABLES: &str = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY";

/// The hosts by which programs in a workspace reach the workspace itself.
const LOCAL_HOSTS: &str = "localhost 127.0.0.1 [::1]";

/// Returns variables by which programs in a workspace find its proxy. They replace those of the user, whose proxy
/// cannot be reached.
fn proxy_variables(workspace: &Workspace) -> Vec<(OsString, OsString)> {
    let url = match workspace.network {
        Network::On => return Vec::new(),
        Network::Off => String::new(),
        Network::Domains => format!("http://127.0.0.1:{PROXY_PORT}"),
    };
    let parse_host = |text: &str| parse_authority(text).map(|(host, _)| host);
    let domains = workspace.domains.allowed.iter();
    let allowed: Vec<_> = domains.map(|text| parse_host(text)).collect();
    let hosts = LOCAL_HOSTS.split(' ');
    let direct = hosts.filter(|name| !allowed.contains(&parse_host(name)));
    let names: Vec<_> = direct.map(|name| name.trim_matches(['[', ']'])).collect();
    let no_proxy = names.join(",");
    let variables = PROXY_VARIABLES.split(' ').flat_map(|name| {
        let value = if name == "NO_PROXY" { &no_proxy } else { &url };
        [name.to_owned(), name.to_lowercase()].map(|name| (name.into(), value.into()))
    });
    // Without `NODE_USE_ENV_PROXY`, Node.js ignores the others.
    let node = [("NODE_USE_ENV_PROXY".into(), "1".into())];
    variables.chain(node).collect()
}

/// Returns variables for programs in a workspace. Caches that they cannot change are replaced by temporary ones.
pub fn workspace_variables(environment: &Environment, workspace: &Workspace) -> Variables {
    let is_in_workspace = |name: &str| {
        let path = environment.get(name).map(Path::new);
        let mut writable = workspace.writable.iter();
        path.is_some_and(|path| writable.any(|writable| path.starts_with(writable)))
    };
    let replaced = CACHE_VARIABLES.iter().filter(|(name, _)| {
        let is_needed = *name != "CARGO_TARGET_DIR" || environment.get(name).is_some();
        is_needed && !is_in_workspace(name)
    });
    let caches = replaced.map(|(name, below)| {
        let path = Path::new("/tmp/cache").join(below);
        (OsString::from(name), path.into_os_string())
    });
    sandbox_variables(environment)
        .iter()
        .filter(|(name, _)| environment.get(name.to_string_lossy().as_ref()).is_none())
        .cloned()
        .chain([(SANDBOX_VARIABLE.into(), "workspace".into())])
        .chain(caches)
        .chain(proxy_variables(workspace))
        .chain([("TMPDIR".into(), "/tmp".into())])
        .collect()
}
