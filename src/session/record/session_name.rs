//! Names that users give to sessions.

use crate::text::{terminal_safe_line, utf16_length};

/// Maximum length of a name, in UTF-16 code units.
const MAX_LENGTH: usize = 200;

/// A name that is safe for terminals, not empty, and short enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionName(String);

/// An invalid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing is left after cleaning.
    #[error("the name is empty")]
    Empty,
    /// The name is too long.
    #[error("the name is longer than {MAX_LENGTH} characters")]
    TooLong,
}

impl SessionName {
    /// Cleans and checks a name that the user typed.
    ///
    /// # Errors
    /// See [`NameError`].
    pub fn new(text: &str) -> Result<Self, NameError> {
        let name = terminal_safe_line(text);
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if utf16_length(&name) > MAX_LENGTH {
            return Err(NameError::TooLong);
        }
        Ok(Self(name))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_or_refused() {
        let name = SessionName::new("  \u{1b}[31mFix\u{1b}[0m the\nlogin ").unwrap();
        assert_eq!(name.as_str(), "Fix the login");
        assert_eq!(SessionName::new(" \u{1b}[0m"), Err(NameError::Empty));
        assert_eq!(SessionName::new(&"é".repeat(201)), Err(NameError::TooLong));
        assert!(SessionName::new(&"é".repeat(200)).is_ok());
    }
}
