//! A form that the user fills in during a call.

use super::Input;
use crate::io::CancelToken;

/// A form.
#[derive(Debug, Clone, PartialEq)]
pub struct UserForm {
    /// Who asks.
    pub asker: String,
    /// What the user reads.
    pub message: String,
    /// A JSON Schema of an object whose properties are texts, numbers, choices and lists of choices.
    pub schema: Input,
}

/// What the user did with a form.
#[derive(Debug, Clone, PartialEq)]
pub enum FilledForm {
    /// Filled it in.
    Accepted(Input),
    /// Refused to.
    Declined,
    /// The form could not be shown, or the call was cancelled, for this reason.
    None(String),
}

/// Shows forms to the user, one at a time.
pub trait FormUser: Send + Sync {
    /// Waits until the user has filled in the form, or `cancel` fires.
    fn fill(&self, form: &UserForm, cancel: &CancelToken) -> FilledForm;
}
