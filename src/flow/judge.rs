//! A model as the judge of calls.

use serde_json::json;

use super::ask::Consultant;
use super::briefing::Briefing;
use crate::exec::{Case, Judge, Judgement};
use crate::io::CancelToken;
use crate::model::Failure;
use crate::side::judge::{Stage, Verdict, judge_request, verdict};
use crate::side::prompts;

/// Asks a model about each call, twice if the first answer is not a plain yes.
pub struct ModelJudge {
    /// The model.
    pub consultant: Consultant,
    /// What it knows of the conversation.
    pub briefing: Briefing,
}

impl Judge for ModelJudge {
    fn judge(&self, case: &Case<'_>, cancel: &CancelToken) -> Judgement {
        let call = json!({"tool": case.tool, "input": case.input}).to_string();
        let prompts = self.briefing.prompts();
        let ask = |stage| {
            let request = judge_request(
                stage,
                &call,
                &prompts,
                case.earlier,
                case.directory,
                prompts::AUTO_CLASSIFIER,
            );
            let Some(request) = request else {
                return Err("the call is too long to be judged".to_owned());
            };
            let reply = self.consultant.ask(&request, cancel);
            reply
                .map(|reply| verdict(&reply.text))
                .map_err(|failure: Failure| failure.to_string())
        };
        let answer = match ask(Stage::First) {
            Ok(Verdict::Block(_)) => ask(Stage::Second),
            answer => answer,
        };
        match answer {
            Ok(Verdict::Allow) => Judgement::Allow,
            Ok(Verdict::Block(reason)) => Judgement::Deny(reason),
            Err(reason) => Judgement::None(reason),
        }
    }
}
