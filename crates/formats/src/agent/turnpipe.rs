//! Agents built with turnpipe, whose sessions are where their users put them. The records have the form of Claude Code,
//! with a member `turnpipe`.

use super::Agent;
use super::claude::read;
use super::claude_edits::read_change;
use super::claude_lines::classify;
use super::content::{COMPRESSED, read_uuid_link};
use super::counting::{IdScope, TokenCounting};
use super::format::Format;
use super::layout::Layout;
use super::own_record::{new_claude_title, new_recap};
use super::reading::{Reading, Shape};
use super::sign::Row as Marks;
use super::title::Precedence;
use super::title_format::{TitleFormat, TitleStore};
use turnpipe_core::json::{is_object, text};

/// The format of the sessions that turnpipe writes.
pub(super) static TURNPIPE: Format = Format {
    reading: Reading {
        shape: Shape::Tree,
        classify,
        read_link: read_uuid_link,
        read_edits: |record, _| read_change(record).into_iter().collect(),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        resume: |_, path| {
            let is_compressed = path.extension().is_some_and(|end| end == COMPRESSED);
            let path = std::path::absolute(path).ok().filter(|_| !is_compressed)?;
            let path = shlex::try_quote(path.to_str()?).ok()?;
            Some(format!("turnpipe turn --session {path}"))
        },
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["-title\"", "\"summary\""],
        precedence: Precedence::Manual,
        store: TitleStore::SessionFile,
        new_title: Some(new_claude_title),
        new_recap: Some(|at, text| new_recap(at, text.into())),
        ..TitleFormat::NONE
    },
    ..Format::new(Agent::Turnpipe, read, has_marks)
};

fn has_marks(row: &Marks<'_>) -> bool {
    is_object(row.turnpipe) && text(row.session).is_some() && row.uuid.is_some()
}
