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

/// Whether batches of calls get labels.
pub(super) const LABELS: Variable = Variable {
    names: &[
        "TURNPIPE_EMIT_TOOL_USE_SUMMARIES",
        "QWEN_CODE_EMIT_TOOL_USE_SUMMARIES",
        "CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES",
    ],
    purpose: "`0` or `false`: no labels for batches of calls; `1` or `true`: labels, whatever the \
              settings say",
};
/// Whether sessions get no automatic titles.
pub(super) const AUTO_TITLE_OFF: Variable = Variable {
    names: &["TURNPIPE_DISABLE_AUTO_TITLE", "QWEN_DISABLE_AUTO_TITLE"],
    purpose: "`title --auto` does nothing; unless it is empty, `0`, `false`, `no` or `off`",
};
/// The model for labels, titles and recaps.
pub(super) const FAST_MODEL: Variable = Variable {
    names: &["TURNPIPE_FAST_MODEL"],
    purpose: "the model for labels, titles and recaps, as `provider:model`",
};
/// The model for the conversation itself.
pub(super) const MAIN_MODEL: Variable = Variable {
    names: &["TURNPIPE_MODEL"],
    purpose: "the main model, as `provider:model`",
};
/// `OpenAI`'s key.
pub(super) const OPENAI_KEY: Variable = Variable {
    names: &["OPENAI_API_KEY"],
    purpose: "the key of the provider `openai`",
};
/// `OpenAI`'s address.
pub(super) const OPENAI_ADDRESS: Variable = Variable {
    names: &["OPENAI_BASE_URL"],
    purpose: "the address of the provider `openai`, with `/v1`",
};
/// Anthropic's key.
pub(super) const ANTHROPIC_KEY: Variable = Variable {
    names: &["ANTHROPIC_API_KEY"],
    purpose: "the key of the provider `anthropic`",
};
/// A token for Anthropic.
pub(super) const ANTHROPIC_TOKEN: Variable = Variable {
    names: &["ANTHROPIC_AUTH_TOKEN"],
    purpose: "a bearer token for the provider `anthropic`, where there is no key",
};
/// Anthropic's address.
pub(super) const ANTHROPIC_ADDRESS: Variable = Variable {
    names: &["ANTHROPIC_BASE_URL"],
    purpose: "the address of the provider `anthropic`, without `/v1`",
};
/// Gemini's key.
pub(super) const GEMINI_KEY: Variable = Variable {
    names: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    purpose: "the key of the provider `gemini`",
};
/// Gemini's address.
pub(super) const GEMINI_ADDRESS: Variable = Variable {
    names: &["GOOGLE_GEMINI_BASE_URL"],
    purpose: "the address of the provider `gemini`, without `/v1beta`",
};
/// `DashScope`'s key.
pub(super) const DASHSCOPE_KEY: Variable = Variable {
    names: &["DASHSCOPE_API_KEY"],
    purpose: "the key of the provider `dashscope`",
};
/// `DashScope`'s address.
pub(super) const DASHSCOPE_ADDRESS: Variable = Variable {
    names: &["DASHSCOPE_BASE_URL"],
    purpose: "the address of the provider `dashscope`, with `/v1`",
};
/// `OpenRouter`'s key.
pub(super) const OPENROUTER_KEY: Variable = Variable {
    names: &["OPENROUTER_API_KEY"],
    purpose: "the key of the provider `openrouter`",
};
/// Ollama's key, for its cloud.
pub(super) const OLLAMA_KEY: Variable = Variable {
    names: &["OLLAMA_API_KEY"],
    purpose: "the key of the provider `ollama`, where it wants one",
};
/// Ollama's address.
pub(super) const OLLAMA_ADDRESS: Variable = Variable {
    names: &["OLLAMA_HOST"],
    purpose: "the address of the provider `ollama`; scheme and port may be missing",
};
/// The proxy for requests without encryption. In capitals it is not believed where a web server
/// runs us: there it is a header of somebody's request.
pub(super) const HTTP_PROXY: Variable = Variable {
    names: &["http_proxy", "HTTP_PROXY"],
    purpose: "the proxy for `http` addresses",
};
/// The proxy for encrypted requests.
pub(super) const HTTPS_PROXY: Variable = Variable {
    names: &["https_proxy", "HTTPS_PROXY"],
    purpose: "the proxy for `https` addresses",
};
/// The proxy for all others.
pub(super) const ALL_PROXY: Variable = Variable {
    names: &["all_proxy", "ALL_PROXY"],
    purpose: "the proxy for what has none of its own; `socks5://` works too",
};
/// What is reached without a proxy.
pub(super) const NO_PROXY: Variable = Variable {
    names: &["no_proxy", "NO_PROXY"],
    purpose: "hosts that are reached without a proxy, with commas between",
};
/// A mark of web servers.
pub(super) const WEB_SERVER: Variable = Variable {
    names: &["REQUEST_METHOD"],
    purpose: "if it is set, a web server runs us, and `HTTP_PROXY` is not believed",
};
/// Root certificates.
pub(super) const CERTIFICATE_FILE: Variable = Variable {
    names: &["SSL_CERT_FILE"],
    purpose: "a PEM file in the place of the system's root certificates",
};
/// Root certificates.
pub(super) const CERTIFICATE_DIRECTORY: Variable = Variable {
    names: &["SSL_CERT_DIR"],
    purpose: "a directory in the place of the system's root certificates",
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
    LABELS,
    AUTO_TITLE_OFF,
    FAST_MODEL,
    MAIN_MODEL,
    OPENAI_KEY,
    OPENAI_ADDRESS,
    ANTHROPIC_KEY,
    ANTHROPIC_TOKEN,
    ANTHROPIC_ADDRESS,
    GEMINI_KEY,
    GEMINI_ADDRESS,
    DASHSCOPE_KEY,
    DASHSCOPE_ADDRESS,
    OPENROUTER_KEY,
    OLLAMA_KEY,
    OLLAMA_ADDRESS,
    HTTP_PROXY,
    HTTPS_PROXY,
    ALL_PROXY,
    NO_PROXY,
    WEB_SERVER,
    CERTIFICATE_FILE,
    CERTIFICATE_DIRECTORY,
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
