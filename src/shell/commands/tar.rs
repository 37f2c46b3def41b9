//! `tar`: listing.

use crate::shell::options::{self, Command, PLAIN, Value};
use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::Word;

const TAR: Command = Command {
    short: "tvf:zjJaC:",
    long: &[
        "list",
        "verbose",
        "file=",
        "gzip",
        "bzip2",
        "xz",
        "zstd",
        "auto-compress",
        "directory=",
        "wildcards",
        "no-wildcards",
        "exclude=",
        "strip-components=",
        "full-time",
        "numeric-owner",
        "force-local",
        "quoting-style=",
        "help",
        "version",
    ],
    needs: &["t", "list", "help", "version"],
    ..PLAIN
};

/// `tar` also takes its letters without a dash, with their values after them.
pub(super) fn check(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && first.literal().is_some_and(|text| !text.starts_with('-'))
    {
        // `tvf x` reads as `-t -v -f x`, if the letter with a value is the last one.
        if first.prefix.trim_end_matches('f').contains(['f', 'C']) {
            return Err(Refusal::unknown(
                first.span.clone(),
                "`tar` with several values after its letters",
            ));
        }
        first.prefix.insert(0, '-');
    }
    let arguments = options::read(&TAR, &name.prefix, &words)?;
    for given in &arguments.options {
        if !matches!(given.name, "f" | "file") {
            continue;
        }
        let is_local = match given.value {
            Value::Text(archive) => {
                let host = archive.split('/').next().unwrap_or_default();
                !host.contains(':') || arguments.has("force-local")
            }
            Value::None | Value::Begins(_) => false,
        };
        if !is_local {
            return Err(Refusal::unknown(
                given.word.span.clone(),
                "`tar` with an archive that may be on another machine",
            ));
        }
    }
    Ok(())
}
