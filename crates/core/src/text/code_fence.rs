//! Code fences around replies of models.

/// Removes a code fence around a text, closed or not, and its language `json`; any other language stays. Trims the
/// text.
pub fn strip_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let content = inside.strip_prefix("json").unwrap_or(inside);
    content.strip_suffix("```").unwrap_or(content).trim()
}
