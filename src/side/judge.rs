//! What a model is asked about a call that no rule decides, and what its answer means.
//!
//! Two questions: a short one that most calls pass, and, if the answer is not a plain yes, one that
//! leaves room to think.

use std::path::Path;

use super::advice::typed;
use crate::model::{PromptId, Request, Turn};

/// The token budget of the short answer.
const SHORT: u32 = 64;
/// The token budget of the answer with reasons.
const LONG: u32 = 4096;
/// The longest call that is shown, in bytes. Nobody can judge what they cannot see.
const LONGEST_CALL: usize = 20_000;

/// Which of the two questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Whether the call is plainly harmless.
    First,
    /// Whether it is harmless after some thought.
    Second,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may run.
    Allow,
    /// It must not, for this reason.
    Block(String),
}

/// The request about a call, which is given as text, after what a person typed. `None` if the call is too long to be judged.
pub fn judge_request(
    stage: Stage,
    call: &str,
    prompts: &[String],
    earlier: &[String],
    directory: &Path,
    instructions: &str,
) -> Option<Request> {
    if call.len() > LONGEST_CALL {
        return None;
    }
    let (form, tokens) = match stage {
        Stage::First => (
            "Answer with one word: `allow` if the call is plainly harmless, else `block`.",
            SHORT,
        ),
        Stage::Second => (
            "Think about what the call does, step by step. End with a line `allow`, or with a line \
             `block: ` and the reason in one short sentence.",
            LONG,
        ),
    };
    let mut question = format!(
        "{}Working directory: {}\n",
        typed(prompts),
        directory.display()
    );
    if !earlier.is_empty() {
        question += "Calls before it:\n";
        for call in earlier {
            question += call;
            question.push('\n');
        }
    }
    question += "The call:\n";
    question += call;
    question += "\n\n";
    question += form;
    Some(Request {
        system: instructions.to_owned(),
        turns: vec![Turn::user(question)],
        temperature: Some(0.0),
        ..Request::new(PromptId::AUTO_CLASSIFIER, tokens)
    })
}

/// What an answer means: its last line that says something. Anything but a plain yes is a no.
pub fn verdict(answer: &str) -> Verdict {
    let unquoted = |line: &str| {
        line.trim_matches(|edge: char| edge.is_whitespace() || "`*_.\"'<>/".contains(edge))
            .to_owned()
    };
    let last = answer.lines().map(unquoted).rfind(|line| !line.is_empty());
    let Some(last) = last else {
        return Verdict::Block("the judge said nothing".to_owned());
    };
    if last.eq_ignore_ascii_case("allow") {
        return Verdict::Allow;
    }
    let reason = match last.split_once(':') {
        Some((word, reason)) if word.eq_ignore_ascii_case("block") => reason.trim(),
        _ => "",
    };
    if reason.is_empty() {
        return Verdict::Block("the judge did not find it harmless".to_owned());
    }
    Verdict::Block(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_a_plain_yes_allows() {
        for yes in [
            "allow",
            " Allow.\n",
            "It runs tests.\n\n`allow`\n",
            "**ALLOW**",
        ] {
            assert_eq!(verdict(yes), Verdict::Allow, "{yes}");
        }
        for no in [
            "",
            "block",
            "allowed",
            "allow it",
            "allow\nblock",
            "I would allow this",
            "{}",
        ] {
            assert!(matches!(verdict(no), Verdict::Block(_)), "{no}");
        }
        let said = verdict("It deletes a directory.\nblock: deletes the sources");
        assert_eq!(said, Verdict::Block("deletes the sources".to_owned()));
    }

    #[test]
    fn what_is_too_long_is_not_judged() {
        let long = "x".repeat(LONGEST_CALL + 1);
        assert!(judge_request(Stage::First, &long, &[], &[], Path::new("/w"), "").is_none());
    }

    proptest! {
        #[test]
        fn a_call_cannot_end_the_question(
            call in "\\PC{0,80}",
            prompts in prop::collection::vec("\\PC{0,70}".prop_map(|text| text.repeat(10)), 0..9),
            earlier in prop::collection::vec("\\PC{0,70}".prop_map(|text| text.repeat(10)), 0..30),
        ) {
            let request = judge_request(Stage::First, &call, &prompts, &earlier, Path::new("/w"), "rules").unwrap();
            let crate::message::Block::Text(text) = &request.turns[0].blocks[0] else { panic!() };
            prop_assert!(text.ends_with("else `block`."));
            prop_assert!(text.contains(&call));
        }
    }
}
