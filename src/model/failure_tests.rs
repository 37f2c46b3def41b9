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
fn errors_inside_replies_are_found() {
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
fn a_delay_in_the_body_counts_without_one_in_a_header() {
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
