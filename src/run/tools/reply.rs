//! Results of tools, and the image formats that model APIs accept, by content.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::ImageType;
use serde_json::Value;

use crate::process::Captured;

pub use crate::records::{ImageSource as Image, ResultBlock as Block, ResultContent as Content};

/// The result of a call that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// The status of the call.
    pub status: CallStatus,
    /// The content for the model.
    pub content: Content,
    /// The structured output (`tool_use_result`), in the format of the same tool of Claude Code.
    pub structured: Value,
    /// Changes for later calls.
    pub changes: Vec<ContextChange>,
    /// Whether a failure cancels the other calls of the batch under `--on-error cancel-shell`: set for shell
    /// commands that are not read-only.
    pub cancels_siblings: bool,
    /// The full output if `content` is an excerpt. It is written to a file if the result is too large to be
    /// inline.
    pub full: Option<FullText>,
}

impl ToolReply {
    /// Creates a successful text result.
    pub fn text(content: impl Into<String>, structured: Value) -> Self {
        Self::with_status(CallStatus::Ok, content, structured)
    }

    /// Creates a text result with this status.
    pub fn with_status(status: CallStatus, content: impl Into<String>, structured: Value) -> Self {
        Self {
            status,
            content: Content::Text(content.into()),
            structured,
            changes: Vec::new(),
            cancels_siblings: false,
            full: None,
        }
    }
}

/// A change of the session for later calls.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextChange {
    /// The new working directory of the shell.
    Directory(PathBuf),
    /// The new to-do list.
    Todos(Value),
}

/// An invalid input. The message is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

/// A failure of a tool. The message is for the model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

/// The status of a call that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Success.
    Ok,
    /// Failure. The content has the reason.
    Error,
    /// The timeout expired.
    TimedOut,
    /// The call was cancelled. The content has the output so far.
    Cancelled,
}

/// The complete output from which an excerpt is made. It is cheap to clone.
#[derive(Debug, Clone)]
pub struct FullText {
    streams: Arc<[Captured]>,
}

impl FullText {
    /// Creates the text from streams in reading order, usually standard output and standard error.
    pub fn new(streams: impl IntoIterator<Item = Captured>) -> Self {
        Self {
            streams: streams.into_iter().collect(),
        }
    }

    /// Returns the number of output bytes that were kept. [`Self::write_to`] writes a few more to separate
    /// streams and mark gaps.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(Captured::kept_bytes).sum()
    }

    /// Writes all streams unchanged, one after the other, each at the start of a line, in constant memory.
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// A spilled stream cannot be read, or `target` cannot be written.
    pub fn write_to(&self, target: &mut dyn Write) -> io::Result<u64> {
        let mut target = target;
        let mut written = 0;
        let mut ends_line = true;
        for stream in self.streams.iter().filter(|stream| !stream.is_empty()) {
            if !ends_line {
                target.write_all(b"\n")?;
                written += 1;
            }
            written += stream.write_to(&mut target)?;
            ends_line = stream.suffix(1)? == b"\n";
        }
        Ok(written)
    }
}

/// Compares identity, not content.
impl PartialEq for FullText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.streams, &other.streams)
    }
}

/// Maximum size of an image, in bytes: in base64, just below the limit of 5 MiB of model APIs.
pub(super) const MAX_IMAGE_BYTES: u64 = 3_932_160;

/// Maximum width and height that model APIs accept, in pixels.
const MAX_IMAGE_PIXELS: usize = 8000;

/// Encodes an image for model APIs. `bytes` may be the start of an image of `size` bytes.
///
/// # Errors
/// The image is too large. The message is for the model.
pub(in crate::run::tools) fn encode_image(
    media_type: &'static str,
    bytes: &[u8],
    size: u64,
) -> Result<Image, ToolFailure> {
    if size > MAX_IMAGE_BYTES {
        return Err(ToolFailure(format!(
            "The image has {size} bytes, more than the {MAX_IMAGE_BYTES} that can be shown. Make it \
             smaller first."
        )));
    }
    if let Some((width, height)) = read_dimensions(bytes)
        && width.max(height) > MAX_IMAGE_PIXELS
    {
        return Err(ToolFailure(format!(
            "The image has {width} x {height} pixels; at most {MAX_IMAGE_PIXELS} in each direction can \
             be shown. Make it smaller first."
        )));
    }
    let data = STANDARD.encode(bytes);
    Ok(Image {
        media_type: media_type.into(),
        data,
    })
}

/// Detects the media type of an image from the first bytes of a file (twelve are enough).
pub(in crate::run::tools) fn detect_media_type(head: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(head).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// Reads the width and height in pixels from the headers; `None` if these are damaged or of a rare format.
pub(super) fn read_dimensions(bytes: &[u8]) -> Option<(usize, usize)> {
    let size = imagesize::blob_size(bytes).ok()?;
    (size.width > 0 && size.height > 0).then_some((size.width, size.height))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media(bytes: &[u8]) -> Option<(&'static str, Option<(usize, usize)>)> {
        Some((detect_media_type(bytes)?, read_dimensions(bytes)))
    }

    #[test]
    fn the_format_is_detected_from_the_content() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\0\x03\x08\x06";
        let gif = b"GIF89a\x05\0\x07\x01\0\0\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x02\xff\xc2\0\x11\x08\0\x10\x01\0\x03";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x63\xc0\x18\0";
        let table: [(&[u8], _, _); 6] = [
            (png, "image/png", (258, 3)),
            (gif, "image/gif", (5, 263)),
            (jpeg, "image/jpeg", (256, 16)),
            (extended, "image/webp", (16, 32)),
            (lossy, "image/webp", (320, 240)),
            (lossless, "image/webp", (100, 100)),
        ];
        for (bytes, format, size) in table {
            assert_eq!(media(bytes), Some((format, Some(size))), "{bytes:?}");
        }
        assert_eq!(media(b"RIFF\0\0\0\0WAVE"), None);
        assert_eq!(media(b"<svg xmlns"), None);
        assert_eq!(media(b""), None);
    }
}
