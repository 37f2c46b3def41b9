//! The lists of a server: tools and resources.

use std::future::Future;

use rmcp::model::{PaginatedRequestParams, Tool as RemoteTool};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde::Serialize;
use serde_json::Value;

use super::content::MAX_LINE_BYTES;
use super::handshake::innermost;

/// Size of a page of a list in addition to its text, in bytes. Limits the number of empty pages.
const PAGE_OVERHEAD: usize = 1024;

/// Members of a resource that models do not need; icons may be long.
const OMITTED: [&str; 2] = ["icons", "_meta"];

/// Lists the tools. A server that does not claim to have tools may refuse the request.
pub(super) async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<RemoteTool>, String> {
    let listed = pages("tools", |parameters| async {
        let page = peer.list_tools(parameters).await?;
        Ok((page.tools, page.next_cursor))
    });
    let has_tools = || {
        peer.peer_info()
            .is_none_or(|info| info.capabilities.tools.is_some())
    };
    match listed.await {
        Err(_) if !has_tools() && !peer.is_transport_closed() => Ok(Vec::new()),
        listed => listed,
    }
}

/// Whether the server claims to have resources.
pub(super) fn has_resources(peer: &Peer<RoleClient>) -> bool {
    let info = peer.peer_info();
    info.is_some_and(|info| info.capabilities.resources.is_some())
}

/// Lists the resources, then the templates of their addresses.
pub(super) async fn resources(peer: &Peer<RoleClient>) -> Result<Vec<Value>, String> {
    let mut resources = values(
        pages("resources", |parameters| async {
            let page = peer.list_resources(parameters).await?;
            Ok((page.resources, page.next_cursor))
        })
        .await?,
    );
    let templates = pages("resource templates", |parameters| async {
        let page = peer.list_resource_templates(parameters).await?;
        Ok((page.resource_templates, page.next_cursor))
    });
    // Many servers have no templates, and refuse the request.
    resources.extend(templates.await.into_iter().flat_map(values));
    Ok(resources)
}

fn values(items: Vec<impl Serialize>) -> Vec<Value> {
    let values = items.into_iter().filter_map(|item| {
        let mut value = serde_json::to_value(item).ok()?;
        let members = value.as_object_mut()?;
        members.retain(|name, _| !OMITTED.contains(&name.as_str()));
        Some(value)
    });
    values.collect()
}

/// Reads all pages of a list, up to a limit.
async fn pages<Item: Serialize, Page>(
    name: &str,
    page: impl Fn(Option<PaginatedRequestParams>) -> Page,
) -> Result<Vec<Item>, String>
where
    Page: Future<Output = Result<(Vec<Item>, Option<String>), ServiceError>>,
{
    let (mut items, mut size, mut cursor) = (Vec::new(), 0, None);
    loop {
        let parameters = PaginatedRequestParams::default().with_cursor(cursor);
        let (listed, next) = page(Some(parameters))
            .await
            .map_err(|error| innermost(&error))?;
        let written = serde_json::to_vec(&listed).map_err(|error| error.to_string())?;
        size += PAGE_OVERHEAD + written.len();
        if size > MAX_LINE_BYTES {
            return Err(format!("its list of {name} is too long"));
        }
        items.extend(listed);
        cursor = next;
        if cursor.is_none() {
            return Ok(items);
        }
    }
}
