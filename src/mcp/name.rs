//! The names that models call the tools of servers by.

/// What the names of all of them begin with.
pub(super) const PREFIX: &str = "mcp__";

/// What the names of a server's tools begin with.
pub(super) fn server_prefix(server: &str) -> String {
    format!("{PREFIX}{}__", normalised(server))
}

/// A name with an underscore for every character that the APIs of models do not take.
pub(super) fn normalised(name: &str) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_characters_become_underscores() {
        assert_eq!(server_prefix("files"), "mcp__files__");
        assert_eq!(server_prefix("my server.v2"), "mcp__my_server_v2__");
        assert_eq!(normalised("größe/max-1"), "gr__e_max-1");
    }
}
