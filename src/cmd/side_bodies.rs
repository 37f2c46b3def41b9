//! `--dry-run` of `title` and `recap`: the bodies of the requests, a line each.

use super::session_source::SourceArguments;
use super::title_sources::{Sources, Wanted, read};
use super::{Outcome, output};
use crate::flow::Digest;
use crate::io::Io;

/// Prints the body for each conversation that there is one for.
///
/// # Errors
/// Writing failed.
pub(super) fn print_bodies(
    found: Sources,
    source: &SourceArguments,
    io: &mut Io,
    body: impl Fn(&Digest) -> Option<String>,
) -> anyhow::Result<Outcome> {
    match found {
        Sources::Dialog {
            digest, mut writer, ..
        } => {
            if let Some(body) = body(&digest) {
                writer.echo(format!("{body}\n").as_bytes())?;
            }
            writer.flush()?;
        }
        Sources::Sessions(wanted) => {
            let mut writer = output::record_writer(io)?;
            for wanted in &wanted {
                if let Wanted::File(path) = wanted
                    && let Ok(conversation) = read(path, source)
                    && let Some(body) = body(&conversation.digest)
                {
                    writer.echo(format!("{body}\n").as_bytes())?;
                }
            }
            writer.flush()?;
        }
    }
    Ok(Outcome::Done)
}
