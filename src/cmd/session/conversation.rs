//! Conversations on standard input.

use std::io::Read;

use anyhow::Context;

use crate::assemble::DialogStream;
use crate::assemble::Understanding;
use crate::cmd::output::RecordWriter;
use crate::jsonl::{Prefilter, Reader};
use crate::message::Message;
use crate::side::Excerpt;

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
            && !reader.has_piece()
        {
            writer.flush()?;
        }
    }
    conversation.finish(taken);
    Ok((conversation, understanding))
}
