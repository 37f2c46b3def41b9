//! The format of Codex, and where its files are.

use std::path::PathBuf;

use serde_json::json;

use super::names::{NAMES, SESSION_DIRS};
use super::record::read;
use crate::agent::Agent;
use crate::agent::content::home_dir;
use crate::agent::format::{Format, TitleStore};
use crate::agent::hook_settings::{HookSettings, SettingsSyntax};
use crate::agent::own::with_title_source;
use crate::agent::sign::Row;
use crate::agent::title::{Precedence, TitleSearch};
use crate::io::Environment;
use crate::json::{is_object, text};

/// The format of Codex CLI.
pub(in crate::agent) static CODEX: Format = Format {
    titles: TitleSearch {
        words: &["\"thread_name_updated\""],
        precedence: Precedence::Later,
    },
    has_global_ids: true,
    has_meter_records: true,
    hook_settings: Some(HookSettings {
        syntax: SettingsSyntax::Toml,
        hooks: &[
            ("PreToolUse", "pre-tool-use"),
            ("PermissionRequest", "permission-request"),
        ],
        timeout: 10,
        has_names: false,
        user: (HOME, ".codex"),
        file: "config.toml",
        project: ".codex/config.toml",
        needs_trust: true,
        activation: "start codex, enter `/hooks`, and trust the hook; until then it is skipped silently",
    }),
    home_variables: HOME,
    resume: |id, _| Some(format!("codex resume {id}")),
    title_store: TitleStore::Index(&NAMES),
    title_record: Some(|at, title, _| {
        let record = json!({
            "id": at.session_id,
            "thread_name": title.text,
            "updated_at": at.timestamp,
        });
        with_title_source(record, title.source)
    }),
    ..Format::new(Agent::Codex, read, wrote, roots)
};

const HOME: &[&str] = &["CODEX_HOME", "CODEX_SQLITE_HOME"];

/// Types of the bare items in old files.
const ITEMS: &str = "function_call function_call_output custom_tool_call local_shell_call";

fn wrote(row: &Row<'_>) -> bool {
    let has_kind = text(row.kind).is_some();
    has_kind && is_object(row.payload)
        || row.record_type.is_some()
        || !has_kind && row.instructions.is_some() && row.has_id()
        || row.is_any(ITEMS) && row.uuid.is_none()
}

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let home = home_dir(environment, HOME, ".codex");
    let dirs = SESSION_DIRS.iter();
    home.map_or_else(Vec::new, |home| dirs.map(|dir| home.join(dir)).collect())
}
