//! Classifies lines of Claude Code without parsing them. Most of a file is results and progress.
//!
//! A quoted word on a line is always a key or a whole string, because quotation marks inside strings
//! are escaped.

use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;

use super::reading::LineClass;
use turnpipe_core::jsonl::Prefilter;

/// Classifies a line by the members before the first nested object and a few words after them.
pub(super) fn classify(line: &[u8]) -> LineClass {
    let Some(head) = memchr(b'{', line.get(1..).unwrap_or_default()) else {
        return LineClass::Anything;
    };
    let (head, rest) = line.split_at(head);
    let names = &*NAMES;
    let contains = |word: &Finder<'_>| word.find(rest).is_some();
    let kind = names.kind.find(head);
    let kind = kind.map(|at| &head[at + names.kind.needle().len()..]);
    let is_kind = |name: &[u8]| kind.is_some_and(|kind| kind.starts_with(name));
    let class = if is_kind(b"progress\"") {
        if contains(&names.usage) {
            LineClass::Cost
        } else {
            LineClass::NoMessage
        }
    } else if is_kind(b"user\"") && has_only_results(line) {
        LineClass::Results
    } else if (is_kind(b"assistant\"") || kind.is_none() && contains(&names.by_model))
        && contains(&names.blocks)
        && !contains(&names.text)
    {
        LineClass::NoText
    } else {
        LineClass::Anything
    };
    // A line with several records contains the session id several times.
    let is_whole = || names.session.find(head).is_some() && !contains(&names.session);
    if class != LineClass::Anything && is_whole() {
        class
    } else {
        LineClass::Anything
    }
}

/// Searchers for the keys that determine the class.
struct Names {
    kind: Finder<'static>,
    by_model: Finder<'static>,
    blocks: Finder<'static>,
    usage: Finder<'static>,
    text: Finder<'static>,
    session: Finder<'static>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| Names {
    kind: Finder::new("\"type\":\""),
    by_model: Finder::new("\"type\":\"assistant\""),
    blocks: Finder::new("\"content\":["),
    usage: Finder::new("\"usage\":{"),
    text: Finder::new("\"text\""),
    session: Finder::new("\"sessionId\""),
});

static WORDS: LazyLock<Option<Prefilter>> = LazyLock::new(|| {
    let words = [
        "tool_result",
        "is_error",
        "text",
        "image",
        "document",
        "turnpipe",
        "toolUseResult",
    ];
    let words = words.map(|word| format!("\"{word}\""));
    Prefilter::new(&words.each_ref().map(String::as_str)).ok()
});

static SEARCHES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"searchCount\""));

/// Whether the user message on the line consists of results of calls that did not fail.
fn has_only_results(line: &[u8]) -> bool {
    let Some(words) = &*WORDS else {
        return false;
    };
    let (mut from, mut has_result) = (0, false);
    while let Some(at) = words.find(line, from) {
        let word = &line[at..];
        if word.starts_with(b"\"tool_result\"") {
            has_result = true;
        } else if word.starts_with(b"\"toolUseResult\"") {
            // The rest of the line is the output in the tool's own form.
            return has_result && SEARCHES.find(word).is_none();
        } else if !word.starts_with(b"\"is_error\":false") {
            return false;
        }
        from = at + 1;
    }
    has_result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;
    use proptest::prelude::*;
    use serde_json::Value;
    use std::path::Path;
    use turnpipe_core::message::{Block, Origin};

    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"t","content":"one"}"#;

    const NAMED: &str = r#""sessionId":"s""#;

    /// Returns a record of the kind of `role`, with this content.
    fn message_line(role: &str, content: &str) -> String {
        format!(
            r#"{{"sessionId":"s","type":"{role}","message":{{"role":"{role}","content":{content}}}}}"#
        )
    }

    /// Checks that the class of a line agrees with its messages, and returns it.
    fn compare_classes(line: &str) -> LineClass {
        let seen = classify(line.as_bytes());
        let messages = Agent::Claude.format().messages(line);
        let all =
            |fits: fn(&Block) -> bool| messages.iter().flat_map(|said| &said.blocks).all(fits);
        let fits = match seen {
            LineClass::Anything => true,
            LineClass::NoMessage | LineClass::Cost => messages.is_empty(),
            LineClass::Results => {
                all(|block| matches!(block, Block::Result(result) if !result.failed))
                    && messages.iter().all(|said| said.origin != Origin::Prompt)
            }
            LineClass::NoText => all(|block| !matches!(block, Block::Text(_))),
        };
        assert!(fits, "{seen:?}: {line}");
        seen
    }

    #[test]
    fn results_and_calls_are_recognised_unparsed() {
        let failed = RESULT.replace("\"one\"", "\"one\",\"is_error\":true");
        let text = r#"{"type":"text","text":"typed"}"#;
        let call = r#"{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a"}}"#;
        let quoting = RESULT.replace("one", r#"a \"text\", a {\"sessionId\":\"s\"}"#);
        let rows = [
            ("user", format!("[{RESULT}]"), LineClass::Results),
            ("user", format!("[{quoting},{RESULT}]"), LineClass::Results),
            (
                "user",
                format!("[{}]", failed.replace("true", "false")),
                LineClass::Results,
            ),
            ("user", format!("[{failed}]"), LineClass::Anything),
            (
                "user",
                format!("[{}]", failed.replace("true", " true")),
                LineClass::Anything,
            ),
            ("user", format!("[{RESULT},{text}]"), LineClass::Anything),
            (
                "user",
                r#""one \"tool_result\"""#.to_owned(),
                LineClass::Anything,
            ),
            ("user", r#""typed""#.to_owned(), LineClass::Anything),
            ("assistant", format!("[{call}]"), LineClass::NoText),
            ("assistant", format!("[{call},{text}]"), LineClass::Anything),
            ("assistant", r#""text""#.to_owned(), LineClass::Anything),
        ];
        for (role, content, expected) in rows {
            let line = message_line(role, &content);
            assert_eq!(compare_classes(&line), expected, "{line}");
        }
    }

    #[test]
    fn progress_records_have_no_message() {
        let repeated = message_line("user", r#""typed""#).replace(r#""sessionId":"s","#, "");
        let line =
            format!(r#"{{"sessionId":"s","type":"progress","data":{{"message":{repeated}}}}}"#);
        assert_eq!(compare_classes(&line), LineClass::NoMessage);
        // The same member at a deeper level does not count.
        let line = message_line("user", r#""typed","data":{"type":"progress"}"#);
        assert_eq!(compare_classes(&line), LineClass::Anything);
    }

    /// A torn line that was continued contains two records.
    #[test]
    fn lines_with_several_records_are_parsed() {
        let results = message_line("user", &format!("[{RESULT}]"));
        let typed = message_line("user", r#""typed""#);
        for end in 0..=results.len() {
            let line = format!("{}{typed}", &results[..end]);
            assert_eq!(classify(line.as_bytes()), LineClass::Anything, "{line}");
        }
    }

    #[test]
    fn damaged_lines_are_parsed() {
        for line in ["", "{", "}", "{}", "{{", "\n", "{\"sessionId\":\"s\"}"] {
            assert_eq!(classify(line.as_bytes()), LineClass::Anything, "{line}");
        }
    }

    /// Returns a content block in a message of `role`.
    fn block(role: &str) -> impl Strategy<Value = &'static str> + use<> {
        let by_user = [
            RESULT,
            r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"\"assistant\""}]}"#,
            r#"{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"{\"type\":\"progress\"}"}"#,
            r#"{"is_error":false,"tool_use_id":"t","type":"tool_result","content":"two"}"#,
            r#"{"type":"image","source":{"type":"base64","data":""}}"#,
            r#"{"type":"text","text":"typed"}"#,
        ];
        let by_model = [
            r#"{"type":"text","text":"said"}"#,
            r#"{"type":"thinking","thinking":"\"sessionId\":"}"#,
            r#"{"type":"tool_use","id":"t","name":"T","input":{"type":"assistant","text":[]}}"#,
            r#"{"type":"tool_use","id":"t","name":"T","input":{"type":"user","message":{}}}"#,
        ];
        prop::sample::select(match role {
            "assistant" => by_model.to_vec(),
            _ => by_user.to_vec(),
        })
    }

    /// Members of a record, in any order.
    fn members() -> impl Strategy<Value = Vec<String>> {
        let kind = prop::sample::select(vec!["user", "assistant", "progress", "attachment"]);
        let content = |kind| prop::collection::vec(block(kind), 0..4);
        kind.prop_flat_map(move |kind| (Just(kind), content(kind), any::<bool>(), block("user")))
            .prop_map(|(kind, content, is_text, own)| {
                let content = if is_text {
                    r#""typed""#.to_owned()
                } else {
                    format!("[{}]", content.join(","))
                };
                vec![
                    NAMED.to_owned(),
                    format!(r#""type":"{kind}""#),
                    format!(r#""message":{{"role":"{kind}","content":{content}}}"#),
                    format!(r#""toolUseResult":{own}"#),
                    r#""attachment":{"type":"queued_command","prompt":"typed"}"#.to_owned(),
                ]
            })
            .prop_flat_map(|members| {
                let all = members.len();
                prop::sample::subsequence(members, 1..=all).prop_shuffle()
            })
    }

    proptest! {
        #[test]
        fn the_class_of_any_line_agrees_with_its_messages(records in prop::collection::vec(members(), 1..3)) {
            let records = records.iter().map(|members| format!("{{{}}}", members.join(",")));
            let records: Vec<String> = records.collect();
            match records.as_slice() {
                [record] => {
                    compare_classes(record);
                }
                records if records.iter().all(|record| record.contains(NAMED)) => {
                    assert_eq!(classify(records.concat().as_bytes()), LineClass::Anything);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn the_class_of_real_lines_agrees_with_their_messages() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/session");
        let mut known = 0;
        for entry in std::fs::read_dir(data).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if name.starts_with("claude") && name.ends_with(".jsonl") {
                // Some lines of damaged samples are not UTF-8.
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                let records = text
                    .lines()
                    .filter(|line| serde_json::from_str::<Value>(line).is_ok());
                known += records
                    .filter(|line| compare_classes(line) != LineClass::Anything)
                    .count();
            }
        }
        assert!(known > 3, "only {known}");
    }
}
