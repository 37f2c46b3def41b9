//! `WebFetch`: fetches a web page as Markdown.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::page::{PageBody, WebPage, status_reason};
use super::page_client::FetchOutcome;
use crate::client::http::Address;
use crate::io::to_millis;
use crate::permission::Action;
use crate::run::tools::builtin::{Parameters, WholeNumber};
use crate::run::tools::{
    Access, Assessment, Block, CallContext, CallStatus, Content, DecisionContext, InvalidInput,
    PreparedCall, ResultLimit, ToolFailure, ToolReply,
};
use crate::text::append;

/// Maximum number of characters of a page in one result.
const MAX_PAGE_CHARACTERS: usize = 40_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct WebFetch {
    /// Address of the page to fetch, with http or https
    #[schemars(length(min = 1))]
    url: String,
    /// What you want to know from the page; it does not change the result
    #[expect(dead_code, reason = "models trained on other agents send it")]
    prompt: Option<String>,
    /// Number of the first character to show, counted from 0; only for pages too long to show at once
    offset: Option<WholeNumber>,
}

impl Parameters for WebFetch {
    const NAME: &'static str = "WebFetch";
    const DESCRIPTION: &'static str = "Fetches a page from the web. HTML comes as Markdown, other \
        text as it is, PNG, JPEG, GIF and WebP files as images; at most 40,000 characters at once. \
        The page itself is the result: no model reads it for you. A page is fetched again after \
        15 minutes at the earliest. A redirect to another server is not followed: the result names \
        the new address, for another call.";
    const RESULT_LIMIT: ResultLimit = ResultLimit::Unlimited;

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let address = Address::parse(&self.url);
        Ok(Box::new(FetchPage {
            address: address.map_err(|error| InvalidInput(format!("url: {error}")))?,
            offset: self.offset.map_or(0, WholeNumber::limit),
        }))
    }
}

#[derive(Debug)]
struct FetchPage {
    address: Address,
    offset: usize,
}

impl PreparedCall for FetchPage {
    fn assess(&self, _: &DecisionContext) -> Assessment {
        let url = self.address.to_string();
        Assessment::of(WebFetch::NAME, Ok(Access::nothing()), Action::Fetch { url })
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let start = call.session.clock.elapsed();
        let result = call.session.web.fetch(self.address.clone(), call.cancel);
        let duration = call.session.clock.elapsed().saturating_sub(start);
        let outcome = result.map_err(|reason| ToolFailure(format!("Fetch failed: {reason}")))?;
        let (status, bytes, content) = match outcome {
            FetchOutcome::Page(page) => (page.status, page.bytes, self.content(&page)?),
            FetchOutcome::Elsewhere { status, to } => (
                status,
                0,
                Content::Text(self.describe_redirect(status, &to)),
            ),
            FetchOutcome::Cancelled => {
                let text = "The fetch was cancelled.";
                return Ok(ToolReply::with_status(
                    CallStatus::Cancelled,
                    text,
                    json!(null),
                ));
            }
        };
        let structured = json!({
            "bytes": bytes,
            "code": status,
            "codeText": status_reason(status),
            "result": match &content {
                Content::Text(text) => text,
                Content::Blocks(blocks) => match blocks.first() {
                    Some(Block::Image { source }) => &*source.media_type,
                    Some(Block::Text { text }) => text,
                    None => "",
                },
            },
            "durationMs": to_millis(duration),
            "url": self.address.to_string(),
        });
        Ok(ToolReply {
            content,
            ..ToolReply::text("", structured)
        })
    }
}

impl FetchPage {
    fn content(&self, page: &WebPage) -> Result<Content, ToolFailure> {
        let text = match &page.body {
            PageBody::Image(image) => {
                let source = image.clone();
                return Ok(Content::Blocks(vec![Block::Image { source }]));
            }
            PageBody::Text(text) if text.trim().is_empty() => "The page has no text.",
            PageBody::Text(text) => text,
        };
        let byte_position = |character: usize| {
            let mut positions = text.char_indices().map(|(byte_position, _)| byte_position);
            positions.nth(character).unwrap_or(text.len())
        };
        let total = text.chars().count();
        if self.offset >= total {
            return Err(ToolFailure(format!(
                "The page has {total} characters, fewer than the offset."
            )));
        }
        let end = self.offset.saturating_add(MAX_PAGE_CHARACTERS).min(total);
        let mut excerpt = text[byte_position(self.offset)..byte_position(end)].to_owned();
        if end < total {
            append!(
                excerpt,
                "\n\n<system-reminder>PARTIAL view: characters {} to {end} of {total}. Fetch the \
                 page again with offset {end} to read on.</system-reminder>",
                self.offset
            );
        }
        Ok(Content::Text(excerpt))
    }

    /// Returns the text about a redirect. Starts like Claude Code's message, which labels recognise.
    fn describe_redirect(&self, status: u16, to: &Address) -> String {
        format!(
            "REDIRECT DETECTED: {} redirects to another server (status code {status} {}).\n\n\
             Redirect URL: {to}\n\nCall WebFetch with that address to fetch the page.",
            self.address,
            status_reason(status)
        )
    }
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
