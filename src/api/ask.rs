//! Chooses how to request the form of an answer, given what a server supports.

use serde_json::Value;

use super::dialect::{Acceptance, Dialect, ForcedCall, JsonForm};
use super::request::{Answer, Function, Request};

/// How the form of an answer is requested.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ask<'a> {
    /// Not at all.
    Text,
    /// By forcing a call of this function, by name.
    Call(&'a Function),
    /// By forcing any call; this is the only function.
    AnyCall(&'a Function),
    /// By a schema.
    Schema(&'a Function),
    /// By requesting an object; the instructions contain the schema.
    Object(&'a Function),
    /// By the instructions alone.
    Instructions(&'a Function),
    /// The model chooses among these functions.
    Tools(&'a [Function]),
}

impl<'a> Ask<'a> {
    /// The form for a request in a dialect.
    pub(super) fn of(request: &'a Request, dialect: &Dialect) -> Self {
        match &request.answer {
            Answer::Text => Self::Text,
            // Some servers refuse an empty list.
            Answer::Tools(functions) if functions.is_empty() => Self::Text,
            Answer::Tools(functions) => Self::Tools(functions),
            Answer::Forced(function) => match (dialect.forced_call, dialect.json) {
                (ForcedCall::Named, _) => Self::Call(function),
                (ForcedCall::Any, _) => Self::AnyCall(function),
                (ForcedCall::Json, JsonForm::Schema) => Self::Schema(function),
                (ForcedCall::Json, JsonForm::Object) => Self::Object(function),
                (ForcedCall::Json, JsonForm::Instructions) => Self::Instructions(function),
            },
        }
    }

    /// The functions that are offered.
    pub(super) fn functions(self) -> &'a [Function] {
        match self {
            Self::Call(function) | Self::AnyCall(function) => std::slice::from_ref(function),
            Self::Tools(functions) => functions,
            Self::Text | Self::Schema(_) | Self::Object(_) | Self::Instructions(_) => &[],
        }
    }

    /// The instructions, with the schema if there is no other place for it.
    pub(super) fn instructions(self, request: &Request) -> String {
        let (Self::Object(function) | Self::Instructions(function)) = self else {
            return request.system.clone();
        };
        let schema = &function.parameters;
        let wish = format!(
            "Answer with one JSON object and nothing else. It has to fit this JSON Schema: {schema}"
        );
        if request.system.is_empty() {
            wish
        } else {
            format!("{}\n\n{wish}", request.system)
        }
    }
}

/// Whether a schema forbids other properties, which servers require for strict schemas.
pub(super) fn is_strict(function: &Function) -> bool {
    function.parameters.get("additionalProperties") == Some(&Value::Bool(false))
}

/// The temperature, if the server accepts one.
pub(super) fn temperature(dialect: &Dialect, request: &Request) -> Option<Value> {
    match dialect.temperature {
        Acceptance::Sent => request.temperature.map(Value::from),
        Acceptance::Refused => None,
    }
}
