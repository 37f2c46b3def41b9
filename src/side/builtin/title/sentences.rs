//! The sentences of a prompt, without what was pasted into it.

/// So many sentences are looked at.
const MOST: usize = 8;

/// Beginnings of lines that were pasted.
const PASTED: &[&str] = &[
    "❯",
    "⎿",
    "⏺",
    "$ ",
    "> ",
    "+++",
    "---",
    "@@",
    "diff --git",
    "|",
    "at ",
    "Traceback",
    "File \"",
    "│",
    "╭",
    "╰",
    "├",
    "└",
    "===",
    "###",
    "***",
    "~~~",
    "W ",
    "E ",
    "//",
    "/*",
];

/// Headings of findings.
const SEVERITIES: &[&str] = &[
    "critical",
    "high",
    "medium",
    "low",
    "important",
    "minor",
    "major",
    "nit",
    "suggestion",
    "issue",
    "description",
    "context",
];

/// The first sentences; none is blank.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let prose = without_fences(text);
    let mut found = Vec::new();
    for line in prose.lines() {
        let line = line.trim();
        if line.is_empty() || is_pasted(line) {
            continue;
        }
        let line = without_bullet(line);
        for sentence in split(line) {
            let sentence = sentence.trim().trim_matches(['"', '“', '”']).trim();
            if sentence.chars().any(char::is_alphanumeric) {
                found.push(sentence.to_owned());
            }
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

fn without_fences(text: &str) -> String {
    let parts = text.split("```").enumerate();
    let prose: Vec<&str> = parts
        .filter(|(number, _)| number % 2 == 0)
        .map(|(_, part)| part)
        .collect();
    prose.join("\n")
}

fn is_pasted(line: &str) -> bool {
    let word = line.trim_end_matches(':').to_lowercase();
    let has_time = line.len() > 10
        && line.is_char_boundary(4)
        && line[..4].bytes().all(|byte| byte.is_ascii_digit())
        && matches!(line.as_bytes().get(4), Some(b'-' | b'/'));
    let words = line.split_whitespace().count();
    let signs = line
        .chars()
        .filter(|sign| "{}();=<>[]\\".contains(*sign))
        .count();
    PASTED.iter().any(|start| line.starts_with(start))
        || SEVERITIES.contains(&word.as_str())
        || has_time
        || line.starts_with('[') && line.contains(']') && words > 2 && line.contains("ERROR")
        || signs > words.max(2) * 2
}

fn without_bullet(line: &str) -> &str {
    let rest = line.trim_start_matches(['-', '*', '•']).trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match &rest[digits..] {
        after if digits > 0 && (after.starts_with(". ") || after.starts_with(") ")) => {
            after[2..].trim_start()
        }
        _ => rest,
    }
}

/// Splits behind full stops, question marks and exclamation marks that end something.
fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut previous = ' ';
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let ends = matches!(letter, '.' | '?' | '!')
            && letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        // A numbered point and an abbreviation go on.
        let goes_on = letter == '.'
            && (previous.is_ascii_digit()
                || line[start..at].ends_with("e.g")
                || line[start..at].ends_with("i.e")
                || line[start..at].ends_with("etc"));
        if ends && !goes_on {
            parts.push(&line[start..at + letter.len_utf8()]);
            start = at + letter.len_utf8();
        }
        previous = letter;
    }
    parts.push(&line[start..]);
    parts
}
