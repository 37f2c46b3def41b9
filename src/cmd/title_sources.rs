//! What `title` and `recap` are about: sessions that were named, a list of sessions on standard
//! input, or one conversation.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::session_source::SourceArguments;
use super::{UsageError, output};
use crate::flow::{DialogStream, Digest, Maker, Nothing, Reason, Source};
use crate::io::{Input, Io};
use crate::jsonl::{AhoCorasickPrefilter, Piece, Reader, Writer};
use crate::session::{Facts, Scope, Session, SessionError};

/// What there is to do.
pub(super) enum Sources {
    /// These sessions.
    Sessions(Vec<Wanted>),
    /// One conversation, which was copied.
    Dialog {
        digest: Box<Digest>,
        session_id: Option<String>,
        writer: Writer<Box<dyn Write + Send>>,
    },
}

/// A session that somebody wants something for.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// Its file.
    File(PathBuf),
    /// It was not found, or cannot be read; why.
    Missing { path: String, error: String },
}

/// Whether a conversation is copied to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    Copied,
    Left,
}

/// A record of `session list`.
#[derive(serde::Deserialize)]
struct ListRecord {
    r#type: String,
    path: String,
    error: Option<String>,
}

/// Finds out what there is to do.
///
/// # Errors
/// A session that was named does not exist, or reading or writing failed.
pub(super) fn sources(
    names: &[String],
    source: &SourceArguments,
    echo: Echo,
    io: &mut Io,
) -> anyhow::Result<Sources> {
    if !names.is_empty() && names != ["-"] {
        let wanted = names.iter().map(|name| match source.find(name, io) {
            Ok(path) => Wanted::File(path),
            Err(error) => Wanted::Missing {
                path: name.clone(),
                error: error.to_string(),
            },
        });
        let wanted: Vec<Wanted> = wanted.collect();
        if let [Wanted::Missing { path, error }] = wanted.as_slice() {
            return Err(UsageError::new(format!("session {path}: {error}"))
                .with_hint("`turnpipe session list` shows what there is")
                .into());
        }
        return Ok(Sources::Sessions(wanted));
    }
    let stdin = std::mem::replace(&mut io.stdin, Input::Closed);
    let mut stdin = BufReader::new(stdin);
    if begins_a_list(stdin.fill_buf().context("cannot read input")?) {
        return list(stdin);
    }
    dialog(stdin, echo, io)
}

/// Whether the first line is a record of `session list`. The first line of a list is short.
fn begins_a_list(start: &[u8]) -> bool {
    let line = start
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty())
        .unwrap_or_default();
    let record: Option<ListRecord> = serde_json::from_slice(line).ok();
    record.is_some_and(|record| is_listed(&record.r#type))
}

fn is_listed(kind: &str) -> bool {
    matches!(kind, "session" | "session_error")
}

fn list(stdin: impl BufRead) -> anyhow::Result<Sources> {
    let mut wanted = Vec::new();
    for line in stdin.lines() {
        let line = line.context("cannot read input")?;
        if line.trim().is_empty() {
            continue;
        }
        wanted.push(match serde_json::from_str::<ListRecord>(&line) {
            Ok(record) if is_listed(&record.r#type) => match record.error {
                None => Wanted::File(record.path.into()),
                Some(error) => Wanted::Missing {
                    path: record.path,
                    error,
                },
            },
            _ => Wanted::Missing {
                path: String::new(),
                error: "not a record of `session list`".to_owned(),
            },
        });
    }
    Ok(Sources::Sessions(wanted))
}

fn dialog(stdin: impl Read + Send + 'static, echo: Echo, io: &mut Io) -> anyhow::Result<Sources> {
    let mut writer = output::record_writer(io)?;
    let mut stream = DialogStream::default();
    // Every line may be a message.
    let mut reader = Reader::new(stdin, AhoCorasickPrefilter::new(&["{"])?);
    while let Some(piece) = reader.next_piece().context("cannot read input")? {
        if echo == Echo::Copied {
            writer.echo(piece.raw())?;
        }
        if let Piece::Line { raw, records, .. } = &piece {
            for record in records {
                stream.record(record.text(raw));
            }
        }
        if echo == Echo::Copied && !reader.holds_a_piece() {
            writer.flush()?;
        }
    }
    let session_id = stream.session_id().map(str::to_owned);
    Ok(Sources::Dialog {
        digest: Box::new(stream.finish()),
        session_id,
        writer,
    })
}

/// A session, read.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) facts: Facts,
    pub(super) digest: Digest,
}

/// Reads a session.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path, source: &SourceArguments) -> Result<Conversation, Nothing> {
    let unreadable = |error: String| Nothing::from(Reason::Unreadable).because(error);
    let session =
        Session::open(path).map_err(|error: SessionError| unreadable(error.to_string()))?;
    let facts = session
        .summary(source.mapping())
        .map_err(|error| unreadable(error.to_string()))?;
    let digest =
        digest(&session, Scope::SinceCompaction).map_err(|error| unreadable(error.to_string()))?;
    Ok(Conversation {
        session,
        facts,
        digest,
    })
}

impl Conversation {
    /// Makes something of the conversation. Rules also see what was said before a compaction; a
    /// model is given what the agent summed up.
    ///
    /// # Errors
    /// There is nothing to make it of.
    pub(super) fn make<Made>(
        &self,
        maker: &Maker,
        of: impl Fn(&Digest) -> Result<Made, Nothing>,
    ) -> Result<Made, Nothing> {
        if !matches!(maker.source, Source::Rules) || !self.digest.is_compacted() {
            return of(&self.digest);
        }
        match digest(&self.session, Scope::AllBranches) {
            Ok(everything) => of(&everything.followed_by(&self.digest)),
            Err(_) => of(&self.digest),
        }
    }
}

fn digest(session: &Session, scope: Scope) -> std::io::Result<Digest> {
    let mut digest = Digest::default();
    session.each_message(scope, &mut |message| {
        digest.note(message);
        ControlFlow::Continue(())
    })?;
    Ok(digest)
}
