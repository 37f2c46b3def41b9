//! The fixed phrases around results.

use std::path::Path;

/// What stands in for an empty result, after which a model might end its turn.
pub fn empty_result(tool: &str) -> String {
    format!("({tool} completed with no output)")
}

/// An error of the machinery, not of the tool.
pub fn tool_use_error(message: &str) -> String {
    format!("<tool_use_error>{message}</tool_use_error>")
}

/// What stands in for a result that was written to a file. `size` and `preview_size` are spelled
/// for people, e.g. `73.0KB`.
pub(super) fn persisted_output(
    size: &str,
    path: &Path,
    preview_size: &str,
    preview: &str,
) -> String {
    format!(
        "<persisted-output>\nOutput too large ({size}). Full output saved to: {}\n\nPreview \
         (first {preview_size}):\n{preview}\n...\n</persisted-output>",
        path.display()
    )
}
