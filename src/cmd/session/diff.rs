//! `session diff`: prints the changes of a session as a patch.

use std::path::PathBuf;

use clap::Args;

use super::source::SourceArguments;
use crate::cmd::{Globals, Run, Status, UsageError, output};
use crate::io::Io;
use crate::session::patch;
use crate::text::{counted, terminal_safe, terminal_safe_line};

/// Print the changes of a session as a patch
///
/// Prints unified diffs, relative to the directory of the session, of the edits, written files and patches of
/// its calls and those of its subagents; `git apply` in a copy of the starting state makes the same changes.
/// A file that was changed several times has a diff for each change, in order. What is omitted is named on
/// standard error: changes whose text is not in the session, as in most saved streams, later changes of the
/// same files, files outside the directory, and the number of shell commands that may have changed files.
///
/// `git apply` refuses the patch if an edited file was made by a shell command, or if the agent recorded less
/// than the bytes: carriage returns and byte order marks of files that the session did not write itself (Qwen
/// Code, Gemini CLI, opencode, Copilot CLI), or a new file in the place of another (Codex). With
/// `git apply --reject` the other files are changed.
#[derive(Debug, Args)]
pub(crate) struct SessionDiffArguments {
    /// The session: a path, an id or a prefix of it, a title, or `latest`
    session: String,
    /// Print paths relative to this directory [default: the session's directory]
    #[arg(long, value_name = "DIR")]
    relative_to: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArguments,
}

impl Run for SessionDiffArguments {
    reads_sessions!(source);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let named = self.source.one(&self.session, io)?.for_reading()?;
        let session = named.open().map_err(|error| named.named(&error))?;
        let facts = session.first_facts(self.source.mapping())?;
        let facts = session.with_directory(facts);
        let found = session.all_edits().map_err(UsageError::reason)?;
        let root = self.relative_to.unwrap_or_else(|| found.root(&facts));
        let (patch, outside) = patch(&found.edits, &root);
        let unknown: Vec<String> = found.unknown.into_iter().map(|(_, path)| path).collect();
        let detached = found.detached.into_iter().map(|edit| edit.path).collect();
        for (mut paths, reason) in [
            (unknown, "whose text is not in the session"),
            (
                detached,
                "of files whose text before them is not in the session",
            ),
            (outside, "outside the directory"),
        ] {
            let changes = counted(paths.len() as u64, "change", "changes");
            paths.sort_unstable();
            paths.dedup();
            if !paths.is_empty() {
                let paths = terminal_safe_line(&paths.join(", "));
                io.messages
                    .warn(&format!("omitted {changes} {reason}: {paths}"));
            }
        }
        if found.commands > 0 && !globals.quiet {
            let commands = counted(found.commands, "shell command", "shell commands");
            io.messages
                .warn(&format!("omitted changes that {commands} may have made"));
        }
        if io.terminal.stdout {
            output::page(&terminal_safe(&patch), globals, io)?;
        } else {
            output::print(io, &patch)?;
        }
        Ok(Status::Done)
    }
}
