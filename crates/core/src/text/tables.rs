//! Parts of the program that are data: names of the values of an enum, and regular expressions.

use regex::Regex;

/// Implements the names of an enum without fields: `ALL`, `name` and `by_name`.
#[macro_export]
macro_rules! names {
    ($Type:ident: $($value:ident = $name:literal),+ $(,)?) => {
        impl $Type {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// Returns the name in records, settings and options.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }

            /// Returns the value with this name.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

pub use crate::names;

/// Compiles a pattern that is a part of the program.
///
/// # Panics
/// The pattern is invalid. Every caller needs a test that compiles its pattern.
#[expect(clippy::expect_used, reason = "patterns are a part of the program")]
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}
