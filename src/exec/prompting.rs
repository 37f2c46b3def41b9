//! Questions about calls that no rule decides, put to somebody who can answer.

use crate::process::CancelToken;
use crate::tools::Input;
use crate::wire::ToolUseId;

/// Somebody who decides about calls: a person, or a program in their place. Asked from several threads
/// at once.
pub trait Prompter: Send + Sync {
    /// How they are asked, for records: `tty`, `stdio`, or the name of a tool.
    fn name(&self) -> &str;

    /// Waits for the answer, until `cancel` fires.
    fn ask(&self, question: &Question<'_>, cancel: &CancelToken) -> Answer;
}

/// What is asked.
pub struct Question<'a> {
    /// The call.
    pub id: &'a ToolUseId,
    /// Its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Input,
    /// Why somebody has to say, e.g. the rule.
    pub why: &'a str,
    /// A rule that would allow the call without a question.
    pub remedy: Option<&'a str>,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The call may run, with these arguments if they are given.
    Allow(Option<Input>),
    /// The call may run, and so may others that this rule matches.
    AllowAlso(String),
    /// It must not; the text, if any, is for the model.
    Deny(Option<String>),
    /// Nobody could answer; the text says why.
    Nobody(String),
}
