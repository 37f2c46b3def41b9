use super::*;
use crate::message::{Block, Call, ResultPart, ToolResult};
use serde_json::value::RawValue;

fn recap_of(talk: &[(Role, &str)]) -> String {
    let messages = talk.iter().map(|(role, text)| {
        let origin = match role {
            Role::User if text.starts_with("[Request") => Origin::Injected,
            Role::User => Origin::Prompt,
            Role::Assistant | Role::System => Origin::Reply,
        };
        Message {
            blocks: vec![Block::Text((*text).to_owned())],
            ..Message::new(*role, origin)
        }
    });
    write_recap(&messages.collect::<Vec<_>>(), None)
}

#[test]
fn recaps_have_goal_report_and_next_step() {
    let ask = (Role::User, "Port the config parser to Rust");
    let rows: &[(&[(Role, &str)], &str)] = &[
        (
            &[
                ask,
                (
                    Role::Assistant,
                    "Done. The parser reads all **old** files now.\n\nWould you like me to delete the old one?",
                ),
            ],
            "Goal: Port the config parser to Rust. Last report: The parser reads all old files now. Waiting for an answer: Would you like me to delete the old one?",
        ),
        (
            &[ask, (Role::Assistant, "Now read the old parser:")],
            "Goal: Port the config parser to Rust.",
        ),
        (
            &[ask, (Role::Assistant, "Let me read the old parser:")],
            "Goal: Port the config parser to Rust. Next: read the old parser.",
        ),
        (
            &[
                ask,
                (Role::Assistant, "All parts are ported."),
                (Role::User, "[Request interrupted by user]"),
            ],
            "Goal: Port the config parser to Rust. Last report: All parts are ported. Interrupted by the user.",
        ),
        (&[ask], "Open request: Port the config parser to Rust."),
        (
            &[
                (Role::User, "hi"),
                (Role::Assistant, "Hello, how can I help you today?"),
            ],
            "",
        ),
        (
            &[ask, (Role::Assistant, "Done!")],
            "Goal: Port the config parser to Rust. Last report: Done.",
        ),
        (
            &[
                (Role::User, "请修复登录按钮"),
                (Role::Assistant, "登录按钮已经修复。要我提交吗？"),
            ],
            "目标：请修复登录按钮。现状：登录按钮已经修复。下一步：要我提交吗？",
        ),
        (
            &[
                ask,
                (
                    Role::Assistant,
                    "## Cause\n\nThe old parser drops empty sections.\n\n## What was changed\n\nThe parser keeps them now.",
                ),
            ],
            "Goal: Port the config parser to Rust. Last report: The parser keeps them now.",
        ),
        (
            &[
                (
                    Role::User,
                    "Compara las dos tablas del esquema y dime cuál conviene",
                ),
                (
                    Role::Assistant,
                    "Las tablas quedan separadas. Déjame actualizar el esquema con la decisión.",
                ),
                (Role::User, "[Request interrupted by user]"),
            ],
            "Objetivo: Compara las dos tablas del esquema y dime cuál conviene. Estado: Las tablas quedan separadas. Interrumpido por el usuario.",
        ),
        (
            &[
                (
                    Role::User,
                    "## User Input\n\n```text\nAdd a page with the opening hours\n```\n\nYour job is to fill the list.",
                ),
                (Role::Assistant, "The page is linked in the footer."),
            ],
            "Goal: Add a page with the opening hours. Last report: The page is linked in the footer.",
        ),
    ];
    for (talk, expected) in rows {
        assert_eq!(recap_of(talk), *expected, "{talk:?}");
    }
}

#[test]
fn the_frame_is_in_the_language_of_the_conversation() {
    let rows = [
        (
            "Repariere bitte den Zähler im Login",
            "Der Zähler ist repariert und alle Tests laufen durch. Soll ich den Branch pushen?",
            "Ziel: Repariere bitte den Zähler im Login. Stand: Der Zähler ist repariert und alle Tests laufen durch. Offene Frage: Soll ich den Branch pushen?",
        ),
        (
            "ログインのカウンターを直してください。",
            "カウンターを修正しました。テストはすべて通りました。次にデプロイしますか？",
            "目的：ログインのカウンターを直してください。現状：カウンターを修正しました。テストはすべて通りました。確認待ち：次にデプロイしますか？",
        ),
        (
            "로그인 카운터를 고쳐 주세요",
            "카운터를 수정했고 모든 테스트가 통과했습니다. 배포할까요?",
            "목표: 로그인 카운터를 고쳐 주세요. 현황: 카운터를 수정했고 모든 테스트가 통과했습니다. 확인 필요: 배포할까요?",
        ),
    ];
    for (asked, replied, expected) in rows {
        let talk = [(Role::User, asked), (Role::Assistant, replied)];
        assert_eq!(recap_of(&talk), expected);
    }
    let thai = recap_of(&[
        (
            Role::User,
            "ช่วยแก้ตัวนับการเข้าสู่ระบบ ฉันถูกล็อกหลังจากล้มเหลวครั้งเดียว",
        ),
        (
            Role::Assistant,
            "ฉันแก้ตัวนับการเข้าสู่ระบบเรียบร้อยแล้ว และการทดสอบทั้งหมดผ่าน แล้ว",
        ),
    ]);
    assert!(
        !thai.contains(|letter: char| letter.is_ascii_alphabetic()),
        "{thai}"
    );
}

#[test]
fn the_frame_is_in_the_language_of_the_user() {
    let ask = "Fix the SSH login of the deploy job";
    let talk = [
        (Role::User, ask),
        (Role::Assistant, "接続エラーを修正しました。"),
    ];
    let expected = format!("Goal: {ask}. Last report: 接続エラーを修正しました.");
    assert_eq!(recap_of(&talk), expected);
}

#[test]
fn quotations_are_not_split() {
    let said = "結論: 何についての「そうなの？」か特定できません。対象を指定してください。";
    let talk = [(Role::User, "そうなの？"), (Role::Assistant, said)];
    assert_eq!(recap_of(&talk), format!("目的：そうなの？現状：{said}"));
}

#[test]
fn a_plan_is_the_next_step_and_no_report() {
    let rows = [
        // A list of the answer is no plan, whatever its lead.
        (
            "웹사이트를 만들어줘",
            "다음 섹션을 포함합니다:\n\n- 개요 설명\n- 종합 순위",
            "목표: 웹사이트를 만들어줘. 현황: 다음 섹션을 포함합니다: 개요 설명; 종합 순위.",
        ),
        (
            "Покажи структуру папки",
            "В папке следующие файлы:\n\n- список книг\n- список авторов",
            "Цель: Покажи структуру папки. Состояние: В папке следующие файлы: список книг; список авторов.",
        ),
        (
            "Покажи структуру папки",
            "Вот что у тебя сейчас:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nВ папке лежат две таблицы.",
            "Цель: Покажи структуру папки. Состояние: В папке лежат две таблицы.",
        ),
        (
            "¿Qué opciones hay para la caché?",
            "Aquí tienes las próximas opciones:\n\n- Guardar todo\n- Guardar nada",
            "Objetivo: ¿Qué opciones hay para la caché? Estado: Aquí tienes las próximas opciones: Guardar todo; Guardar nada.",
        ),
        (
            "Corrige el error de la caché",
            "## Próximos pasos\n\n- Borrar la caché\n- Repetir la prueba",
            "Objetivo: Corrige el error de la caché. Siguiente paso: Borrar la caché; Repetir la prueba.",
        ),
        (
            "修复登录按钮",
            "我将更新登录按钮的样式。",
            "目标：修复登录按钮。下一步：更新登录按钮的样式。",
        ),
        (
            "Add OAuth login",
            "Here is what I will do:\n\n1. Add the client\n2. Add the callback",
            "Goal: Add OAuth login. Next: Add the client; Add the callback.",
        ),
        (
            "修复登录按钮",
            "我将按以下计划进行：\n\n1. 检查样式\n2. 修改事件",
            "目标：修复登录按钮。下一步：检查样式; 修改事件。",
        ),
        (
            "Fix the warnings",
            "Users will now see messages like:\n\n- Cannot open it\n- Cannot read it",
            "Goal: Fix the warnings. Last report: Users will now see messages like: Cannot open it; Cannot read it.",
        ),
        (
            "Add dark mode",
            "I've added it:\n\n- New theme\n- Toggle\n\n## Next steps\n\n- Update the docs",
            "Goal: Add dark mode. Last report: I've added it: New theme; Toggle. Next: Update the docs.",
        ),
    ];
    for (asked, told, expected) in rows {
        assert_eq!(
            recap_of(&[(Role::User, asked), (Role::Assistant, told)]),
            expected
        );
    }
}

#[test]
fn a_connective_is_no_goal() {
    let ported = (Role::Assistant, "파서를 옮겼습니다.");
    let talk = [
        (Role::User, "Port the config parser"),
        ported,
        (Role::User, "그리고"),
        ported,
    ];
    assert_eq!(
        recap_of(&talk),
        "Goal: Port the config parser. Last report: 파서를 옮겼습니다."
    );
}

#[test]
fn every_frame_has_all_words() {
    let rows = FRAMES.lines().filter(|line| !line.starts_with('#'));
    for line in rows {
        let code = line.split('|').next().unwrap();
        assert_eq!(line.split('|').count(), 9, "{line}");
        assert!(code == "*" || Language::named(code).is_some(), "{line}");
        assert_eq!(find_frame(code).join("|"), line);
    }
}

#[test]
fn the_request_of_a_prompt_follows_its_background() {
    let rows = [
        (
            "There is a file called nul in the tree. Can you find it and remove it for me?",
            "There is a file called nul in the tree. Can you find it and remove it for me?",
        ),
        (
            "Fix the login bug. Then add a test for a user without a session and run it.",
            "Fix the login bug. Then add a test for a user without a session and run it",
        ),
    ];
    for (asked, goal) in rows {
        let recap = recap_of(&[
            (Role::User, asked),
            (Role::Assistant, "Done. Both are checked now."),
        ]);
        let stop = if goal.ends_with('?') { "" } else { "." };
        let expected = format!("Goal: {goal}{stop} Last report: Both are checked now.");
        assert_eq!(recap, expected);
    }
}

#[test]
fn an_unanswered_request_comes_first() {
    let talk = [
        (Role::User, "port the config parser"),
        (Role::Assistant, "The parser is ported."),
        (Role::User, "thanks, now delete the old parser file"),
    ];
    let expected = "Open request: Now delete the old parser file. Goal: Port the config parser. \
                    Last report: The parser is ported.";
    assert_eq!(recap_of(&talk), expected);
}

#[test]
fn the_goal_is_the_latest_substantial_request() {
    let talk = [
        (Role::User, "port the config parser"),
        (Role::Assistant, "The parser is ported."),
        (Role::User, "add retries to the upload queue"),
        (Role::Assistant, "I'll start with the queue."),
        (Role::User, "yes please"),
        (Role::Assistant, "Uploads are retried three times."),
    ];
    let expected = "Goal: Port the config parser → Add retries to the upload queue. \
                    Last report: Uploads are retried three times.";
    assert_eq!(recap_of(&talk), expected);
    let short = (Role::User, "no, at the bottom");
    let talk = [talk[2], talk[5], talk[0], talk[1], short, talk[5]];
    let long = (
        Role::User,
        "explain reader.rs. it was removed from the code in the last change of the parser that reads old files",
    );
    let goal = recap_of(&[talk[2], talk[5], long, talk[5]]);
    assert!(
        goal.starts_with("Goal: Explain reader.rs. it was removed"),
        "{goal}"
    );
    let expected = "Goal: Port the config parser → At the bottom. Last report: Uploads are retried three times.";
    assert_eq!(recap_of(&talk), expected);
}

#[test]
fn an_answer_to_a_question_leaves_no_question() {
    let goal = "Goal: Port the config parser. Last report: The parser is ported.";
    for (answer, expected) in [("yes", goal), ("ok", goal), ("no", goal)] {
        let talk = [
            (Role::User, "port the config parser"),
            (
                Role::Assistant,
                "The parser is ported. Should I delete the old one?",
            ),
            (Role::User, answer),
        ];
        assert_eq!(recap_of(&talk), expected, "{answer}");
    }
    // A command without text takes the announced step.
    let talk = [
        text(Role::User, Origin::Prompt, "port the config parser"),
        text(
            Role::Assistant,
            Origin::Reply,
            "The parser is ported. I'll run the linter.",
        ),
        text(
            Role::User,
            Origin::Prompt,
            "## User Input\n\n```text\n\n```\n\nYou **MUST** consider the user input before proceeding (if not empty).\n\n## Outline\n\n1. Run it.",
        ),
    ];
    assert_eq!(prompt(&talk[2]), None);
    assert_eq!(write_recap(&talk, None), goal);
}

#[test]
fn a_request_without_a_reply_is_the_goal_of_the_next_one() {
    let talk = [
        (Role::User, "port the config parser to Rust"),
        (Role::User, "[Request interrupted by user]"),
        (Role::User, "use the new compiler of the project"),
    ];
    let expected =
        "Open request: Use the new compiler of the project. Goal: Port the config parser to Rust.";
    assert_eq!(recap_of(&talk), expected);
}

#[test]
fn thanks_are_no_open_request() {
    let talk = |last| {
        [
            (Role::User, "port the config parser"),
            (Role::Assistant, "The parser is ported."),
            (Role::User, last),
        ]
    };
    let goal = "Goal: Port the config parser. Last report: The parser is ported.";
    assert_eq!(recap_of(&talk("that worked, thanks!")), goal);
    let open = format!("Open request: Commit it, thanks. {goal}");
    assert_eq!(recap_of(&talk("commit it, thanks")), open);
}

fn with_blocks(role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
    Message {
        blocks,
        ..Message::new(role, origin)
    }
}

fn call(name: &str, input: &str) -> Message {
    let call = Call {
        id: "c".into(),
        name: name.to_owned(),
        input: RawValue::from_string(input.to_owned()).unwrap(),
        signature: None,
    };
    with_blocks(Role::Assistant, Origin::Reply, vec![Block::Call(call)])
}

fn result(text: &str, failed: bool) -> Message {
    let result = ToolResult {
        id: "c".into(),
        parts: vec![ResultPart::Text(text.to_owned())],
        failed,
        end: None,
    };
    with_blocks(Role::User, Origin::Results, vec![Block::Result(result)])
}

fn text(role: Role, origin: Origin, text: &str) -> Message {
    with_blocks(role, origin, vec![Block::Text(text.to_owned())])
}

#[test]
fn a_step_with_results_is_not_the_next_one() {
    let said = "The tests pass. Let me run the linter.";
    let mut talk = vec![
        text(Role::User, Origin::Prompt, "port the config parser"),
        text(Role::Assistant, Origin::Reply, said),
        call("Bash", r#"{"command":"lint"}"#),
    ];
    let goal = "Goal: Port the config parser. Last report: The tests pass.";
    assert_eq!(
        write_recap(&talk, None),
        format!("{goal} Next: run the linter.")
    );
    talk.push(result("0 issues", false));
    assert_eq!(write_recap(&talk, None), format!("{goal} Ran lint."));
}

#[test]
fn a_later_success_overturns_a_failure() {
    let test = || call("Bash", r#"{"command":"pytest -q"}"#);
    let mut talk = vec![
        text(Role::User, Origin::Prompt, "port the config parser"),
        text(Role::Assistant, Origin::Reply, "The parser is ported."),
        test(),
        result("Exit code 1", true),
    ];
    let goal = "Goal: Port the config parser. Last report: The parser is ported.";
    assert_eq!(write_recap(&talk, None), format!("{goal} pytest failed."));
    // The success may be of another call.
    let retry = call("Bash", r#"{"command":"pytest -q tests"}"#);
    talk.extend([retry, result("2 passed", false)]);
    for (at, id) in [(2, "a"), (3, "a"), (4, "b"), (5, "b")] {
        match &mut talk[at].blocks[0] {
            Block::Call(call) => call.id = id.into(),
            Block::Result(result) => result.id = id.into(),
            _ => unreachable!(),
        }
    }
    assert_eq!(write_recap(&talk, None), format!("{goal} Ran pytest."));
}

#[test]
fn an_announcement_is_no_report() {
    let ask = text(Role::User, Origin::Prompt, "port the config parser");
    let reply = |said| text(Role::Assistant, Origin::Reply, said);
    let mut talk = vec![
        ask.clone(),
        reply("The parser is ported."),
        reply("We need to run the linter."),
    ];
    let goal = "Goal: Port the config parser. Last report: The parser is ported.";
    assert_eq!(
        write_recap(&talk, None),
        format!("{goal} Next: run the linter.")
    );
    talk.extend([call("Bash", r#"{"command":"lint"}"#), result("", false)]);
    assert_eq!(write_recap(&talk, None), format!("{goal} Ran lint."));
    talk.push(reply("Now update the queries to include the role."));
    assert_eq!(write_recap(&talk, None), goal);
    // What was reported before the request is about another one.
    talk.extend([ask, reply("Let's look at the tests.")]);
    let expected = "Goal: Port the config parser. Next: look at the tests.";
    assert_eq!(write_recap(&talk, None), expected);
}

#[test]
fn a_rejected_plan_is_named() {
    let interruption = "[Request interrupted by user for tool use]";
    let talk = [
        text(Role::User, Origin::Prompt, "port the config parser"),
        text(Role::Assistant, Origin::Reply, "The plan is ready."),
        call("ExitPlanMode", r##"{"plan":"# Port it to Rust"}"##),
        result("The user doesn't want to proceed with this tool use.", true),
        text(Role::User, Origin::Injected, interruption),
    ];
    let expected = "Goal: Port the config parser. Last report: The plan is ready. \
                    Plan \"Port it to Rust\" declined. Interrupted by the user.";
    assert_eq!(write_recap(&talk, None), expected);
    assert_eq!(
        write_last_report(&talk),
        "The plan is ready. Plan \"Port it to Rust\" declined"
    );
    assert_eq!(write_last_report(&talk[..1]), "");
}

#[test]
fn a_goal_that_refers_to_something_follows_it() {
    let talk = [
        (Role::User, "always show the address in the page header"),
        (Role::Assistant, "The address is in the header."),
        (
            Role::User,
            "It should not be inside of the header but below it, the logo is covered",
        ),
        (Role::Assistant, "The address is below the header."),
    ];
    let expected = "Goal: Always show the address in the page header → It should not be inside of \
                    the header but below… Last report: The address is below the header.";
    assert_eq!(recap_of(&talk), expected);
}

#[test]
fn the_report_is_the_outcome() {
    let rows = [
        (
            "All fixed. The output will now be:\n\n```\n✓ Enabled\n```",
            "All fixed",
        ),
        (
            "Good catch. Let me analyze the tests for these issues:\n\n## Issues found\n\n### 1. **Major duplication**\n\nI'm testing the same regex twice.\n\n## Summary\n\nThe error is not fixed yet.",
            "The error is not fixed yet",
        ),
        (
            "Done. The markers were:\n1. Defined as constants in the code\n2. Used to log\n\nRemoved all of it.",
            "The markers were: Defined as constants in the code; Used to log. Removed all of it",
        ),
        (
            "Good catch. `hooks.go` had the identical pattern in `handle` (line 441-445). Fixed and pushed.",
            "hooks.go had the identical pattern in handle (line 441-445). Fixed and pushed",
        ),
        (
            "The test is deterministic with:\n\n1. **A fixed clock** - no waiting\n2. A seed",
            "The test is deterministic with: A fixed clock; A seed",
        ),
        (
            "Done. Here's what was updated:\n\n- **`plan.md`** — the dates\n- **`todo.md`** — a link",
            "Here's what was updated: plan.md — the dates; todo.md — a link",
        ),
        ("Fixed. `SHORY` → `SHORT`.", "SHORY → SHORT"),
        (
            r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "The request failed: Overloaded",
        ),
        (
            "So `go test ./...` skips the files that are not compiled.",
            "So go test ./... skips the files that are not compiled",
        ),
        (
            "All tests pass, both provider suites are green, and the linter is clean. The one line turned out to have a wrinkle that took much longer to understand than expected, because the driver ignores the mode of every file that is not named by an address, and creates an empty database.",
            "All tests pass, both provider suites are green, and the linter is clean. The one line turned out to have a wrinkle that took much longer to understand than…",
        ),
        (
            "Based on my research, here's how the plan uses the four old modules:\n\n## Overview\n\nThe core is compiled once.",
            "The core is compiled once",
        ),
        (
            "Let's check it:\n\n## 1. Check the merge\n\n**Start with the first command and tell me.**",
            "Start with the first command and tell me",
        ),
        (
            "Committed and pushed.\n\n<oai-mem-citation>\n<entry>\nMEMORY.md:262\n</entry>\n</oai-mem-citation>",
            "Committed and pushed",
        ),
    ];
    for (told, expected) in rows {
        let recap = recap_of(&[
            (Role::User, "check the last change of the plan"),
            (Role::Assistant, told),
        ]);
        let stop = if expected.ends_with('…') { "" } else { "." };
        let goal = "Goal: Check the last change of the plan.";
        let expected = format!("{goal} Last report: {expected}{stop}");
        assert_eq!(recap, expected);
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::text::terminal_safe_line;

    proptest! {
        #[test]
        fn recaps_are_short_and_safe(asked in "\\PC{0,80}", told in "[\\PC\n`*|#.?]{0,300}") {
            let recap = recap_of(&[(Role::User, &asked), (Role::Assistant, &told)]);
            prop_assert!(recap.split_whitespace().count() <= MAX_WORDS, "{recap}");
            prop_assert_eq!(terminal_safe_line(&recap), recap);
        }
    }
}
