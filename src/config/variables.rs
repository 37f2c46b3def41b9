//! Values with their sources, and the environment variables of the configuration. `variables.tsv` describes them.

use std::fmt;
use std::path::PathBuf;

use crate::io::Environment;

/// The names and descriptions of all variables for the documentation, one per line.
pub const VARIABLES: &str = include_str!("variables.tsv");

/// The names of a variable. The first name that is set counts. Names that other
/// tools use follow turnpipe's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variable(&'static [&'static str]);

pub(super) const CONFIG: Variable = Variable(&["TURNPIPE_CONFIG"]);
pub(super) const CONCURRENCY: Variable = Variable(&[
    "TURNPIPE_MAX_TOOL_CONCURRENCY",
    "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY",
    "QWEN_CODE_MAX_TOOL_CONCURRENCY",
]);
pub(super) const SHELL_TIMEOUT: Variable = Variable(&["BASH_DEFAULT_TIMEOUT_MS"]);
pub(super) const MAX_SHELL_TIMEOUT: Variable = Variable(&["BASH_MAX_TIMEOUT_MS"]);
pub(super) const SERVER_START_TIMEOUT: Variable = Variable(&["MCP_TIMEOUT"]);
pub(super) const SERVER_CALL_TIMEOUT: Variable = Variable(&["MCP_TOOL_TIMEOUT"]);
pub(super) const STOP_HOOK_CAP: Variable = Variable(&[
    "TURNPIPE_STOP_HOOK_BLOCK_CAP",
    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
]);
pub(super) const STATE_HOME: Variable = Variable(&["XDG_STATE_HOME"]);
pub(super) const CONFIG_HOME: Variable = Variable(&["XDG_CONFIG_HOME"]);
pub(super) const HOME: Variable = Variable(&["HOME"]);
pub(super) const TEMPORARY: Variable = Variable(&["TMPDIR"]);
pub(super) const PAGER: Variable = Variable(&["TURNPIPE_PAGER", "PAGER"]);
pub(super) const LESS: Variable = Variable(&["LESS"]);
pub(super) const PROJECT: Variable = Variable(&[
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
]);
pub(super) const LABELS: Variable = Variable(&[
    "TURNPIPE_EMIT_TOOL_USE_SUMMARIES",
    "QWEN_CODE_EMIT_TOOL_USE_SUMMARIES",
    "CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES",
]);
pub(super) const AUTO_TITLE_OFF: Variable =
    Variable(&["TURNPIPE_DISABLE_AUTO_TITLE", "QWEN_DISABLE_AUTO_TITLE"]);
pub(super) const FAST_MODEL: Variable = Variable(&["TURNPIPE_FAST_MODEL"]);
pub(super) const MAIN_MODEL: Variable = Variable(&["TURNPIPE_MODEL"]);
pub(super) const ADVISOR_MODEL: Variable = Variable(&["TURNPIPE_ADVISOR_MODEL"]);
pub(super) const ADVISOR_OFF: Variable = Variable(&[
    "TURNPIPE_DISABLE_ADVISOR_TOOL",
    "CLAUDE_CODE_DISABLE_ADVISOR_TOOL",
]);
pub(super) const OPENAI_KEY: Variable = Variable(&["OPENAI_API_KEY"]);
pub(super) const OPENAI_ADDRESS: Variable = Variable(&["OPENAI_BASE_URL"]);
pub(super) const ANTHROPIC_KEY: Variable = Variable(&["ANTHROPIC_API_KEY"]);
pub(super) const ANTHROPIC_TOKEN: Variable = Variable(&["ANTHROPIC_AUTH_TOKEN"]);
pub(super) const ANTHROPIC_ADDRESS: Variable = Variable(&["ANTHROPIC_BASE_URL"]);
pub(super) const GEMINI_KEY: Variable = Variable(&["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
pub(super) const GEMINI_ADDRESS: Variable = Variable(&["GOOGLE_GEMINI_BASE_URL"]);
pub(super) const DASHSCOPE_KEY: Variable = Variable(&["DASHSCOPE_API_KEY"]);
pub(super) const DASHSCOPE_ADDRESS: Variable = Variable(&["DASHSCOPE_BASE_URL"]);
pub(super) const OPENROUTER_KEY: Variable = Variable(&["OPENROUTER_API_KEY"]);
pub(super) const OLLAMA_KEY: Variable = Variable(&["OLLAMA_API_KEY"]);
pub(super) const OLLAMA_ADDRESS: Variable = Variable(&["OLLAMA_HOST"]);
pub(super) const HTTP_PROXY: Variable = Variable(&["http_proxy", "HTTP_PROXY"]);
pub(super) const HTTPS_PROXY: Variable = Variable(&["https_proxy", "HTTPS_PROXY"]);
pub(super) const ALL_PROXY: Variable = Variable(&["all_proxy", "ALL_PROXY"]);
pub(super) const NO_PROXY: Variable = Variable(&["no_proxy", "NO_PROXY"]);
pub(super) const WEB_SERVER: Variable = Variable(&["REQUEST_METHOD"]);
pub(super) const CERTIFICATE_FILE: Variable = Variable(&["SSL_CERT_FILE"]);
pub(super) const CERTIFICATE_DIRECTORY: Variable = Variable(&["SSL_CERT_DIR"]);

/// The variables with a number, and its minimum.
const NUMBERS: &[(Variable, u64)] = &[
    (CONCURRENCY, 1),
    (SHELL_TIMEOUT, 1),
    (MAX_SHELL_TIMEOUT, 1),
    (SERVER_START_TIMEOUT, 1),
    (SERVER_CALL_TIMEOUT, 1),
    (STOP_HOOK_CAP, 0),
];

impl Variable {
    /// Returns the names, in order of precedence.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }

    /// Returns the value of the first name that is set and not empty.
    pub(super) fn sourced_value(self, environment: &Environment) -> Option<SourcedValue<&str>> {
        self.names().find_map(|name| {
            Some(SourcedValue {
                value: environment.text(name)?,
                source: ValueSource::Variable(name.to_owned()),
            })
        })
    }

    /// Like [`Self::sourced_value`], without the source.
    pub(super) fn text(self, environment: &Environment) -> Option<&str> {
        self.sourced_value(environment).map(|found| found.value)
    }

    /// Returns the value of the first name that is set, even if it is empty.
    pub(super) fn set_value(self, environment: &Environment) -> Option<&str> {
        self.names()
            .find_map(|name| environment.get(name))?
            .to_str()
    }

    /// Returns the value as a whole number of at minimum `minimum`; [`warnings`] reports other values.
    pub(super) fn number(
        self,
        minimum: u64,
        environment: &Environment,
    ) -> Option<SourcedValue<u64>> {
        let found = self.sourced_value(environment)?;
        let number = found.value.trim().parse().ok()?;
        (number >= minimum).then(|| found.map(|_| number))
    }
}

/// Returns a warning about each variable that has a value and no effect.
pub(super) fn warnings(environment: &Environment) -> impl Iterator<Item = String> {
    NUMBERS.iter().filter_map(|(variable, minimum)| {
        let SourcedValue { value, source } = variable.sourced_value(environment)?;
        let problem = format!("expected a whole number from {minimum}, found `{value}`");
        let is_ignored = variable.number(*minimum, environment).is_none();
        is_ignored.then(|| format!("{source} is ignored: {problem}"))
    })
}

/// Returns the pager's command; `None` for no pager.
pub fn pager(environment: &Environment) -> Option<&str> {
    let command = PAGER.set_value(environment).unwrap_or("less");
    (!command.is_empty() && command != "cat").then_some(command)
}

/// Whether the user has set options of `less`.
pub fn has_less_options(environment: &Environment) -> bool {
    LESS.set_value(environment).is_some()
}

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    Default,
    /// An option of the command line, e.g. `--config`.
    Flag(&'static str),
    /// An environment variable.
    Variable(String),
    /// The configuration file.
    File {
        path: PathBuf,
        /// The line of the value, from 1.
        line: usize,
    },
}

impl fmt::Display for ValueSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Flag(flag) => formatter.write_str(flag),
            Self::Variable(name) => formatter.write_str(name),
            Self::File { path, line } => write!(formatter, "{}:{line}", path.display()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourcedValue<T> {
    pub(super) value: T,
    pub(super) source: ValueSource,
}

impl<T> SourcedValue<T> {
    /// Returns the value of a flag, if it is given.
    pub(super) fn flag(flag: &'static str, value: Option<T>) -> Option<Self> {
        let source = ValueSource::Flag(flag);
        value.map(|value| Self { value, source })
    }

    /// Returns the value, or `default` if there is none.
    pub(super) fn or_default(found: Option<Self>, default: T) -> Self {
        found.unwrap_or(Self {
            value: default,
            source: ValueSource::Default,
        })
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> SourcedValue<U> {
        SourcedValue {
            value: change(self.value),
            source: self.source,
        }
    }

    /// Adds the value, formatted by `format`, to `settings`, and returns the value.
    pub(super) fn add_to(
        self,
        name: &str,
        format: impl FnOnce(&T) -> String,
        settings: &mut Vec<Setting>,
    ) -> T {
        settings.push(Setting {
            name: name.to_owned(),
            value: format(&self.value),
            source: self.source,
        });
        self.value
    }
}

/// A setting as `doctor` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// A key of the configuration file, or a variable.
    pub name: String,
    /// The value as text, without secrets.
    pub value: String,
    /// Origin of the value.
    pub source: ValueSource,
}

/// Whether labels are wanted: by the environment, else by the setting, else yes.
pub(super) fn are_labels_wanted(variable: Option<&str>, setting: Option<bool>) -> bool {
    let set = variable.filter(|value| !value.trim().is_empty());
    set.map(|value| is_true(Some(value)))
        .or(setting)
        .unwrap_or(true)
}

/// Whether a variable is true: any value except an empty one, `0`, `false`,
/// `no` and `off`.
pub(crate) fn is_true(variable: Option<&str>) -> bool {
    let value = variable.unwrap_or_default().trim().to_ascii_lowercase();
    !matches!(value.as_str(), "" | "0" | "false" | "no" | "off")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn the_first_name_wins_and_invalid_numbers_are_ignored() {
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
                CONCURRENCY
                    .number(1, &environment(pairs))
                    .map(|found| found.value),
                expected,
                "{pairs:?}"
            );
        }
    }

    #[test]
    fn numbers_without_effect_are_reported() {
        let rows = [
            ("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", "abc", true),
            ("TURNPIPE_MAX_TOOL_CONCURRENCY", "0", true),
            ("QWEN_CODE_MAX_TOOL_CONCURRENCY", "-1", true),
            ("BASH_DEFAULT_TIMEOUT_MS", "1.5", true),
            ("BASH_MAX_TIMEOUT_MS", "2m", true),
            ("MCP_TIMEOUT", "99999999999999999999", true),
            ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "none", true),
            ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0", false),
            ("MCP_TOOL_TIMEOUT", "", false),
            ("MCP_TOOL_TIMEOUT", " 5 ", false),
        ];
        for (name, value, is_reported) in rows {
            let environment = [(name, value)].into_iter().collect();
            let reported: Vec<String> = warnings(&environment).collect();
            assert_eq!(reported.len(), usize::from(is_reported), "{name}={value}");
            let is_complete = |text: &String| text.contains(name) && text.contains(value);
            assert!(reported.iter().all(is_complete), "{reported:?}");
        }
    }

    #[test]
    fn every_name_is_described_once() {
        let names = VARIABLES
            .lines()
            .flat_map(|line| line.split('\t').next().unwrap().split(", "));
        let ours = |name: &&str| {
            ![
                "TURNPIPE_CLOCK",
                "TURNPIPE_ID_SEED",
                "TURNPIPE_SANDBOX",
                "TZ",
                // Read by the layout of pi itself.
                "PI_CODING_AGENT_SESSION_DIR",
            ]
            .contains(name)
        };
        let mut described: Vec<&str> = names.filter(ours).collect();
        let code = include_str!("variables.rs");
        let code = &code[code.find("const CONFIG").unwrap()..code.find("impl Variable").unwrap()];
        let texts = code.split('"').skip(1).step_by(2);
        let mut declared: Vec<&str> = texts
            .flat_map(|text| {
                text.split([' ', '\\', '\n'])
                    // `mcp` is the name of a feature.
                    .filter(|name| !name.is_empty() && *name != "mcp")
            })
            .collect();
        // Agents declare the variables that name their directories.
        let agents = crate::agent::Agent::ALL.iter();
        declared.extend(agents.flat_map(|agent| agent.format().layout.home_variables));
        described.sort_unstable();
        declared.sort_unstable();
        assert_eq!(described, declared);
    }

    #[test]
    fn the_environment_overrides_the_setting() {
        let table = [
            (None, None, true),
            (None, Some(false), false),
            (Some("1"), Some(false), true),
            (Some("false"), Some(true), false),
            (Some("FALSE"), Some(true), false),
            (Some("TRUE"), Some(false), true),
            (Some("off"), None, false),
            (Some("yes"), Some(false), true),
            (Some(""), Some(false), false),
        ];
        for (variable, setting, wanted) in table {
            assert_eq!(are_labels_wanted(variable, setting), wanted, "{variable:?}");
        }
    }

    #[test]
    fn any_true_value_disables_automatic_titles() {
        for value in [
            None,
            Some(""),
            Some(" 0 "),
            Some("OFF"),
            Some("no"),
            Some("false"),
        ] {
            assert!(!is_true(value), "{value:?}");
        }
        for value in ["1", "true", "yes", "x"] {
            assert!(is_true(Some(value)), "{value}");
        }
    }
}
