//! The format of opencode, and where its database is.

use std::path::{Path, PathBuf};

use super::record::read;
use crate::agent::Agent;
use crate::agent::detect::Row;
use crate::agent::format::{Format, LineClass, Shape, TitleStore};
use crate::agent::title::{Precedence, TitleSearch};
use crate::io::Environment;
use crate::json::{elements, is_object, object};

/// The format of opencode.
pub(in crate::agent) static OPENCODE: Format = Format {
    agent: Agent::Opencode,
    shape: Shape::Sequence,
    titles: TitleSearch {
        words: &["\"slug\""],
        precedence: Precedence::Later,
    },
    cost_words: &[],
    activity_words: &[],
    line_class: |_| LineClass::Anything,
    read,
    wrote: |row: &Row<'_>| is_object(row.info) && row.messages.is_none(),
    stream: None,
    document: Some(document),
    has_global_ids: true,
    has_meter_records: false,
    hook_settings: None,
    home_variables: &["XDG_DATA_HOME"],
    roots,
    beside: |_| Vec::new(),
    subagent_dir: |_| None,
    resume: |id, _| Some(format!("opencode --session {id}")),
    title_store: TitleStore::None,
    title_distance: None,
    title_record: None,
    recap_record: None,
    link: |_| None,
};

object! { Document { info, messages } }

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let named = environment.text("XDG_DATA_HOME").map(PathBuf::from);
    let usual = || Some(Path::new(environment.text("HOME")?).join(".local/share"));
    let data = named.or_else(usual).into_iter();
    data.map(|data| data.join("opencode/opencode.db")).collect()
}

/// Returns the rows of an export.
fn document(json: &str) -> Option<Vec<String>> {
    let members = Document::read(json)?;
    let info = members.info.filter(|info| is_object(Some(info)))?;
    let messages = members.messages.filter(|raw| raw.get().starts_with('['))?;
    let messages = elements(Some(messages)).into_iter();
    let session = format!("{{\"info\":{}}}", info.get());
    let rows = std::iter::once(session).chain(messages.map(|row| row.get().to_owned()));
    Some(rows.collect())
}
