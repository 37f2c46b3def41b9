//! The input of the user that a server needs before it answers a request.

use std::sync::Arc;

use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequests,
    InputResponses,
};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::config::McpFailure;
use super::process::MAX_MESSAGE_WIDTH;
use crate::io::CancelToken;
use crate::run::tools::{FilledForm, FormUser, UserForm};
use crate::text::{fit_columns, terminal_safe_line};

/// The user, as a server asks.
#[derive(Clone)]
pub(super) struct ServerUser {
    /// The name of the server.
    pub(super) server: String,
    /// Shows the forms of the server. `None` if the user cannot be asked.
    pub(super) user: Option<Arc<dyn FormUser>>,
}

impl ServerUser {
    /// Asks the user for the responses to the requests of a server.
    ///
    /// # Errors
    /// The user cannot be asked, or did not respond. The reason has the text of the server.
    pub(super) async fn respond(
        &self,
        requests: InputRequests,
        cancel: &CancelToken,
    ) -> Result<InputResponses, McpFailure> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let result = match request {
                InputRequest::Elicitation(request) => self.elicit(request.params, cancel).await?,
                InputRequest::CreateMessage(_) => return Err(unsupported("a reply of a model")),
                _ => return Err(unsupported("directories")),
            };
            let response = serde_json::to_value(result)
                .map_err(|error| McpFailure::Failed(error.to_string()))?;
            responses.insert(key, response);
        }
        Ok(responses)
    }

    /// Shows a form to the user.
    pub(super) async fn elicit(
        &self,
        request: ElicitRequestParams,
        cancel: &CancelToken,
    ) -> Result<ElicitResult, McpFailure> {
        let request = serde_json::to_value(request).unwrap_or_default();
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let message = format!("{} {}", text("message"), text("url"));
        let Value::Object(schema) = &request["requestedSchema"] else {
            return Err(unanswered(&message, "pages cannot be opened"));
        };
        let Some(user) = self.user.clone() else {
            let why = "nobody can be asked without `--permission-prompt tty`";
            return Err(unanswered(&message, why));
        };
        let form = UserForm {
            asker: format!("MCP server {}", self.server),
            message: message.clone(),
            schema: schema.clone(),
        };
        let waiting = cancel.clone();
        let result = spawn_blocking(move || user.fill(&form, &waiting)).await;
        match result.unwrap_or_else(|error| FilledForm::None(error.to_string())) {
            FilledForm::Accepted(content) => {
                let accepted = ElicitResult::new(ElicitationAction::Accept);
                Ok(accepted.with_content(Value::Object(content)))
            }
            FilledForm::Declined => Ok(ElicitResult::new(ElicitationAction::Decline)),
            FilledForm::None(_) if cancel.is_cancelled() => Err(McpFailure::Cancelled),
            FilledForm::None(problem) => Err(unanswered(&message, &problem)),
        }
    }
}

fn unsupported(what: &str) -> McpFailure {
    McpFailure::Failed(format!("it asks for {what}, which is not supported"))
}

fn unanswered(message: &str, why: &str) -> McpFailure {
    let message = fit_columns(terminal_safe_line(message).trim(), MAX_MESSAGE_WIDTH);
    McpFailure::Failed(format!("it asks the user: {message}; {why}"))
}
