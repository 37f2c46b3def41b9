//! The settings of models and HTTP requests. Does not read key files or run key commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;

use super::file::ProviderTable;
use super::settings::{Config, format_milliseconds};
use super::variables::{
    ADVISOR_MODEL, ADVISOR_OFF, ALL_PROXY, ANTHROPIC_ADDRESS, ANTHROPIC_KEY, ANTHROPIC_TOKEN,
    CERTIFICATE_DIRECTORY, CERTIFICATE_FILE, DASHSCOPE_ADDRESS, DASHSCOPE_KEY, FAST_MODEL,
    GEMINI_ADDRESS, GEMINI_KEY, HTTP_PROXY, HTTPS_PROXY, MAIN_MODEL, NO_PROXY, OLLAMA_ADDRESS,
    OLLAMA_KEY, OPENAI_ADDRESS, OPENAI_KEY, OPENROUTER_KEY, Setting, SourcedValue, ValueSource,
    Variable, WEB_SERVER, is_true,
};
use crate::client::http::{Header, HttpSettings, PlainText, Proxies, Secret, TimeLimits};
use crate::client::model::{ChosenModel, KeySource, ModelSettings, ProviderSettings};
use crate::text::redact;

/// The variables of known providers: key, token and address.
const PROVIDERS: &[(&str, Variable, Option<Variable>, Option<Variable>)] = &[
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

/// The settings of providers by name, and for `doctor` their addresses and the sources of their keys.
struct Providers {
    settings: BTreeMap<String, ProviderSettings>,
    addresses: Vec<Setting>,
    keys: Vec<Setting>,
}

impl Config {
    /// Returns the settings of models. `total` is the timeout of a request, if a flag sets one.
    pub fn models(&self, total: Option<Duration>) -> ModelSettings {
        let mut http = Vec::new();
        ModelSettings {
            fast: self.chosen_model(FAST_MODEL, self.file.fast_model.as_ref(), "fast_model"),
            main: self.chosen_model(MAIN_MODEL, self.file.model.as_ref(), "model"),
            http: self.http(total, &mut http),
            providers: self.providers().settings,
        }
    }

    /// Returns the settings of models for `doctor`: models and addresses, then keys.
    pub fn listed_models(&self) -> (Vec<Setting>, Vec<Setting>) {
        let models = self.models(None);
        let mut listed = Vec::new();
        let choices = [
            ("fast_model", models.fast, &self.file.fast_model),
            ("model", models.main, &self.file.model),
            (
                "advisor_model",
                self.advisor(None),
                &self.file.advisor_model,
            ),
        ];
        for (name, choice, entry) in choices {
            let model = choice.map(|chosen| {
                let in_file = self.file.with_line(entry.as_ref());
                in_file
                    .filter(|_| chosen.origin == name)
                    .unwrap_or(SourcedValue {
                        source: ValueSource::Variable(chosen.origin.to_owned()),
                        value: chosen.name,
                    })
            });
            SourcedValue::or_default(model, "none".to_owned()).add_to(
                name,
                String::clone,
                &mut listed,
            );
        }
        for variable in [HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY] {
            if let Some(proxy) = variable.sourced_value(&self.environment) {
                let name = proxy.source.to_string();
                proxy.add_to(&name, |_| "set".to_owned(), &mut listed);
            }
        }
        let providers = self.providers();
        listed.extend(providers.addresses);
        (listed, providers.keys)
    }

    fn providers(&self) -> Providers {
        let (file, environment) = (&self.file, &self.environment);
        let (mut addresses, mut keys) = (Vec::new(), Vec::new());
        let known = PROVIDERS.iter().map(|(name, ..)| *name);
        let names: BTreeSet<&str> = file
            .providers
            .keys()
            .map(String::as_str)
            .chain(known)
            .collect();
        let mut providers = BTreeMap::new();
        for name in names {
            let table = file.providers.get(name);
            let known = PROVIDERS.iter().find(|(known, ..)| *known == name);
            let (key, token, address) = known
                .map_or((None, None, None), |(_, key, token, address)| {
                    (Some(*key), *token, *address)
                });
            let read = |variable: Variable| variable.sourced_value(environment);
            let given_key = key
                .and_then(read)
                .map(|found| found.map(|key| KeySource::Key(Secret::new(key))));
            let given_token = || {
                token
                    .and_then(read)
                    .map(|found| found.map(|token| KeySource::Token(Secret::new(token))))
            };
            let key_source = given_key
                .or_else(given_token)
                .or_else(|| self.key_in_file(table?));
            let given_address = address.and_then(read).map(|found| match name {
                "ollama" => found.map(ollama_address),
                _ => found.map(str::to_owned),
            });
            let base_url = given_address.or_else(|| file.with_line(table?.base_url.as_ref()));
            if table.is_none() && key_source.is_none() && base_url.is_none() {
                continue;
            }
            // The query may contain a key.
            let without_key =
                |url: &String| redact(url.split('?').next().unwrap_or_default()).into_owned();
            let setting = format!("providers.{name}.base_url");
            let settings = ProviderSettings {
                key: key_source
                    .map(|key| key.add_to(name, describe_key, &mut keys))
                    .unwrap_or_default(),
                base_url: base_url.map(|url| url.add_to(&setting, without_key, &mut addresses)),
                ..table.map(provider_settings).unwrap_or_default()
            };
            providers.insert(name.to_owned(), settings);
        }
        Providers {
            settings: providers,
            addresses,
            keys,
        }
    }

    /// Returns the source of a provider's key according to the file.
    fn key_in_file(&self, table: &ProviderTable) -> Option<SourcedValue<KeySource>> {
        let file = &self.file;
        let named = table.api_key_env.as_deref().and_then(|name| {
            let key = self.environment.text(name)?;
            Some(SourcedValue {
                value: KeySource::Key(Secret::new(key)),
                source: ValueSource::Variable(name.to_owned()),
            })
        });
        let path = || file.with_line(table.api_key_file.as_ref());
        let command = || file.with_line(table.api_key_cmd.as_ref());
        named
            .or_else(|| Some(path()?.map(KeySource::File)))
            .or_else(|| Some(command()?.map(|words| KeySource::Command(words.into_words()))))
    }

    /// Returns the model of the tool `Advisor`, from the flag or the configuration; `None` if the
    /// environment disables the tool.
    pub fn advisor(&self, flag: Option<&str>) -> Option<ChosenModel> {
        if is_true(ADVISOR_OFF.text(&self.environment)) {
            return None;
        }
        let from_flag = flag.map(|name| ChosenModel::new(name, "--advisor-model"));
        from_flag.or_else(|| {
            let in_file = self.file.advisor_model.as_ref();
            self.chosen_model(ADVISOR_MODEL, in_file, "advisor_model")
        })
    }

    /// Returns the model that a variable names, else a key of the file.
    fn chosen_model(
        &self,
        variable: Variable,
        in_file: Option<&Spanned<String>>,
        key: &'static str,
    ) -> Option<ChosenModel> {
        let in_environment = variable
            .text(&self.environment)
            .zip(variable.names().next());
        let (name, origin) = in_environment.or_else(|| Some((in_file?.as_ref().as_str(), key)))?;
        Some(ChosenModel::new(name, origin))
    }

    /// Returns the settings of HTTP requests. `total` is their timeout, if a flag sets one.
    pub(super) fn http(&self, total: Option<Duration>, listed: &mut Vec<Setting>) -> HttpSettings {
        let (table, environment) = (&self.file.http, &self.environment);
        let defaults = TimeLimits::default();
        let limit = |value: &Option<Spanned<u64>>, default| {
            let found = self.file.with_line(value.as_ref());
            SourcedValue::or_default(found.map(|found| found.map(Duration::from_millis)), default)
        };
        let total = SourcedValue::flag("--timeout", total)
            .unwrap_or_else(|| limit(&table.timeout_ms, defaults.total));
        let connect = limit(&table.connect_timeout_ms, defaults.connect);
        let idle = limit(&table.idle_timeout_ms, defaults.idle);
        let limits = TimeLimits {
            connect: connect.map(|time| time.min(total.value)).add_to(
                "http.connect_timeout_ms",
                format_milliseconds,
                listed,
            ),
            idle: idle.map(|time| time.min(total.value)).add_to(
                "http.idle_timeout_ms",
                format_milliseconds,
                listed,
            ),
            total: total.add_to("http.timeout_ms", format_milliseconds, listed),
        };
        let secret = |variable: Variable| variable.text(environment).map(Secret::new);
        let path = |variable: Variable| variable.text(environment).map(PathBuf::from);
        let http_proxy = match WEB_SERVER.text(environment) {
            None => secret(HTTP_PROXY),
            // Under CGI, `HTTP_PROXY` may come from a request header.
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
                excluded: NO_PROXY.text(environment).map(str::to_owned),
            },
            extra_certificates: table.ca_file.as_ref().map(|path| path.as_ref().clone()),
            certificate_file: path(CERTIFICATE_FILE),
            certificate_directory: path(CERTIFICATE_DIRECTORY),
            limits,
        }
    }
}

/// Describes the source of a key, without the key.
fn describe_key(key: &KeySource) -> String {
    match key {
        KeySource::File(path) => format!("in the file {}", path.display()),
        KeySource::Command(_) => "printed by a command".to_owned(),
        _ => "found".to_owned(),
    }
}

/// Returns a provider of the file, without its key and address.
fn provider_settings(table: &ProviderTable) -> ProviderSettings {
    let headers = table.headers.clone().into_iter();
    ProviderSettings {
        preset: table.preset.clone(),
        base_url: None,
        key: KeySource::None,
        // Some gateways take their key in a header.
        headers: headers
            .map(|(name, value)| Header::secret(name, value))
            .collect(),
        plain_text: if table.allow_plain_http {
            PlainText::Anywhere
        } else {
            PlainText::Nearby
        },
        dialect: table.dialect.clone(),
    }
}

/// Returns the address for `OLLAMA_HOST`, on which the server listens. Scheme and port may be missing,
/// and the wildcard address is replaced by the loopback address.
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
    fn the_environment_overrides_the_file() {
        let file = "fast_model = \"builtin\"\nmodel = \"ollama:a\"\n\
                    [providers.openai]\nbase_url = \"http://file\"\napi_key_cmd = \"cat key\"\n";
        let by_file = settings(file, &[]);
        let fast = by_file.fast.unwrap();
        assert_eq!((fast.name.as_str(), fast.origin), ("builtin", "fast_model"));
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
            (fast.name.as_str(), fast.origin),
            ("openai:m", "TURNPIPE_FAST_MODEL")
        );
        assert_eq!(both.main.as_ref().unwrap().name, "ollama:a");
        let openai = &both.providers["openai"];
        assert_eq!(openai.key, KeySource::Key(Secret::new("sk-canary")));
        assert_eq!(openai.base_url.as_deref(), Some("http://variable"));
        assert!(!format!("{both:?}").contains("canary"));
    }

    #[test]
    fn an_advisor_is_named_or_disabled() {
        let chosen = |pairs: &[(&str, &str)], flag| {
            let environment = pairs.iter().copied().collect();
            let config = Config {
                file: toml::from_str("advisor_model = \"ollama:a\"").unwrap(),
                environment,
            };
            config
                .advisor(flag)
                .map(|chosen| (chosen.name, chosen.origin))
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
    fn the_file_defines_providers() {
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
        assert_eq!(lab.key, KeySource::Key(Secret::new("sk-canary")));
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
        // No timeout exceeds the total.
        assert_eq!(settings.http.limits.idle, Duration::from_secs(5));
        assert!(!format!("{settings:?}").contains("canary"));
    }

    #[test]
    fn proxies_follow_the_usual_variables() {
        let pairs = [
            ("HTTP_PROXY", "http://a"),
            ("https_proxy", "http://b"),
            ("NO_PROXY", "x"),
        ];
        let proxies = settings("", &pairs).http.proxies;
        assert_eq!(proxies.http, Some(Secret::new("http://a")));
        assert_eq!(proxies.https, Some(Secret::new("http://b")));
        assert_eq!(proxies.excluded.as_deref(), Some("x"));
        let pairs = [("HTTP_PROXY", "http://a"), ("REQUEST_METHOD", "GET")];
        assert_eq!(settings("", &pairs).http.proxies.http, None);
    }

    #[test]
    fn ollama_listens_anywhere() {
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
