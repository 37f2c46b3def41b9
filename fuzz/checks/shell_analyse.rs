//! The analysis of a shell command does not panic, its spans are text in order, and nothing is hidden after commands
//! that were read.

use turnpipe_guard::shell::{analyse, parse};

/// Checks the analysis. Panics if it is wrong about `data`.
pub(crate) fn check(data: &[u8]) {
    let Ok(command) = std::str::from_utf8(data) else {
        return;
    };
    let analysis = analyse(command);
    assert!(!analysis.why.contains('\n'));
    if let Some(span) = analysis.span {
        assert!(command.get(span.clone()).is_some(), "{command:?}: {span:?}");
    }
    let line = &analysis.line;
    let mut last = None;
    for part in &line.commands {
        assert!(command.get(part.span.clone()).is_some(), "{part:?}");
        assert!(last <= Some(part.span.start), "{part:?}");
        last = Some(part.span.start);
        for word in &part.words {
            assert_eq!(command.get(word.span.clone()), Some(&*word.text));
        }
    }
    if let Some(unread) = &line.unread {
        assert!(command.get(unread.start..).is_some(), "{unread:?}");
        assert!(last.is_none_or(|last| last < unread.start), "{line:?}");
        assert!(!line.is_portable(command) && !line.is_flat);
        assert!(!analysis.verdict.is_read_only(), "{command:?}");
        return;
    }
    // Another command starts on the next line, and in parentheses the commands are the same.
    let longer = format!("{command}\ntouch x");
    let read = parse(&longer);
    assert!(read.unread.is_none(), "{longer:?}: {read:?}");
    assert_eq!(read.commands.len(), line.commands.len() + 1, "{longer:?}");
    let added = read.commands.last().and_then(|added| added.program());
    assert_eq!(added, Some("touch"), "{longer:?}");
    assert!(!analyse(&longer).verdict.is_read_only(), "{longer:?}");
    let inside = format!("(ls\n{command}\n)");
    let read = parse(&inside);
    if read.unread.is_none() {
        assert_eq!(read.commands.len(), line.commands.len() + 1, "{inside:?}");
    }
}
