//! The subcommand of a program, from the words of a command.

/// Programs whose first argument is a subcommand.
const WITH_SUBCOMMANDS: [&str; 26] = [
    "apt",
    "apt-get",
    "aws",
    "brew",
    "bun",
    "cargo",
    "deno",
    "docker",
    "gcloud",
    "gh",
    "git",
    "go",
    "helm",
    "kubectl",
    "make",
    "npm",
    "npx",
    "pip",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// Returns the name of the program that words call, without its directory, and its subcommand if the next word
/// looks like one: `git status`, `cargo test`, `ls`. `None` without a known program.
pub fn program_and_subcommand(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if program.is_empty() || program.contains(['$', '`']) {
        return None;
    }
    let subcommand = arguments
        .first()
        .filter(|word| WITH_SUBCOMMANDS.contains(&program) && is_subcommand(word));
    Some(match subcommand {
        Some(subcommand) => format!("{program} {subcommand}"),
        None => program.to_owned(),
    })
}

/// Whether a word looks like a subcommand: `status`, `build:all`.
pub fn is_subcommand(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_counted_with_their_subcommands() {
        let rows = [
            ("git status --short", Some("git status")),
            ("/usr/bin/git log", Some("git log")),
            ("git -C /x log", Some("git")),
            ("cargo test --lib", Some("cargo test")),
            ("cat readme", Some("cat")),
            ("npm run build:all", Some("npm run")),
            ("$x run", None),
            ("", None),
        ];
        for (line, expected) in rows {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(
                program_and_subcommand(&words).as_deref(),
                expected,
                "{line}"
            );
        }
    }
}
