//! What one prompt asks for.

use super::{case, chinese, commands, goals, plan, rewrite, sentences, shorten, words};

/// How a prompt asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::side::builtin) enum Form {
    /// For something to be done, or to be explained.
    Imperative,
    /// For a plan to be carried out.
    Plan,
    /// In Chinese, Japanese or Korean.
    EastAsian,
    /// It tells something.
    Statement,
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::side::builtin) struct Candidate {
    /// The title that it would give.
    pub(in crate::side::builtin) title: String,
    pub(in crate::side::builtin) form: Form,
    /// How many words say something.
    pub(in crate::side::builtin) informative: usize,
}

/// Titles that say little, but are what such sessions are about.
const VAGUE: &[&str] = &[
    "review branch changes",
    "review changes",
    "fix merge conflicts",
    "resolve merge conflicts",
    "address pr feedback",
    "review pr",
    "fix tests",
    "fix failing tests",
    "run tests",
];

impl Candidate {
    pub(super) fn is_accepted_though_vague(&self) -> bool {
        VAGUE.contains(&self.title.to_lowercase().as_str())
    }

    /// How many words there are.
    pub(in crate::side::builtin) fn words(&self) -> usize {
        self.title.split_whitespace().count()
    }
}

/// What a prompt asks for; nothing if it only goes on with what was said before.
pub(super) fn of_prompt(text: &str) -> Option<Candidate> {
    match commands::command(text) {
        None => of_text(text),
        Some(commands::Goal::Nothing) => None,
        Some(commands::Goal::Prompt(prompt)) => of_text(&prompt),
        Some(commands::Goal::Title(title)) => Some(Candidate {
            informative: words::informative(&title).max(2),
            title: case::sentence(&title),
            form: Form::Imperative,
        }),
    }
}

fn of_text(text: &str) -> Option<Candidate> {
    let text = text.trim();
    if let Some(heading) = plan::heading(text) {
        let title = case::sentence(&shorten::shorten(&case::lower_heading(&heading)));
        return Some(Candidate {
            informative: words::informative(&title),
            title,
            form: Form::Plan,
        });
    }
    if goals::is_no_goal(text) {
        return None;
    }
    if chinese::is_east_asian(text) {
        let title = chinese::title(text);
        return (!title.is_empty()).then(|| Candidate {
            informative: title
                .chars()
                .filter(|letter| letter.is_alphanumeric())
                .count()
                / 2,
            title,
            form: Form::EastAsian,
        });
    }
    let told = sentences::sentences(text);
    let asked = rewrite::ask(&told)?;
    let title = case::sentence(&shorten::shorten(&asked.text));
    Some(Candidate {
        informative: words::informative(&title),
        title,
        form: if asked.is_imperative {
            Form::Imperative
        } else {
            Form::Statement
        },
    })
}
