//! `session path`: the files of sessions.

use clap::Args;

use crate::cmd::session::source::{SelectionArguments, SourceArguments};
use crate::cmd::{Form, Globals, InputErrors, Run, Status, output};
use crate::io::Io;
use crate::message::SessionId;
use crate::records::SessionPathRecord;

/// Print the files of sessions
///
/// Prints one path per line, or with `-o jsonl` records that include the title.
#[derive(Debug, Args)]
pub(crate) struct SessionPathArguments {
    /// Sessions: paths, ids or their prefixes, titles, or `latest` [default: all selected sessions]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    selection: SelectionArguments,
    /// The output form
    #[arg(
        short,
        long,
        value_enum,
        default_value = "text",
        hide_default_value = false,
        value_name = "FORM"
    )]
    output: Form,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

impl Run for SessionPathArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.selection.matching.source)
    }

    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let form = if self.json { Form::Jsonl } else { self.output };
        let mut errors = InputErrors::new(&io.messages);
        let sessions = self.selection.named(&self.sessions, io)?;
        let mut writer = output::writer(form, io)?;
        for named in &sessions {
            let opened = named
                .lasting_path()
                .and_then(|path| Ok((path, named.open()?)));
            let (path, session) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    errors.record_session(named, form, &error, &mut writer)?;
                    continue;
                }
            };
            match form {
                Form::Text => {
                    use std::os::unix::ffi::OsStrExt;
                    writer.echo(path.as_os_str().as_bytes())?;
                    writer.echo(b"\n")?;
                }
                Form::Jsonl => {
                    let mapping = self.selection.matching.source.mapping();
                    let id = session
                        .first_facts(mapping)
                        .ok()
                        .and_then(|facts| facts.session_id);
                    let title = session.title(mapping).ok().flatten();
                    let (title, source) = title
                        .map(|title| (title.text, title.source.name().to_owned()))
                        .unzip();
                    writer.record(&SessionPathRecord {
                        session_id: id.map(SessionId),
                        agent: Some(session.agent().name().to_owned()),
                        path: path.display().to_string(),
                        title,
                        title_source: source,
                        resume: None,
                        matches: None,
                    })?;
                }
            }
        }
        writer.flush()?;
        Ok(errors.outcome(Status::Done))
    }
}
