//! `session rename`: gives a session a name that its own agent shows.

use anyhow::Context;
use clap::Args;

use super::command::Run;
use super::session_source::SourceArguments;
use super::{Globals, Outcome, UsageError, output};
use crate::io::Io;
use crate::session::durable::{FileSystems, LockedFile, Presence, Sync};
use crate::session::record::{RenameFacts, SessionName, follow_file, name_file, name_record};
use crate::wire::SessionId;
use crate::wire::records::SessionRenamedRecord;

/// Give a session a name
///
/// Appends the record that the session's own agent reads its name from: for Claude Code and Qwen
/// Code in the session file, for Codex in its index. Put `--` before a name that begins with a dash.
#[derive(Debug, Args)]
pub(super) struct SessionRenameArguments {
    /// A file, an id or the beginning of one, a title, or `latest`
    #[arg(value_name = "SESSION")]
    session: String,
    /// The name; control characters are removed, at most 200 characters
    #[arg(value_name = "NAME")]
    name: String,
    /// Write to network file systems too; make sure that no other machine writes to the file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    source: SourceArguments,
}

impl Run for SessionRenameArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let name =
            SessionName::new(&self.name).map_err(|error| UsageError::new(error.to_string()))?;
        let named = self.source.one(&self.session, io)?;
        let path = named.lasting_path().map_err(|error| named.named(&error))?;
        let session = named.open().map_err(|error| named.named(&error))?;
        let agent = session.agent();
        let Some(target) = name_file(agent, path) else {
            let problem = format!("{}: {} keeps no names there", path.display(), agent.name());
            return Err(UsageError::new(problem).into());
        };
        let facts = session
            .summary(self.source.mapping())
            .with_context(|| format!("cannot read {}", path.display()))?;
        let Some(session_id) = facts.session_id else {
            let problem = format!("{}: names no session id", path.display());
            return Err(UsageError::new(problem).into());
        };
        let presence = if target.as_path() == path {
            Presence::Required
        } else {
            Presence::CreatedIfMissing
        };
        let systems = if self.force {
            FileSystems::Any
        } else {
            FileSystems::Local
        };
        let file = LockedFile::open_on(&target, presence, systems)
            .map_err(|error| UsageError::new(error.to_string()))?;
        let chain =
            follow_file(&file).with_context(|| format!("cannot read {}", target.display()))?;
        let facts = RenameFacts {
            session_id: session_id.clone(),
            directory: facts.cwd,
            uuid: io.ids.uuid().to_string(),
            timestamp: format!("{:.3}", io.clock.now()),
        };
        if let Some(record) = name_record(agent, &name, &facts, &chain) {
            file.append(&record)
                .with_context(|| format!("cannot write {}", target.display()))?;
            file.finish(Sync::Data)
                .with_context(|| format!("cannot write {}", target.display()))?;
        }
        let mut writer = output::record_writer(io)?;
        writer.record(&SessionRenamedRecord {
            session_id: SessionId(session_id),
            title: name.as_str().to_owned(),
            path: target.display().to_string(),
        })?;
        writer.flush()?;
        Ok(Outcome::Done)
    }
}
