//! The settings of models. Keys in files and of commands are not read here.

use std::path::PathBuf;
use std::time::Duration;

use super::Config;
use super::file::{HttpTable, ProviderTable};
use super::variables::{
    ADVISOR_MODEL, ADVISOR_OFF, ALL_PROXY, ANTHROPIC_ADDRESS, ANTHROPIC_KEY, ANTHROPIC_TOKEN,
    CERTIFICATE_DIRECTORY, CERTIFICATE_FILE, DASHSCOPE_ADDRESS, DASHSCOPE_KEY, FAST_MODEL,
    GEMINI_ADDRESS, GEMINI_KEY, HTTP_PROXY, HTTPS_PROXY, MAIN_MODEL, NO_PROXY, OLLAMA_ADDRESS,
    OLLAMA_KEY, OPENAI_ADDRESS, OPENAI_KEY, OPENROUTER_KEY, Variable, WEB_SERVER,
};
use crate::http::{Header, HttpSettings, PlainText, Proxies, Secret, TimeLimits};
use crate::io::Environment;
use crate::model::{ChosenModel, KeySource, ModelSettings, ProviderSettings};
use crate::side::says_yes;

/// The variables of known providers: key, token and address.
pub(super) const PROVIDERS: &[(&str, Variable, Option<Variable>, Option<Variable>)] = &[
    ("openai", OPENAI_KEY, None, Some(OPENAI_ADDRESS)),
    ("responses", OPENAI_KEY, None, Some(OPENAI_ADDRESS)),
    (
        "anthropic",
        ANTHROPIC_KEY,
        Some(ANTHROPIC_TOKEN),
        Some(ANTHROPIC_ADDRESS),
    ),
    ("gemini", GEMINI_KEY, None, Some(GEMINI_ADDRESS)),
    ("dashscope", DASHSCOPE_KEY, None, Some(DASHSCOPE_ADDRESS)),
    ("openrouter", OPENROUTER_KEY, None, None),
    ("ollama", OLLAMA_KEY, None, Some(OLLAMA_ADDRESS)),
];

impl Config {
    /// The settings of models. `total` is the time limit of a request, if a flag sets one.
    pub fn models(&self, total: Option<Duration>) -> ModelSettings {
        let environment = &self.environment;
        let providers = self.file.providers.iter();
        let mut settings = ModelSettings {
            fast: self.chosen(FAST_MODEL, self.file.fast_model.as_ref(), "fast_model"),
            main: self.chosen(MAIN_MODEL, self.file.model.as_ref(), "model"),
            http: http(&self.file.http, total, environment),
            providers: providers
                .map(|(name, table)| (name.clone(), provider(table.clone(), environment)))
                .collect(),
        };
        for (name, key, token, address) in PROVIDERS {
            let text = |variable: Variable| variable.text(environment);
            let key = text(*key).map(|key| KeySource::Given(Secret::new(key)));
            let token = token
                .and_then(text)
                .map(|token| KeySource::Token(Secret::new(token)));
            let address = address.and_then(text).map(|address| match *name {
                "ollama" => ollama_address(address),
                _ => address.to_owned(),
            });
            let key = key.or(token);
            if key.is_none() && address.is_none() {
                continue;
            }
            let provider = settings.providers.entry((*name).to_owned()).or_default();
            provider.key = key.unwrap_or_else(|| std::mem::take(&mut provider.key));
            provider.base_url = address.or_else(|| provider.base_url.take());
        }
        settings
    }

    /// The model that gives advice: that of the flag, else the configured one. None if the
    /// environment forbids it.
    pub fn advisor(&self, flag: Option<&str>) -> Option<ChosenModel> {
        if says_yes(ADVISOR_OFF.text(&self.environment)) {
            return None;
        }
        let given = flag.map(|name| ChosenModel {
            name: name.to_owned(),
            by: "--advisor-model",
        });
        given.or_else(|| {
            let in_file = self.file.advisor_model.as_ref();
            self.chosen(ADVISOR_MODEL, in_file, "advisor_model")
        })
    }

    /// The model that a variable names, else a key of the file.
    fn chosen(
        &self,
        variable: Variable,
        in_file: Option<&String>,
        key: &'static str,
    ) -> Option<ChosenModel> {
        let in_environment = variable
            .text(&self.environment)
            .zip(variable.names().next());
        let (name, by) = in_environment.or_else(|| Some((in_file?.as_str(), key)))?;
        let name = name.to_owned();
        Some(ChosenModel { name, by })
    }
}

fn provider(table: ProviderTable, environment: &Environment) -> ProviderSettings {
    let named = table
        .api_key_env
        .as_deref()
        .and_then(|name| environment.text(name));
    let key = match (named, table.api_key_file, table.api_key_cmd) {
        (Some(key), _, _) => KeySource::Given(Secret::new(key)),
        (None, Some(path), _) => KeySource::File(path),
        (None, None, Some(command)) => KeySource::Command(command.into_words()),
        (None, None, None) => KeySource::None,
    };
    ProviderSettings {
        preset: table.preset,
        base_url: table.base_url,
        key,
        // Some gateways take their key in a header.
        headers: table
            .headers
            .into_iter()
            .map(|(name, value)| Header::secret(name, value))
            .collect(),
        plain_text: if table.allow_plain_http {
            PlainText::Anywhere
        } else {
            PlainText::Nearby
        },
        dialect: table.dialect,
    }
}

pub(super) fn http(
    table: &HttpTable,
    total: Option<Duration>,
    environment: &Environment,
) -> HttpSettings {
    let usual = TimeLimits::default();
    let milliseconds = |value: Option<u64>, usual| value.map_or(usual, Duration::from_millis);
    let total = total.unwrap_or_else(|| milliseconds(table.timeout_ms, usual.total));
    let secret = |variable: Variable| variable.text(environment).map(Secret::new);
    let path = |variable: Variable| variable.text(environment).map(PathBuf::from);
    let http_proxy = match WEB_SERVER.text(environment) {
        None => secret(HTTP_PROXY),
        // `HTTP_PROXY` may be a header of a request then.
        Some(_) => HTTP_PROXY
            .names()
            .next()
            .and_then(|name| environment.text(name))
            .map(Secret::new),
    };
    HttpSettings {
        proxies: Proxies {
            http: http_proxy,
            https: secret(HTTPS_PROXY),
            all: secret(ALL_PROXY),
            except: NO_PROXY.text(environment).map(str::to_owned),
        },
        extra_certificates: table.ca_file.clone(),
        certificate_file: path(CERTIFICATE_FILE),
        certificate_directory: path(CERTIFICATE_DIRECTORY),
        limits: TimeLimits {
            connect: milliseconds(table.connect_timeout_ms, usual.connect).min(total),
            idle: milliseconds(table.idle_timeout_ms, usual.idle).min(total),
            total,
        },
    }
}

/// `OLLAMA_HOST` is what the server listens on: scheme and port may be missing, and the wildcard
/// address cannot be connected to.
fn ollama_address(host: &str) -> String {
    const PORT: &str = "11434";
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port))
            if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (name, Some(port))
        }
        _ => (authority, None),
    };
    let name = match name {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        name => name,
    };
    match (port, scheme) {
        (Some(port), _) => format!("{scheme}://{name}:{port}{path}"),
        (None, "https") => format!("{scheme}://{name}{path}"),
        (None, _) => format!("{scheme}://{name}:{PORT}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::ConfigSource;

    fn settings(file: &str, pairs: &[(&str, &str)]) -> ModelSettings {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        fs::write(&path, file).unwrap();
        let environment = pairs.iter().copied().collect();
        let config = Config::load(&ConfigSource::Named(path), &environment).unwrap();
        config.models(None)
    }

    #[test]
    fn an_empty_environment_configures_nothing() {
        assert_eq!(settings("", &[]), ModelSettings::default());
    }

    #[test]
    fn the_environment_stands_above_the_file() {
        let file = "fast_model = \"builtin\"\nmodel = \"ollama:a\"\n\
                    [providers.openai]\nbase_url = \"http://file\"\napi_key_cmd = \"cat key\"\n";
        let by_file = settings(file, &[]);
        let fast = by_file.fast.unwrap();
        assert_eq!((fast.name.as_str(), fast.by), ("builtin", "fast_model"));
        let openai = &by_file.providers["openai"];
        let words = ["sh", "-c", "cat key"].map(str::to_owned).to_vec();
        assert_eq!(openai.key, KeySource::Command(words));

        let pairs = [
            ("TURNPIPE_FAST_MODEL", "openai:m"),
            ("OPENAI_API_KEY", "sk-canary"),
            ("OPENAI_BASE_URL", "http://variable"),
        ];
        let both = settings(file, &pairs);
        let fast = both.fast.clone().unwrap();
        assert_eq!(
            (fast.name.as_str(), fast.by),
            ("openai:m", "TURNPIPE_FAST_MODEL")
        );
        assert_eq!(both.main.as_ref().unwrap().name, "ollama:a");
        let openai = &both.providers["openai"];
        assert_eq!(openai.key, KeySource::Given(Secret::new("sk-canary")));
        assert_eq!(openai.base_url.as_deref(), Some("http://variable"));
        assert!(!format!("{both:?}").contains("canary"));
    }

    #[test]
    fn an_advisor_is_named_or_forbidden() {
        let chosen = |pairs: &[(&str, &str)], flag| {
            let environment = pairs.iter().copied().collect();
            let config = Config {
                file: toml::from_str("advisor_model = \"ollama:a\"").unwrap(),
                environment,
            };
            config.advisor(flag).map(|chosen| (chosen.name, chosen.by))
        };
        let by = |name: &str, by| Some((name.to_owned(), by));
        let variable = ("TURNPIPE_ADVISOR_MODEL", "ollama:b");
        let off = ("CLAUDE_CODE_DISABLE_ADVISOR_TOOL", "1");
        assert_eq!(chosen(&[], None), by("ollama:a", "advisor_model"));
        assert_eq!(chosen(&[variable], None), by("ollama:b", variable.0));
        assert_eq!(chosen(&[variable], Some("c")), by("c", "--advisor-model"));
        assert_eq!(chosen(&[variable, off], Some("c")), None);
    }

    #[test]
    fn a_provider_of_ones_own_is_described_in_the_file() {
        let file = r#"
            [providers.lab]
            preset = "vllm"
            base_url = "http://gpu:8000/v1"
            api_key_env = "LAB_KEY"
            headers = { X-Team = "canary" }
            allow_plain_http = true
            [providers.lab.dialect]
            budget_key = "max_completion_tokens"
            thinking_off = { enable_thinking = false }
            cache_marks = { from = 2000 }
            [http]
            ca_file = "ca.pem"
            timeout_ms = 5000
            idle_timeout_ms = 9000
        "#;
        let settings = settings(file, &[("LAB_KEY", "sk-canary")]);
        let lab = &settings.providers["lab"];
        assert_eq!(lab.key, KeySource::Given(Secret::new("sk-canary")));
        assert_eq!(lab.plain_text, PlainText::Anywhere);
        assert_eq!(
            lab.dialect.thinking_off.as_ref().unwrap()["enable_thinking"],
            false
        );
        assert!(
            settings
                .http
                .extra_certificates
                .as_ref()
                .unwrap()
                .is_absolute()
        );
        // Nothing waits for longer than the whole may take.
        assert_eq!(settings.http.limits.idle, Duration::from_secs(5));
        assert!(!format!("{settings:?}").contains("canary"));
    }

    #[test]
    fn proxies_are_read_as_everywhere() {
        let pairs = [
            ("HTTP_PROXY", "http://a"),
            ("https_proxy", "http://b"),
            ("NO_PROXY", "x"),
        ];
        let proxies = settings("", &pairs).http.proxies;
        assert_eq!(proxies.http, Some(Secret::new("http://a")));
        assert_eq!(proxies.https, Some(Secret::new("http://b")));
        assert_eq!(proxies.except.as_deref(), Some("x"));
        let pairs = [("HTTP_PROXY", "http://a"), ("REQUEST_METHOD", "GET")];
        assert_eq!(settings("", &pairs).http.proxies.http, None);
    }

    #[test]
    fn ollama_is_found_wherever_it_listens() {
        let rows = [
            ("gpu", "http://gpu:11434"),
            ("gpu:80", "http://gpu:80"),
            (":8080", "http://127.0.0.1:8080"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("[::]:1", "http://[::1]:1"),
            ("http://gpu/", "http://gpu:11434"),
            (
                "https://ollama.example.com/x/",
                "https://ollama.example.com/x",
            ),
        ];
        for (host, expected) in rows {
            assert_eq!(ollama_address(host), expected, "{host}");
        }
    }
}
