use super::*;

#[test]
fn stop_reasons_of_all_apis() {
    for regular in "end_turn tool_use stop tool_calls STOP new_one".split(' ') {
        assert_eq!(
            End::from_reason(regular).kind,
            EndKind::Regular,
            "{regular}"
        );
    }
    for limit in "max_tokens length MAX_TOKENS".split(' ') {
        assert_eq!(End::from_reason(limit).kind, EndKind::Budget, "{limit}");
    }
    for declined in "content_filter refusal SAFETY".split(' ') {
        let kind = EndKind::Declined(declined.to_owned());
        assert_eq!(End::from_reason(declined).kind, kind, "{declined}");
    }
}

fn object(arguments: Arguments<'_>) -> String {
    match arguments.into_object() {
        Ok(input) => input.get().to_owned(),
        Err(reason) => reason.to_string(),
    }
}

#[test]
fn texts() {
    let rows = [
        ("", "{}"),
        (" \n", "{}"),
        (r#" {"a": 1} "#, r#"{"a": 1}"#),
        ("[]", "the arguments are not a JSON object but an array"),
        ("\"x\"", "the arguments are not a JSON object but a string"),
        ("null", "the arguments are not a JSON object but null"),
        ("-1", "the arguments are not a JSON object but a number"),
        ("true", "the arguments are not a JSON object but a boolean"),
        (
            r#"{"a":"#,
            "the arguments are not valid JSON: EOF while parsing a value at line 1 column 5",
        ),
        (
            "{}{}",
            "the arguments are not valid JSON: trailing characters at line 1 column 3",
        ),
    ];
    for (text, expected) in rows {
        let arguments = Arguments::Text(text.as_bytes().into());
        assert_eq!(object(arguments), expected, "{text}");
    }
    assert_eq!(object(Arguments::None), "{}");
    assert_eq!(
        object(Arguments::Missing),
        "the arguments are not a JSON object but absent"
    );
}
