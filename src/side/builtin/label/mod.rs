//! Labels by rules: a fact for each finished call, grouped by class and composed into one line.

mod call;
mod compose;
mod fact;
mod facts;
mod files;
mod others;

pub use call::{FinishedCall, is_look, needed_of_result};
pub use compose::label;

#[cfg(test)]
mod tests;
