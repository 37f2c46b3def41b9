//! The conversations that titles and recaps are about.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;

use crate::assemble::Understanding;
use crate::cmd::output::RecordWriter;
use crate::flow::{DialogStream, Excerpt, Maker, NoResult, Reason, Source};
use crate::jsonl::{Mapping, Prefilter, Reader};
use crate::message::Message;
use crate::session::{Facts, Scope, Session};

/// A session, read.
pub(crate) struct Conversation {
    pub(crate) session: Session,
    pub(crate) facts: Facts,
    pub(crate) excerpt: Excerpt,
}

impl Conversation {
    /// Reads the session in the file at `path`.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn read(path: &Path, mapping: Mapping) -> Result<Self, NoResult> {
        let session = Session::open(path).map_err(unreadable)?;
        let facts = session.summary(mapping).map_err(unreadable)?;
        let excerpt = excerpt(&session, Scope::SinceCompaction).map_err(unreadable)?;
        Ok(Self {
            session,
            facts,
            excerpt,
        })
    }

    /// Makes something of the conversation. Rules also see what was said before a compaction; a
    /// model is given the agent's own summary.
    ///
    /// # Errors
    /// There is nothing to make it of.
    pub(crate) fn make<Made>(
        &self,
        maker: &Maker,
        of: impl Fn(&Excerpt) -> Result<Made, NoResult>,
    ) -> Result<Made, NoResult> {
        if !matches!(maker.source, Source::Rules) || !self.excerpt.is_compacted() {
            return of(&self.excerpt);
        }
        match excerpt(&self.session, Scope::AllBranches) {
            Ok(everything) => of(&everything.followed_by(&self.excerpt)),
            Err(_) => of(&self.excerpt),
        }
    }
}

/// The outcome for a session that cannot be read or written.
pub(crate) fn unreadable(error: impl std::fmt::Display) -> NoResult {
    NoResult::from(Reason::Unreadable).because(error.to_string())
}

fn excerpt(session: &Session, scope: Scope) -> io::Result<Excerpt> {
    let mut excerpt = Excerpt::default();
    session.each_message(scope, &mut |message| {
        excerpt.note(message);
        ControlFlow::Continue(())
    })?;
    Ok(excerpt)
}

/// A conversation that came on a stream.
pub(crate) struct StreamedConversation {
    pub(crate) excerpt: Excerpt,
    pub(crate) session_id: Option<String>,
    pub(crate) understanding: Understanding,
}

/// Reads one conversation from a stream. If there is a `copy`, the stream is copied to it.
///
/// # Errors
/// Reading or writing failed.
pub(crate) fn read_stream(
    stream: impl Read + Send + 'static,
    copy: Option<&mut RecordWriter>,
) -> anyhow::Result<StreamedConversation> {
    let mut excerpt = Excerpt::default();
    let mut note = |message| excerpt.note(message);
    let (conversation, mut understanding) = read_messages(stream, copy, &mut |_| (), &mut note)?;
    if excerpt.messages() > 0 {
        understanding = Understanding::Something;
    }
    Ok(StreamedConversation {
        excerpt,
        session_id: conversation.session_id().map(str::to_owned),
        understanding,
    })
}

/// The same, with all records and all messages.
///
/// # Errors
/// Reading or writing failed.
pub(crate) fn read_messages(
    stream: impl Read + Send + 'static,
    mut copy: Option<&mut RecordWriter>,
    seen: &mut dyn FnMut(&str),
    taken: &mut dyn FnMut(Message),
) -> anyhow::Result<(DialogStream, Understanding)> {
    let mut conversation = DialogStream::default();
    let mut understanding = Understanding::default();
    // Every line may be a message.
    let mut reader = Reader::new(stream, Prefilter::new(&["{"])?);
    while let Some(piece) = reader.next_piece().context("cannot read standard input")? {
        understanding.note(piece.raw(), &[]);
        if let Some(writer) = &mut copy {
            writer.echo(piece.raw())?;
        }
        for record in piece.records().0 {
            let text = record.text(piece.raw());
            seen(text);
            conversation.record(text, taken);
        }
        if let Some(writer) = &mut copy
            && !reader.holds_a_piece()
        {
            writer.flush()?;
        }
    }
    conversation.finish(taken);
    Ok((conversation, understanding))
}
