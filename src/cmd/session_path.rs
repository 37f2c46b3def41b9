//! `session path`: where a session is.

use clap::Args;

use super::session_source::{ListForm, SourceArguments, not_found};
use super::{Outcome, output};
use crate::io::Io;
use crate::session::Session;
use crate::wire::SessionId;
use crate::wire::records::SessionPathRecord;

/// Print the files of sessions
///
/// As lines of text, or with `-o jsonl` as records, which tell the title too.
#[derive(Debug, Args)]
pub(super) struct SessionPathArguments {
    /// Sessions: ids, beginnings of ids, titles, or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// What to print
    #[arg(
        short,
        long,
        value_enum,
        default_value = "text",
        hide_default_value = false,
        value_name = "FORM"
    )]
    output: ListForm,
}

impl SessionPathArguments {
    /// Prints them.
    ///
    /// # Errors
    /// There is no such session, or writing failed.
    pub(super) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        let mut found = Vec::new();
        for name in &self.sessions {
            let path = self.source.find(name, io);
            found.push(path.map_err(|error| not_found(name, &error))?);
        }
        let mut writer = output::record_writer(io)?;
        for path in found {
            match self.output {
                ListForm::Text => {
                    use std::os::unix::ffi::OsStrExt;
                    writer.echo(path.as_os_str().as_bytes())?;
                    writer.echo(b"\n")?;
                }
                ListForm::Jsonl => {
                    let session = Session::open(&path).ok();
                    let mapping = self.source.mapping();
                    let readable = session.as_ref();
                    let id = readable.and_then(|session| session.id(mapping).ok().flatten());
                    let title = readable.and_then(|session| session.title(mapping).ok());
                    let (title, source) = title
                        .flatten()
                        .map(|title| (title.text, title.source.name().to_owned()))
                        .unzip();
                    writer.record(&SessionPathRecord {
                        session_id: id.map(SessionId),
                        agent: session.map(|session| session.agent().name().to_owned()),
                        path: path.display().to_string(),
                        title,
                        title_source: source,
                    })?;
                }
            }
        }
        writer.flush()?;
        Ok(Outcome::Done)
    }
}
