//! Titles in Chinese, Japanese and Korean, which have no blanks between words.

use crate::side::builtin::cells::cut;

/// The widest title, in cells.
const WIDEST: usize = 40;

/// Beginnings that only say that something is asked for.
const FRAMES: &[&str] = &[
    "请问",
    "请",
    "麻烦你",
    "麻烦",
    "帮我",
    "帮忙",
    "能不能",
    "可不可以",
    "可以",
    "你能",
    "能否",
    "我想要",
    "我想",
    "我要",
    "我需要",
    "我们需要",
    "现在",
    "然后",
    "好的",
    "那",
    "把",
    "给我",
    "你好",
    "您好",
];

/// Endings that only ask.
const ENDINGS: &[&str] = &[
    "吗",
    "呢",
    "吧",
    "好吗",
    "可以吗",
    "してください",
    "をお願いします",
    "ください",
    "해 주세요",
    "해주세요",
    "주세요",
];

/// Whether a text is written in one of these scripts.
pub(in crate::side::builtin) fn is_east_asian(text: &str) -> bool {
    let (mut east, mut west) = (0_usize, 0_usize);
    for letter in text.chars().take(400) {
        match letter {
            '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' => east += 1,
            letter if letter.is_alphabetic() => west += 1,
            _ => {}
        }
    }
    // One such letter says about as much as three others.
    east * 3 >= west && east > 0
}

/// The title in a prompt.
pub(super) fn title(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let mut rest = line.trim_start_matches(['，', '。', ' ', ',']);
    for _ in 0..4 {
        let Some(frame) = FRAMES.iter().find(|frame| rest.starts_with(**frame)) else {
            break;
        };
        rest = rest[frame.len()..].trim_start_matches(['，', '。', ' ', ',', '、']);
    }
    let end = rest
        .find(['。', '！', '？', '，', '；', '\n', '?', '!'])
        .unwrap_or(rest.len());
    let mut title = rest[..end].trim();
    for ending in ENDINGS {
        title = title.strip_suffix(ending).unwrap_or(title).trim();
    }
    cut(title, WIDEST)
}
