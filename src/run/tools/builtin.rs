//! Built-in tools. A struct of parameters defines the declared schema of each.

use std::marker::PhantomData;
use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Input, InterruptBehavior, InvalidInput, PreparedCall, ResultLimit, Tool, ToolKind};
use crate::tool_facts::whole_number;

/// The parameters of a built-in tool. The doc comments of the fields are part of the declaration.
pub(super) trait Parameters: DeserializeOwned + JsonSchema + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const INTERRUPT: InterruptBehavior = InterruptBehavior::Cancel;
    const KIND: ToolKind = ToolKind::Independent;
    const RESULT_LIMIT: ResultLimit = ResultLimit::Default;

    /// Validates the parameters of a call. Has no side effects.
    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput>;
}

/// The tool with these parameters.
pub(super) struct BuiltIn<P> {
    schema: OnceLock<Value>,
    parameters: PhantomData<fn() -> P>,
}

impl<P> BuiltIn<P> {
    pub(super) fn new() -> Self {
        Self {
            schema: OnceLock::new(),
            parameters: PhantomData,
        }
    }
}

impl<P: Parameters> Tool for BuiltIn<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn description(&self) -> &'static str {
        P::DESCRIPTION
    }

    fn input_schema(&self) -> &Value {
        self.schema.get_or_init(input_schema::<P>)
    }

    fn interrupt(&self) -> InterruptBehavior {
        P::INTERRUPT
    }

    fn kind(&self) -> ToolKind {
        P::KIND
    }

    fn result_limit(&self) -> ResultLimit {
        P::RESULT_LIMIT
    }

    fn prepare(&self, input: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        P::deserialize(input)
            .map_err(|error| InvalidInput(format!("invalid arguments: {error}")))?
            .prepare()
    }
}

/// Returns the schema of a tool's parameters.
pub(crate) fn input_schema<P: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        .with_transform(reduce)
        .into_generator()
        .into_root_schema_for::<P>();
    schema.remove("description");
    schema.to_value()
}

/// Removes details that models do not need: names of Rust types, formats of numbers, and null as an alternative to a
/// missing parameter.
fn reduce(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
    if let Some(Value::Array(types)) = schema.get_mut("type")
        && types.len() == 2
        && types[1] == "null"
    {
        let single = types.swap_remove(0);
        schema.insert("type".to_owned(), single);
    }
    transform_subschemas(&mut reduce, schema);
}

/// A non-negative whole number. `5.0` is allowed, as in JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WholeNumber(pub(super) u64);

impl WholeNumber {
    /// Converts the number to an in-memory limit. Numbers that are too large become the maximum.
    pub(super) fn limit(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(source)?;
        whole_number(&number)
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("{number} is not a non-negative whole number")))
    }
}

impl JsonSchema for WholeNumber {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WholeNumber".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "integer", "minimum": 0 })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_may_be_spelled_as_floats() {
        let parse = |value: &Value| WholeNumber::deserialize(value).ok().map(|number| number.0);
        assert_eq!(parse(&json!(5)), Some(5));
        assert_eq!(parse(&json!(5.0)), Some(5));
        assert_eq!(parse(&json!(1e3)), Some(1000));
        for bad in [json!(-1), json!(1.5), json!("5"), json!(-1.0), json!(null)] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }
}
