use boon::{Compiler, Schemas};
use serde::Serialize;
use serde_json::{Value, json};

use super::*;
use crate::assemble::{Decoder, Event};
use crate::message::{DecidedBy, Decision, Mode, Usage};
use crate::message::{SessionId, ToolUseId};

fn id(text: &str) -> ToolUseId {
    ToolUseId::from(text)
}

fn builtin() -> SideExtension {
    SideExtension {
        model: Some("builtin".to_owned()),
        ..SideExtension::default()
    }
}

fn full_result() -> ToolResultRecord {
    ToolResultRecord {
        message: ResultMessage::new(ToolResultBlock {
            tool_use_id: id("toolu_1"),
            content: ResultContent::Text("a.txt".to_owned()),
            is_error: false,
        }),
        parent_tool_use_id: None,
        tool_use_result: json!({ "stdout": "a.txt" }),
        turnpipe: ToolResultExtension {
            lane: Some(Lane::Parallel),
            batch: Some(0),
            verdict: Some(VerdictReport {
                access: VerdictAccess::ReadOnly,
                why: "ls".to_owned(),
            }),
            duration_ms: 12,
            permission: Some(Permission {
                decision: Decision::Allow,
                by: DecidedBy::Mode {
                    mode: Mode::BypassPermissions,
                },
            }),
            persisted: Some(PersistedOutput {
                path: "/s/toolu_1.txt".to_owned(),
                bytes: 9,
            }),
            sandbox: Some(SandboxReport {
                enforced: true,
                mechanism: Some("landlock, seccomp".to_owned()),
                landlock_abi: Some(7),
                seccomp: true,
                file_rules: Some(FileRulesReport {
                    isolates_calls: true,
                    looks_denied: true,
                }),
                workspace: None,
                reclassify: Some(Lane::Serial),
            }),
            ..extension(Outcome::Ok)
        },
        uuid: "u".to_owned(),
        session_id: SessionId::from("s"),
        timestamp: "2026-01-01T00:00:00Z".to_owned(),
    }
}

fn extension(outcome: Outcome) -> ToolResultExtension {
    ToolResultExtension {
        v: Version::default(),
        outcome,
        lane: None,
        batch: None,
        verdict: None,
        duration_ms: 0,
        permission: None,
        persisted: None,
        sandbox: None,
        hooks: Vec::new(),
    }
}

fn image_result() -> ToolResultRecord {
    ToolResultRecord {
        message: ResultMessage::new(ToolResultBlock {
            tool_use_id: id("toolu_2"),
            content: ResultContent::Blocks(vec![
                ResultBlock::Text {
                    text: "x".to_owned(),
                },
                ResultBlock::Image {
                    source: ImageSource {
                        media_type: "image/png".to_owned(),
                        data: "AA==".to_owned(),
                    },
                },
            ]),
            is_error: true,
        }),
        tool_use_result: Value::Null,
        turnpipe: ToolResultExtension {
            permission: Some(Permission {
                decision: Decision::Deny,
                by: DecidedBy::Default { default: true },
            }),
            ..extension(Outcome::CancelledSibling)
        },
        ..full_result()
    }
}

fn line(record: &impl Serialize) -> String {
    serde_json::to_string(record).unwrap()
}

fn init_record() -> TurnInitRecord {
    TurnInitRecord {
        subtype: InitSubtype::Only,
        cwd: "/w".to_owned(),
        session_id: "s".into(),
        tools: vec!["Read".to_owned()],
        model: "gpt-5".to_owned(),
        uuid: "u".to_owned(),
        turnpipe: TurnInitExtension {
            session_file: Some("0f".to_owned()),
            ..TurnInitExtension::default()
        },
    }
}

fn retry_record() -> ApiRetryRecord {
    ApiRetryRecord {
        subtype: RetrySubtype::Only,
        attempt: 1,
        retry_delay_ms: 500,
        error_status: Some(529),
        error: "overloaded".to_owned(),
        uuid: "u".to_owned(),
        session_id: "s".into(),
    }
}

fn check_record(command: &str, verdict: VerdictAccess, why: &str) -> CheckShellRecord {
    CheckShellRecord {
        check: ShellCheck::Only,
        command: command.to_owned(),
        verdict,
        why: why.to_owned(),
        requires: Vec::new(),
        span: None,
        changes_directory: false,
    }
}

fn turn_end(tool_use_ids: Vec<ToolUseId>) -> TurnEndRecord {
    TurnEndRecord {
        subtype: TurnEndSubtype::Only,
        tool_use_ids,
        uuid: None,
        session_id: None,
    }
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
fn written_records() -> Vec<(&'static str, String, &'static str)> {
    vec![
        (
            "executor",
            line(&ExecutorRecord::default()),
            r#"{"type":"system","subtype":"executor","turnpipe":{"v":1}}"#,
        ),
        (
            "check_shell",
            line(&check_record(
                "git push",
                VerdictAccess::Writes,
                "git push: sends",
            )),
            r#"{"type":"check","check":"shell","command":"git push","verdict":"writes","reason":"git push: sends","requires":[],"changes_directory":false}"#,
        ),
        (
            "session_renamed",
            line(&SessionRenamedRecord {
                session_id: SessionId::from("s"),
                title: "Fix login".to_owned(),
                path: "/s.jsonl".to_owned(),
            }),
            r#"{"type":"session_renamed","session_id":"s","title":"Fix login","path":"/s.jsonl"}"#,
        ),
        (
            "state_cleaned",
            line(&StateCleanedRecord {
                files: 1,
                bytes: 2,
                sessions: 0,
                path: "/state".to_owned(),
            }),
            r#"{"type":"state_cleaned","files":1,"bytes":2,"sessions":0,"path":"/state"}"#,
        ),
        (
            "turn_end",
            line(&turn_end(vec![id("a"), id("b")])),
            r#"{"type":"system","subtype":"turn_end","tool_use_ids":["a","b"]}"#,
        ),
        (
            "tool_use_summary",
            line(&ToolUseSummaryRecord {
                summary: "Read a.rs".to_owned(),
                preceding_tool_use_ids: vec![id("a")],
                uuid: "u".to_owned(),
                session_id: Some(SessionId::from("s")),
                turnpipe: builtin(),
            }),
            r#"{"type":"tool_use_summary","summary":"Read a.rs","preceding_tool_use_ids":["a"],"uuid":"u","session_id":"s","turnpipe":{"v":1,"model":"builtin"}}"#,
        ),
        (
            "title",
            line(&TitleRecord {
                ok: false,
                title: None,
                title_source: None,
                model: None,
                reason: Some("empty_history".to_owned()),
                error: None,
                written: None,
                session_id: None,
                path: None,
                turnpipe: SideExtension::default(),
            }),
            r#"{"type":"title","ok":false,"reason":"empty_history","turnpipe":{"v":1}}"#,
        ),
        (
            "recap",
            line(&RecapRecord {
                ok: true,
                recap: Some("Here.".to_owned()),
                uuid: Some("u".to_owned()),
                timestamp: Some("2026-01-02T03:04:05.000Z".to_owned()),
                turnpipe: builtin(),
                ..RecapRecord::default()
            }),
            r#"{"type":"recap","ok":true,"recap":"Here.","uuid":"u","timestamp":"2026-01-02T03:04:05.000Z","turnpipe":{"v":1,"model":"builtin"}}"#,
        ),
        (
            "recap",
            line(&RecapRecord {
                reason: Some("empty_history".to_owned()),
                ..RecapRecord::default()
            }),
            r#"{"type":"recap","ok":false,"reason":"empty_history","turnpipe":{"v":1}}"#,
        ),
        (
            "usage",
            line(&UsageRecord::new(
                "u".to_owned(),
                None,
                SideExtension {
                    model: Some("openai:small".to_owned()),
                    prompt_id: Some("session_title".to_owned()),
                    usage: Some(Usage {
                        input: 11,
                        ..Usage::default()
                    }),
                    ..SideExtension::default()
                },
            )),
            r#"{"type":"system","subtype":"usage","uuid":"u","turnpipe":{"v":1,"model":"openai:small","prompt_id":"session_title","usage":{"input_tokens":11,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}}}"#,
        ),
        (
            "tool_progress",
            line(&ToolProgressRecord {
                tool_use_id: id("a"),
                tool_name: "Bash".to_owned(),
                parent_tool_use_id: None,
                elapsed_time_seconds: 30.0,
                heartbeat: Some(true),
                note: None,
                uuid: Some("u".to_owned()),
                session_id: None,
            }),
            r#"{"type":"tool_progress","tool_use_id":"a","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":30.0,"heartbeat":true,"uuid":"u"}"#,
        ),
        (
            "tool_result",
            line(&full_result()),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt","is_error":false}]},"parent_tool_use_id":null,"tool_use_result":{"stdout":"a.txt"},"turnpipe":{"v":1,"outcome":"ok","lane":"parallel","batch":0,"verdict":{"access":"read-only","reason":"ls"},"duration_ms":12,"permission":{"decision":"allow","decided_by":{"mode":"bypassPermissions"}},"persisted":{"path":"/s/toolu_1.txt","bytes":9},"sandbox":{"enforced":true,"mechanism":"landlock, seccomp","landlock_abi":7,"seccomp":true,"file_rules":{"isolates_calls":true,"looks_denied":true},"reclassify":"serial"}},"uuid":"u","session_id":"s","timestamp":"2026-01-01T00:00:00Z"}"#,
        ),
        (
            "tool_result",
            line(&image_result()),
            r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}],"is_error":true}]},"parent_tool_use_id":null,"tool_use_result":null,"turnpipe":{"v":1,"outcome":"cancelled_sibling","duration_ms":0,"permission":{"decision":"deny","decided_by":{"default":true}}},"uuid":"u","session_id":"s","timestamp":"2026-01-01T00:00:00Z"}"#,
        ),
        (
            "plan",
            line(&PlanRecord::new(
                1,
                Lane::Serial,
                vec![PlannedCall {
                    outcome: None,
                    tool_use_id: id("a"),
                    tool_name: "Edit".to_owned(),
                    verdict: None,
                }],
            )),
            r#"{"type":"system","subtype":"plan","batch":1,"lane":"serial","tool_use_ids":["a"],"calls":[{"tool_use_id":"a","tool_name":"Edit"}],"turnpipe":{"v":1}}"#,
        ),
        (
            "permission_count",
            line(&PermissionCountRecord {
                tool: "Bash".to_owned(),
                command: Some("git push".to_owned()),
                calls: 3,
                allow: 1,
                ask: 2,
                deny: 0,
            }),
            r#"{"type":"permission_count","tool":"Bash","command":"git push","calls":3,"allow":1,"ask":2,"deny":0}"#,
        ),
        (
            "permission_proposal",
            line(&PermissionProposalRecord {
                rule: "Bash(git push *)".to_owned(),
                spares: 2,
                also_allows: "uses the network".to_owned(),
            }),
            r#"{"type":"permission_proposal","rule":"Bash(git push *)","spares":2,"also_allows":"uses the network"}"#,
        ),
        (
            "plan_limit",
            line(&PlanLimitRecord {
                agent: "codex",
                plan: Some("plus".to_owned()),
                window_minutes: Some(300),
                name: None,
                used_percent: 42.0,
                resets_at: Some(jiff::Timestamp::UNIX_EPOCH),
                read_at: jiff::Timestamp::UNIX_EPOCH,
                expired: true,
                used_by: Vec::new(),
            }),
            r#"{"type":"plan_limit","agent":"codex","plan":"plus","window_minutes":300,"used_percent":42.0,"resets_at":"1970-01-01T00:00:00Z","read_at":"1970-01-01T00:00:00Z","expired":true,"used_by":[]}"#,
        ),
        (
            "check_permission",
            line(&CheckPermissionRecord {
                check: PermissionCheck::Only,
                name: "Bash".to_owned(),
                command: None,
                decision: Decision::Ask,
                by: DecidedBy::Rule {
                    rule: "Bash(git push *)".to_owned(),
                    behavior: Decision::Ask,
                    source: "s.json".to_owned(),
                },
                parts: Vec::new(),
                hint: None,
            }),
            r#"{"type":"check","check":"permission","tool":"Bash","decision":"ask","decided_by":{"rule":"Bash(git push *)","behavior":"ask","source":"s.json"}}"#,
        ),
        (
            "doctor",
            line(&DoctorRecord {
                subject: Subject::Key,
                name: "openai".to_owned(),
                value: "set".to_owned(),
                source: "OPENAI_API_KEY".to_owned(),
                condition: Condition::Ok,
                problem: None,
            }),
            r#"{"type":"doctor","subject":"key","name":"openai","value":"set","source":"OPENAI_API_KEY","condition":"ok"}"#,
        ),
        (
            "hook_status",
            line(&HookStatusRecord {
                agent: "claude".to_owned(),
                scope: HookScope::User,
                path: "/s.json".to_owned(),
                event: "PreToolUse".to_owned(),
                command: "turnpipe hook pre-tool-use".to_owned(),
                trusted: None,
                works: Some(true),
                problem: None,
            }),
            r#"{"type":"hook_status","agent":"claude","scope":"user","path":"/s.json","event":"PreToolUse","command":"turnpipe hook pre-tool-use","works":true}"#,
        ),
        (
            "hook_test",
            line(&HookTestRecord {
                agent: "claude".to_owned(),
                path: "/s.json".to_owned(),
                event: "PreToolUse".to_owned(),
                agent_type: None,
                tool: "Bash".to_owned(),
                about: "ls".to_owned(),
                decision: Some(Decision::Allow),
                reason: Some("it only reads".to_owned()),
                exit_status: Some(0),
                ok: true,
                honored: true,
                effect: HookEffect::Runs,
                problem: None,
            }),
            r#"{"type":"hook_test","agent":"claude","path":"/s.json","event":"PreToolUse","tool":"Bash","about":"ls","decision":"allow","reason":"it only reads","exit_status":0,"ok":true,"honored":true,"effect":"runs"}"#,
        ),
        (
            "hook_stopped_continuation",
            line(&HookStoppedRecord {
                subtype: HookStoppedSubtype::Only,
                tool_use_id: Some(id("a")),
                content: "enough".to_owned(),
                uuid: "u".to_owned(),
                session_id: SessionId::from("s"),
            }),
            r#"{"type":"system","subtype":"hook_stopped_continuation","tool_use_id":"a","content":"enough","uuid":"u","session_id":"s"}"#,
        ),
        (
            "control_request",
            line(&ControlRequestRecord {
                request_id: "r".to_owned(),
                request: ControlRequest::CanUseTool {
                    tool_name: "Bash".to_owned(),
                    input: json!({"command": "ls"}),
                    tool_use_id: id("a"),
                    decision_reason: "why".to_owned(),
                },
            }),
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"a","decision_reason":"why"}}"#,
        ),
        (
            "control_cancel_request",
            line(&ControlCancelRecord {
                request_id: "r".to_owned(),
            }),
            r#"{"type":"control_cancel_request","request_id":"r"}"#,
        ),
        (
            "control_response",
            line(&ControlResponseRecord {
                response: ControlResponse::Success {
                    request_id: "r".to_owned(),
                    response: None,
                },
            }),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r"}}"#,
        ),
        (
            "content_replacement",
            line(&ContentReplacementRecord {
                session_id: SessionId::from("s"),
                replacements: vec![Replacement {
                    tool_use_id: id("a"),
                    replacement: "gone".to_owned(),
                }],
                uuid: "u".to_owned(),
                timestamp: "t".to_owned(),
            }),
            r#"{"type":"content_replacement","session_id":"s","replacements":[{"tool_use_id":"a","replacement":"gone"}],"uuid":"u","timestamp":"t"}"#,
        ),
        (
            "check_shell",
            line(&check_record("ls", VerdictAccess::ReadOnly, "ls")),
            r#"{"type":"check","check":"shell","command":"ls","verdict":"read-only","reason":"ls","requires":[],"changes_directory":false}"#,
        ),
        (
            "check_text",
            line(&CheckTextRecord {
                check: TextCheck::Only,
                kind: TextKind::Label,
                output: "Read a".to_owned(),
                rejected: None,
            }),
            r#"{"type":"check","check":"text","kind":"label","output":"Read a","rejected":null}"#,
        ),
        (
            "check_text",
            line(&CheckTextRecord {
                check: TextCheck::Only,
                kind: TextKind::Recap,
                output: String::new(),
                rejected: Some(TextRejection::NoTag),
            }),
            r#"{"type":"check","check":"text","kind":"recap","output":"","rejected":"no_tag"}"#,
        ),
        (
            "init",
            line(&init_record()),
            r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Read"],"model":"gpt-5","uuid":"u","turnpipe":{"v":1,"session_file":"0f"}}"#,
        ),
        (
            "stream_event",
            line(&StreamEventRecord {
                event: json!({"type": "message_stop"}),
                parent_tool_use_id: None,
                uuid: "u".to_owned(),
                session_id: "s".into(),
            }),
            r#"{"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null,"uuid":"u","session_id":"s"}"#,
        ),
        (
            "api_retry",
            line(&retry_record()),
            r#"{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":500,"error_status":529,"error":"overloaded","uuid":"u","session_id":"s"}"#,
        ),
        (
            "result",
            line(&TurnResultRecord {
                subtype: TurnResult::Success,
                is_error: false,
                duration_ms: 900,
                num_turns: 1,
                result: Some("Done.".to_owned()),
                structured_output: None,
                stop_reason: Some("end_turn"),
                terminal_reason: "completed",
                total_cost_usd: Some(0.1 + 0.2),
                usage: Usage {
                    input: 9,
                    output: 1,
                    ..Usage::default()
                },
                errors: Vec::new(),
                uuid: "u".to_owned(),
                session_id: "s".into(),
                turnpipe: VersionOnly::default(),
            }),
            r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":900,"num_turns":1,"result":"Done.","stop_reason":"end_turn","terminal_reason":"completed","total_cost_usd":0.3,"usage":{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":0,"cache_creation_input_tokens":0},"uuid":"u","session_id":"s","turnpipe":{"v":1}}"#,
        ),
        (
            "check_error",
            line(&CheckErrorRecord {
                check: "shell".to_owned(),
                line: 3,
                error: "not JSON".to_owned(),
                path: None,
            }),
            r#"{"type":"check","check":"shell","line":3,"error":"not JSON"}"#,
        ),
        (
            "hook_decision",
            line(&HookDecisionRecord {
                timestamp: "2026-01-01T00:00:00Z".to_owned(),
                agent: Some("claude".to_owned()),
                session_id: Some("s".to_owned()),
                agent_id: Some("a1".to_owned()),
                agent_type: Some("Explore".to_owned()),
                cwd: "/p".to_owned(),
                event: "PreToolUse".to_owned(),
                tool: "Bash".to_owned(),
                about: "make".to_owned(),
                decision: Decision::Ask,
                answered: false,
                by: None,
                reason: "no rule allows it".to_owned(),
                hints: vec!["Bash(make)".to_owned()],
            }),
            r#"{"type":"hook_decision","timestamp":"2026-01-01T00:00:00Z","agent":"claude","session_id":"s","agent_id":"a1","agent_type":"Explore","cwd":"/p","event":"PreToolUse","tool":"Bash","about":"make","decision":"ask","answered":false,"reason":"no rule allows it","hints":["Bash(make)"]}"#,
        ),
    ]
}

#[test]
fn records_are_written_as_in_the_contract() {
    for (name, found, expected) in written_records() {
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn records_match_their_schemas() {
    for (name, found, _) in written_records() {
        let schema = schema(name).unwrap();
        let record: Value = serde_json::from_str(&found).unwrap();
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.add_resource("schema:///", schema.clone()).unwrap();
        let index = compiler.compile("schema:///", &mut schemas).unwrap();
        let is_valid = |record: &Value| schemas.validate(record, index).is_ok();
        assert!(is_valid(&record), "{name}: {found}\n{schema:#}");
        let mut another = record.clone();
        another["type"] = json!("another");
        assert!(!is_valid(&another), "{name} is of any type");
        for member in [
            "subtype",
            "check",
            "message",
            "turnpipe",
            "replacements",
            "response",
        ] {
            if record.get(member).is_some() {
                let mut less = record.clone();
                less.as_object_mut().unwrap().remove(member);
                assert!(!is_valid(&less), "{name} without {member}");
            }
        }
        let mut more = record;
        more["new_member"] = json!(1);
        assert!(is_valid(&more), "{name} may gain members");
    }
}

#[test]
fn every_record_has_a_schema_and_an_example() {
    let names = record_names();
    assert!(names.is_sorted());
    for name in names {
        assert!(schema(name).is_some(), "{name}");
        // tests/session_append.rs checks the output of session commands against its schemas.
        if name.starts_with("session") {
            continue;
        }
        assert!(
            written_records()
                .iter()
                .any(|(example, ..)| *example == name),
            "{name}"
        );
    }
    assert_eq!(schema("unknown"), None);
}

#[test]
fn our_own_records_decode_to_the_expected_events() {
    let mut decoder = Decoder::with_detection();
    let events = decoder.record(&line(&ExecutorRecord::default()));
    assert!(matches!(events[..], [Event::Executor { .. }]));
    let events = decoder.record(&line(&full_result()));
    assert!(
        matches!(&events[..], [Event::Session(_), Event::Result(id)] if id.as_str() == "toolu_1")
    );
    assert!(decoder.record(&line(&turn_end(Vec::new()))).is_empty());
}
