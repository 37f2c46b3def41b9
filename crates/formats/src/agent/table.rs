//! The formats of all agents.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::Agent;
use super::atif::ATIF;
use super::claude::CLAUDE;
use super::codex::CODEX;
use super::copilot::COPILOT;
use super::cursor::CURSOR;
use super::database::SessionDatabase;
use super::droid::DROID;
use super::format::Format;
use super::gemini::{GEMINI, find_project_root};
use super::goose::GOOSE;
use super::kimi::KIMI;
use super::layout::SubagentFiles;
use super::opencode::OPENCODE;
use super::pi::PI;
use super::qwen::QWEN;
use super::sign::Row;
use super::stream_formats::{detect_stream, new_printed_format, read_printed_agent};
use super::turnpipe::TURNPIPE;
use turnpipe_core::io::Environment;

/// The formats in matching order. Later ones match more loosely.
const FORMATS: [&Format; Agent::ALL.len()] = [
    &ATIF, &KIMI, &COPILOT, &OPENCODE, &GOOSE, &DROID, &CODEX, &PI, &GEMINI, &QWEN, &TURNPIPE,
    &CLAUDE, &CURSOR,
];

/// The formats of what `session show` prints.
static PRINTED: LazyLock<[Format; FORMATS.len()]> =
    LazyLock::new(|| FORMATS.map(new_printed_format));

impl Agent {
    /// Returns the format of its session files.
    pub fn format(self) -> &'static Format {
        let mut formats = FORMATS.into_iter();
        formats
            .find(|format| format.agent == self)
            .unwrap_or(&CLAUDE)
    }

    /// Returns the directories with sessions in a home of the agent, which its variable would name.
    pub fn list_roots(self, home: &Path) -> Vec<PathBuf> {
        let layout = &self.format().layout;
        let Some(variable) = layout.home_variables.first() else {
            let dirs = layout.session_dirs.iter();
            return dirs.map(|dir| home.join(dir)).collect();
        };
        (layout.roots)(layout, &[(*variable, home)].into_iter().collect())
    }

    /// Returns the directory of a session whose records contain only a hash of it. Reads a file near the
    /// session.
    pub fn find_directory(self, session: &Path) -> Option<String> {
        match self {
            Self::Gemini => find_project_root(session),
            _ => None,
        }
    }

    /// Returns the shell command that resumes the session with this id in this file, to be run in the
    /// session's directory. `None` if the id could be mistaken for an option or for shell syntax. Forks of an
    /// agent have their own commands.
    pub fn resume_command(self, id: &str, path: &Path) -> Option<String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if id.is_empty() || id.starts_with('-') || !id.bytes().all(is_plain) {
            return None;
        }
        (self.format().layout.resume)(id, path)
    }
}

/// Whether a directory has the settings of an agent whose permission rules turnpipe reads, by its name.
pub fn has_permission_settings(directory: &Path) -> bool {
    let formats = [&CLAUDE, &QWEN].into_iter();
    formats
        .map(|format| format.layout.home)
        .any(|home| directory.ends_with(home))
}

/// Returns the format of the files that turnpipe writes itself.
pub fn own_format() -> &'static Format {
    &TURNPIPE
}

/// Returns the format of the lines of a trajectory.
pub fn trajectory_format() -> &'static Format {
    &ATIF
}

/// Returns the format of the file or stream that a record belongs to, if the record shows it.
pub fn detect_format(record: &str) -> Option<&'static Format> {
    let row = Row::read(record)?;
    let format = FORMATS.iter().find(|one| (one.has_marks)(&row)).copied();
    let printed = || {
        let agent = read_printed_agent(record)?;
        PRINTED.iter().find(|format| format.agent == agent)
    };
    format.or_else(|| detect_stream(record)).or_else(printed)
}

/// Whether a file is of a subagent, by its path, and never a session of its own.
pub fn is_subagent_file(path: &Path) -> bool {
    subagent_file_patterns().any(|files| files.contains(path))
}

/// Returns the id of the subagent with this file, if it is never a session of its own.
pub fn find_subagent_id(path: &Path) -> Option<String> {
    let files = subagent_file_patterns().find(|files| files.contains(path))?;
    (files.id)(path)
}

/// Whether a session is in the directory of its subagents.
pub fn is_among_subagents(session: &Path) -> bool {
    let mut directories = subagent_file_patterns().filter_map(|files| (files.directory)(session));
    directories.any(|directory| session.starts_with(directory))
}

fn subagent_file_patterns() -> impl Iterator<Item = &'static SubagentFiles> {
    let files = FORMATS
        .iter()
        .filter_map(|format| format.layout.subagent_files());
    files.filter(|files| files.is_reserved)
}

/// Returns the rows of a session that is a single JSON document, with the format of these rows.
pub fn read_document(json: &str) -> Option<(&'static Format, Vec<String>)> {
    FORMATS.iter().find_map(|format| {
        let rows = (format.reading.document?)(json)?;
        Some((*format, rows))
    })
}

/// Opens a database with sessions of an agent.
///
/// # Errors
/// The database cannot be read, or is not of a known agent.
pub fn open_database(path: &Path) -> io::Result<SessionDatabase> {
    let formats = FORMATS.iter();
    SessionDatabase::open(path, formats.filter_map(|format| format.reading.database))
}

/// A directory to search for session files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The agent whose files are there, or `None` for any agent.
    pub agent: Option<Agent>,
    /// The directory, or a single file.
    pub path: PathBuf,
}

/// Returns the directories with the sessions of all agents, whether they exist or not. Without a home
/// directory, only the directories that variables name.
pub fn list_session_roots(environment: &Environment) -> Vec<Root> {
    let roots = Agent::ALL.into_iter().flat_map(|agent| {
        let format = agent.format();
        let paths = (format.layout.roots)(&format.layout, environment).into_iter();
        paths.map(move |path| Root {
            agent: Some(agent),
            path,
        })
    });
    roots.collect()
}

/// Whether a record belongs to a file of this format.
pub fn is_record_of(format: &Format, record: &str) -> bool {
    Row::read(record).is_some_and(|row| (format.has_marks)(&row))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::agent::{Detail, ManualTitle, NewRecord, Title, TitleSource};

    const NEW: NewRecord<'_> = NewRecord {
        session_id: "s",
        directory: "/w",
        branch: None,
        parent: Some("last"),
        uuid: "00000000-0000-4000-8000-000012345678",
        timestamp: "2026-01-02T03:04:05.000Z",
    };

    #[test]
    fn agents_read_the_titles_that_are_written_for_them() {
        for (source, manual_title) in [
            (TitleSource::Manual, ManualTitle::Keep),
            (TitleSource::Auto, ManualTitle::Keep),
            (TitleSource::Auto, ManualTitle::Supersede),
        ] {
            let title = Title {
                text: "Fix it".to_owned(),
                source,
            };
            for agent in [Agent::Claude, Agent::Qwen, Agent::Gemini, Agent::Pi] {
                let create = agent.format().titles.new_title.unwrap();
                let line = create(&NEW, &title, manual_title).to_string();
                let read = agent.format().read(&line, Detail::Outline).unwrap();
                assert_eq!(read.title.unwrap().title, title, "{line}");
            }
        }
    }

    #[test]
    fn new_records_continue_the_last_one() {
        let title = Title {
            text: "Fix it".to_owned(),
            source: TitleSource::Manual,
        };
        for (agent, parent) in [(Agent::Qwen, "parentUuid"), (Agent::Pi, "parentId")] {
            let create = agent.format().titles.new_title.unwrap();
            assert_eq!(create(&NEW, &title, ManualTitle::Keep)[parent], "last");
        }
        for agent in [Agent::Claude, Agent::Qwen] {
            let record: Value = agent.format().titles.new_recap.unwrap()(&NEW, "It was fixed.");
            let messages = agent.format().messages(&record.to_string());
            assert_eq!(messages[0].text(), "It was fixed.");
            assert_eq!(record["parentUuid"], "last");
        }
    }

    /// A title, a recap or a label is not activity.
    #[test]
    fn annotations_have_no_time_of_activity() {
        let title = Title {
            text: "Fix it".to_owned(),
            source: TitleSource::Auto,
        };
        for agent in Agent::ALL {
            let format = agent.format();
            let title = format
                .titles
                .new_title
                .map(|create| create(&NEW, &title, ManualTitle::Keep));
            let recap = format.titles.new_recap.map(|create| create(&NEW, "Fixed."));
            for record in title.into_iter().chain(recap) {
                let entry = format.read(&record.to_string(), Detail::Full).unwrap();
                if agent != Agent::Codex {
                    assert_eq!(entry.facts.last_activity, None, "{record}");
                }
            }
        }
    }

    #[test]
    fn resume_commands_are_safe_for_a_shell() {
        let path = Path::new("/x y/s.jsonl");
        let rows = [
            (Agent::Claude, "5e55-1", Some("claude --resume 5e55-1")),
            (Agent::Qwen, "5e55-1", Some("qwen --resume 5e55-1")),
            (Agent::Codex, "5e55-1", Some("codex resume 5e55-1")),
            (Agent::Gemini, "5e55-1", Some("gemini --resume 5e55-1")),
            (Agent::Pi, "5e55-1", Some("pi --session '/x y/s.jsonl'")),
            (Agent::Claude, "", None),
            (Agent::Claude, "--dangerously-skip-permissions", None),
            (Agent::Claude, "x; rm -rf ~", None),
            (Agent::Claude, "x\u{1b}[2J", None),
        ];
        for (agent, id, command) in rows {
            assert_eq!(agent.resume_command(id, path).as_deref(), command, "{id}");
        }
        assert_eq!(Agent::Pi.resume_command("5e55-1", Path::new("-")), None);
    }

    #[test]
    fn each_agent_is_recognised_by_its_records() {
        let rows = [
            (
                r#"{"type":"session_meta","payload":{"id":"x"}}"#,
                Some(Agent::Codex),
            ),
            (
                r#"{"id":"x","timestamp":"t","instructions":null}"#,
                Some(Agent::Codex),
            ),
            (r#"{"record_type":"state"}"#, Some(Agent::Codex)),
            (r#"{"schema_version":"ATIF-v1.5"}"#, Some(Agent::Atif)),
            (r#"{"schema_version":"ATIF-v2.0"}"#, None),
            (
                r#"{"type":"session.start","data":{"sessionId":"x"},"id":"e","parentId":null}"#,
                Some(Agent::Copilot),
            ),
            (
                r#"{"type":"abort","data":{},"id":"e","parentId":"d"}"#,
                None,
            ),
            (
                r#"{"type":"session_start","id":"x","title":"t","cwd":"/"}"#,
                Some(Agent::Droid),
            ),
            (
                r#"{"info":{"id":"ses_x","slug":"s"}}"#,
                Some(Agent::Opencode),
            ),
            (
                r#"{"role":"user","message":{"content":[]}}"#,
                Some(Agent::Cursor),
            ),
            (
                r#"{"type":"metadata","protocol_version":"1.5","created_at":1}"#,
                Some(Agent::Kimi),
            ),
            (r#"{"type":"metadata","protocol_version":"1.5"}"#, None),
            (
                r#"{"type":"session","version":3,"id":"x","cwd":"/"}"#,
                Some(Agent::Pi),
            ),
            (
                r#"{"sessionId":"x","projectHash":"y"}"#,
                Some(Agent::Gemini),
            ),
            (r#"{"$set":{}}"#, Some(Agent::Gemini)),
            (
                r#"{"uuid":"u","type":"user","message":{"parts":[]}}"#,
                Some(Agent::Qwen),
            ),
            (
                r#"{"type":"summary","summary":"s","leafUuid":"u"}"#,
                Some(Agent::Claude),
            ),
            (
                r#"{"type":"user","parentUuid":null,"message":{"content":"x"}}"#,
                Some(Agent::Claude),
            ),
            (
                r#"{"type":"user","message":{"content":"x"},"session_id":"s"}"#,
                None,
            ),
            (
                r#"{"type":"system","subtype":"init","session_id":"s"}"#,
                Some(Agent::Claude),
            ),
            (
                r#"{"type":"system","subtype":"init","qwen_code_version":"1"}"#,
                Some(Agent::Qwen),
            ),
            (
                r#"{"type":"thread.started","thread_id":"t"}"#,
                Some(Agent::Codex),
            ),
            (
                r#"{"type":"init","session_id":"s","model":"m"}"#,
                Some(Agent::Gemini),
            ),
            (
                r#"{"type":"step_start","sessionID":"s","part":{}}"#,
                Some(Agent::Opencode),
            ),
            (r#"{"type":"agent_start"}"#, Some(Agent::Pi)),
            (
                r#"{"id":"1","timestamp":"2026-01-01T10:00:01Z","type":"user","content":[{"text":"x"}]}"#,
                Some(Agent::Gemini),
            ),
            (
                r#"{"type":"user","uuid":"u","sessionId":"s","message":{"content":"x"},"turnpipe":{"v":1}}"#,
                Some(Agent::Turnpipe),
            ),
            (r#"{"v":1}"#, None),
            ("7", None),
        ];
        for (record, agent) in rows {
            let found = detect_format(record);
            assert_eq!(found.map(|format| format.agent), agent, "{record}");
        }
    }

    fn paths(pairs: &[(&str, &str)]) -> Vec<String> {
        let environment = pairs.iter().copied().collect();
        let roots = list_session_roots(&environment).into_iter();
        roots.map(|root| root.path.display().to_string()).collect()
    }

    #[test]
    fn variables_take_precedence_over_the_home_directory() {
        assert!(paths(&[]).is_empty());
        let usual = paths(&[("HOME", "/h")]);
        for dir in [".config/claude/projects", ".codex/archived_sessions"] {
            assert!(usual.contains(&format!("/h/{dir}")), "{usual:?}");
        }
        assert_eq!(
            paths(&[
                ("CLAUDE_CONFIG_DIR", "/a, /b"),
                ("QWEN_HOME", "/q"),
                ("QWEN_RUNTIME_DIR", "/r"),
                ("GEMINI_CLI_HOME", "/g"),
                ("XDG_DATA_HOME", "/d"),
            ]),
            [
                "/a/projects",
                "/b/projects",
                "/r/projects",
                "/g/.gemini/tmp",
                "/d/opencode/opencode.db",
                "/d/goose/sessions/sessions.db"
            ]
        );
        assert!(
            paths(&[("GOOSE_PATH_ROOT", "/o"), ("XDG_DATA_HOME", "/d")])
                .contains(&"/o/data/sessions/sessions.db".to_owned())
        );
    }
}
