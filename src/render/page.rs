//! Parts of HTML pages: the head, and escaped text.
//!
//! The policy of a page names its style and script by a hash, so that text from a session cannot run or
//! change the appearance of the page, even if it became markup.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::text::clean_with_tabs;
use crate::text::terminal_safe_line;

/// The style sheet. Follows the system's light or dark mode.
const STYLE: &str = include_str!("page.css");

/// Returns the start of a page. It may only load its style and sources in `allowed`.
pub(super) fn page_head(title: &str, allowed: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         base-uri 'none'; form-action 'none'; style-src {}; {allowed}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        source_of(STYLE),
        escape_line(title)
    )
}

/// Returns the policy source of an inline script or style.
pub(super) fn source_of(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// Removes fractions of seconds, and separates date, time and zone by spaces.
pub(super) fn trim_fraction(time: &str) -> String {
    let zone = if time.ends_with('Z') { " UTC" } else { "" };
    time.get(..19).unwrap_or(time).replace('T', " ") + zone
}

/// Escapes a text of several lines.
pub(super) fn escape_block(text: &str) -> String {
    escape(&clean_with_tabs(text.trim_end()))
}

/// Escapes a line.
pub(super) fn escape_line(text: &str) -> String {
    escape(&terminal_safe_line(text))
}

fn escape(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        page.push_str(&text[copied..at]);
        page.push_str(entity);
        copied = at + 1;
    }
    page.push_str(&text[copied..]);
    page
}
