//! The configured tools, by name or alias.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::bash::Bash;
use super::builtin::{BuiltIn, Parameters};
use super::files::{ApplyPatch, Edit, Glob, Grep, Ls, Read, Write};
use super::schema::{InvalidSchema, SchemaCheck, format_problems};
use super::search::{TOOL_SEARCH, ToolSearch};
use super::todo_write::TodoWrite;
use super::tool::function;
use super::web::WebFetch;
use super::{Input, Tool, ToolSource, Unavailable};
use crate::api::{Api, FREE_TEXT};
use crate::io::CancelToken;
use crate::text::find_similar;
use crate::tool_facts::{Purpose, agent_tool, find_alias, without_namespace};

/// All tools, built-in ones first, each group sorted by name (a stable order keeps prompt caches warm).
#[derive(Default)]
pub struct Registry {
    tools: Vec<Entry>,
    /// Number of built-in tools, which come first.
    builtin: usize,
    /// Names of tools that are not built in, by alias.
    aliases: HashMap<String, String>,
    /// Tools that are looked up when a call needs them.
    source: Option<Arc<dyn ToolSource>>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    /// Compiled on the first call: most runs call few tools.
    check: OnceLock<Result<SchemaCheck, InvalidSchema>>,
}

/// A resolved call, with the arguments of the tool.
pub struct ResolvedCall {
    pub tool: Arc<dyn Tool>,
    /// The arguments under the tool's field names, not yet checked against the schema.
    pub input: Input,
}

/// A failed lookup.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No tool or alias has this name.
    #[error("No such tool available: {name}{}", suggestion_text(suggestion.as_deref()))]
    Unknown {
        /// The name in the call.
        name: String,
        /// A tool with a similar name.
        suggestion: Option<String>,
    },
    /// The arguments of an alias cannot be converted.
    #[error("{0}")]
    Unmappable(String),
    /// The source of the tool does not respond.
    #[error("{name} is not available: {reason}")]
    Unavailable {
        /// The name in the call.
        name: String,
        reason: Unavailable,
    },
}

/// A name shared by two tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool {name}: the name {clashing} is already taken")]
pub struct NameClash {
    /// The tool to be added.
    pub name: String,
    /// The name or alias that is already taken.
    pub clashing: String,
}

/// Returns all built-in tools, sorted by name.
pub(super) fn builtin_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(BuiltIn::<Bash>::new()),
        Arc::new(BuiltIn::<Edit>::new()),
        Arc::new(BuiltIn::<Glob>::new()),
        Arc::new(BuiltIn::<Grep>::new()),
        Arc::new(BuiltIn::<Ls>::new()),
        Arc::new(BuiltIn::<Read>::new()),
        Arc::new(BuiltIn::<TodoWrite>::new()),
        Arc::new(BuiltIn::<WebFetch>::new()),
        Arc::new(BuiltIn::<Write>::new()),
    ]
}

fn suggestion_text(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(". Did you mean {name}?"))
}

impl Registry {
    /// Creates a registry of the built-in tools.
    pub fn builtin() -> Self {
        Self::with_tools(builtin_tools())
    }

    /// Creates a registry of these built-in tools. The first of several with the same name is kept.
    pub fn with_tools(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut tools: Vec<Entry> = tools.into_iter().map(Entry::new).collect();
        sort_by_name(&mut tools);
        tools.dedup_by(|second, first| second.tool.name() == first.tool.name());
        Self {
            builtin: tools.len(),
            tools,
            aliases: HashMap::new(),
            source: None,
        }
    }

    /// Adds the tools of a source after all others.
    #[must_use]
    pub fn with_source(self, source: Arc<dyn ToolSource>) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Returns the tool's own name if [`Registry::resolve`] may have to wait for it.
    pub fn name_if_slow<'a>(&self, name: &'a str) -> Option<&'a str> {
        let short = without_namespace(name);
        let is_fixed = || self.entry(name).or_else(|| self.entry(short)).is_some();
        let source = self.source.as_ref()?;
        (source.is_slow(short) && !is_fixed()).then_some(short)
    }

    /// Ends everything that the source started.
    pub fn end(&self) {
        if let Some(source) = &self.source {
            source.end();
        }
    }

    /// Adds tools that are not built in, with their aliases.
    ///
    /// # Errors
    /// A name or alias is already taken. Nothing is added. An alias may hide a known name of another agent's
    /// tool.
    pub fn add(&mut self, tools: Vec<(Arc<dyn Tool>, Vec<String>)>) -> Result<(), NameClash> {
        let mut taken: HashSet<&str> = self
            .iter()
            .map(|tool| tool.name())
            .chain(self.aliases.keys().map(String::as_str))
            .collect();
        for (tool, aliases) in &tools {
            for name in std::iter::once(tool.name()).chain(aliases.iter().map(String::as_str)) {
                if !taken.insert(name) {
                    return Err(NameClash {
                        name: tool.name().to_owned(),
                        clashing: name.to_owned(),
                    });
                }
            }
        }
        for (tool, aliases) in tools {
            let name = tool.name();
            self.aliases
                .extend(aliases.into_iter().map(|alias| (alias, name.to_owned())));
            self.tools.push(Entry::new(tool));
        }
        sort_by_name(&mut self.tools[self.builtin..]);
        Ok(())
    }

    /// Finds the tool of a call: by name, then by alias with converted arguments. Ignores a namespace before the
    /// name, which some models add (`functions.`).
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn resolve(&self, name: &str, input: Input) -> Result<ResolvedCall, LookupError> {
        let short = without_namespace(name);
        if let Some(entry) = self.entry(name).or_else(|| self.entry(short)) {
            return Ok(entry.resolve(input));
        }
        let alias_target = self.aliases.get(name).or_else(|| self.aliases.get(short));
        if let Some(entry) = alias_target.and_then(|target| self.entry(target)) {
            return Ok(entry.resolve(input));
        }
        if let Some(alias) = find_alias(short)
            && let Some(entry) = self.entry(alias.tool)
        {
            return alias
                .rewrite_arguments(name_free_text(input, &*entry.tool))
                .map(|input| entry.resolve(input))
                .map_err(LookupError::Unmappable);
        }
        // Not declared: only models that know the tool from their agent call it.
        if short == ApplyPatch::NAME && self.has_builtin(Edit::NAME) {
            let tool = Arc::new(BuiltIn::<ApplyPatch>::new());
            let input = name_free_text(input, &*tool);
            return Ok(ResolvedCall { tool, input });
        }
        let is_search = short == TOOL_SEARCH;
        if is_search && (self.source.is_some() || self.iter().any(|tool| tool.is_deferred())) {
            let tool = self.tool_search();
            return Ok(ResolvedCall { tool, input });
        }
        match self.source.as_ref().map(|source| source.find(short)) {
            Some(Ok(Some(tool))) => Ok(ResolvedCall {
                input: name_free_text(input, &*tool),
                tool,
            }),
            Some(Err(reason)) => Err(LookupError::Unavailable {
                name: name.to_owned(),
                reason,
            }),
            Some(Ok(None)) | None => Err(LookupError::Unknown {
                name: name.to_owned(),
                suggestion: find_similar(short, self.iter().map(|tool| tool.name()))
                    .or_else(|| self.tool_for(short))
                    .map(str::to_owned),
            }),
        }
    }

    /// Checks arguments against the tool's schema (compiled once per tool).
    ///
    /// # Errors
    /// The message for the model: `<Tool> failed due to the following issue(s): ...`, with a hint if the schema
    /// was deferred.
    pub fn check_schema(&self, tool: &dyn Tool, input: &Value) -> Result<(), String> {
        let name = tool.name();
        let unlisted_check;
        let check = if let Some(entry) = self.entry(name) {
            entry
                .check
                .get_or_init(|| SchemaCheck::new(tool.input_schema()))
        } else {
            unlisted_check = SchemaCheck::new(tool.input_schema());
            &unlisted_check
        };
        let problems = match check {
            Ok(check) => check.problems(input),
            Err(error) => vec![format!("Its input schema is {error}")],
        };
        if problems.is_empty() {
            return Ok(());
        }
        Err(format_problems(name, &problems) + &deferred_hint(tool))
    }

    /// Returns all tools in declaration order, with the tools of the source last. May wait for servers.
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        let cancel = CancelToken::default();
        let sourced = self.source.iter().flat_map(|source| source.tools(&cancel));
        let mut all: Vec<_> = self.iter().cloned().chain(sourced).collect();
        let has_search = self.entry(TOOL_SEARCH).is_some();
        if !has_search && all.iter().any(|tool| tool.is_deferred()) {
            all.insert(self.tools.len(), self.tool_search());
        }
        all
    }

    fn tool_search(&self) -> Arc<dyn Tool> {
        Arc::new(ToolSearch {
            tools: self.iter().cloned().collect(),
            source: self.source.clone(),
        })
    }

    /// Returns all tools except the tools of the source, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter().map(|entry| &entry.tool)
    }

    /// Whether a tool that is not looked up in the source has this name or alias.
    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some() || self.aliases.contains_key(name)
    }

    /// Whether a built-in tool has this name.
    pub(super) fn has_builtin(&self, name: &str) -> bool {
        let mut builtin = self.iter().take(self.builtin);
        builtin.any(|tool| tool.name() == name)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.tools.iter().find(|entry| entry.tool.name() == name)
    }

    /// Returns the tool with the same effect as the tool of another agent.
    fn tool_for(&self, name: &str) -> Option<&str> {
        let tool = agent_tool(name).filter(|tool| tool.purpose != Purpose::Delete)?;
        Some(self.entry(tool.name)?.tool.name())
    }
}

impl Entry {
    fn new(tool: Arc<dyn Tool>) -> Self {
        Self {
            check: OnceLock::new(),
            tool,
        }
    }

    fn resolve(&self, input: Input) -> ResolvedCall {
        ResolvedCall {
            tool: Arc::clone(&self.tool),
            input: name_free_text(input, &*self.tool),
        }
    }
}

/// Renames the free text of a custom tool to the only required parameter, if that is a string.
fn name_free_text(mut input: Input, tool: &dyn Tool) -> Input {
    // Built-in tools make their schema when it is first used.
    if input.len() != 1 || !input.contains_key(FREE_TEXT) {
        return input;
    }
    let schema = tool.input_schema();
    let properties = &schema["properties"];
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    if let [Value::String(name)] = required
        && properties[name]["type"] == "string"
        && properties.get(FREE_TEXT).is_none()
        && let Some(text) = input.remove(FREE_TEXT)
    {
        input.insert(name.clone(), text);
    }
    input
}

/// Returns a hint for tools with a deferred schema, else an empty string.
fn deferred_hint(tool: &dyn Tool) -> String {
    if !tool.is_deferred() {
        return String::new();
    }
    let name = tool.name();
    format!(
        "\n\nThe parameters of {name} were not part of the tools you were given. Load them with \
         {TOOL_SEARCH} (query `select:{name}`), then call {name} again."
    )
}

/// Sorts entries. Stable, so that the first of two tools with the same name stays first.
fn sort_by_name(entries: &mut [Entry]) {
    entries.sort_by(|first, second| first.tool.name().cmp(second.tool.name()));
}

/// Returns the value for the request's `tools` key: an array, in the registry's order.
///
/// Deferred tools are marked `defer_loading` for Anthropic, whose API searches them; the other
/// APIs have no such search, so deferred tools are omitted.
pub fn declarations(registry: &Registry, api: Api) -> Value {
    let all = registry.all();
    let tools = all
        .iter()
        .map(|tool| &**tool)
        .filter(|tool| api == Api::Anthropic || !tool.is_deferred());
    api.encode_tools(tools.map(|tool| declaration(tool, api)).collect())
}

fn declaration(tool: &dyn Tool, api: Api) -> Value {
    let mut declaration = api.declare(&function(tool));
    if tool.is_deferred() {
        declaration["defer_loading"] = true.into();
    }
    declaration
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
