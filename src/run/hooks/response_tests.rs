use proptest::prelude::*;
use serde_json::json;

use super::*;

fn exit_with(code: i32, stdout: &str, stderr: &str) -> HookEnd {
    HookEnd::Exited {
        code,
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    }
}

/// Returns the decision of a `PreToolUse` hook.
fn decision(code: i32, stdout: &str, stderr: &str) -> Option<(HookDecision, String)> {
    parse_response(
        HookEvent::PreToolUse,
        &exit_with(code, stdout, stderr),
        false,
    )
    .decision
}

#[test]
fn exit_codes_and_json_decide_as_documented() {
    use HookDecision::{Allow, Ask, Block, Defer};
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}"#;
    let deny = allow.replace("allow", "deny");
    let table = [
        (0, "", "", None),
        (0, "looks good", "", None),
        (0, "{not json", "", None),
        (0, r#""allow""#, "", None),
        (0, allow, "", Some((Allow, "fine"))),
        (0, &deny, "", Some((Block, "fine"))),
        (0, &allow.replace("allow", "ask"), "", Some((Ask, "fine"))),
        (
            0,
            &allow.replace("allow", "defer"),
            "",
            Some((Defer, "fine")),
        ),
        (
            0,
            r#"{"decision":"approve","reason":"old"}"#,
            "",
            Some((Allow, "old")),
        ),
        (
            0,
            r#"{"decision":"block","reason":"old"}"#,
            "",
            Some((Block, "old")),
        ),
        // The status overrides JSON that allows, and stderr is the reason.
        (2, "", "no rm here\n", Some((Block, "no rm here"))),
        (2, allow, "no rm here", Some((Block, "no rm here"))),
        (2, "{not json", "no", Some((Block, "no"))),
        (2, &deny, "other", Some((Block, "fine"))),
        // With any other status only JSON decides.
        (1, "", "Traceback", None),
        (1, allow, "", Some((Allow, "fine"))),
        (3, &deny, "", Some((Block, "fine"))),
    ];
    for (code, stdout, stderr, expected) in table {
        let expected = expected.map(|(decision, reason)| (decision, reason.to_owned()));
        assert_eq!(
            decision(code, stdout, stderr),
            expected,
            "{code} {stdout} {stderr}"
        );
    }
}

/// Otherwise a misspelt denial would allow the call.
#[test]
fn a_response_with_an_unknown_decision_blocks_and_warns() {
    let before =
        |decision: &str| format!(r#"{{"hookSpecificOutput":{{"permissionDecision":{decision}}}}}"#);
    let request = |behavior: &str| {
        format!(r#"{{"hookSpecificOutput":{{"decision":{{"behavior":{behavior}}}}}}}"#)
    };
    let old = |decision: &str| format!(r#"{{"decision":{decision}}}"#);
    let table = [
        (HookEvent::PreToolUse, before(r#""block""#)),
        (HookEvent::PreToolUse, before(r#""Deny""#)),
        (HookEvent::PreToolUse, before("false")),
        (HookEvent::PreToolUse, old(r#""perhaps""#)),
        (HookEvent::PreToolUse, old(r#""BLOCK""#)),
        (HookEvent::PermissionRequest, request(r#""denied""#)),
        (HookEvent::PermissionRequest, request("null")),
    ];
    for (event, printed) in table {
        for code in [0, 1] {
            let told = parse_response(event, &exit_with(code, &printed, ""), false);
            let (decision, reason) = told.decision.unwrap();
            assert_eq!(decision, HookDecision::Block, "{printed}");
            assert!(reason.starts_with("its response is invalid: "), "{reason}");
            assert_eq!(told.error, Some(reason), "{printed}");
        }
    }
    let told = parse_response(
        HookEvent::PostToolUse,
        &exit_with(0, &old(r#""perhaps""#), ""),
        false,
    );
    assert_eq!(told.decision, None);
    assert!(told.error.unwrap().contains("unknown variant `perhaps`"));
}

#[test]
fn a_failing_hook_blocks_only_with_blocks_on_failure() {
    let ends = [
        HookEnd::Failed("it was ended after 1 s".to_owned()),
        exit_with(1, "", "Traceback\nmore"),
        exit_with(0, "{not json", ""),
    ];
    for end in ends {
        let open = parse_response(HookEvent::PreToolUse, &end, false);
        assert_eq!(open.decision, None, "{end:?}");
        let closed = parse_response(HookEvent::PreToolUse, &end, true);
        let decided = closed.decision.map(|(decision, _)| decision);
        assert_eq!(decided, Some(HookDecision::Block), "{end:?}");
    }
    let told = parse_response(
        HookEvent::PreToolUse,
        &exit_with(1, "", "Traceback\nmore"),
        false,
    );
    let told = told.error.unwrap();
    assert_eq!(told, "Failed with non-blocking status code 1: Traceback");
    let cancelled = parse_response(HookEvent::PreToolUse, &HookEnd::Unknown, true);
    assert_eq!(cancelled, HookResponse::default());
}

#[test]
fn each_event_has_its_own_responses() {
    let both = json!({"hookSpecificOutput": {
        "updatedInput": {"command": "ls"}, "updatedToolOutput": "masked", "additionalContext": "note",
    }});
    let of = |event, printed: &Value| {
        parse_response(event, &exit_with(0, &printed.to_string(), ""), false)
    };
    let before = of(HookEvent::PreToolUse, &both);
    assert_eq!(before.updated_input.unwrap()["command"], "ls");
    assert_eq!(before.updated_output, None);
    let after = of(HookEvent::PostToolUse, &both);
    assert_eq!(after.updated_input, None);
    assert_eq!(after.updated_output, Some(json!("masked")));
    assert_eq!(after.additional_context.as_deref(), Some("note"));

    let request = |decision: Value| json!({"hookSpecificOutput": {"decision": decision}});
    let allowed = json!({"behavior": "allow", "updatedInput": {"command": "ls"}});
    let allowed = of(HookEvent::PermissionRequest, &request(allowed));
    assert_eq!(allowed.decision, Some((HookDecision::Allow, String::new())));
    assert!(allowed.updated_input.is_some());
    let denied = json!({"behavior": "deny", "message": "no"});
    let denied = of(HookEvent::PermissionRequest, &request(denied));
    assert_eq!(
        denied.decision,
        Some((HookDecision::Block, "no".to_owned()))
    );
    let exit = parse_response(HookEvent::PermissionRequest, &exit_with(2, "", "no"), false);
    assert_eq!(exit.decision, None, "documented to be ignored");

    for stops in [
        json!({"continue": false, "stopReason": "enough"}),
        json!({"preventContinuation": true, "reason": "enough"}),
    ] {
        assert_eq!(
            of(HookEvent::PostToolUse, &stops).stop.as_deref(),
            Some("enough")
        );
    }
    let later = json!({"async": true, "decision": "block"});
    assert_eq!(of(HookEvent::PreToolUse, &later), HookResponse::default());
    let approved = json!({"decision": "approve"});
    assert_eq!(of(HookEvent::PostToolUse, &approved).decision, None);
}

#[test]
fn long_texts_are_truncated() {
    let end = exit_with(2, "", &"é".repeat(20_000));
    let (_, reason) = parse_response(HookEvent::PreToolUse, &end, false)
        .decision
        .unwrap();
    assert!(reason.chars().count() < 10_100 && reason.ends_with("was cut]"));
}

proptest! {
    #[test]
    fn status_two_always_blocks_a_call(stdout in "\\PC{0,60}", stderr in "\\PC{0,60}") {
        let decided = decision(2, &stdout, &stderr).map(|(decision, _)| decision);
        prop_assert_eq!(decided, Some(HookDecision::Block));
    }

    #[test]
    fn output_that_is_not_a_json_object_never_allows(stdout in "[^{]\\PC{0,60}", code in 0..256_i32) {
        let decided = decision(code, &stdout, "").map(|(decision, _)| decision);
        prop_assert!(decided != Some(HookDecision::Allow));
    }
}
