//! The first two checks: no bytes on which parsers disagree, and a syntax tree without errors from
//! tree-sitter's grammar of bash, built with bounded work.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::verdict::{Checked, Refusal, excerpt};

/// Maximum number of progress callbacks of tree-sitter, one per about a hundred steps, for each KiB
/// of text. Ordinary text needs 10 to 60.
const PATIENCE_PER_KIBIBYTE: usize = 120;

/// Maximum parse time, of the processor: the verdict must not depend on the load of the machine. The
/// longest text without errors takes about half of it.
const PARSE_TIMEOUT: Duration = Duration::from_millis(25);

/// Reasons for a missing tree.
enum Stopped {
    /// A syntax error before this byte.
    ErrorBefore(usize),
    /// It took too many steps.
    TooTangled,
}

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Parses a command line without syntax errors.
pub(super) fn parse(command: &str) -> Result<Tree, Refusal> {
    let parsed = PARSER.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut parser = Parser::new();
            parser
                .set_language(&tree_sitter_bash::LANGUAGE.into())
                .map_err(|_| Stopped::TooTangled)?;
            *slot = Some(parser);
        }
        let parser = slot.as_mut().ok_or(Stopped::TooTangled)?;
        parse_within_bounds(parser, command)
    });
    let tree = parsed.map_err(|stopped| match stopped {
        Stopped::ErrorBefore(context) => Refusal::unknown(
            context..context,
            format!("syntax error before byte {context}"),
        ),
        Stopped::TooTangled => Refusal::unknown(0..0, "the syntax is too complex to analyse"),
    })?;
    if tree.root_node().has_error() {
        return Err(syntax_error(tree.root_node(), command));
    }
    Ok(tree)
}

/// Stops some time after the first error: error recovery takes tree-sitter quadratic time.
fn parse_within_bounds(parser: &mut Parser, command: &str) -> Result<Tree, Stopped> {
    let mut patience = (command.len() / 1024 + 1) * PATIENCE_PER_KIBIBYTE;
    let begun = processor_time();
    let mut stopped = Stopped::TooTangled;
    let mut go_on = |state: &ParseState| {
        if state.has_error() {
            stopped = Stopped::ErrorBefore(state.current_byte_offset());
            return ControlFlow::Break(());
        }
        match patience.checked_sub(1) {
            Some(left) if processor_time().saturating_sub(begun) < PARSE_TIMEOUT => {
                patience = left;
                ControlFlow::Continue(())
            }
            Some(_) | None => ControlFlow::Break(()),
        }
    };
    // The grammar's scanner crashes on some characters beyond ASCII. For bash they are ordinary
    // letters, and so is the `.` that replaces them; our own lexer sees the original text.
    let bytes: Vec<u8> = command
        .bytes()
        .map(|byte| if byte.is_ascii() { byte } else { b'.' })
        .collect();
    let tree = parser.parse_with_options(
        &mut |offset, _| bytes.get(offset..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut go_on)),
    );
    if tree.is_none() {
        parser.reset();
    }
    tree.ok_or(stopped)
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime)
        .try_into()
        .unwrap_or_default()
}

/// Names the first error of a tree that has one.
fn syntax_error(root: Node<'_>, command: &str) -> Refusal {
    let mut node = root;
    let mut cursor = root.walk();
    while !node.is_error() && !node.is_missing() {
        cursor.reset(node);
        let Some(child) = node.children(&mut cursor).find(Node::has_error) else {
            break;
        };
        node = child;
    }
    let range = node.byte_range();
    if node.is_missing() {
        return Refusal::unknown(range, format!("syntax error: `{}` is missing", node.kind()));
    }
    let text = command.get(range.clone()).unwrap_or_default();
    Refusal::unknown(range, format!("syntax error at `{}`", excerpt(text)))
}

/// Maximum length of an analysed command line, in bytes; parsing longer ones takes too long.
pub const MAX_LENGTH: usize = 16 * 1024;

/// Maximum number of redirection operators. The shell itself opens redirections of groups, and when
/// out of descriptors it abandons a pipeline that is partly started.
const MAX_REDIRECTIONS: usize = 64;

/// Refuses text that can be parsed but is not read-only: empty text, continued lines, and more
/// redirections than a shell may have descriptors for.
pub(super) fn screen_strictly(command: &str) -> Checked {
    let redirections = command.bytes().filter(|byte| matches!(byte, b'<' | b'>'));
    if redirections.count() > MAX_REDIRECTIONS {
        return Err(Refusal::unknown(0..0, "too many redirections"));
    }
    if command.trim_matches([' ', '\t', '\n']).is_empty() {
        return Err(Refusal::unknown(0..0, "the command is empty"));
    }
    refuse_continued_lines(command)
}

fn refuse_continued_lines(command: &str) -> Checked {
    match command.find("\\\n") {
        None => Ok(()),
        Some(index) => Err(read_differently(
            index..index + 2,
            "a line continued by a backslash",
        )),
    }
}

fn read_differently(span: Range<usize>, what: &str) -> Refusal {
    Refusal::unknown(
        span,
        format!("{what} is read differently by different parsers"),
    )
}

/// Refuses text that is too long or has bytes on which parsers disagree.
pub(super) fn screen(command: &str) -> Checked {
    if command.len() > MAX_LENGTH {
        return Err(Refusal::unknown(
            0..0,
            "the command exceeds 16 KiB, the limit of the analysis",
        ));
    }
    for (index, byte) in command.bytes().enumerate() {
        let what = match byte {
            b'\t' | b'\n' => continue,
            b'\r' => "a carriage return",
            0 => "a NUL character",
            0x01..=0x1f | 0x7f => "a control character",
            _ => continue,
        };
        return Err(read_differently(index..index + 1, what));
    }
    let unescaped = command.trim_end_matches("\\\\");
    if unescaped.ends_with('\\') {
        let end = unescaped.len();
        return Err(read_differently(end - 1..end, "a backslash at the end"));
    }
    if continues_after_blanks(command) {
        Ok(())
    } else {
        refuse_continued_lines(command)
    }
}

/// Whether every line continuation follows a blank, so that no word, operator or expansion
/// continues on the next line and no here-document can end differently.
fn continues_after_blanks(script: &str) -> bool {
    let mut lines: Vec<&str> = script.split("\\\n").collect();
    lines.pop();
    lines.is_empty()
        || (!script.contains("<<") && lines.iter().all(|line| line.ends_with([' ', '\t'])))
}
