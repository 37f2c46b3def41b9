//! A redirection of a command.

use std::ops::Range;

use super::verdict::{CheckResult, Refusal, excerpt};
use super::word::PartWord;

/// A redirection of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The descriptor before the operator.
    pub descriptor: Option<u32>,
    /// The operator, such as `>>`.
    pub operator: &'static str,
    /// The file, descriptor, text or delimiter.
    pub target: PartWord,
    pub(crate) span: Range<usize>,
}

/// The output target that is accepted.
const NULL_DEVICE: &str = "/dev/null";

impl Redirection {
    /// Checks that the redirection changes nothing.
    pub(super) fn check(&self) -> CheckResult {
        let Self {
            operator, target, ..
        } = self;
        let only_reads = match *operator {
            "<" => !may_be_connection(target),
            "<<<" => target.literal().is_some(),
            "<&" => is_descriptor(target),
            "<>" => false,
            _ => !self.opens_file(),
        };
        if only_reads {
            return Ok(());
        }
        let why = if self.writes() {
            format!("`{operator}` writes to `{}`", excerpt(&target.text))
        } else {
            format!("`{operator}` with a target that is not known to be a file")
        };
        Err(Refusal::new(self.span.clone(), why))
    }

    /// Whether it opens a file to read.
    pub(crate) fn reads(&self) -> bool {
        self.operator.contains('<') && self.opens_file()
    }

    /// Whether it opens a file to write.
    pub(crate) fn writes(&self) -> bool {
        self.operator.contains('>') && self.opens_file()
    }

    /// Whether its target is a file, except `/dev/null`.
    fn opens_file(&self) -> bool {
        let copies_descriptor = self.operator.ends_with('&') && is_descriptor(&self.target);
        !self.operator.starts_with("<<")
            && !copies_descriptor
            && self.target.literal() != Some(NULL_DEVICE)
    }

    /// Whether it redirects standard input.
    pub(super) fn is_input(&self) -> bool {
        self.descriptor.unwrap_or_default() == 0 && self.operator.starts_with('<')
            || self.descriptor == Some(0)
    }

    /// Whether it redirects standard output.
    pub(super) fn is_output(&self) -> bool {
        self.descriptor.unwrap_or(1) == 1 && !self.operator.starts_with('<')
            || self.descriptor == Some(1)
    }

    /// Returns the label of the file that it writes, unless it redirects only standard error.
    pub(super) fn output_file(&self) -> Option<&str> {
        let file = self.target.label();
        let is_stream = matches!(file, "/dev/null" | "/dev/stdout" | "/dev/stderr");
        (self.writes() && self.descriptor != Some(2) && !is_stream).then_some(file)
    }

    /// Whether it discards standard error.
    pub(super) fn discards_errors(&self) -> bool {
        (self.descriptor == Some(2) || self.operator.starts_with('&'))
            && self.target.literal() == Some(NULL_DEVICE)
    }
}

/// Prefixes of paths for which bash opens a connection instead of a file.
const CONNECTIONS: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

/// Whether bash opens a connection instead of a file for a path.
pub(crate) fn is_connection(path: &str) -> bool {
    CONNECTIONS.iter().any(|prefix| path.starts_with(prefix))
}

/// Whether the target may become a path of a connection.
fn may_be_connection(target: &PartWord) -> bool {
    match target.literal() {
        Some(path) => is_connection(path),
        None => CONNECTIONS.iter().any(|prefix| {
            prefix.starts_with(target.prefix()) || target.prefix().starts_with(prefix)
        }),
    }
}

/// Whether a target is the number of a descriptor, or the dash that closes one.
fn is_descriptor(target: &PartWord) -> bool {
    target.literal().is_some_and(|text| {
        text == "-" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
