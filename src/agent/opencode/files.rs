//! The format of opencode, and where its database is.

use std::path::{Path, PathBuf};

use super::record::read;
use crate::agent::Agent;
use crate::agent::format::Format;
use crate::agent::title::{Precedence, TitleSearch};
use crate::io::Environment;
use crate::json::{elements, is_object, object};

/// The format of opencode.
pub(in crate::agent) static OPENCODE: Format = Format {
    titles: TitleSearch {
        words: &["\"slug\""],
        precedence: Precedence::Later,
    },
    document: Some(document),
    has_global_ids: true,
    home_variables: &["XDG_DATA_HOME"],
    resume: |id, _| Some(format!("opencode --session {id}")),
    ..Format::new(
        Agent::Opencode,
        read,
        |row| is_object(row.info) && row.messages.is_none(),
        roots,
    )
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
