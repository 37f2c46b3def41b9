//! What people read: one-line messages on stderr.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::text::terminal_safe_line;

/// A shared handle on stderr. Writing never fails and never panics: a closed stderr loses the
/// message, not the run.
#[derive(Clone)]
pub struct Messages {
    sink: Arc<Mutex<Box<dyn Write + Send>>>,
}

impl Messages {
    /// Messages go to `sink`.
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        Self {
            sink: Arc::new(Mutex::new(Box::new(sink))),
        }
    }

    /// Puts something between these messages, all clones included, and their sink.
    pub fn wrap(&self, wrapper: impl FnOnce(Box<dyn Write + Send>) -> Box<dyn Write + Send>) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = std::mem::replace(&mut *sink, Box::new(std::io::sink()));
        *sink = wrapper(inner);
    }

    /// Prints `turnpipe: text` as one terminal-safe line.
    pub fn note(&self, text: &str) {
        self.line(&format!("turnpipe: {}", terminal_safe_line(text)));
    }

    /// Prints `hint: text` as one terminal-safe line.
    pub fn hint(&self, text: &str) {
        self.line(&format!("hint: {}", terminal_safe_line(text)));
    }

    /// Prints a line as it is; the caller vouches for its safety.
    pub fn line(&self, text: &str) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(sink, "{text}").and_then(|()| sink.flush());
    }
}
