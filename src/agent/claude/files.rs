//! Format and locations of Claude Code's files.

use std::path::{Path, PathBuf};

use super::line_class::line_class;
use super::own_record::{recap, title_record};
use super::record::read;
use crate::agent::Agent;
use crate::agent::content::{beside_session, is_unique_id, session_stem, uuid_link};
use crate::agent::format::{Format, Shape, TitleStore};
use crate::agent::hook_settings::{HookSettings, SettingsSyntax};
use crate::agent::sign::Row;
use crate::agent::title::{Precedence, TitleSearch};
use crate::io::Environment;
use crate::json::text;

/// The format of Claude Code.
pub(in crate::agent) static CLAUDE: Format = Format {
    shape: Shape::Tree,
    titles: TitleSearch {
        words: &["-title\"", "\"summary\""],
        precedence: Precedence::Manual,
    },
    cost_words: &[
        "\"assistant\"",
        "\"usage\"",
        "\"searchCount\"",
        "\"cost-state\"",
    ],
    activity_words: &[
        "\"assistant\"",
        "\"usage\"",
        "\"searchCount\"",
        "\"cost-state\"",
        "\"user\"",
        "\"queued_command\"",
    ],
    line_class,
    has_global_ids: true,
    hook_settings: Some(HookSettings {
        syntax: SettingsSyntax::Json,
        hooks: &[("PreToolUse", "pre-tool-use")],
        timeout: 10,
        has_names: false,
        user: (HOME, ".claude"),
        file: "settings.json",
        project: ".claude/settings.json",
        needs_trust: false,
        activation: "new sessions use it; `/hooks` lists it",
    }),
    home_variables: HOME,
    subagent_dir: |session| Some(beside_session(session, "")?.join("subagents")),
    belongings: |session, _| {
        let Some(dir) = beside_session(session, "") else {
            return Vec::new();
        };
        if session_stem(session).is_some_and(is_unique_id) {
            return vec![dir];
        }
        ["subagents", "tool-results", "workflows"]
            .map(|name| dir.join(name))
            .into()
    },
    retention: Some(("cleanupPeriodDays", 30)),
    resume: |id, _| Some(format!("claude --resume {id}")),
    title_store: TitleStore::SessionFile,
    title_record: Some(title_record),
    recap_record: Some(|at, text| recap(at, text.into())),
    link: uuid_link,
    ..Format::new(Agent::Claude, read, wrote, roots)
};

/// Variables that name the directory of Claude Code.
const HOME: &[&str] = &["CLAUDE_CONFIG_DIR"];

/// Types of records that only Claude Code writes.
const KINDS: &str = "agent-name ai-title attachment bridge-session custom-title \
    continued-in cost-state file-history-delta file-history-snapshot last-prompt mode permission-mode pr-link progress \
    queue-operation relocated summary worktree-state";

fn wrote(row: &Row<'_>) -> bool {
    if row.is_any(KINDS) {
        return true;
    }
    let has_content = row.message.is_some_and(|message| message.content.is_some());
    let is_marked = row.parent.is_some() || row.session.is_some() || row.time.is_some();
    row.is_any("user assistant system")
        && is_marked
        && (has_content || row.is("system") && text(row.session).is_some())
}

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let homes: Vec<PathBuf> = if let Some(list) = environment.text(HOME[0]) {
        let paths = list.split(',').map(str::trim);
        let paths = paths.filter(|path| !path.is_empty());
        paths.map(PathBuf::from).collect()
    } else {
        let home = environment.text("HOME").map(Path::new);
        let config = match environment.text("XDG_CONFIG_HOME") {
            Some(path) => Some(PathBuf::from(path)),
            None => home.map(|home| home.join(".config")),
        };
        let homes = [
            home.map(|home| home.join(".claude")),
            config.map(|config| config.join("claude")),
        ];
        homes.into_iter().flatten().collect()
    };
    homes
        .into_iter()
        .map(|home| home.join("projects"))
        .collect()
}
