//! Prompts that are commands of the agent.

/// Commands about the agent itself.
const LOCAL: &[&str] = &[
    "add-dir",
    "agents",
    "bashes",
    "bug",
    "clear",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "doctor",
    "exit",
    "export",
    "feedback",
    "help",
    "hooks",
    "ide",
    "init",
    "install-github-app",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "output-style",
    "permissions",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "rate-limit-options",
    "release-notes",
    "reload",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "statusline",
    "terminal-setup",
    "theme",
    "todos",
    "tools",
    "upgrade",
    "usage",
    "vim",
    "new",
    "quota",
    "approvals",
    "chat",
    "auth",
    "summary",
    "directory",
    "editor",
    "extensions",
    "about",
    "language",
    "recap",
    "effort",
    "fast",
];

/// What a command is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Goal {
    /// None: it is about the agent itself.
    Nothing,
    /// It names the session.
    Title(String),
    /// What follows it is the prompt.
    Prompt(String),
}

/// The goal of a command, if the text is one.
pub(super) fn command(text: &str) -> Option<Goal> {
    let (name, arguments) = tagged(text).or_else(|| typed(text))?;
    let name = name.rsplit(':').next().unwrap_or_default().to_owned();
    let arguments = arguments.trim().to_owned();
    if LOCAL.contains(&name.as_str()) || arguments.is_empty() {
        return Some(Goal::Nothing);
    }
    let number = arguments.trim_start_matches('#');
    let pull = number.rsplit('/').next().unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = number.contains("://") && !number.contains(' ');
    if is_number || is_address && pull.bytes().all(|byte| byte.is_ascii_digit()) && !pull.is_empty()
    {
        let spaced = name.replace(['-', '_'], " ");
        return Some(Goal::Title(format!("{spaced} PR {pull}")));
    }
    if arguments.split_whitespace().count() <= 2 {
        let spaced = name.replace(['-', '_'], " ");
        return Some(Goal::Prompt(format!("{spaced} {arguments}")));
    }
    Some(Goal::Prompt(arguments))
}

/// `<command-name>/name</command-name> … <command-args>arguments</command-args>`.
fn tagged(text: &str) -> Option<(String, String)> {
    let between = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        let end = rest.find(&format!("</{tag}>")).unwrap_or(rest.len());
        Some(rest[..end].trim().to_owned())
    };
    let name = between("command-name").or_else(|| between("command-message"))?;
    let arguments = between("command-args").unwrap_or_default();
    Some((name.trim_start_matches('/').to_owned(), arguments))
}

/// `/name arguments`; a path is no command.
fn typed(text: &str) -> Option<(String, String)> {
    let rest = text.strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter));
    is_name.then(|| (name.to_owned(), arguments.to_owned()))
}
