//! A model as the judge of calls.

use serde_json::json;

use super::Asker;
use crate::exec::{Case, Judge, Judgement};
use crate::model::Failure;
use crate::process::CancelToken;
use crate::side::judge::{Stage, Verdict, judge_request, verdict};
use crate::side::prompts;

/// Asks a model about each call, twice if the first answer is not a plain yes.
pub struct ModelJudge {
    /// The model.
    pub asker: Asker,
}

impl Judge for ModelJudge {
    fn judge(&self, case: &Case<'_>, cancel: &CancelToken) -> Judgement {
        let call = json!({"tool": case.tool, "input": case.input}).to_string();
        let ask = |stage| {
            let request = judge_request(
                stage,
                &call,
                case.earlier,
                case.directory,
                prompts::AUTO_CLASSIFIER,
            );
            let Some(request) = request else {
                return Err("the call is too long to be judged".to_owned());
            };
            if cancel.is_cancelled() {
                return Err("the question was withdrawn".to_owned());
            }
            let (reply, _) = self.asker.ask(&request);
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
