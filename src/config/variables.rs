//! Every environment variable that turnpipe reads, declared once.

use crate::io::Environment;

/// A setting that the environment can make: one name of ours, perhaps names that other tools
/// use for the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// The names, the strongest first.
    pub names: &'static [&'static str],
    /// What it sets, for the documentation.
    pub purpose: &'static str,
}

/// The configuration file.
pub(super) const CONFIG: Variable = Variable {
    names: &["TURNPIPE_CONFIG"],
    purpose: "the configuration file",
};
/// How many calls run at once.
pub(super) const CONCURRENCY: Variable = Variable {
    names: &[
        "TURNPIPE_MAX_TOOL_CONCURRENCY",
        "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY",
        "QWEN_CODE_MAX_TOOL_CONCURRENCY",
    ],
    purpose: "how many calls run at once; 0, empty or garbage is 10",
};
/// The timeout of a shell call that asks for none.
pub(super) const SHELL_TIMEOUT: Variable = Variable {
    names: &["BASH_DEFAULT_TIMEOUT_MS"],
    purpose: "the timeout of a shell call that asks for none, in milliseconds",
};
/// The longest timeout a shell call can ask for.
pub(super) const LONGEST_SHELL_TIMEOUT: Variable = Variable {
    names: &["BASH_MAX_TIMEOUT_MS"],
    purpose: "the longest timeout a shell call can ask for, in milliseconds",
};
/// Where state is kept by default.
pub(super) const STATE_HOME: Variable = Variable {
    names: &["XDG_STATE_HOME"],
    purpose: "state is kept in its folder `turnpipe`, else in `~/.local/state/turnpipe`",
};
/// Where the configuration file is by default.
pub(super) const CONFIG_HOME: Variable = Variable {
    names: &["XDG_CONFIG_HOME"],
    purpose: "its `turnpipe/config.toml` is read, else `~/.config/turnpipe/config.toml`",
};
/// The home directory.
pub(super) const HOME: Variable = Variable {
    names: &["HOME"],
    purpose: "the home directory; need not be set",
};
/// Where temporary files go.
pub(super) const TEMPORARY: Variable = Variable {
    names: &["TMPDIR"],
    purpose: "temporary files, and state where there is no home",
};

/// Claude Code's configuration.
pub(super) const CLAUDE_HOME: Variable = Variable {
    names: &["CLAUDE_CONFIG_DIR"],
    purpose: "Claude Code's directory, or several with commas between; else `~/.claude` and \
              `claude` in the configuration directory",
};
/// Qwen Code's state.
pub(super) const QWEN_RUNTIME: Variable = Variable {
    names: &["QWEN_RUNTIME_DIR", "QWEN_HOME"],
    purpose: "Qwen Code's directory, else `~/.qwen`",
};
/// Codex's state.
pub(super) const CODEX_HOME: Variable = Variable {
    names: &["CODEX_HOME"],
    purpose: "Codex's directory, else `~/.codex`",
};
/// The home of Gemini CLI.
pub(super) const GEMINI_HOME: Variable = Variable {
    names: &["GEMINI_CLI_HOME"],
    purpose: "the directory in which Gemini CLI's `.gemini` is, else the home directory",
};
/// pi's state.
pub(super) const PI_HOME: Variable = Variable {
    names: &["PI_CODING_AGENT_DIR"],
    purpose: "pi's directory, else `~/.pi/agent`",
};

/// All of them, for the documentation, with those that `io` reads.
pub const VARIABLES: &[Variable] = &[
    CONFIG,
    CONCURRENCY,
    SHELL_TIMEOUT,
    LONGEST_SHELL_TIMEOUT,
    STATE_HOME,
    CONFIG_HOME,
    HOME,
    TEMPORARY,
    CLAUDE_HOME,
    QWEN_RUNTIME,
    CODEX_HOME,
    GEMINI_HOME,
    PI_HOME,
    Variable {
        names: &["TURNPIPE_CLOCK"],
        purpose: "a fixed time (RFC 3339) for reproducible output; every duration is then 0",
    },
    Variable {
        names: &["TURNPIPE_ID_SEED"],
        purpose: "a number that makes fresh ids reproducible",
    },
];

impl Variable {
    /// The value of the first name that is set and not empty.
    pub(super) fn text(self, environment: &Environment) -> Option<&str> {
        self.names.iter().find_map(|name| environment.text(name))
    }

    /// The value as a whole number above 0; anything else counts as not set.
    pub(super) fn positive(self, environment: &Environment) -> Option<u64> {
        self.names
            .iter()
            .find_map(|name| environment.get(name))
            .and_then(|value| value.to_str()?.trim().parse().ok())
            .filter(|number| *number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn the_strongest_name_wins_and_garbage_counts_for_nothing() {
        let environment = |pairs: &[(&str, &str)]| pairs.iter().copied().collect::<Environment>();
        let cases: [(Pairs<'_>, Option<u64>); 6] = [
            (&[], None),
            (&[("QWEN_CODE_MAX_TOOL_CONCURRENCY", "3")], Some(3)),
            (
                &[
                    ("QWEN_CODE_MAX_TOOL_CONCURRENCY", "3"),
                    ("TURNPIPE_MAX_TOOL_CONCURRENCY", "4"),
                ],
                Some(4),
            ),
            (&[("TURNPIPE_MAX_TOOL_CONCURRENCY", "0")], None),
            (&[("TURNPIPE_MAX_TOOL_CONCURRENCY", "")], None),
            (&[("TURNPIPE_MAX_TOOL_CONCURRENCY", "many")], None),
        ];
        for (pairs, expected) in cases {
            assert_eq!(
                CONCURRENCY.positive(&environment(pairs)),
                expected,
                "{pairs:?}"
            );
        }
    }
}
