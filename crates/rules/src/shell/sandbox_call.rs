//! A command line that runs another one in a sandbox: `turnpipe sandbox -- bash -c 'make'`.

use super::analysis::analyse;
use super::command_words::program_name;

/// Returns the command line that a command line runs with `turnpipe sandbox`. `None` unless it is nothing but that call.
pub fn inside_sandbox(line: &str) -> Option<String> {
    // Most lines are not parsed.
    if !line.contains("turnpipe") {
        return None;
    }
    let parts = analyse(line).parts?;
    let [call] = &*parts else {
        return None;
    };
    let is_alone = call.assignments.is_empty()
        && call.reads.is_empty()
        && call.writes.is_empty()
        && call.span == (0..line.trim_end().len());
    let [program, subcommand, rest @ ..] = call.words.as_slice() else {
        return None;
    };
    let is_sandbox = program_name(program.value.as_deref()?) == "turnpipe"
        && subcommand.value.as_deref() == Some("sandbox");
    if !is_alone || !is_sandbox {
        return None;
    }
    let end = rest.iter().position(|word| word.text == "--")?;
    match rest.get(end + 1..)? {
        [shell, option, script] if shell.text == "bash" && option.text == "-c" => {
            script.value.clone()
        }
        [first, ..] => Some(line.get(first.span.start..call.span.end)?.to_owned()),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_is_one_sandbox_has_another_inside() {
        let rows = [
            ("turnpipe sandbox -- bash -c 'rm a; ls'", Some("rm a; ls")),
            (
                "/x/turnpipe sandbox --required --settings '/a b' -- bash -c \"it's\"",
                Some("it's"),
            ),
            (
                "'/x y/turnpipe' sandbox -- ls -l \"$x\" ",
                Some("ls -l \"$x\""),
            ),
            ("turnpipe sandbox -- bash -c 'a' b", Some("bash -c 'a' b")),
            ("turnpipe sandbox -- bash -c \"$x\"", None),
            ("turnpipe sandbox -- ls > a", None),
            ("turnpipe sandbox -- ls; rm a", None),
            ("turnpipe sandbox -- ls &", None),
            ("(turnpipe sandbox -- ls)", None),
            ("PATH=. turnpipe sandbox -- ls", None),
            ("turnpipe sandbox ls", None),
            ("turnpipe session -- ls", None),
            ("turnpipes sandbox -- ls", None),
            ("turnpipe sandbox --", None),
        ];
        for (line, expected) in rows {
            assert_eq!(inside_sandbox(line).as_deref(), expected, "{line}");
        }
    }
}
