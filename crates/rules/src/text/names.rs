//! Names of the values of an enum.

/// Implements the names of an enum without fields: `ALL`, `name` and `named`.
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
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

pub use crate::names;
