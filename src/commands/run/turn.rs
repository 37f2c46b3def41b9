//! `turn`: requests one reply of the main model.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::assemble::BlockBuilder;
use crate::client::model::{
    Attempts, Delivery, Function, PromptId, ReplyForm, Request, SharedPrefix, Thinking,
};
use crate::commands::inputs::{
    read_option_file, report_foreign_stream, take_stdin, working_directory,
};
use crate::commands::model_arguments::{ModelArguments, StopWatch, check_price};
use crate::commands::run::arguments::{AdvisorArguments, ManifestArguments, McpArguments};
use crate::commands::run::tools::load_registry;
use crate::commands::run::turn_reply::{StopArguments, report_end};
use crate::commands::session::gates::parse_amount;
use crate::commands::session::source::SourceArguments;
use crate::commands::{Form, FormArguments, Globals, Run, Status, UsageError, output};
use crate::io::{Io, Moment};
use crate::message::SessionId;
use crate::records::{InitSubtype, TurnInitExtension, TurnInitRecord};
use crate::render::ProgressLine;
use crate::run::tools::{Registry, TOOL_SEARCH, function};
use crate::run::turn::{
    History, OutputCheck, RecordBuilder, ReplyWriter, TurnConversation, TurnLimits, system_prompt,
};
use crate::session::{Facts, Prices, Session};
use crate::state::{SessionKey, SessionScope};

/// Ask the main model for its next reply
///
/// Reads a conversation from a session file or standard input, and writes the reply as records: one per
/// block as soon as the block is complete, so that `run-tools` can start calls while the reply is still
/// arriving. The conversation is not copied, and is read to its end before anything is written.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe turn --model openai:gpt-5-mini --prompt 'Which tests fail?' --dry-run
  turnpipe turn --print-prompt")]
pub(crate) struct TurnArguments {
    /// The session file; it may be missing
    ///
    /// Without it, the conversation is read from standard input, unless that is a terminal.
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// Append this user message, and write it as a record
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The system prompt [default: one for coding]
    #[arg(long, value_name = "FILE")]
    system: Option<PathBuf>,
    /// The session's id [default: the id in the conversation, else a new one]
    #[arg(long, value_name = "ID", hide_short_help = true)]
    session_id: Option<String>,
    /// Also write the deltas of each block as they arrive
    #[arg(long)]
    partial: bool,
    /// Do not stream the reply
    #[arg(long, conflicts_with = "partial", hide_short_help = true)]
    no_stream: bool,
    #[command(flatten)]
    manifests: ManifestArguments,
    /// Offer only these tools, separated by commas; empty for none
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools_only: Option<Vec<String>>,
    #[command(flatten)]
    mcp: McpArguments,
    #[command(flatten)]
    advisor: AdvisorArguments,
    /// Require the last reply to be JSON that matches this schema
    ///
    /// The file contains a JSON Schema. Every reply without calls has to match it.
    ///
    /// Uses the API's structured output where available, and the system prompt otherwise. A reply that does
    /// not match is corrected by up to 2 more requests, which count as turns. The JSON is `structured_output`
    /// of the `result` record. Exits with 7 if the last reply does not match.
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Maximum number of tokens in the reply
    #[arg(
        long,
        value_name = "N",
        default_value = "16384",
        hide_short_help = true
    )]
    max_tokens: u32,
    /// The sampling temperature, e.g. 0.7 [default: chosen by the server]
    #[arg(long, value_name = "T", hide_short_help = true)]
    temperature: Option<f64>,
    /// The thinking budget in tokens, in addition to `--max-tokens`; 0 disables thinking [default: chosen
    /// by the model]
    #[arg(long, value_name = "TOKENS", hide_short_help = true)]
    thinking_tokens: Option<u32>,
    /// Stop after N replies since the last user message
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,
    /// Stop once the conversation has cost this many US dollars
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, hide_short_help = true)]
    max_cost: Option<f64>,
    /// Stop once the conversation has used this many tokens
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_session_tokens: Option<u64>,
    #[command(flatten)]
    stop: StopArguments,
    #[command(flatten)]
    form: FormArguments,
    #[command(flatten)]
    model: ModelArguments,
}

impl Run for TurnArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let directory = working_directory()?;
        let instructions = self.read_instructions()?;
        if self.model.print_prompt {
            let prompt = build_system_prompt(instructions.as_deref(), &directory, io);
            output::print(io, &format!("{prompt}\n"))?;
            return Ok(Status::Done);
        }
        let output = self.load_output_check()?;
        let mut conversation = self.read_conversation(io)?;
        let settings = self.manifests.load_settings(globals, io)?;
        let (provider, model) = self.model.connect_main(globals, io)?;
        let prices = globals.prices(None, io)?;
        self.check_budget(&model, &prices)?;
        let moment = Moment::from_io(io);
        let session = self.choose_session(&conversation, &directory, &moment);
        let functions = {
            let builtin = self
                .advisor
                .declare(load_registry(&settings)?, globals, io)?;
            let registry = self
                .mcp
                .add_servers(builtin, &directory, None, None, globals, io)?;
            globals.guard_children(&io.messages);
            let functions = self.select_functions(&registry, &conversation.history);
            registry.end();
            functions?
        };
        let continuations = conversation.history.continuations();
        let stop_hooks = self.stop.load_hooks(
            directory.clone(),
            self.session.as_deref(),
            continuations,
            globals,
            io,
        )?;
        let warn = |problem: &str| io.messages.warn(problem);
        let replaced = conversation.shorten(&session, &settings.state_root, &warn);
        let assembly = BlockBuilder::new(conversation.history.call_ids());
        let limits = self.to_limits();
        let spent = conversation.consumption(&prices);
        let limit = limits.find_reached(&spent);
        let recorded = Some(conversation.instructions).filter(|given| !given.is_empty());
        let init = self.build_init_record(&session, &directory, &model, &functions, &moment);
        let turns = conversation.history.into_turns(&model).map_err(|error| {
            UsageError::reason(error).with_hint("`--prompt TEXT` appends a user message")
        })?;
        let request = Request {
            system: build_system_prompt(instructions.or(recorded).as_deref(), &directory, io),
            turns,
            output: output.as_ref().map(OutputCheck::schema),
            ..self.build_request(functions)
        };
        let delivery = if self.no_stream {
            Delivery::Whole
        } else {
            Delivery::Streamed
        };
        let _progress = ProgressLine::new_spinner("asking the model", io);
        let form = if self.model.dry_run {
            Form::Jsonl
        } else {
            self.form.form(io.terminal)
        };
        let mut writer = output::open_run_writer(form, true, globals, io)?;
        if self.model.dry_run {
            writer.echo(provider.body(&request, delivery).as_bytes())?;
            writer.echo(b"\n")?;
            writer.flush()?;
            return Ok(Status::Done);
        }
        let records = RecordBuilder::new(model, session.id, moment);
        let watch = StopWatch::listen(io.stdout_watch.take());
        let mut reply = ReplyWriter {
            records,
            prices,
            writer,
            stop: watch.stop.clone(),
            stop_hooks,
            partial: self.partial || form == Form::Text,
            has_begun: false,
            text: String::new(),
            output,
            limits,
            spent,
        };
        reply.start(&init, self.prompt, replaced)?;
        if let Some(limit) = limit {
            io.messages.warn(&limit.to_string());
            reply.report_limit(limit)?;
            return Ok(Status::Done);
        }
        let note = |text: &str| io.messages.warn(text);
        let end = reply.ask(&provider, request, delivery, &assembly, &note)?;
        Ok(watch.or(report_end(&end, &io.messages)))
    }
}

impl TurnArguments {
    fn read_instructions(&self) -> Result<Option<String>, UsageError> {
        let read = |path: &PathBuf| read_option_file("--system", path);
        self.system.as_ref().map(read).transpose()
    }

    /// Reads the schema of the last reply.
    fn load_output_check(&self) -> Result<Option<OutputCheck>, UsageError> {
        let read = |path: &PathBuf| {
            let option = "--output-schema";
            OutputCheck::new(&read_option_file(option, path)?)
                .map_err(|error| UsageError::reason(error).with_option(option, path))
        };
        self.output_schema.as_ref().map(read).transpose()
    }

    /// Returns a request without instructions and conversation.
    fn build_request(&self, functions: Vec<Function>) -> Request {
        Request {
            form: ReplyForm::Tools(functions),
            temperature: self.temperature,
            thinking: self.to_thinking(),
            attempts: Attempts::UntilABlock,
            shared: SharedPrefix::Conversation,
            ..Request::new(PromptId::MAIN, self.count_tokens())
        }
    }

    /// Returns the first record of the reply.
    fn build_init_record(
        &self,
        session: &SessionKey,
        directory: &Path,
        model: &str,
        functions: &[Function],
        moment: &Moment,
    ) -> TurnInitRecord {
        let tools = functions.iter().map(|function| function.name.clone());
        let session_file = self.session.as_ref().map(|_| session.scope.digest());
        TurnInitRecord {
            subtype: InitSubtype::Only,
            cwd: directory.display().to_string(),
            session_id: session.id.clone(),
            tools: tools.collect(),
            model: model.to_owned(),
            uuid: moment.uuid(),
            turnpipe: TurnInitExtension {
                session_file: session_file.map(str::to_owned),
                ..TurnInitExtension::default()
            },
        }
    }

    /// Reads the conversation and appends the prompt.
    fn read_conversation(&self, io: &mut Io) -> anyhow::Result<TurnConversation> {
        let mut conversation = match &self.session {
            Some(path) if path.exists() => {
                let ancestors = |session: &Session, facts: &Facts| {
                    let source = SourceArguments::default();
                    source.ancestors(session, facts, &io.environment, &io.messages)
                };
                TurnConversation::read(path, ancestors)
                    .map_err(|error| UsageError::reason(error).with_option("--session", path))?
            }
            None if !io.terminal.stdin || self.prompt.is_none() => read_stdin(io)?,
            Some(_) | None => TurnConversation::default(),
        };
        if let Some(prompt) = &self.prompt {
            conversation.add_prompt(prompt.clone());
        }
        Ok(conversation)
    }

    fn choose_session(
        &self,
        conversation: &TurnConversation,
        directory: &Path,
        moment: &Moment,
    ) -> SessionKey {
        let given = self.session_id.as_ref();
        let id = given.or(conversation.session_id.as_ref()).cloned();
        SessionKey {
            id: SessionId(id.unwrap_or_else(|| moment.uuid())),
            scope: SessionScope::from_path(self.session.as_deref().unwrap_or(directory)),
        }
    }

    fn to_limits(&self) -> TurnLimits {
        TurnLimits {
            turns: self.max_turns,
            dollars: self.max_cost,
            tokens: self.max_session_tokens,
        }
    }

    /// Returns an error if a budget cannot be enforced because the model has no price.
    fn check_budget(&self, model: &str, prices: &Prices) -> Result<(), UsageError> {
        if self.max_cost.is_none() {
            return Ok(());
        }
        check_price(model, prices).map_err(|error| {
            error.with_hint("use `--max-session-tokens`, or add a price to the configuration")
        })
    }

    /// Returns the maximum number of tokens of the reply with its thinking, because APIs limit both together.
    fn count_tokens(&self) -> u32 {
        self.max_tokens
            .saturating_add(self.thinking_tokens.unwrap_or_default())
    }

    /// Returns the tools to offer. Deferred tools are offered if they are named, or once the conversation
    /// has searched for them.
    fn select_functions(
        &self,
        registry: &Registry,
        history: &History,
    ) -> Result<Vec<Function>, UsageError> {
        let all = registry.all();
        let mut wanted = self.tools_only.iter().flatten();
        let is_unknown =
            |name: &&String| !name.is_empty() && !all.iter().any(|tool| tool.name() == *name);
        if let Some(name) = wanted.find(is_unknown) {
            let error = UsageError::new(format!("--tools-only: unknown tool `{name}`"));
            return Err(error.with_hint("`turnpipe tools` lists them"));
        }
        let offered = all.iter().filter(|tool| match &self.tools_only {
            Some(names) => names.iter().any(|wanted| wanted == tool.name()),
            None => !tool.is_deferred() || history.mentions(TOOL_SEARCH, tool.name()),
        });
        Ok(offered.map(|tool| function(&**tool)).collect())
    }

    fn to_thinking(&self) -> Thinking {
        match self.thinking_tokens {
            None => Thinking::Unspecified,
            Some(0) => Thinking::Off,
            Some(tokens) => Thinking::Tokens(tokens),
        }
    }
}

/// Reads the conversation on standard input.
///
/// # Errors
/// Reading failed.
fn read_stdin(io: &mut Io) -> anyhow::Result<TurnConversation> {
    let (conversation, understanding) = TurnConversation::read_stream(take_stdin(io)?)?;
    report_foreign_stream(understanding, &io.messages);
    Ok(conversation)
}

/// Returns the system prompt.
fn build_system_prompt(instructions: Option<&str>, directory: &Path, io: &Io) -> String {
    let today = io.clock.now().to_zoned(io.clock.time_zone()).date();
    system_prompt(instructions, &directory.display().to_string(), today)
}
