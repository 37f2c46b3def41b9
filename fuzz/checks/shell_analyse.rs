//! The analysis of a shell command does not panic, its spans are text, and nothing is hidden after accepted
//! commands.

use turnpipe::shell::analyse;

/// Checks the analysis. Panics if it is wrong about `data`.
pub(crate) fn check(data: &[u8]) {
    let Ok(command) = std::str::from_utf8(data) else {
        return;
    };
    let analysis = analyse(command);
    assert!(!analysis.why.contains('\n'));
    if let Some(span) = analysis.span {
        assert!(command.get(span).is_some());
    }
    for part in &analysis.line.commands {
        assert!(command.get(part.span.clone()).is_some(), "{part:?}");
    }
    if analysis.verdict.is_read_only() {
        let longer = format!("{command}\ntouch x");
        assert!(!analyse(&longer).verdict.is_read_only(), "{longer:?}");
    }
}
