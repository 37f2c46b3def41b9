//! Thoughts that stand in the text, between tags. Pure.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What is said aloud, and what is thought at its beginning. The template of a model may have
/// opened the tag already: a lone closing tag on a line of its own ends thoughts as well. Tags
/// that are never closed hide everything: the answer did not begin.
pub(super) fn without_think_tags(text: String) -> (String, String) {
    if let Some(inner) = text.trim_start().strip_prefix(OPEN) {
        return match inner.split_once(CLOSE) {
            Some((thought, said)) => (said.trim_start().to_owned(), thought.to_owned()),
            None => (String::new(), inner.to_owned()),
        };
    }
    if let Some((thought, said)) = text.split_once(CLOSE)
        && !thought.contains(OPEN)
        && (thought.is_empty() || thought.ends_with('\n'))
        && (said.is_empty() || said.starts_with(['\n', '\r']))
    {
        return (said.trim_start().to_owned(), thought.to_owned());
    }
    (text, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_thoughts_at_the_beginning_are_taken() {
        let rows = [
            ("Fix login", "Fix login", ""),
            ("<think>hm\n</think>\n\nFix login", "Fix login", "hm\n"),
            ("\n<think></think>Fix login", "Fix login", ""),
            ("<think>hm", "", "hm"),
            ("hm\n</think>\nFix login", "Fix login", "hm\n"),
            ("</think>\n\nFix login", "Fix login", ""),
            ("The `</think>` tag", "The `</think>` tag", ""),
            ("Use <think>x</think> here", "Use <think>x</think> here", ""),
        ];
        for (text, said, thought) in rows {
            let expected = (said.to_owned(), thought.to_owned());
            assert_eq!(without_think_tags(text.to_owned()), expected, "{text}");
        }
    }
}
