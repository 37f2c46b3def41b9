//! Labels by rules: a fact for each finished call, grouped by class and composed into one line.

mod compose;
mod fact;
mod facts;
mod files;
mod others;

pub(crate) use compose::group_label;
pub use compose::label;
pub use fact::{FinishedCall, is_look, needed_of_result};

#[cfg(test)]
mod tests;
