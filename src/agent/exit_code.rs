//! The exit code in the output of a shell tool. Agents record a failing command as a success.

/// Number of lines at the start and at the end of the output that may contain the code.
const LINES: usize = 8;

/// Prefixes of the code.
const MARKS: [&str; 6] = [
    "Process exited with code ",
    "Exit code: ",
    "Exit Code: ",
    "Command exited with code ",
    "Exit code ",
    "exit code ",
];

/// The exit code in the text of a result.
pub fn exit_code(text: &str) -> Option<i64> {
    let text = text.trim_start();
    if text.starts_with('{')
        && let Some((_, rest)) = text.split_once("\"metadata\":{\"exit_code\":")
    {
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != '-');
        return rest.get(..end.unwrap_or(rest.len()))?.parse().ok();
    }
    let head = text.lines().take(LINES);
    let foot = text.lines().rev().take(LINES);
    head.chain(foot).find_map(|line| {
        let line = line.trim();
        let rest = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
        rest.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_heads_and_feet_only() {
        let rows = [
            (
                "Wall time: 1\nProcess exited with code 3\nOutput:\nx",
                Some(3),
            ),
            ("Exit code: 0\nOutput:\n", Some(0)),
            (
                "<untrusted_context>\nOutput: x\nExit Code: 7\n</untrusted_context>",
                Some(7),
            ),
            ("three\n\n\nCommand exited with code 1", Some(1)),
            ("Exit code 2\nx", Some(2)),
            ("{\"output\":\"\",\"metadata\":{\"exit_code\":0}}", Some(0)),
            ("{\"exit_code\":3}\nExit Code: 0", Some(0)),
            ("they said Exit code: 3", None),
            ("", None),
        ];
        for (text, code) in rows {
            assert_eq!(exit_code(text), code, "{text}");
        }
        let buried = format!("{0}Exit code: 3\n{0}", "line\n".repeat(20));
        assert_eq!(exit_code(&buried), None);
    }
}
