//! Sentence case that leaves identifiers alone.

/// Words with capitals of their own.
const PROPER: &[&str] = &[
    "Claude",
    "GitHub",
    "GitLab",
    "Gemini",
    "Linux",
    "Windows",
    "Google",
    "Microsoft",
    "Apple",
    "Docker",
    "Kubernetes",
    "Python",
    "Rust",
    "Java",
    "Go",
    "Node",
    "React",
    "Vue",
    "Angular",
    "Django",
    "Flask",
    "Rails",
    "Postgres",
    "Redis",
    "Slack",
    "Stripe",
    "Linear",
    "Jira",
    "Notion",
    "Copilot",
    "Cursor",
    "Codex",
    "Qwen",
    "Ollama",
    "Android",
    "Chrome",
    "Firefox",
    "Safari",
    "Azure",
    "English",
    "German",
    "French",
    "Spanish",
    "Chinese",
    "Japanese",
    "Korean",
    "Markdown",
    "Git",
    "Bash",
    "Swift",
    "Kotlin",
    "Terraform",
    "Ansible",
    "Debian",
    "Ubuntu",
    "Tailwind",
    "I",
];

/// A title whose first letter is large, unless the word is an identifier.
pub(super) fn sentence(title: &str) -> String {
    let title = title.trim();
    let first = title.split_whitespace().next().unwrap_or_default();
    if is_identifier(first) {
        return title.to_owned();
    }
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A heading in Title Case, lowered; one in sentence case stays.
pub(super) fn lower_heading(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    let is_capital = |word: &&&str| word.starts_with(char::is_uppercase);
    let long = words.iter().filter(|word| word.len() > 3).count();
    let capital = words
        .iter()
        .filter(|word| word.len() > 3)
        .filter(is_capital)
        .count();
    if long < 3 || capital * 3 < long * 2 {
        return heading.to_owned();
    }
    let lowered = words.iter().enumerate().map(|(place, word)| {
        if place == 0 {
            (*word).to_owned()
        } else {
            lowered_word(word)
        }
    });
    lowered.collect::<Vec<_>>().join(" ")
}

/// A text whose first word is lowered, unless it has capitals of its own.
pub(super) fn lowered_word(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if is_identifier(first)
        || PROPER.contains(&first.trim_matches(|letter: char| !letter.is_alphanumeric()))
    {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// Words spelled in a way of their own: `loginForm`, `README.md`, `CLI`, `x_y`.
pub(super) fn is_identifier(word: &str) -> bool {
    let bare = word
        .trim_matches(|letter: char| ",;:!?\"'`".contains(letter))
        .trim_end_matches('.');
    let mut letters = bare.chars();
    letters.next();
    let rest = letters.as_str();
    rest.chars()
        .any(|letter| letter.is_uppercase() || "._/\\:@=#$".contains(letter))
        || bare.starts_with(|first: char| !first.is_alphabetic())
        || bare.chars().any(|letter| letter.is_ascii_digit())
}
