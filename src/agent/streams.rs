//! The formats of saved streams, which runs of agents write to standard output.

use super::agent::Agent;
use super::entry_reader::read_row;
use super::format::{Detail, Entry, Format, LineClass, StreamForm};
use super::sign::{
    CLAUDE_STREAM, CODEX_STREAM, GEMINI_STREAM, OPENCODE_STREAM, Opening, PI_STREAM, QWEN_STREAM,
    Sign, UNNAMED_STREAM, sign,
};
use super::stream_json;
use crate::api::Envelope;
use crate::json::text;

/// The beginning of records with deltas, which whole messages repeat.
const DELTA: &[u8] = b"{\"type\":\"stream_event\"";

static CLAUDE: Format = Format {
    has_global_ids: true,
    ..stream(Agent::Claude, StreamForm::Json, stream_json::read)
};

static QWEN: Format = Format {
    has_global_ids: true,
    ..stream(Agent::Qwen, StreamForm::Json, stream_json::read_qwen)
};

static CODEX: Format = stream(Agent::Codex, StreamForm::Own(CODEX_STREAM), |record, _| {
    read_row(CODEX_STREAM, record)
});

static GEMINI: Format = stream(
    Agent::Gemini,
    StreamForm::Own(GEMINI_STREAM),
    |record, _| read_row(GEMINI_STREAM, record),
);

static OPENCODE: Format = stream(
    Agent::Opencode,
    StreamForm::Own(OPENCODE_STREAM),
    |record, _| read_row(OPENCODE_STREAM, record),
);

static PI: Format = stream(Agent::Pi, StreamForm::Own(PI_STREAM), |record, _| {
    read_row(PI_STREAM, record)
});

const fn stream(agent: Agent, form: StreamForm, read: fn(&str, Detail) -> Option<Entry>) -> Format {
    Format {
        line_class: |line| {
            if line.starts_with(DELTA) {
                LineClass::NoMessage
            } else {
                LineClass::Anything
            }
        },
        stream: Some(form),
        ..Format::new(agent, read, |_| false, |_| Vec::new())
    }
}

/// Returns the format of the stream that a record belongs to, if the record shows it.
pub(super) fn stream_of(record: &str) -> Option<&'static Format> {
    let record = Envelope::read(record)?;
    let name = match sign(text(record.kind).as_deref(), &record)? {
        Sign::Opens(Opening::Ours) => CLAUDE_STREAM,
        Sign::Opens(Opening::Foreign(name)) | Sign::Marks(name) => name,
        Sign::Hints(_) => return None,
    };
    match name {
        CLAUDE_STREAM | UNNAMED_STREAM => Some(&CLAUDE),
        QWEN_STREAM => Some(&QWEN),
        CODEX_STREAM => Some(&CODEX),
        GEMINI_STREAM => Some(&GEMINI),
        OPENCODE_STREAM => Some(&OPENCODE),
        PI_STREAM => Some(&PI),
        _ => None,
    }
}
