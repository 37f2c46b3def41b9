//! The content of a response as text or as an image.

use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8};
use regex::bytes::Regex;
use reqwest::StatusCode;

use super::markdown::to_markdown;
use crate::client::http::{ContentType, Response};
use crate::io::CancelToken;
use crate::run::tools::Image;
use crate::run::tools::reply::{detect_media_type, encode_image};
use crate::text::format_byte_size;

/// Number of bytes to search for a page's declaration of its encoding.
const HEAD_BYTES: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WebPage {
    pub(super) status: u16,
    /// The size of the response, in bytes.
    pub(super) bytes: usize,
    pub(super) body: PageBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageBody {
    /// Markdown, or the original text.
    Text(String),
    Image(Image),
}

impl Default for PageBody {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl WebPage {
    /// Converts a response.
    ///
    /// # Errors
    /// The response cannot be shown, for this reason (one line).
    pub(super) fn convert(
        response: &Response,
        body: &[u8],
        cancel: &CancelToken,
    ) -> Result<Self, String> {
        let header = |name: &str| response.headers.get(name).map(String::as_str);
        let packing = header("content-encoding").unwrap_or("identity");
        if !packing.eq_ignore_ascii_case("identity") {
            return Err(format!(
                "the page came compressed ({packing}), which was not requested"
            ));
        }
        Ok(Self {
            status: response.status,
            bytes: body.len(),
            body: convert_body(header("content-type"), body, cancel)?,
        })
    }
}

/// Returns the name of a status.
pub(super) fn status_reason(status: u16) -> &'static str {
    let known = StatusCode::from_u16(status).ok();
    known
        .and_then(|status| status.canonical_reason())
        .unwrap_or("")
}

fn convert_body(
    header: Option<&str>,
    bytes: &[u8],
    cancel: &CancelToken,
) -> Result<PageBody, String> {
    if let Some(media_type) = detect_media_type(bytes) {
        let size = bytes.len() as u64;
        let image = encode_image(media_type, bytes, size).map_err(|failure| failure.0)?;
        return Ok(PageBody::Image(image));
    }
    let is_html = match ContentType::parse(header) {
        ContentType::Html => true,
        ContentType::Missing => has_html_start(bytes),
        _ => false,
    };
    let text = decode_page(bytes, charset(header, bytes, is_html));
    // Text never contains NUL bytes, even if the content type says otherwise.
    if bytes.starts_with(b"%PDF-") || text.contains('\0') {
        let kind = header.unwrap_or("unknown type");
        let size = format_byte_size(bytes.len() as u64);
        return Err(format!("the page is binary ({kind}, {size})"));
    }
    let text = if is_html {
        to_markdown(&text, cancel)?
    } else {
        text
    };
    Ok(PageBody::Text(text))
}

fn has_html_start(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let start = text[..text.len().min(14)].to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// Returns the encoding declared by the server, else by the page, else UTF-8.
fn charset(header: Option<&str>, bytes: &[u8], is_html: bool) -> &'static Encoding {
    static PARAMETER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i-u)charset\s*=\s*["']?([-\w.:]+)"#).ok());
    let parse_charset = |text: &[u8]| {
        let found = PARAMETER.as_ref()?.captures(text)?;
        Encoding::for_label(found.get(1)?.as_bytes())
    };
    let in_page = || parse_charset(&bytes[..bytes.len().min(HEAD_BYTES)]).filter(|_| is_html);
    header
        .and_then(|header| parse_charset(header.as_bytes()))
        .or_else(in_page)
        .unwrap_or(UTF_8)
}

/// Decodes a page. A byte order mark overrides declarations.
fn decode_page(bytes: &[u8], encoding: &'static Encoding) -> String {
    encoding.decode(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {

    use super::*;

    fn text(header: Option<&str>, bytes: &[u8]) -> Result<String, String> {
        match convert_body(header, bytes, &CancelToken::default())? {
            PageBody::Text(text) => Ok(text),
            PageBody::Image(image) => Ok(image.media_type),
        }
    }

    #[test]
    fn content_is_shown_by_its_type() {
        let gif: &[u8] = b"GIF89a\x05\0\x07\x01\0\0\0";
        let rows: [(Option<&str>, &[u8], &str); 15] = [
            (
                Some("text/html"),
                b"<h1>A</h1><p>b <b>c</b>",
                "# A\n\nb **c**",
            ),
            (Some("TEXT/HTML; charset=x"), b"<p>a", "a"),
            (None, b"\n <!DOCTYPE HTML><p>a", "a"),
            (None, b"<p>a", "<p>a"),
            (Some("text/plain"), b"<h1>A</h1>", "<h1>A</h1>"),
            (Some("application/json"), b"{\"a\":1}", "{\"a\":1}"),
            (Some("application/octet-stream"), b"plain", "plain"),
            (Some("text/html; charset=iso-8859-1"), b"\xe4", "ä"),
            (
                Some("text/plain; charset=\"Shift_JIS\""),
                b"\x83\x65\x83\x58\x83\x67",
                "テスト",
            ),
            (
                Some("text/html"),
                b"<meta charset='windows-1251'><p>\xef\xf0\xe8",
                "при",
            ),
            (
                Some("text/html; charset=utf-8"),
                b"<meta charset=windows-1251><p>\xc3\xa4",
                "ä",
            ),
            (Some("text/plain"), b"\xff\xfea\0b\0", "ab"),
            (Some("text/plain; charset=utf-16le"), b"a\0b\0", "ab"),
            (Some("text/plain"), b"\xef\xbb\xbfa\xff", "a\u{fffd}"),
            (Some("text/html"), gif, "image/gif"),
        ];
        for (header, bytes, expected) in rows {
            assert_eq!(
                text(header, bytes),
                Ok(expected.to_owned()),
                "{header:?} {bytes:?}"
            );
        }
    }

    #[test]
    fn binary_content_is_refused_with_its_type_and_size() {
        let rows: [(Option<&str>, &[u8], &str); 4] = [
            (
                Some("application/zip"),
                b"PK\x03\x04\0\0",
                "the page is binary (application/zip, 6 bytes)",
            ),
            (
                None,
                b"\0\0\0\0",
                "the page is binary (unknown type, 4 bytes)",
            ),
            (
                Some("text/plain"),
                b"a\0b",
                "the page is binary (text/plain, 3 bytes)",
            ),
            (
                Some("application/pdf"),
                b"%PDF-1.7 all text",
                "the page is binary (application/pdf, 17 bytes)",
            ),
        ];
        for (header, bytes, expected) in rows {
            assert_eq!(text(header, bytes), Err(expected.to_owned()), "{header:?}");
        }
    }
}
