//! Words that users of other tools try.

/// Words of other tools, and what they are called here.
const PEERS_WORDS: &[(&str, &str)] = &[
    ("daily", "`turnpipe stats --by day`"),
    ("weekly", "`turnpipe stats --by week`"),
    ("monthly", "`turnpipe stats --by month`"),
    ("blocks", "`turnpipe stats --by block`"),
    ("usage", "`turnpipe stats`"),
    ("statusline", "`turnpipe stats --statusline`"),
    ("ls", "`turnpipe list`"),
    ("cat", "`turnpipe show`"),
    ("grep", "`turnpipe search`"),
    ("rm", "`turnpipe session remove`"),
    ("resume", "`turnpipe list --resume`"),
    ("exec", "`turnpipe turn`"),
    (
        "--dangerously-skip-permissions",
        "`--permission-mode bypassPermissions`",
    ),
    ("--yolo", "`--permission-mode bypassPermissions`"),
    ("--full-auto", "`--permission-mode acceptEdits`"),
    ("--budget", "`--max-cost`"),
    ("--max-budget-usd", "`--max-cost`"),
    ("claude-code", "`claude`"),
    ("codex-cli", "`codex`"),
    ("gemini-cli", "`gemini`"),
    ("qwen-code", "`qwen`"),
    ("copilot-cli", "`copilot`"),
    ("cursor-agent", "`cursor`"),
    ("factory", "`droid`"),
    ("kimi-code", "`kimi`"),
];

/// Returns a hint about a word of another tool.
pub(super) fn hint_about(word: &str) -> Option<String> {
    let known = PEERS_WORDS.iter().find(|(peers, _)| *peers == word);
    known.map(|(_, own)| format!("did you mean {own}?"))
}
