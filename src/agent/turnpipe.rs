//! Agents built with turnpipe, whose sessions are where their users put them. The records have the form of Claude Code,
//! with a member `turnpipe`.

use super::Agent;
use super::claude::read;
use super::claude_edits::change;
use super::claude_lines::line_class;
use super::content::{COMPRESSED, uuid_link};
use super::format::{Format, IdScope, Shape, TitleStore};
use super::own_record::{recap, title_record};
use super::sign::Row as Marks;
use super::title::Precedence;
use crate::json::{is_object, text};

/// The format of the sessions that turnpipe writes.
pub(super) static TURNPIPE: Format = Format {
    shape: Shape::Tree,
    title_words: &["-title\"", "\"summary\""],
    title_precedence: Precedence::Manual,
    line_class,
    ids: IdScope::Global,
    resume: |_, path| {
        let is_compressed = path.extension().is_some_and(|end| end == COMPRESSED);
        let path = std::path::absolute(path).ok().filter(|_| !is_compressed)?;
        let path = shlex::try_quote(path.to_str()?).ok()?;
        Some(format!("turnpipe turn --session {path}"))
    },
    title_store: TitleStore::SessionFile,
    title_record: Some(title_record),
    recap_record: Some(|at, text| recap(at, text.into())),
    link: uuid_link,
    edits: |record, _| change(record).into_iter().collect(),
    ..Format::new(Agent::Turnpipe, read, wrote)
};

fn wrote(row: &Marks<'_>) -> bool {
    is_object(row.turnpipe) && text(row.session).is_some() && row.uuid.is_some()
}
