//! Words that users of other tools try.

use crate::agent::Agent;

/// Words of other tools, and what they are called here.
const PEERS_WORDS: &[(&str, &str)] = &[
    ("daily", "`turnpipe stats --by day`"),
    ("weekly", "`turnpipe stats --by week`"),
    ("monthly", "`turnpipe stats --by month`"),
    ("blocks", "`turnpipe stats --by block`"),
    ("usage", "`turnpipe stats`"),
    ("cost", "`turnpipe stats`"),
    ("tokens", "`turnpipe stats`"),
    ("history", "`turnpipe list`"),
    ("find", "`turnpipe search`"),
    ("view", "`turnpipe show`"),
    ("open", "`turnpipe show`"),
    ("info", "`turnpipe show`"),
    ("follow", "`turnpipe session tail -f latest`"),
    ("watch", "`turnpipe session tail -f latest`"),
    ("delete", "`turnpipe session remove`"),
    ("prune", "`turnpipe session remove --before 30d`"),
    ("convert", "`turnpipe session export DIR -o atif`"),
    ("--today", "`--since today`"),
    ("--here", "`--cwd .`"),
    ("--older-than", "`--before`"),
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
    ("config", "`turnpipe doctor`"),
    ("version", "`turnpipe --version`"),
    ("compare", "`turnpipe session diff`"),
    ("restore", "`turnpipe show --root ARCHIVE`"),
    ("--timezone", "`--tz`"),
    ("--tail", "`--range -5..`"),
    ("--last", "`--range -5..`"),
    (
        "--base-url",
        "the variable of the provider (`turnpipe help environment`)",
    ),
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

/// Returns a hint about a word of another tool, or the name of an agent without its option. Commands only fit if
/// `is_general`: not in every group of commands.
pub(super) fn find_hint(word: &str, is_general: bool) -> Option<String> {
    if Agent::ALL.iter().any(|agent| agent.name() == word) {
        return Some(format!("did you mean `--agent {word}`?"));
    }
    let known = PEERS_WORDS.iter().find(|(peers, _)| *peers == word);
    let is_possible = |own: &&str| is_general || !own.starts_with("`turnpipe ");
    let own = known.map(|(_, own)| *own).filter(is_possible)?;
    Some(format!("did you mean {own}?"))
}
