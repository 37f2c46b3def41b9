//! Error messages of servers, and what they mean. Pure.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{Failure, Refused};
use crate::wire::object::{elements, non_null, object, text};

object! {
    /// Anything that may hold an error.
    Outer { error = "error", message = "message", detail = "detail", code = "code", kind = "type" }
}
object! {
    /// An error.
    Inner {
        message = "message",
        kind = "type",
        code = "code",
        status = "status",
        details = "details",
    }
}
object! {
    /// One of the details of an error.
    Detail { delay = "retryDelay", violations = "violations", error_code = "error_code" }
}
object! {
    /// A quota that was used up.
    Violation { quota = "quotaId" }
}

/// What a server says about an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServerError {
    message: String,
    /// A status in the text, which is the only one inside of a reply.
    status: Option<u16>,
    /// Everything that names its kind, in lower case.
    kinds: Vec<String>,
    retry_after: Option<Duration>,
}

/// Kinds for which another attempt is pointless, whatever the status.
const SPENT: &str = "insufficient_quota credit_balance_exhausted billing_error \
    billing_hard_limit_reached enforced_spend_limit_reached insufficient_balance \
    quota_exceeded arrearage";

/// Phrases in messages about a quota that will not return soon.
const SPENT_WORDS: &str = "credit balance is too low|limit: 0|per day|perday|insufficient balance";

/// Permanent kinds of errors inside of replies, which have no status.
const FINAL: &str = "invalid_request_error invalid_parameter_error authentication_error \
    permission_error not_found_error request_too_large exceed_context_size_error \
    context_length_exceeded invalid_argument permission_denied unauthenticated \
    failed_precondition not_found";

/// Client errors that concern every request: the key, the account, the model.
const EVERYTHING: &[u16] = &[401, 402, 403, 404, 407];

/// Temporary client errors.
const LATER: &[u16] = &[408, 409, 425, 429];

/// Permanent server errors.
const NEVER: &[u16] = &[501, 505];

impl ServerError {
    /// The error in a reply with a success status.
    pub(super) fn inside(json: &str) -> Option<Self> {
        let json = first_element(json);
        let outer = Outer::read(&json)?;
        let error = non_null(outer.error)?;
        Some(Self::read(error))
    }

    /// The error in an answer with another status, which may be any text.
    pub(super) fn of_body(body: &str) -> Self {
        let first = first_element(body);
        let Some(outer) = Outer::read(&first) else {
            return Self {
                message: body.trim().to_owned(),
                ..Self::default()
            };
        };
        if let Some(error) = non_null(outer.error) {
            let mut read = Self::read(error);
            if read.message.is_empty()
                && let Some(message) = text(outer.message)
            {
                read.message = message.into_owned();
            }
            return read;
        }
        let message = text(outer.message).or_else(|| text(outer.detail));
        Self {
            message: message.map_or_else(|| body.trim().to_owned(), std::borrow::Cow::into_owned),
            kinds: kinds([outer.code, outer.kind]),
            ..Self::default()
        }
    }

    /// The failure that it stands for, with the status and the wait from the headers of the answer.
    pub(super) fn failure(self, status: Option<u16>, retry_after: Option<Duration>) -> Failure {
        let status = status.or(self.status);
        let message = if self.message.is_empty() {
            "no reason given".to_owned()
        } else {
            self.message.clone()
        };
        if self.may_pass(status) {
            Failure::Overloaded {
                status,
                message,
                retry_after: retry_after.or(self.retry_after),
            }
        } else {
            let is_about_all = status.is_some_and(|status| EVERYTHING.contains(&status));
            let what = if is_about_all || self.is_spent() {
                Refused::Everything
            } else {
                Refused::Request
            };
            Failure::Rejected {
                status,
                message,
                what,
            }
        }
    }

    fn is(&self, table: &str) -> bool {
        let mut known = table.split_whitespace();
        known.any(|known| self.kinds.iter().any(|kind| kind == known))
    }

    /// Whether a quota is used up that will not return soon.
    fn is_spent(&self) -> bool {
        let lower = self.message.to_lowercase();
        self.is(SPENT) || SPENT_WORDS.split('|').any(|words| lower.contains(words))
    }

    fn may_pass(&self, status: Option<u16>) -> bool {
        if self.is_spent() {
            return false;
        }
        match status {
            Some(status) if LATER.contains(&status) => true,
            Some(status) if status >= 500 => !NEVER.contains(&status),
            Some(_) => false,
            // A server that began to answer had accepted the request.
            None => !self.is(FINAL),
        }
    }

    fn read(error: &RawValue) -> Self {
        if let Some(message) = text(Some(error)) {
            return Self {
                message: message.into_owned(),
                ..Self::default()
            };
        }
        let Some(inner) = Inner::of(Some(error)) else {
            return Self {
                message: error.get().to_owned(),
                ..Self::default()
            };
        };
        let mut read = Self {
            message: text(inner.message).unwrap_or_default().into_owned(),
            status: status(inner.code),
            kinds: kinds([inner.kind, inner.code, inner.status]),
            retry_after: None,
        };
        let details = inner.details;
        let one = Detail::of(details).into_iter();
        for detail in Detail::list(details).into_iter().chain(one) {
            read.kinds.extend(kinds([detail.error_code]));
            if let Some(delay) = text(detail.delay) {
                read.retry_after = seconds(&delay);
            }
            for violation in Violation::list(detail.violations) {
                read.kinds
                    .extend(kinds([violation.quota]).into_iter().map(|quota| {
                        if quota.contains("perday") {
                            "quota_exceeded".to_owned()
                        } else {
                            quota
                        }
                    }));
            }
        }
        read
    }
}

/// The first element of an array, which is how a stream without event framing begins.
fn first_element(json: &str) -> std::borrow::Cow<'_, str> {
    let trimmed = json.trim();
    if trimmed.starts_with('[')
        && let Ok(raw) = serde_json::from_str::<&RawValue>(trimmed)
        && let Some(first) = elements(Some(raw)).first()
    {
        return first.get().to_owned().into();
    }
    trimmed.into()
}

fn kinds<const COUNT: usize>(values: [Option<&RawValue>; COUNT]) -> Vec<String> {
    let texts = values.into_iter().filter_map(text);
    texts.map(|text| text.to_ascii_lowercase()).collect()
}

/// A status as a number or a string.
fn status(code: Option<&RawValue>) -> Option<u16> {
    let number = code?.get().trim_matches('"').parse().ok()?;
    (400..600).contains(&number).then_some(number)
}

/// `46s`, `1.5s`.
fn seconds(delay: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: bool = true;
    const STAYS: bool = false;

    #[test]
    fn every_shape_is_understood() {
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
            let failure = ServerError::of_body(body).failure(Some(status), None);
            let (found, passing) = match failure {
                Failure::Overloaded { message, .. } => (message, PASSES),
                Failure::Rejected { message, .. } => (message, STAYS),
                other => panic!("{other:?}"),
            };
            assert_eq!((found.as_str(), passing), (message, passes), "{body}");
        }
    }

    #[test]
    fn errors_inside_of_replies_are_found() {
        assert_eq!(ServerError::inside(r#"{"error":null,"choices":[]}"#), None);
        assert_eq!(ServerError::inside("{}"), None);
        assert_eq!(ServerError::inside("nonsense"), None);
        let failure = |json| ServerError::inside(json).unwrap().failure(None, None);
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
    fn a_wait_in_the_body_counts_if_no_header_asks_for_one() {
        let body = r#"{"error":{"code":429,"message":"q","status":"RESOURCE_EXHAUSTED",
            "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"46.5s"}]}}"#;
        let wait = |header| match ServerError::of_body(body).failure(Some(429), header) {
            Failure::Overloaded { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait(None), Some(Duration::from_millis(46_500)));
        let header = Some(Duration::from_secs(1));
        assert_eq!(wait(header), header);
    }
}
