//! Messages to the user: lines on standard error.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::text::{redact, terminal_safe_line};

use super::Lock;

/// Level of messages to print (`-q`, `-v`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MessageLevel {
    /// Errors only.
    Errors = 0,
    /// Errors, warnings and hints.
    #[default]
    Warnings = 1,
    /// Errors, warnings, hints and actions.
    All = 2,
}

/// A shared handle on standard error. Writing never fails or panics: if standard error is closed,
/// messages are lost.
#[derive(Clone)]
pub struct Messages {
    shared: Arc<Shared>,
}

struct Shared {
    sink: Mutex<Box<dyn Write + Send>>,
    level: AtomicU8,
}

impl Messages {
    /// Prints messages to `sink`.
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        Self {
            shared: Arc::new(Shared {
                sink: Mutex::new(Box::new(sink)),
                level: AtomicU8::new(MessageLevel::default() as u8),
            }),
        }
    }

    /// Sets the level of all clones.
    pub fn set_level(&self, level: MessageLevel) {
        self.shared.level.store(level as u8, Ordering::Relaxed);
    }

    /// Whether messages of this level are printed.
    pub fn is_printed(&self, level: MessageLevel) -> bool {
        level as u8 <= self.shared.level.load(Ordering::Relaxed)
    }

    /// Prints `turnpipe: text` as one terminal-safe line without secrets, at every level.
    pub fn error(&self, text: &str) {
        self.line(&format!("turnpipe: {}", without_secrets(text)));
    }

    /// Prints `turnpipe: text` as one terminal-safe line, unless only errors are printed.
    pub fn warn(&self, text: &str) {
        if self.is_printed(MessageLevel::Warnings) {
            self.error(text);
        }
    }

    /// Prints `hint: text` as one terminal-safe line without secrets, unless only errors are printed.
    pub fn hint(&self, text: &str) {
        if self.is_printed(MessageLevel::Warnings) {
            self.line(&format!("hint: {}", without_secrets(text)));
        }
    }

    /// Prints `turnpipe: text` as one terminal-safe line if actions are printed.
    pub fn log(&self, text: &str) {
        if self.is_printed(MessageLevel::All) {
            self.error(text);
        }
    }

    /// Prints a line unchanged. The caller makes it terminal-safe.
    pub fn line(&self, text: &str) {
        let mut sink = self.shared.sink.lock_anyway();
        // A failure of standard error cannot be reported.
        let _ = writeln!(sink, "{text}").and_then(|()| sink.flush());
    }
}

/// Returns a text as one terminal-safe line without secrets.
fn without_secrets(text: &str) -> String {
    // A key has line breaks, and hidden characters may split a secret.
    redact(&terminal_safe_line(&redact(text))).into_owned()
}
