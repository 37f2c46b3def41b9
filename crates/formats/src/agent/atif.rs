//! ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.8: a run as one JSON object.

use serde_json::value::RawValue;

use super::agent::Agent;
use super::content::{
    input_of, is_in, is_true, new_call, new_message, new_results, read_count, read_decimal,
    split_user, string,
};
use super::counting::SideCost;
use super::entry::{Entry, Part};
use super::facts::Facts;
use super::format::Format;
use super::reading::Detail;
use super::sign::{ATIF_FILE, Row as Marks};
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::TitleFormat;
use turnpipe_core::json::{elements, is_object, non_empty, object, text};
use turnpipe_core::message::{
    Block, Media, Message, Origin, ResultPart, Role, Thread, ToolResult, Usage, result_parts,
};

/// The format of ATIF. No agent keeps its sessions in it.
pub(super) static ATIF: Format = Format {
    titles: TitleFormat {
        words: &["\"title\""],
        ..TitleFormat::NONE
    },
    stream: Some(ATIF_FILE),
    ..Format::new(Agent::Atif, read, has_marks)
};

object! {
    Row {
        version = "schema_version", session = "session_id", trajectory = "trajectory_id",
        agent: AgentInfo<'a>, steps, notes, totals: Totals<'a> = "final_metrics",
        continued = "continued_trajectory_ref", extra: Extra<'a>, subagents = "subagent_trajectories",
        end,
    }
}

object! { AgentInfo { model = "model_name", extra: Extra<'a> } }

object! {
    Step {
        time = "timestamp", source, model = "model_name", message, reasoning = "reasoning_content",
        calls = "tool_calls", observation: Observation<'a>, metrics: Metrics<'a>, extra: Extra<'a>,
    }
}

object! { Called { id = "tool_call_id", name = "function_name", input = "arguments", extra: Extra<'a> } }
object! { Observation { results } }
object! { Observed { call = "source_call_id", content, extra: Extra<'a> } }
object! { ContentPart { text, source: Source<'a> } }
object! { Source { media_type } }

object! {
    Metrics {
        input = "prompt_tokens", output = "completion_tokens", cached = "cached_tokens",
        cost = "cost_usd", extra: Extra<'a>,
    }
}

object! {
    Totals {
        input = "total_prompt_tokens", output = "total_completion_tokens",
        cached = "total_cached_tokens", cost = "total_cost_usd", extra: Extra<'a>,
    }
}

object! {
    /// Members that turnpipe or Harbor adds.
    Extra {
        title, cwd, branch = "git_branch", forked_from, origin, time = "timestamp", call = "tool_call_id",
        raw_input, is_error, harbor_error = "tool_result_is_error", context = "context_management",
        cache_write = "cache_creation_input_tokens", cache_write_1h = "ephemeral_1h_input_tokens",
        all_cache_write = "total_cache_creation_input_tokens", searches = "web_search_requests",
    }
}

fn has_marks(row: &Marks<'_>) -> bool {
    text(row.schema_version).is_some_and(|version| version.starts_with("ATIF-v1."))
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let mut row = Row::read(record)?;
    let mut part = Part::Aside;
    while let Some(subagent) = elements(row.subagents).first() {
        row = Row::from_raw(Some(subagent))?;
        part = Part::Side;
    }
    let step = elements(row.steps)
        .first()
        .map(|step| Step::from_raw(Some(step)));
    if let Some(step) = step {
        return Some(read_step(&step.unwrap_or_default(), part, detail));
    }
    let members = [
        row.version,
        row.session,
        row.trajectory,
        row.steps,
        row.notes,
    ];
    let others = [row.continued, row.subagents, row.end];
    let objects = row.agent.is_some() || row.totals.is_some() || row.extra.is_some();
    let mut entry = Entry {
        kind: if row.end.is_some() { END } else { "trajectory" }.to_owned(),
        is_known: objects || members.iter().chain(&others).any(Option::is_some),
        part,
        ..Entry::default()
    };
    // A subagent describes itself, not the session.
    if part == Part::Side {
        return Some(entry);
    }
    let agent = row.agent.unwrap_or_default();
    let agent_extra = agent.extra.unwrap_or_default();
    let extra = row.extra.unwrap_or_default();
    entry.facts = Facts {
        session_id: string(row.session).or_else(|| string(row.trajectory)),
        model: string(agent.model),
        branch: string(agent_extra.branch),
        forked_from: string(extra.forked_from),
        ..Facts::default()
    }
    .with_directory(string(agent_extra.cwd));
    entry.title = non_empty(extra.title)
        .map(|title| StoredTitle::new(title, TitleSource::Auto, None, ManualTitle::Keep));
    if let Some(totals) = row.totals {
        entry.recorded_cost = read_decimal(totals.cost);
        let extra = totals.extra.unwrap_or_default();
        let counts = [totals.input, totals.output, totals.cached];
        let usage = read_usage(counts, totals.cost, extra.all_cache_write, &extra);
        entry.side_cost = Some(SideCost::from_run(usage));
    }
    Some(entry)
}

/// The kind of the line after the last member.
pub(super) const END: &str = "end";

fn read_step(step: &Step<'_>, part: Part, detail: Detail) -> Entry {
    let is_side = part == Part::Side;
    let source = string(step.source);
    let mut entry = Entry {
        kind: "step".to_owned(),
        is_known: source
            .as_deref()
            .is_some_and(|source| is_in("system user agent", source)),
        part: if is_side { Part::Side } else { Part::Turn },
        time: string(step.time),
        ..Entry::default()
    };
    if !is_side {
        entry.facts = Facts {
            model: string(step.model),
            ..Facts::from_time(step.time)
        };
    }
    if detail != Detail::Outline {
        let said = read_message(step, source.as_deref().unwrap_or_default());
        let messages = said
            .into_iter()
            .chain(read_observations(step))
            .map(|message| Message {
                time: message.time.or_else(|| entry.time.clone()),
                thread: if is_side {
                    Thread::Subagent
                } else {
                    Thread::Main
                },
                ..message
            });
        entry.messages = messages.collect();
    }
    entry.subtype = source;
    entry
}

/// Returns the message of a step.
fn read_message(step: &Step<'_>, source: &str) -> Vec<Message> {
    let extra = step.extra.unwrap_or_default();
    let origin = extra
        .origin
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    let mut blocks = read_content(step.message);
    match (source, origin) {
        ("agent", _) => {
            if let Some(thinking) = non_empty(step.reasoning) {
                blocks.insert(0, Block::thinking(thinking));
            }
            blocks.extend(Called::read_list(step.calls).iter().map(read_call));
            vec![Message {
                model: string(step.model),
                usage: step.metrics.map(|spent| {
                    let extra = spent.extra.unwrap_or_default();
                    let counts = [spent.input, spent.output, spent.cached];
                    read_usage(counts, spent.cost, extra.cache_write, &extra)
                }),
                ..new_message(Role::Assistant, origin.unwrap_or(Origin::Reply), blocks)
            }]
        }
        ("user", None) => split_user(Origin::Prompt, blocks),
        ("user", Some(origin)) => vec![new_message(Role::User, origin, blocks)],
        _ if is_object(extra.context) => {
            vec![new_message(Role::System, Origin::Compaction, blocks)]
        }
        _ if blocks.is_empty() => Vec::new(),
        _ => vec![new_message(
            Role::System,
            origin.unwrap_or(Origin::Injected),
            blocks,
        )],
    }
}

fn read_call(called: &Called<'_>) -> Block {
    let raw_input = called.extra.and_then(|extra| extra.raw_input);
    new_call(
        string(called.id).unwrap_or_default(),
        string(called.name).unwrap_or_default(),
        input_of(raw_input.or(called.input)),
    )
}

/// Returns the results of a step, and its other observations.
fn read_observations(step: &Step<'_>) -> Vec<Message> {
    let observed = step.observation.and_then(|observation| observation.results);
    let observed = Observed::read_list(observed)
        .into_iter()
        .filter_map(|result| {
            let extra = result.extra.unwrap_or_default();
            let blocks = read_content(result.content);
            let id = text(result.call).or_else(|| text(extra.call));
            let message = match id {
                Some(id) => {
                    let result = Block::Result(ToolResult {
                        id: id.into_owned(),
                        parts: result_parts(blocks),
                        failed: is_true(extra.is_error) || is_true(extra.harbor_error),
                        end: None,
                    });
                    new_results(vec![result])
                }
                None if blocks.is_empty() => return None,
                None => new_message(Role::User, Origin::Injected, blocks),
            };
            Some(Message {
                time: string(extra.time),
                ..message
            })
        });
    observed.collect()
}

/// Parses a text or a list of parts. The contents of images are in files of their own.
fn read_content(raw: Option<&RawValue>) -> Vec<Block> {
    if let Some(text) = text(raw) {
        return Some(text.into_owned())
            .filter(|text| !text.is_empty())
            .map(Block::Text)
            .into_iter()
            .collect();
    }
    let parts = ContentPart::read_list(raw).into_iter().filter_map(|part| {
        let media = |source: Source<'_>| Media {
            media_type: string(source.media_type).unwrap_or_default(),
            data: None,
        };
        match text(part.text) {
            Some(text) => Some(ResultPart::Text(text.into_owned())),
            None => part.source.map(|source| ResultPart::Media(media(source))),
        }
    });
    parts.map(Block::from).collect()
}

/// Returns the tokens of these counts: input with everything cached, output, and read from the cache.
fn read_usage(
    [input, output, cached]: [Option<&RawValue>; 3],
    cost: Option<&RawValue>,
    cache_write: Option<&RawValue>,
    extra: &Extra<'_>,
) -> Usage {
    let (cache_read, cache_write) = (read_count(cached), read_count(cache_write));
    Usage {
        input: read_count(input).saturating_sub(cache_read + cache_write),
        output: read_count(output),
        cache_read,
        cache_write,
        cache_write_1h: read_count(extra.cache_write_1h).min(cache_write),
        cost: read_decimal(cost),
        web_searches: read_count(extra.searches),
        ..Usage::default()
    }
}
