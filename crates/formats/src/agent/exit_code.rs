//! The exit code in the output of a shell tool. Agents record a failing command as a success.

/// Number of lines at the start and at the end of the output that may contain the code.
pub(super) const LINES: usize = 8;

/// Prefixes of the code.
const MARKS: [&str; 7] = [
    "Process exited with code ",
    "Exit code: ",
    "Exit Code: ",
    "Command exited with code ",
    "exited with exit code ",
    "Exit code ",
    "exit code ",
];

/// Returns the exit code in the text of a result.
pub fn parse_exit_code(text: &str) -> Option<i64> {
    let text = text.trim_start();
    if text.starts_with('{')
        && let Some((_, metadata)) = text.split_once("\"metadata\":")
        && let Some((_, rest)) = metadata.split_once("\"exit_code\":")
    {
        let rest = rest.trim_start();
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != '-');
        return rest.get(..end.unwrap_or(rest.len()))?.parse().ok();
    }
    let head = text.lines().take(LINES);
    let foot = text.lines().rev().take(LINES);
    head.chain(foot).find_map(|line| {
        let inner = line
            .trim()
            .trim_start_matches(['<', '['])
            .trim_end_matches(['>', ']']);
        let status = match inner.split_once(" completed with ") {
            Some((id, rest)) if id.starts_with("shellId: ") => rest,
            _ => inner,
        };
        let code = MARKS.iter().find_map(|mark| status.strip_prefix(mark))?;
        code.trim().parse().ok()
    })
}

/// The result of a shell tool that starts with lines about the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellOutput<'a> {
    /// The exit code.
    pub code: Option<i64>,
    /// The duration, with its unit.
    pub duration: Option<&'a str>,
    /// The output, without those lines.
    pub output: &'a str,
}

/// Returns the parts of a result as Codex writes it. `None` if it has another form.
pub fn parse_shell_output(text: &str) -> Option<ShellOutput<'_>> {
    let starts = ["Exit code: ", "Chunk ID: ", "Wall time: "];
    let (head, output) = text.split_once("\nOutput:")?;
    let is_head = starts.iter().any(|start| head.starts_with(start));
    let mut lines = head.lines();
    (is_head && head.lines().count() <= LINES).then(|| ShellOutput {
        code: parse_exit_code(head),
        duration: lines.find_map(|line| line.strip_prefix("Wall time: ")),
        output: output.strip_prefix('\n').unwrap_or(output),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_shell_follows_the_lines_about_it() {
        let text = "Chunk ID: a\nWall time: 0.5 seconds\nProcess exited with code 7\nOutput:\nx\nOutput:\n";
        let expected = ShellOutput {
            code: Some(7),
            duration: Some("0.5 seconds"),
            output: "x\nOutput:\n",
        };
        assert_eq!(parse_shell_output(text), Some(expected));
        let empty = parse_shell_output("Exit code: 0\nWall time: 0 seconds\nOutput:");
        assert_eq!(empty.unwrap().output, "");
        for text in ["", "Output:\nx", "They said\nOutput:\nx"] {
            assert_eq!(parse_shell_output(text), None);
        }
    }

    #[test]
    fn codes_are_found_only_at_the_start_and_the_end() {
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
            ("FAILED\n\n\n[Process exited with code 3]", Some(3)),
            ("ok\n<exited with exit code 0>", Some(0)),
            ("FAILED\n<shellId: 0 completed with exit code 4>", Some(4)),
            ("{\"output\":\"\",\"metadata\":{\"exit_code\":0}}", Some(0)),
            (
                r#"{"output": "", "metadata": {"exit_code": 2, "x": 1}}"#,
                Some(2),
            ),
            ("{\"exit_code\":3}\nExit Code: 0", Some(0)),
            ("they said Exit code: 3", None),
            ("", None),
        ];
        for (text, code) in rows {
            assert_eq!(parse_exit_code(text), code, "{text}");
        }
        let buried = format!("{0}Exit code: 3\n{0}", "line\n".repeat(20));
        assert_eq!(parse_exit_code(&buried), None);
    }
}
