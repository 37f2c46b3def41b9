//! `Read`: returns a page of a text file with line numbers, or an image.
//!
//! The file is streamed: at most one page is in memory.

use std::io::{self, Read as _};
use std::path::Path;

use encoding_rs_io::DecodeReaderBytesBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::line_window::{self, LineWindow, Page, PageEnd, Window};
use super::regular_file::{self, FileKind, HEAD_BYTES, RegularFile};
use crate::io::retry_interrupted;
use crate::run::tools::builtin::{Parameters, WholeNumber};
use crate::run::tools::paths::absolute_path;
use crate::run::tools::reply::{MAX_IMAGE_BYTES, encode_image, read_dimensions};
use crate::run::tools::{
    Assessment, Block, CallContext, CallStatus, Content, DecisionContext, InvalidInput,
    PreparedCall, ResultLimit, ToolFailure, ToolReply,
};
use crate::state::{FileStamp, ReadRange};

/// Default number of lines per page.
const DEFAULT_LINES: u64 = 2000;

/// Maximum number of characters (UTF-16 units) per page: about 25,000 tokens.
const MAX_PAGE_CHARACTERS: usize = 100_000;

const CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Read {
    /// Absolute path of the file to read
    #[schemars(length(min = 1))]
    file_path: String,
    #[schemars(
        description = "Number of the first line to read, counted from 1; only for files \
                              too large to read at once"
    )]
    offset: Option<WholeNumber>,
    /// Number of lines to read; only for files too large to read at once
    #[schemars(range(min = 1))]
    limit: Option<WholeNumber>,
}

impl Parameters for Read {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Reads a file. Text comes with line numbers in front \
        (right-aligned, then a tab), at most 2000 lines from the beginning unless offset and limit \
        say otherwise; lines of more than 2000 characters are cut. PNG, JPEG, GIF and WebP files \
        come as images. Directories are listed with LS.";
    const RESULT_LIMIT: ResultLimit = ResultLimit::Unlimited;

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        Ok(Box::new(self))
    }
}

impl PreparedCall for Read {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        Assessment::reads(Self::NAME, absolute_path(&self.file_path, context))
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let path = absolute_path(&self.file_path, call.session);
        regular_file::check_not_process_file(&path)?;
        let RegularFile { mut file, metadata } = regular_file::open(&path)
            .map_err(|problem| ToolFailure(problem.message(call.session)))?;
        let stamp = FileStamp::from_metadata(&metadata);
        let head = read_at_most(&mut file, HEAD_BYTES as u64).map_err(read_failure)?;
        let refusal = match FileKind::detect(&head) {
            FileKind::Image(kind) => return image_reply(kind, head, &mut file, metadata.len()),
            FileKind::Text | FileKind::Utf16 => None,
            FileKind::Pdf => Some("a PDF document. Extract its text with Bash first"),
            FileKind::Binary => Some("a binary file; this tool reads only text and images"),
        };
        if let Some(kind) = refusal {
            return Err(ToolFailure(format!("The file is {kind}.")));
        }
        let window = Window {
            first: self.offset.map_or(1, |offset| offset.0.max(1)),
            limit: self.limit.map_or(DEFAULT_LINES, |limit| limit.0),
            characters: MAX_PAGE_CHARACTERS,
        };
        // UTF-16 with a byte order mark is decoded; all other bytes are unchanged.
        let mut text = DecodeReaderBytesBuilder::new()
            .utf8_passthru(true)
            .build(head.as_slice().chain(file));
        let result = read_page(&mut text, window, call).map_err(read_failure)?;
        let Some(page) = result else {
            let text = "The read was cancelled.";
            return Ok(ToolReply::with_status(
                CallStatus::Cancelled,
                text,
                Value::Null,
            ));
        };
        if page.end == PageEnd::Characters && self.limit.is_some() {
            return Err(ToolFailure(format!(
                "The {} lines asked for have more than {MAX_PAGE_CHARACTERS} characters, the most one \
                 read gives; {} of them fit. Read fewer lines, or search with Grep.",
                window.limit,
                page.lines.len(),
            )));
        }
        if let Ok(resolved) = crate::run::tools::access::resolve_links(&path) {
            regular_file::record_read(call, resolved, stamp, read_range(&page, window));
        }
        Ok(build_reply(&path, &page, window))
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err takes"
)]
fn read_failure(error: io::Error) -> ToolFailure {
    ToolFailure(format!("The file cannot be read: {error}"))
}

fn read_at_most(source: &mut impl io::Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn image_reply(
    media_type: &'static str,
    mut bytes: Vec<u8>,
    file: &mut std::fs::File,
    size: u64,
) -> Result<ToolReply, ToolFailure> {
    if size <= MAX_IMAGE_BYTES {
        // One more byte than allowed shows that the file has grown after its size was read.
        let rest = (MAX_IMAGE_BYTES + 1).saturating_sub(HEAD_BYTES as u64);
        bytes.extend(read_at_most(file, rest).map_err(read_failure)?);
    }
    let byte_count = bytes.len() as u64;
    let image = encode_image(media_type, &bytes, size.max(byte_count))?;
    let mut file = json!({
        "base64": image.data,
        "type": media_type,
        "originalSize": byte_count,
    });
    if let Some((width, height)) = read_dimensions(&bytes) {
        file["dimensions"] = json!({ "originalWidth": width, "originalHeight": height });
    }
    Ok(ToolReply {
        content: Content::Blocks(vec![Block::Image { source: image }]),
        ..ToolReply::text("", json!({ "type": "image", "file": file }))
    })
}

/// Reads the page. Returns `None` if the call was cancelled.
fn read_page(
    text: &mut impl io::Read,
    window: Window,
    call: &CallContext<'_>,
) -> io::Result<Option<Page>> {
    let mut lines = LineWindow::new(window);
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        if call.cancel.is_cancelled() {
            return Ok(None);
        }
        match retry_interrupted(|| text.read(&mut buffer))? {
            0 => return Ok(Some(lines.finish())),
            count => lines.push(&buffer[..count]),
        }
    }
}

fn line_count(page: &Page) -> u64 {
    page.lines.len() as u64
}

fn read_range(page: &Page, window: Window) -> ReadRange {
    if line_count(page) == page.total_lines && page.cut_lines == 0 {
        ReadRange::Whole
    } else {
        ReadRange::Lines {
            offset: window.first,
            limit: line_count(page),
        }
    }
}

fn build_reply(path: &Path, page: &Page, window: Window) -> ToolReply {
    let count = line_count(page);
    let reaches_end = window.first + count > page.total_lines;
    let mut content = page.lines.join("\n");
    if reaches_end && count > 0 && page.ends_with_newline {
        content.push('\n');
    }
    let structured = json!({
        "type": "text",
        "file": {
            "filePath": path.to_string_lossy(),
            "content": content,
            "numLines": count,
            "startLine": window.first,
            "totalLines": page.total_lines,
        },
    });
    let mut text = line_window::number_lines(window.first, page.lines.iter().map(String::as_str));
    if let Some(notice) = notice(page, window, reaches_end) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str("<system-reminder>");
        text.push_str(&notice);
        text.push_str("</system-reminder>");
    }
    let mut reply = ToolReply::text(text, structured);
    if page.end == PageEnd::Characters {
        reply.structured["file"]["truncatedByTokenCap"] = Value::Bool(true);
    }
    reply
}

/// Tells the model that the file is empty, or that the page is not the whole file.
fn notice(page: &Page, window: Window, reaches_end: bool) -> Option<String> {
    let total = page.total_lines;
    let last = window.first + line_count(page) - u64::from(!page.lines.is_empty());
    if total == 0 {
        Some("Warning: the file exists but the contents are empty.".to_owned())
    } else if window.first > total {
        Some(format!(
            "Warning: the file exists but is shorter than the provided offset ({}). The file has \
             {total} lines.",
            window.first
        ))
    } else if reaches_end {
        None
    } else {
        Some(format!(
            "PARTIAL view: lines {} to {last} of {total}. Read on with offset {} and a limit, or \
             search with Grep.",
            window.first,
            last + 1
        ))
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
