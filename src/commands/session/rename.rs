//! `session rename`: record a name of a session.

use anyhow::Context;
use clap::Args;

use crate::commands::session::append::{choose_file_systems, to_command_error};
use crate::commands::session::source::SourceArguments;
use crate::commands::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::io::{Io, Moment};
use crate::records::SessionRenamedRecord;
use crate::session::durable::Sync;
use crate::session::record::{ForeignSession, SessionName};
use crate::text::terminal_safe_line;

/// Give a session a name
///
/// Writes the name where the session's own agent reads it: for Claude Code, Qwen Code, Gemini CLI and pi
/// in the session file, for Codex in its index and database. For other agents the name is next to the session,
/// where turnpipe reads it. Put `--` before a name that starts with a
/// dash.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session rename latest 'Fix the parser'")]
pub(crate) struct SessionRenameArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest`
    session: String,
    /// The name, at most 200 characters; control characters are removed
    name: String,
    /// Write to network file systems too; make sure that no other machine writes to the file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    source: SourceArguments,
    #[command(flatten)]
    form: FormArguments,
}

impl Run for SessionRenameArguments {
    reads_sessions!(source);

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let name =
            SessionName::new(&self.name).map_err(|error| UsageError::new(error.to_string()))?;
        let named = self.source.resolve_one(&self.session, io)?;
        let path = named
            .permanent_path()
            .map_err(|error| named.name_error(&error))?;
        let session = named.open().map_err(|error| named.name_error(&error))?;
        let facts = session
            .summary(self.source.file_mapping())
            .with_context(|| format!("cannot read {}", path.display()))?;
        let systems = choose_file_systems(self.force);
        let mut files = ForeignSession::new(&session, &facts, systems, Moment::from_io(io));
        let target = files.rename(&name).map_err(to_command_error)?;
        let session_id = files.session_id();
        files.finish(Sync::Data).map_err(to_command_error)?;
        if self.form.form(io.terminal) == Form::Text {
            let path = terminal_safe_line(&target.display().to_string());
            output::print(io, &format!("{path}: {}\n", name.as_str()))?;
            return Ok(Status::Done);
        }
        let record = SessionRenamedRecord {
            session_id,
            title: name.as_str().to_owned(),
            path: target.display().to_string(),
        };
        output::print_records(&[record], io)?;
        Ok(Status::Done)
    }
}
