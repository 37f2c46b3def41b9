//! From a call's input object to a tool's own arguments type.
//!
//! The schema has been checked by then; what fails here is a tool whose schema and type disagree,
//! or a number spelled in a way JSON Schema accepts (`5.0`) and serde does not.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{AccessError, Input, InvalidInput, ToolFailure};

/// The arguments of a call as the tool's own type.
pub(super) fn parse<Arguments: DeserializeOwned>(input: &Input) -> Result<Arguments, InvalidInput> {
    Arguments::deserialize(Value::Object(input.clone()))
        .map_err(|error| InvalidInput(format!("invalid arguments: {error}")))
}

/// Reads an optional whole number that is not negative; `5.0` is one, as in JSON Schema.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(source)? else {
        return Ok(None);
    };
    number
        .as_u64()
        .or_else(|| {
            let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
            format!("{float:.0}").parse().ok()
        })
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("{number} is not a whole number of at least 0")))
}

impl From<InvalidInput> for ToolFailure {
    fn from(invalid: InvalidInput) -> Self {
        Self(invalid.0)
    }
}

impl From<InvalidInput> for AccessError {
    fn from(invalid: InvalidInput) -> Self {
        Self(invalid.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Numbers {
        #[serde(default, deserialize_with = "whole_number")]
        limit: Option<u64>,
    }

    fn limit(value: &Value) -> Result<Option<u64>, InvalidInput> {
        let input = json!({ "limit": value });
        parse::<Numbers>(input.as_object().unwrap()).map(|numbers| numbers.limit)
    }

    #[test]
    fn whole_numbers_may_be_spelled_as_floats() {
        assert_eq!(limit(&json!(5)), Ok(Some(5)));
        assert_eq!(limit(&json!(5.0)), Ok(Some(5)));
        assert_eq!(limit(&json!(1e3)), Ok(Some(1000)));
        assert_eq!(limit(&json!(null)), Ok(None));
        assert_eq!(parse::<Numbers>(&Input::new()).unwrap().limit, None);
        for bad in [json!(-1), json!(1.5), json!("5"), json!(-1.0)] {
            assert!(limit(&bad).is_err(), "{bad}");
        }
    }
}
