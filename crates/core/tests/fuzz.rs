//! The fuzz target of the reader of lines, with an ordinary compiler.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "../../../fuzz/checks/jsonl_reader.rs"]
mod jsonl_reader;
#[path = "../../../fuzz/checks/mutations.rs"]
mod mutations;

/// Texts that mutations insert.
const TOKENS: &[&str] = &[
    "\n",
    "\r\n",
    "\n\n",
    "{",
    "}",
    "{}",
    "}{",
    "[",
    "]",
    "\"",
    "\\",
    "\\\"",
    "\\u0000",
    "\\ud800",
    ":",
    ",",
    " ",
    "\t",
    "\0",
    "\u{1b}",
    "\u{feff}",
    "é",
    "null",
    "1e999",
    "-0",
    "\"w\"",
    "tool",
    "{\"tool\":1}\n",
];

#[test]
fn the_reader_loses_no_byte_of_any_text() {
    mutations::run("jsonl_reader", TOKENS, jsonl_reader::check);
}
