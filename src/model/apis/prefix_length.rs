//! Whether a prefix is long enough for a prompt cache.

use serde_json::Value;

use crate::model::dialect::CacheMarks;

/// How many bytes of JSON text stand for a token, by experience with prose and code.
const BYTES_OF_A_TOKEN: usize = 4;

/// Whether a prefix that consists of these values is worth a mark. Below the server's minimum a
/// mark does nothing, and none is set.
pub(super) fn is_worth_a_mark<'a>(
    marks: CacheMarks,
    prefix: impl IntoIterator<Item = &'a Value>,
) -> bool {
    let CacheMarks::From(tokens) = marks else {
        return false;
    };
    let bytes: usize = prefix
        .into_iter()
        .map(|value| value.to_string().len())
        .sum();
    usize::try_from(tokens).is_ok_and(|tokens| bytes / BYTES_OF_A_TOKEN >= tokens)
}
