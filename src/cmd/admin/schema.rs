//! `schema`: the JSON Schemas of the records.

use clap::Args;

use crate::cmd::{Globals, Run, Status, UsageError, output};
use crate::io::Io;
use crate::records::{record_names, schema};

/// Print the JSON Schema of a record
///
/// Without a name, prints all names, one per line. Within a version (`"v":1`), records only gain fields,
/// so schemas allow unknown fields.
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// The `type` of the record, e.g. `session_hit`, or its `subtype` if the type is `system`
    record: Option<String>,
}

impl Run for SchemaArguments {
    fn run(self, _: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let text = match self.record {
            None => record_names().join("\n") + "\n",
            Some(name) => {
                let schema = schema(&name).ok_or_else(|| unknown(&name))?;
                format!("{schema:#}\n")
            }
        };
        output::print(io, &text)?;
        Ok(Status::Done)
    }
}

fn unknown(name: &str) -> UsageError {
    UsageError::new(format!("schema: unknown record `{name}`"))
        .with_hint("`turnpipe schema` lists them")
}
