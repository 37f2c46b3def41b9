//! The lists of a server: tools and resources.

use rmcp::model::{
    ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams, Tool as RemoteTool,
};
use rmcp::service::{Peer, RoleClient};
use serde_json::Value;

use super::content::MAX_LINE_BYTES;
use super::handshake::root_cause;
use crate::run::tools::check_input_schema;

/// Size of a page of a list in addition to its text, in bytes. Limits the number of empty pages.
const PAGE_OVERHEAD: usize = 1024;

/// Members of a tool that have a use here. Others may be malformed.
const USED: [&str; 5] = ["name", "description", "inputSchema", "annotations", "_meta"];

/// Members of a resource that models do not need; icons may be long.
const OMITTED: [&str; 2] = ["icons", "_meta"];

/// A list whose malformed items are messages.
pub(super) type Items<Item> = Vec<Result<Item, String>>;

/// Lists the tools. A server that does not claim to have tools may refuse the request.
pub(super) async fn list_tools(peer: &Peer<RoleClient>) -> Result<Items<RemoteTool>, String> {
    let request = |page| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
    let listed = read_pages(peer, "tool", request, parse_tool).await;
    let has_tools = || {
        peer.peer_info()
            .is_none_or(|info| info.capabilities.tools.is_some())
    };
    match listed {
        Err(_) if !has_tools() && !peer.is_transport_closed() => Ok(Vec::new()),
        listed => listed,
    }
}

/// Parses a tool, and checks its schema: APIs of models refuse a request with an unusable one.
fn parse_tool(mut tool: Value) -> Result<RemoteTool, String> {
    if let Value::Object(members) = &mut tool {
        members.retain(|name, _| USED.contains(&name.as_str()));
        if let Some(Value::Object(schema)) = members.get_mut("inputSchema") {
            schema.entry("type").or_insert_with(|| "object".into());
        }
    }
    check_input_schema(&tool["inputSchema"]).map_err(|reason| format!("inputSchema: {reason}"))?;
    serde_json::from_value(tool).map_err(|error| error.to_string())
}

/// Whether the server claims to have resources.
pub(super) fn has_resources(peer: &Peer<RoleClient>) -> bool {
    let info = peer.peer_info();
    info.is_some_and(|info| info.capabilities.resources.is_some())
}

/// Lists the resources, then the templates of their addresses.
pub(super) async fn list_resources(peer: &Peer<RoleClient>) -> Result<Items<Value>, String> {
    let request =
        |page| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page));
    let mut resources = read_pages(peer, "resource", request, parse_resource).await?;
    let request = |page| {
        let request = ListResourceTemplatesRequest::with_param(page);
        ClientRequest::ListResourceTemplatesRequest(request)
    };
    let templates = read_pages(peer, "resourceTemplate", request, parse_resource);
    // Many servers have no templates, and refuse the request.
    resources.extend(templates.await.into_iter().flatten());
    Ok(resources)
}

/// Returns the members of a resource that models need.
fn parse_resource(mut resource: Value) -> Result<Value, String> {
    let has_text = |name| resource.get(name).is_some_and(Value::is_string);
    if !has_text("name") || !has_text("uri") && !has_text("uriTemplate") {
        return Err("it has no name or address".to_owned());
    }
    for name in OMITTED {
        resource.as_object_mut().map(|members| members.remove(name));
    }
    Ok(resource)
}

/// Reads all pages of a list, up to a limit. Items of the `kind` `tool` are in the member `tools`.
async fn read_pages<Item>(
    peer: &Peer<RoleClient>,
    kind: &str,
    request: impl Fn(PaginatedRequestParams) -> ClientRequest,
    parse: fn(Value) -> Result<Item, String>,
) -> Result<Items<Item>, String> {
    let member = format!("{kind}s");
    let (mut items, mut size, mut cursor) = (Vec::new(), 0, None);
    loop {
        let page_request = request(PaginatedRequestParams::default().with_cursor(cursor));
        let result = peer.send_request(page_request).await;
        let response = result.map_err(|error| root_cause(&error))?;
        // A response with a malformed item has no type in the library.
        let mut page = serde_json::to_value(response).map_err(|error| error.to_string())?;
        let Some(Value::Array(listed)) = page.get_mut(&member).map(Value::take) else {
            return Err(format!("the response is not a list of {member}"));
        };
        let json = serde_json::to_vec(&listed).map_err(|error| error.to_string())?;
        size += PAGE_OVERHEAD + json.len();
        if size > MAX_LINE_BYTES {
            return Err(format!("its list of {member} is too long"));
        }
        for item in listed {
            let name = item["name"].as_str().unwrap_or("without a name").to_owned();
            let to_message = |reason| format!("{kind} {name} is left out: {reason}");
            items.push(parse(item).map_err(to_message));
        }
        match page.get_mut("nextCursor").map(Value::take) {
            None | Some(Value::Null) => return Ok(items),
            Some(Value::String(next)) => cursor = Some(next),
            Some(_) => return Err(format!("the cursor of its list of {member} is malformed")),
        }
    }
}
