//! Generated JSON for the property tests of this module.

use proptest::prelude::*;

/// Returns a JSON value as text, with whitespace in odd places, odd numbers and odd escapes.
pub(super) fn json_text() -> impl Strategy<Value = Vec<u8>> {
    value_text().prop_map(String::into_bytes)
}

/// Returns a JSON object on one line.
pub(super) fn object_line() -> impl Strategy<Value = Vec<u8>> {
    object_of(value_text()).prop_map(|text| text.replace('\n', " ").into_bytes())
}

/// Returns the text with a few bytes replaced, removed or inserted, or truncated.
pub(super) fn mutate(text: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..4_u8, interesting_byte());
    (text, prop::collection::vec(change, 0..4)).prop_map(|(mut text, changes)| {
        for (index, kind, byte) in changes {
            if text.is_empty() {
                break;
            }
            let at = index.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => {
                    text.remove(at);
                }
                2 => text.insert(at, byte),
                _ => text.truncate(at),
            }
        }
        text
    })
}

/// Returns mostly bytes with a meaning in JSON.
pub(super) fn interesting_byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        8 => prop::sample::select(b"{}[]:,\"\\ \t\r0123456789.eE+-tfnul/".to_vec()),
        1 => any::<u8>(),
    ]
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 2 => Just(" "), 1 => Just("\t \r"), 1 => Just("  \n")]
}

fn string_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => r"[a-zA-Z0-9 {}\[\]:,]{0,12}",
        1 => r"[a-z ]{50,90}",
        1 => r#"(\\["\\/bfnrt]){1,5}"#,
        1 => r"\\u[0-9a-fA-F]{4}",
        1 => "[é😀\u{7f}\u{2028}]{1,3}",
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn scalar_text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => string_text(),
        2 => r"-?(0|[1-9][0-9]{0,20})",
        2 => r"-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?",
        1 => prop::sample::select(vec!["true", "false", "null"]).prop_map(String::from),
    ]
}

fn value_text() -> BoxedStrategy<String> {
    scalar_text()
        .prop_recursive(5, 40, 6, |inner| {
            let array = (
                prop::collection::vec((space(), inner.clone(), space()), 0..6),
                space(),
            )
                .prop_map(|(items, empty)| {
                    let items: Vec<String> = items
                        .into_iter()
                        .map(|(before, item, after)| format!("{before}{item}{after}"))
                        .collect();
                    format!("[{empty}{}]", items.join(","))
                });
            prop_oneof![array, object_of(inner)]
        })
        .boxed()
}

fn object_of(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (space(), string_text(), space(), space(), inner, space());
    (prop::collection::vec(member, 0..6), space()).prop_map(|(members, empty)| {
        let members: Vec<String> = members
            .into_iter()
            .map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}"))
            .collect();
        format!("{{{empty}{}}}", members.join(","))
    })
}
