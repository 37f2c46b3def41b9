use super::super::title::write_title;
use crate::message::{Block, Message, Origin, Role};

const ROWS: &[(&[&str], &str)] = &[
    // A question or an instruction at the end says less than the sentence that opens the prompt.
    (
        &[
            "Unser Dienst braucht ein Verfahren für die Rotation der Schlüssel. Dafür sehe ich zwei Wege: Cron oder Vault. Gegen Vault spricht vielleicht der Betrieb?",
        ],
        "Unser Dienst braucht ein Verfahren für die Rotation der Schlüssel…",
    ),
    (
        &["疎通の確認。はいとだけ返信"],
        "疎通の確認。はいとだけ返信",
    ),
    (
        &["My scraper stops at the second page of the shop. What could be wrong?"],
        "My scraper stops at the second page of the shop. What could be wrong?",
    ),
    (
        &[
            "議事録から決定事項を抜き出して\n\nこの文章は自動で作成されました。内容を必ず確認してください。",
        ],
        "議事録から決定事項を抜き出して",
    ),
    (
        &[
            "With the current branch we see this warning:\n```\nUnused variable total\n```\nHow do I fix this? Keep it brief.",
        ],
        "With the current branch we see this warning: Unused variable total",
    ),
    (
        &[
            "도서관에서 쓸 좌석 예약 홈페이지를 처음부터 만들거야. 학생이 학번을 입력하면 빈 좌석과 남은 시간을 한 화면에서 볼 수 있어야 해.",
        ],
        "도서관에서 쓸 좌석 예약 홈페이지를 처음부터 만들거야",
    ),
    // Items of a list, pasted roles and pasted code are not preferred to it.
    (
        &[
            "1.做一个仓库管理系统，先支持入库和出库\n2.数据要备份\n3.请帮我把端口设为8090，有问题随时问",
        ],
        "1.做一个仓库管理系统，先支持入库和出库 2.数据要备份 3.请帮我把端口设为8…",
    ),
    (
        &[
            "1. Port the first open task of the board to Go.\n   2. Build it with this command:\n      'C:\\Go\\bin\\go.exe build -o out\\board.exe'\n   3. Commit it.",
        ],
        "Port the first open task of the board to Go",
    ),
    (
        &[
            "The audit is not planned yet - put it into the plan as phase 4.\n\nYou are a security architect.\n\nThe mission is to audit the shop.\n\nDocument each finding with its severity. Do not stop early.",
        ],
        "The audit is not planned yet - put it into the plan as phase 4",
    ),
    (
        &[
            "  async loadPrices(\n    day: string,\n  ) {\n    const rows = await this.rows();\n\n    if (day) {\n      rows.filter(day);\n    }\n  }\n\nkhi day trống thì trả về tất cả giá",
        ],
        "Khi day trống thì trả về tất cả giá",
    ),
    (
        &[
            "Merge the two landing pages of the shop.\n\n<!DOCTYPE html>\n<html>\n<head>\n<title>Garden tools and more</title>\n</head>\n</html>",
        ],
        "Merge the two landing pages of the shop",
    ),
    // Roles in other words.
    (
        &[
            "D'ora in poi lavora e agisci come un architetto. Confronta i due moduli di fatturazione.",
        ],
        "Confronta i due moduli di fatturazione",
    ),
    (
        &["Claude, agis en tant que relecteur senior. Nous fusionnons les deux pages d'accueil."],
        "Nous fusionnons les deux pages d'accueil",
    ),
    // The name of a document tells what it is about, and the template of a command is not typed.
    (
        &["# 在庫アプリ 統合設計書\n**版:** 2.0\n**状態:** 実装ガイドの第3段階まで完了"],
        "在庫アプリ 統合設計書",
    ),
    (
        &[
            "## User Input\n\n```text\nAdd a page with the opening hours\n```\n\nYou **MUST** consider the user input.\n\n## Outline\n\n1. Run the script",
        ],
        "Add a page with the opening hours",
    ),
    (
        &[
            "## 用户输入\r\n\r\n```text\r\n给首页加上营业时间\r\n```\r\n\r\n## 概述\r\n\r\n帮助用户写出规格说明。",
        ],
        "给首页加上营业时间",
    ),
    (
        &[
            "---\ndescription: Write the tasks of a feature\nscripts: x\n---\n\n## User Input\n\n```text\n$ARGUMENTS\n```\n\nYour job is to fill the list.",
        ],
        "Write the tasks of a feature",
    ),
    (
        &[
            "## User Input\n\n```text\n\n```\n\nYour job is to fill the list.",
            "Sort the tasks by their effort",
        ],
        "Sort the tasks by their effort",
    ),
];

#[test]
fn the_request_is_what_opens_the_prompt() {
    let title_of = |prompts: &[&str]| {
        let messages = prompts.iter().map(|prompt| Message {
            blocks: vec![Block::Text((*prompt).to_owned())],
            ..Message::new(Role::User, Origin::Prompt)
        });
        write_title(&messages.collect::<Vec<_>>())
    };
    for (prompts, expected) in ROWS {
        assert_eq!(title_of(prompts), *expected, "{prompts:?}");
    }
}
