//! Newtypes for the identifiers in records.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as written in records.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

identifier! {
    /// Id of a tool call (`tool_use.id`, `tool_calls[].id`, `functionCall.id`).
    ToolUseId
}
identifier! {
    /// Id of an assistant message (`message.id`), shared by all its records.
    MessageId
}
identifier! {
    /// Id of a session.
    SessionId
}
