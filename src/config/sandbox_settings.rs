//! The key `sandbox` of settings files of Claude Code.
//!
//! See `docs/sandbox-settings.md`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::restrictions::Restriction;
use super::sandbox_path::SandboxPath;

/// The sandbox of shell calls. The lists of all files are joined; other values come from the last file with the key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Whether shell calls run in the sandbox.
    pub is_enabled: bool,
    /// Whether the run ends where the sandbox is not complete.
    pub fails_if_unavailable: bool,
    /// Whether calls in the sandbox need approval as others do: `autoAllowBashIfSandboxed` is off.
    pub needs_approval: bool,
    /// Whether no call can ask to run outside: `allowUnsandboxedCommands` is off.
    pub forbids_leaving: bool,
    /// Contents of `Bash(…)` rules for commands that run outside.
    pub excluded_commands: Vec<String>,
    /// Files that can be changed, in addition to the working directories.
    pub allow_write: Vec<SandboxPath>,
    /// Files that cannot be changed, although `allow_write` names them.
    pub deny_write: Vec<SandboxPath>,
    /// Files that cannot be read.
    pub deny_read: Vec<SandboxPath>,
    /// Files that can be read, although `deny_read` names them.
    pub allow_read: Vec<SandboxPath>,
    /// Files with credentials, which cannot be read, although `allow_read` names them.
    pub credential_files: Vec<SandboxPath>,
    /// Environment variables with credentials, which calls do not get.
    pub credential_variables: Vec<String>,
    /// Patterns of hosts that can be reached.
    pub allowed_domains: Vec<String>,
    /// Patterns of hosts that cannot be reached, although `allowed_domains` names them.
    pub denied_domains: Vec<String>,
    /// Sockets in the file system that can be connected to.
    pub unix_sockets: Vec<SandboxPath>,
    /// Whether all sockets in the file system can be connected to.
    pub allows_all_unix_sockets: bool,
}

/// Keys about other programs and systems, or with a value that the sandbox has anyway.
const WITHOUT_EFFECT: &str = "ripgrep bwrapPath socatPath enabledPlatforms ignoreViolations allowAppleEvents \
    network.allowMachLookup network.strictAllowlist network.allowLocalBinding network.httpProxyPort \
    network.socksProxyPort";

/// Keys that would lift a restriction.
const WEAKER: &str = "enableWeakerNestedSandbox enableWeakerNetworkIsolation allowNestedUserNamespaces \
    filesystem.disabled";

/// Keys that would make the lists of other files void.
const MANAGED: &str = "network.allowManagedDomainsOnly filesystem.allowManagedReadPathsOnly";

/// Parses paths of the file.
type ParsePaths<'a> = &'a dyn Fn(Vec<String>) -> Result<Vec<SandboxPath>, String>;

/// The settings that were not understood, or the reason why a value is invalid.
type ParsedRestrictions = Result<Vec<Restriction>, String>;

impl SandboxSettings {
    /// Adds a table of a file, which has precedence over earlier files. Returns the settings that were not understood.
    pub(super) fn add(
        &mut self,
        table: &str,
        members: &Map<String, Value>,
        parse_paths: ParsePaths<'_>,
    ) -> Vec<Restriction> {
        let mut problems = Vec::new();
        for (member, value) in members {
            let key = format!("{table}.{member}");
            match self.set(&key, value, parse_paths) {
                // A comment, such as `_comment` or `$schema`.
                _ if !member.starts_with(char::is_alphabetic) => {}
                Ok(found) => problems.extend(found),
                Err(problem) => problems.push(Restriction::Invalid(key, problem)),
            }
        }
        problems
    }

    /// Sets the value of a key. Returns the settings that were not understood.
    ///
    /// # Errors
    /// The reason why the value is invalid.
    fn set(&mut self, key: &str, value: &Value, parse_paths: ParsePaths<'_>) -> ParsedRestrictions {
        let name = key.strip_prefix("sandbox.").unwrap_or(key);
        let is_in = |names: &str| names.split(' ').any(|other| other == name);
        match name {
            "enabled" => {
                // A value that is not understood counts as `true`, so that it ends the run.
                self.is_enabled = *value != false;
                read::<bool>(value)?;
            }
            "failIfUnavailable" => self.fails_if_unavailable = read(value)?,
            "autoAllowBashIfSandboxed" => self.needs_approval = !read::<bool>(value)?,
            "allowUnsandboxedCommands" => self.forbids_leaving = !read::<bool>(value)?,
            "excludedCommands" => self.excluded_commands.append(&mut read(value)?),
            "filesystem" | "network" | "credentials" => {
                return Ok(self.add(key, &read(value)?, parse_paths));
            }
            "filesystem.allowWrite" => self.allow_write.append(&mut parse_paths(read(value)?)?),
            "filesystem.denyWrite" => self.deny_write.append(&mut parse_paths(read(value)?)?),
            "filesystem.denyRead" => self.deny_read.append(&mut parse_paths(read(value)?)?),
            "filesystem.allowRead" => self.allow_read.append(&mut parse_paths(read(value)?)?),
            "credentials.files" => self
                .credential_files
                .append(&mut parse_paths(denied_names(value)?)?),
            "credentials.envVars" => self.credential_variables.append(&mut denied_names(value)?),
            "network.allowedDomains" => self.allowed_domains.append(&mut read(value)?),
            "network.deniedDomains" => self.denied_domains.append(&mut read(value)?),
            "network.allowUnixSockets" => self.unix_sockets.append(&mut parse_paths(read(value)?)?),
            "network.allowAllUnixSockets" => self.allows_all_unix_sockets = read(value)?,
            _ if is_in(WITHOUT_EFFECT) => {}
            _ if (is_in(WEAKER) || is_in(MANAGED)) && *value == false => {}
            _ if is_in(WEAKER) => return Ok(vec![Restriction::Weakens(key.to_owned())]),
            _ => return Ok(vec![Restriction::Unknown(key.to_owned())]),
        }
        Ok(Vec::new())
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}

/// An entry of a list of credentials. Masking is not supported.
#[derive(Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
enum Credential {
    Deny {
        #[serde(alias = "path")]
        name: String,
    },
}

fn denied_names(value: &Value) -> Result<Vec<String>, String> {
    let names = read::<Vec<Credential>>(value)?.into_iter();
    Ok(names.map(|Credential::Deny { name }| name).collect())
}
