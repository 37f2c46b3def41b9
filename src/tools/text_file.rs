//! What the tools that change files have in common: how they read the old content, and what they
//! say when the session has not seen it.

use std::io::Read as _;

use super::ToolFailure;
use super::regular_file::RegularFile;

/// The session has not read the file.
pub(super) const READ_FIRST: &str =
    "File has not been read yet. Read it first before writing to it.";

/// The file is not what the session has read.
pub(super) const READ_AGAIN: &str = "File has been modified since read, either by the user or by \
    a linter. Read it again before attempting to write it.";

/// The largest old content that goes into a result (`originalFile`) and into a patch, in bytes.
pub(super) const ORIGINAL_BYTES: u64 = 10 << 20;

/// The content of a file, or `None` if it has more than `limit` bytes.
pub(super) fn bytes(source: RegularFile, limit: u64) -> Result<Option<Vec<u8>>, ToolFailure> {
    let mut bytes = Vec::new();
    if source.metadata.len() <= limit {
        source
            .file
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ToolFailure(format!("The file cannot be read: {error}")))?;
    }
    let size = u64::try_from(bytes.len())
        .unwrap_or(u64::MAX)
        .max(source.metadata.len());
    Ok((size <= limit).then_some(bytes))
}
