//! The title of a session, found from the end of its file.

use std::borrow::Borrow;
use std::fs::File;
use std::io;

pub use super::title_rule::{Title, TitleSource};

use super::format::Format;
use super::title_rule::TitleRule;
use crate::jsonl::{FixedFile, SearchControl, search_backward, split_line};

/// The title that counts, with its source. Takes constant memory; reads as little of the end of
/// the file as it takes, and all of it if there is no title.
///
/// # Errors
/// Reading failed.
pub fn find_title<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &dyn Format,
) -> io::Result<Option<Title>> {
    let search = format.title_search();
    let mut rule = TitleRule::new(search.precedence);
    search_backward(file, search.needle.as_bytes(), &mut |hit| {
        let mut control = SearchControl::Continue;
        let (records, _) = split_line(hit.line);
        for record in records.iter().rev() {
            let Some(record) = format.title(record.text(hit.line)) else {
                continue;
            };
            match rule.offer(record, hit.offset) {
                SearchControl::Continue => {}
                SearchControl::Stop => return SearchControl::Stop,
                nearer @ SearchControl::DownTo(_) => control = nearer,
            }
        }
        control
    })?;
    Ok(rule.finish())
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
