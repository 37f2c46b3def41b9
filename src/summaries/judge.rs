//! A model as the judge of calls that no rule decides.
//!
//! The first question asks for one word. If the reply is not `allow`, a second question lets the
//! model reason.

use std::path::Path;

use serde_json::json;

use super::advisor::prompt_list;
use super::ask::Consultant;
use super::briefing::Briefing;
use crate::client::model::{PromptId, Request, Turn};
use crate::io::CancelToken;
use crate::run::{Judge, JudgedCall, Judgement};

/// The system prompt.
const PROMPT: &str = include_str!("../../prompts/auto-classifier.md");

/// The token budget of the one-word reply.
const FIRST_TOKENS: u32 = 64;
/// The token budget of the reply with reasons.
const SECOND_TOKENS: u32 = 4096;
/// Maximum size of a judged call, in bytes. A call is never shown in part.
const MAX_CALL_BYTES: usize = 20_000;

/// Asks a model about each call, a second time if the first reply is not `allow`.
pub struct ModelJudge {
    /// The model.
    pub consultant: Consultant,
    /// The conversation of the run.
    pub briefing: Briefing,
}

impl Judge for ModelJudge {
    fn judge(&self, case: &JudgedCall<'_>, cancel: &CancelToken) -> Judgement {
        let call = json!({"tool": case.tool, "input": case.input}).to_string();
        let prompts = self.briefing.prompts();
        let ask = |round| match request(round, &call, &prompts, case.earlier, case.directory) {
            None => Judgement::None("the call is too long to be judged".to_owned()),
            Some(request) => match self.consultant.ask(&request, cancel) {
                Ok(reply) => parse(&reply.text),
                Err(failure) => Judgement::None(failure.to_string()),
            },
        };
        match ask(Round::First) {
            Judgement::Deny(_) => ask(Round::Second),
            judgement => judgement,
        }
    }
}

/// One of the two questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Asks for one word.
    First,
    /// Asks for reasons.
    Second,
}

/// Builds the request about a call. `None` if the call is too long to be judged.
fn request(
    round: Round,
    call: &str,
    prompts: &[String],
    earlier: &[String],
    directory: &Path,
) -> Option<Request> {
    if call.len() > MAX_CALL_BYTES {
        return None;
    }
    let (form, tokens) = match round {
        Round::First => (
            "Answer with one word: `allow` if the call is plainly harmless, else `block`.",
            FIRST_TOKENS,
        ),
        Round::Second => (
            "Think about what the call does, step by step. End with a line `allow`, or with a line \
             `block: ` and the reason in one short sentence.",
            SECOND_TOKENS,
        ),
    };
    let mut question = format!(
        "{}Working directory: {}\n",
        prompt_list(prompts),
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
        system: PROMPT.to_owned(),
        turns: vec![Turn::user(question)],
        temperature: Some(0.0),
        ..Request::new(PromptId::AUTO_CLASSIFIER, tokens)
    })
}

/// Parses a reply by its last non-empty line. Anything but `allow` denies.
fn parse(reply: &str) -> Judgement {
    let unquoted = |line: &str| {
        line.trim_matches(|edge: char| edge.is_whitespace() || "`*_.\"'<>/".contains(edge))
            .to_owned()
    };
    let last = reply.lines().map(unquoted).rfind(|line| !line.is_empty());
    let Some(last) = last else {
        return Judgement::Deny("the judge gave no reply".to_owned());
    };
    if last.eq_ignore_ascii_case("allow") {
        return Judgement::Allow;
    }
    let reason = match last.split_once(':') {
        Some((word, reason)) if word.eq_ignore_ascii_case("block") => reason.trim(),
        _ => "",
    };
    if reason.is_empty() {
        return Judgement::Deny("the judge did not allow it".to_owned());
    }
    Judgement::Deny(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_allow_on_the_last_line_allows() {
        for reply in [
            "allow",
            " Allow.\n",
            "It runs tests.\n\n`allow`\n",
            "**ALLOW**",
        ] {
            assert_eq!(parse(reply), Judgement::Allow, "{reply}");
        }
        for reply in [
            "",
            "block",
            "allowed",
            "allow it",
            "allow\nblock",
            "I would allow this",
            "{}",
        ] {
            assert!(matches!(parse(reply), Judgement::Deny(_)), "{reply}");
        }
        let said = parse("It deletes a directory.\nblock: deletes the sources");
        assert_eq!(said, Judgement::Deny("deletes the sources".to_owned()));
    }

    #[test]
    fn long_calls_are_not_judged() {
        let long = "x".repeat(MAX_CALL_BYTES + 1);
        assert!(request(Round::First, &long, &[], &[], Path::new("/w")).is_none());
    }

    proptest! {
        #[test]
        fn a_call_cannot_end_the_question(
            call in "\\PC{0,80}",
            prompts in prop::collection::vec("\\PC{0,70}".prop_map(|text| text.repeat(10)), 0..9),
            earlier in prop::collection::vec("\\PC{0,70}".prop_map(|text| text.repeat(10)), 0..30),
        ) {
            let request = request(Round::First, &call, &prompts, &earlier, Path::new("/w")).unwrap();
            let crate::message::Block::Text(text) = &request.turns[0].blocks[0] else { panic!() };
            prop_assert!(text.ends_with("else `block`."));
            prop_assert!(text.contains(&call));
        }
    }
}
