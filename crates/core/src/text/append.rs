//! Formatted text at the end of a string.

/// Appends formatted text to a [`String`]. Unlike [`write!`], it has no result, since this cannot fail.
#[macro_export]
macro_rules! append {
    ($text:expr, $($arguments:tt)+) => {{
        use ::std::fmt::Write as _;
        let _ = $text.write_fmt(::std::format_args!($($arguments)+));
    }};
}

pub use crate::append;
