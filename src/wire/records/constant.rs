//! Members that always hold the same string.

/// Declares a type whose only value is one string.
macro_rules! constant {
    ($(#[$meta:meta])* $name:ident = $text:literal) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        pub(super) enum $name {
            /// The only value.
            #[default]
            #[serde(rename = $text)]
            Only,
        }
    };
}

pub(super) use constant;
