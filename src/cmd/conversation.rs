//! The conversations that titles and recaps are about.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;

use super::output::RecordWriter;
use crate::flow::{DialogStream, Digest, Maker, Nothing, Reason, Source};
use crate::jsonl::{AhoCorasickPrefilter, Mapping, Piece, Reader};
use crate::session::{Facts, Scope, Session};

/// A session, read.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) facts: Facts,
    pub(super) digest: Digest,
}

impl Conversation {
    /// Reads the session in the file at `path`.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(path: &Path, mapping: Mapping) -> Result<Self, Nothing> {
        let session = Session::open(path).map_err(unreadable)?;
        let facts = session.summary(mapping).map_err(unreadable)?;
        let digest = digest(&session, Scope::SinceCompaction).map_err(unreadable)?;
        Ok(Self {
            session,
            facts,
            digest,
        })
    }

    /// Makes something of the conversation. Rules also see what was said before a compaction; a
    /// model is given the agent's own summary.
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

/// The outcome for a session that cannot be read or written.
pub(super) fn unreadable(error: impl std::fmt::Display) -> Nothing {
    Nothing::from(Reason::Unreadable).because(error.to_string())
}

fn digest(session: &Session, scope: Scope) -> io::Result<Digest> {
    let mut digest = Digest::default();
    session.each_message(scope, &mut |message| {
        digest.note(message);
        ControlFlow::Continue(())
    })?;
    Ok(digest)
}

/// Reads one conversation from a stream, with the id of its session. If there is a `copy`, the
/// stream is copied to it.
///
/// # Errors
/// Reading or writing failed.
pub(super) fn read_stream(
    stream: impl Read + Send + 'static,
    mut copy: Option<&mut RecordWriter>,
) -> anyhow::Result<(Digest, Option<String>)> {
    let mut conversation = DialogStream::default();
    // Every line may be a message.
    let mut reader = Reader::new(stream, AhoCorasickPrefilter::new(&["{"])?);
    while let Some(piece) = reader.next_piece().context("cannot read standard input")? {
        if let Some(writer) = &mut copy {
            writer.echo(piece.raw())?;
        }
        if let Piece::Line { raw, records, .. } = &piece {
            for record in records {
                conversation.record(record.text(raw));
            }
        }
        if let Some(writer) = &mut copy
            && !reader.holds_a_piece()
        {
            writer.flush()?;
        }
    }
    let session_id = conversation.session_id().map(str::to_owned);
    Ok((conversation.finish(), session_id))
}
