//! Parses and classifies error messages of servers. Pure.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

use super::failure::{Failure, RefusalScope};
use crate::json::replace_lone_surrogates;

/// An error reported by a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerError {
    message: String,
    /// Status in the text; errors in replies have no other.
    status: Option<u16>,
    /// All error codes and types, in lower case.
    kinds: Vec<String>,
    retry_after: Option<Duration>,
}

/// Kinds that a retry cannot fix, with any status.
const EXHAUSTED: &str = "insufficient_quota credit_balance_exhausted billing_error \
    billing_hard_limit_reached enforced_spend_limit_reached insufficient_balance \
    quota_exceeded arrearage";

/// Phrases in messages and kinds about an exhausted quota.
const EXHAUSTED_WORDS: &str =
    "credit balance is too low|limit: 0|per day|perday|insufficient balance";

/// Permanent kinds of errors in replies, which have no HTTP status.
const PERMANENT: &str = "invalid_request_error invalid_parameter_error authentication_error \
    permission_error not_found_error request_too_large exceed_context_size_error \
    context_length_exceeded invalid_argument permission_denied unauthenticated \
    failed_precondition not_found";

/// Kinds of errors about requests that exceed the context window.
const TOO_LONG: &str = "context_length_exceeded exceed_context_size_error request_too_large";

/// Phrases about such requests in messages of servers that send no kind for them.
const TOO_LONG_WORDS: &str = "prompt is too long|maximum context length|context window|\
    exceeds the maximum number of tokens|range of input length should be|input is too long|\
    exceeds the available context size";

impl ServerError {
    /// Parses the error in a response with a success status.
    pub(super) fn parse(json: &str) -> Option<Self> {
        if !json.contains("\"error\"") {
            return None;
        }
        let reply = first_value(json)?;
        let is_error = |member: &str| reply[member] == "error";
        let mut error = match &reply["error"] {
            Value::Null if is_error("object") || is_error("type") => Self::from_json(&reply),
            Value::Null => return None,
            error => Self::from_json(error),
        };
        if is_error("object") {
            // vLLM means 400 unless it says otherwise.
            error.status = error.status.or(Some(400));
        }
        Some(error)
    }

    /// Parses the error in a response with another status, which may be any text.
    pub(super) fn from_body(body: &str) -> Self {
        let response = first_value(body).unwrap_or_default();
        let mut error = match &response["error"] {
            Value::Null => Self::from_json(&response),
            error => Self::from_json(error),
        };
        if error.message.is_empty() {
            let elsewhere = [&response["message"], &response["detail"]];
            let message = elsewhere.into_iter().find_map(Value::as_str);
            message
                .unwrap_or(body.trim())
                .clone_into(&mut error.message);
        }
        error
    }

    fn from_json(error: &Value) -> Self {
        let message = match error {
            Value::String(message) => message.clone(),
            Value::Object(_) | Value::Null => {
                error["message"].as_str().unwrap_or_default().to_owned()
            }
            other => other.to_string(),
        };
        let mut kinds = vec![&error["type"], &error["code"], &error["status"]];
        let mut retry_after = None;
        // An object, or a list of objects.
        let member = &error["details"];
        let details = member
            .as_array()
            .map_or(std::slice::from_ref(member), Vec::as_slice);
        for detail in details {
            kinds.push(&detail["error_code"]);
            let violations = detail["violations"].as_array().into_iter().flatten();
            kinds.extend(violations.map(|violation| &violation["quotaId"]));
            retry_after = retry_after.or(detail["retryDelay"].as_str().and_then(parse_delay));
        }
        let kinds = kinds.into_iter().filter_map(Value::as_str);
        Self {
            message,
            status: parse_status(&error["code"]),
            kinds: kinds.map(str::to_ascii_lowercase).collect(),
            retry_after,
        }
    }

    /// Converts the error to a failure, with status and delay from the response headers.
    pub(super) fn into_failure(
        self,
        status: Option<u16>,
        retry_after: Option<Duration>,
    ) -> Failure {
        let status = status.or(self.status);
        let is_exhausted = self.is_exhausted();
        let is_temporary = match status {
            Some(408 | 409 | 425 | 429) => true,
            Some(501 | 505) => false,
            Some(status) => status >= 500,
            // A server that started a reply had accepted the request.
            None => !self.is_one_of(PERMANENT),
        };
        let retry_after = retry_after.or(self.retry_after);
        let message = if self.message.is_empty() {
            "no reason given".to_owned()
        } else {
            self.message.clone()
        };
        if is_temporary && !is_exhausted {
            return Failure::Overloaded {
                status,
                message,
                retry_after,
            };
        }
        // The key, account, address or model is wrong for all requests.
        let scope = if is_exhausted || matches!(status, Some(401..=404 | 407)) {
            RefusalScope::Everything
        } else if self.is_too_long(&message) {
            RefusalScope::Length
        } else {
            RefusalScope::Request
        };
        Failure::Rejected {
            status,
            message,
            scope,
        }
    }

    fn is_one_of(&self, kinds: &str) -> bool {
        let mut wanted = kinds.split_whitespace();
        wanted.any(|wanted| self.kinds.iter().any(|kind| kind == wanted))
    }

    fn is_too_long(&self, message: &str) -> bool {
        let message = message.to_lowercase();
        let mut phrases = TOO_LONG_WORDS.split('|');
        self.is_one_of(TOO_LONG) || phrases.any(|phrase| message.contains(phrase))
    }

    /// Whether a quota is exhausted for a long time.
    fn is_exhausted(&self) -> bool {
        let message = self.message.to_lowercase();
        let mut texts = self.kinds.iter().chain([&message]);
        self.is_one_of(EXHAUSTED)
            || texts.any(|text| EXHAUSTED_WORDS.split('|').any(|words| text.contains(words)))
    }
}

/// Parses the failure in a text that is an error of a server instead of a reply, or starts with one as an event.
pub fn parse_failure(text: &str) -> Option<Failure> {
    let json = text.get(text.find(['{', '['])?..)?;
    let mut values = Deserializer::from_str(json).into_iter::<&RawValue>();
    let first = values.next()?.ok()?.get();
    let record = first_value(first)?;
    let kind = &record["type"];
    // Records of agents have other types, and no `object`. vLLM's errors have a type of their own.
    let is_of_api = kind.is_null() || kind == "error" || record["object"] == "error";
    let error = ServerError::parse(first).filter(|_| is_of_api)?;
    Some(error.into_failure(None, None))
}

/// Parses a JSON value, or the first one of an array: a stream without event framing is an array.
fn first_value(json: &str) -> Option<Value> {
    let repaired = replace_lone_surrogates(json);
    match serde_json::from_str(repaired.as_deref().unwrap_or(json)).ok()? {
        Value::Array(values) => values.into_iter().next(),
        value => Some(value),
    }
}

/// Parses a status given as a number or string.
fn parse_status(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    let number = u16::try_from(number).ok()?;
    (400..600).contains(&number).then_some(number)
}

/// Parses a duration such as `46s` or `1.5s`.
fn parse_delay(delay: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: bool = true;

    const STAYS: bool = false;

    #[test]
    fn all_forms_of_errors_are_parsed() {
        let rows = [
            (
                401,
                r#"{"error":{"message":"bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                "bad key",
                STAYS,
            ),
            (
                429,
                r#"{"error":{"message":"slow","type":"requests","code":"rate_limit_exceeded"}}"#,
                "slow",
                PASSES,
            ),
            (
                429,
                r#"{"error":{"message":"gone","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                "gone",
                STAYS,
            ),
            (
                429,
                r#"{"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
                "m",
                STAYS,
            ),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}"#,
                "Overloaded",
                PASSES,
            ),
            (
                402,
                r#"{"error":{"code":402,"message":"no credits"}}"#,
                "no credits",
                STAYS,
            ),
            (
                503,
                "upstream connect error",
                "upstream connect error",
                PASSES,
            ),
            (501, "", "no reason given", STAYS),
            (
                413,
                "<html>too large</html>",
                "<html>too large</html>",
                STAYS,
            ),
            (
                404,
                r#"{"error":"model 'x' not found"}"#,
                "model 'x' not found",
                STAYS,
            ),
            (
                400,
                r#"{"code":"InvalidParameter","message":"m"}"#,
                "m",
                STAYS,
            ),
            (422, r#"{"detail":"Unprocessable"}"#, "Unprocessable", STAYS),
            (
                500,
                r#"{"error":{"code":500,"message":"\ud83d","type":"server_error"}}"#,
                "\u{fffd}",
                PASSES,
            ),
            (
                429,
                r#"[{"error":{"code":429,"message":"q","status":"RESOURCE_EXHAUSTED"}}]"#,
                "q",
                PASSES,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"q","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}}"#,
                "q",
                STAYS,
            ),
        ];
        for (status, body, message, passes) in rows {
            let failure = ServerError::from_body(body).into_failure(Some(status), None);
            let (found, passing) = match failure {
                Failure::Overloaded { message, .. } => (message, PASSES),
                Failure::Rejected { message, .. } => (message, STAYS),
                other => panic!("{other:?}"),
            };
            assert_eq!((found.as_str(), passing), (message, passes), "{body}");
        }
    }

    #[test]
    fn errors_inside_replies_are_found() {
        assert_eq!(ServerError::parse(r#"{"error":null,"choices":[]}"#), None);
        assert_eq!(ServerError::parse("{}"), None);
        assert_eq!(ServerError::parse("nonsense"), None);
        let failure = |json| ServerError::parse(json).unwrap().into_failure(None, None);
        let rows = [
            (
                r#"{"error":{"code":502,"message":"upstream"}}"#,
                Some(502),
                PASSES,
            ),
            (
                r#"{"error":{"code":"429","message":"slow"}}"#,
                Some(429),
                PASSES,
            ),
            (
                r#"{"error":{"code":400,"message":"bad"}}"#,
                Some(400),
                STAYS,
            ),
            (r#"{"error":"broke in the middle"}"#, None, PASSES),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"o"}}"#,
                None,
                PASSES,
            ),
            (
                r#"{"error":{"type":"invalid_request_error","message":"o"}}"#,
                None,
                STAYS,
            ),
        ];
        for (json, expected, passes) in rows {
            match failure(json) {
                Failure::Overloaded { status, .. } => {
                    assert_eq!((status, PASSES), (expected, passes));
                }
                Failure::Rejected { status, .. } => assert_eq!((status, STAYS), (expected, passes)),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_delay_in_the_body_counts_without_one_in_a_header() {
        let body = r#"{"error":{"code":429,"message":"q","status":"RESOURCE_EXHAUSTED",
        "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"46.5s"}]}}"#;
        let wait = |header| match ServerError::from_body(body).into_failure(Some(429), header) {
            Failure::Overloaded { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait(None), Some(Duration::from_millis(46_500)));
        let header = Some(Duration::from_secs(1));
        assert_eq!(wait(header), header);
    }
}
