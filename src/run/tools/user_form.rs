//! A form that the user fills in during a call.

use super::Input;
use crate::io::CancelToken;

/// A form.
#[derive(Debug, Clone, PartialEq)]
pub struct UserForm {
    /// The name of the server or program that asks.
    pub asker: String,
    /// The question.
    pub message: String,
    /// A JSON Schema of an object whose properties are texts, numbers, choices and lists of choices.
    pub schema: Input,
}

/// The outcome of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum FilledForm {
    /// The user filled it in.
    Accepted(Input),
    /// The user refused to fill it in.
    Declined,
    /// The form could not be shown, or the call was cancelled, for this reason.
    None(String),
}

/// Shows forms to the user, one at a time.
pub trait FormUser: Send + Sync {
    /// Waits until the user has filled in the form, or `cancel` fires.
    fn fill(&self, form: &UserForm, cancel: &CancelToken) -> FilledForm;
}
