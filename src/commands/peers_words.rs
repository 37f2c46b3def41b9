//! Words that users of other tools try.

/// Words of other tools, and what they are called here.
const PEERS_WORDS: &[(&str, &str)] = &[
    ("daily", "`turnpipe session stats --by day`"),
    ("weekly", "`turnpipe session stats --by week`"),
    ("monthly", "`turnpipe session stats --by month`"),
    ("blocks", "`turnpipe session stats --by block`"),
    ("usage", "`turnpipe session stats`"),
    ("statusline", "`turnpipe session stats --statusline`"),
    ("ls", "`turnpipe session list`"),
    ("cat", "`turnpipe session show`"),
    ("grep", "`turnpipe session search`"),
    ("rm", "`turnpipe session remove`"),
    ("resume", "`turnpipe session list --resume`"),
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
];

/// Returns a hint about a word of another tool.
pub(super) fn hint_about(word: &str) -> Option<String> {
    let known = PEERS_WORDS.iter().find(|(peers, _)| *peers == word);
    known.map(|(_, own)| format!("did you mean {own}?"))
}
