//! Replies as servers send them, for tests.

use crate::client::http::ContentType;
use crate::client::model::Api;

/// A reply and its expected content.
pub(in crate::client::model) struct Sample {
    pub(in crate::client::model) name: &'static str,
    pub(in crate::client::model) api: Api,
    pub(in crate::client::model) content_type: &'static str,
    pub(in crate::client::model) body: &'static str,
    /// Number of bytes that may be missing at the end without the reply being incomplete.
    pub(in crate::client::model) dispensable: usize,
    /// The reply, formatted by `describe`.
    pub(in crate::client::model) says: &'static str,
}

impl Sample {
    pub(in crate::client::model) fn is_stream(&self) -> bool {
        ContentType::parse(Some(self.content_type)) != ContentType::Json
    }
}

const EVENTS: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

/// Complete replies.
pub(in crate::client::model) const SAMPLES: &[Sample] = &[
    Sample {
        name: "openai, a call",
        api: Api::OpenaiChat,
        content_type: JSON,
        body: r#"{"id":"c","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"respond_in_schema","arguments":"{\"title\":\"Fix 😀\"}"}}]}}],"usage":{"prompt_tokens":90,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":2}}}"#,
        dispensable: 0,
        says: r#"text="" thinking="" call=call_1:respond_in_schema:{"title":"Fix 😀"} in=26 out=5 read=64 write=0 thought=2"#,
    },
    Sample {
        name: "openai, a stream of text and two calls",
        api: Api::OpenaiChat,
        content_type: EVENTS,
        body: concat!(
            ": OPENROUTER PROCESSING\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null},\"finish_reason\":null}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Rea\\ud83d\"}}]}\r\n\r\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00ding ä\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"path\\\":\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n",
            "data: [DONE]\n\n"
        ),
        dispensable: 0,
        says: r#"text="Rea😀ding ä" thinking="hm" call=a:read:{"path":1} call=b:ls:{} in=9 out=4 read=0 write=0 thought=0"#,
    },
    Sample {
        name: "anthropic, thoughts before a call",
        api: Api::Anthropic,
        content_type: JSON,
        body: r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Sure."},{"type":"tool_use","id":"t1","name":"f","input":{"a":[1]}}],"stop_reason":"tool_use","usage":{"input_tokens":12,"cache_creation_input_tokens":3,"cache_read_input_tokens":100,"output_tokens":9}}"#,
        dispensable: 0,
        says: r#"text="Sure." thinking="hm" call=t1:f:{"a":[1]} in=12 out=9 read=100 write=3 thought=0"#,
    },
    Sample {
        name: "anthropic, a stream",
        api: Api::Anthropic,
        content_type: EVENTS,
        body: concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":25,\"cache_read_input_tokens\":null,\"output_tokens\":1}}}\n\n",
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Héllo\"}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"read\",\"input\":{}}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"p\\\":\"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"2}\"}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"ls\"}}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
            "event: news\ndata: {\"type\":\"something_new\",\"x\":[]}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":89}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        ),
        dispensable: 2,
        says: r#"text="Héllo" thinking="" call=t1:read:{"p":2} call=t2:ls:{} in=25 out=89 read=0 write=0 thought=0"#,
    },
    Sample {
        name: "gemini, whole",
        api: Api::Gemini,
        content_type: "application/json; charset=UTF-8",
        body: r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Fixed."},{"functionCall":{"id":"g1","name":"f","args":{"x":"ü"}},"thoughtSignature":"b64"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":30,"cachedContentTokenCount":10,"candidatesTokenCount":4,"thoughtsTokenCount":6}}"#,
        dispensable: 0,
        says: r#"text="Fixed." thinking="hm" call=g1:f:{"x":"ü"} in=20 out=10 read=10 write=0 thought=6"#,
    },
    Sample {
        name: "gemini, a stream",
        api: Api::Gemini,
        content_type: EVENTS,
        body: concat!(
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Fix\"}],\"role\":\"model\"}}],\"usageMetadata\":{\"promptTokenCount\":3}}\r\n\r\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ed.\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":2}}\r\n\r\n"
        ),
        dispensable: 4,
        says: r#"text="Fixed." thinking="" in=3 out=2 read=0 write=0 thought=0"#,
    },
    Sample {
        name: "ollama, whole",
        api: Api::Ollama,
        content_type: JSON,
        body: r#"{"model":"q","message":{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"o1","function":{"name":"f","arguments":{"x":1}}}]},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3}"#,
        dispensable: 0,
        says: r#"text="" thinking="hm" call=o1:f:{"x":1} in=7 out=3 read=0 write=0 thought=0"#,
    },
    Sample {
        name: "ollama, a stream",
        api: Api::Ollama,
        content_type: LINES,
        body: concat!(
            "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"Fix\"},\"done\":false}\n",
            "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"ed ß\"},\"done\":false}\n",
            "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":7,\"eval_count\":3}\n"
        ),
        dispensable: 1,
        says: r#"text="Fixed ß" thinking="" in=7 out=3 read=0 write=0 thought=0"#,
    },
    Sample {
        name: "responses, whole",
        api: Api::Responses,
        content_type: JSON,
        body: r#"{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Fix ü"}]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"x\":1}"}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}}"#,
        dispensable: 0,
        says: r#"text="Fix ü" thinking="hm" call=c1:f:{"x":1} in=5 out=7 read=4 write=0 thought=3"#,
    },
    Sample {
        name: "responses, a stream",
        api: Api::Responses,
        content_type: EVENTS,
        body: concat!(
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n",
            "data: {\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"hm\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}],\"encrypted_content\":\"e\"}}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"Fi\"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"x\\ud83d\"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"\\ude00\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Fix😀\"}]}}\n\n",
            "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"{\\\"x\\\":1}\"}\n\n",
            "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"usage\":{\"input_tokens\":9,\"output_tokens\":7}}}\n\n"
        ),
        dispensable: 2,
        says: r#"text="Fix😀" thinking="hm" call=c1:f:{"x":1} in=9 out=7 read=0 write=0 thought=0"#,
    },
];
