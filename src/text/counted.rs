//! Numbers with what they count.

/// `1 session`, `2 sessions`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{number} {noun}")
}
