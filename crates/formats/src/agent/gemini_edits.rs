//! The changes of files that Gemini CLI and its fork Qwen Code show with the results of calls.

use super::content::string;
use super::edits::{EditKind, FileEdit, new_edit, strip_diff_head};
use turnpipe_core::json::{object, text};

object! { Row { one: Call<'a> = "toolCallResult", several = "toolCalls", message: MessageFields<'a> } }
object! { MessageFields { parts } }
object! { Call { id, call = "callId", status, display: Display<'a> = "resultDisplay" } }
object! { Display { diff = "fileDiff", path = "filePath", is_new = "isNewFile" } }
object! { ResponsePart { result: CallResponse<'a> = "functionResponse" } }
object! { CallResponse { response: Response<'a> } }
object! { Response { output } }

/// Returns the changes in a record.
pub(super) fn read_edits(record: &str) -> Vec<FileEdit> {
    let row = Row::read(record).unwrap_or_default();
    let fields = row.message.unwrap_or_default();
    let calls = Call::read_list(row.several).into_iter().chain(row.one);
    calls.filter_map(|call| read_edit(&call, &fields)).collect()
}

fn read_edit(call: &Call<'_>, fields: &MessageFields<'_>) -> Option<FileEdit> {
    let display = call
        .display
        .filter(|_| text(call.status).as_deref() == Some("success"))?;
    let id = string(call.call).or_else(|| string(call.id));
    let hunks = strip_diff_head(&text(display.diff)?);
    let mut edit = new_edit(id, string(display.path)?, hunks)?;
    // An empty file has the same diff as none.
    let outputs = ResponsePart::read_list(fields.parts).into_iter();
    let mut outputs = outputs.filter_map(|part| text(part.result?.response?.output));
    let is_over_empty = display.is_new.is_some_and(|is_new| is_new.get() == "false")
        || outputs.any(|output| output.starts_with("Successfully overwrote"));
    if is_over_empty {
        edit.kind = EditKind::Change;
    }
    Some(edit)
}
