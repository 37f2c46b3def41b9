//! Models behind a server, and requests for them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use turnpipe::client::http::{HttpSettings, Secret, TimeLimits};
use turnpipe::client::model::{
    Attempts, Connector, Function, KeyCheck, KeySource, Model, ModelDeps, ModelSettings, PromptId,
    Provider, ProviderSettings, ReplyForm, Request, Turn,
};
use turnpipe::io::{Environment, RandomIds, SystemClock};
use turnpipe::process::Supervisor;

/// Returns the model `m` of a provider that is at `url`.
pub(crate) fn model(provider: &str, url: &str) -> Arc<dyn Provider> {
    let mut settings = ModelSettings {
        http: HttpSettings {
            limits: TimeLimits {
                connect: Duration::from_secs(5),
                idle: Duration::from_secs(2),
                total: Duration::from_secs(30),
            },
            ..HttpSettings::default()
        },
        ..ModelSettings::default()
    };
    let described = ProviderSettings {
        base_url: Some(url.to_owned()),
        key: KeySource::Key(Secret::new("sk-independent")),
        ..ProviderSettings::default()
    };
    settings.providers.insert(provider.to_owned(), described);
    let deps = ModelDeps {
        environment: Environment::default(),
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(RandomIds),
        children: Supervisor::default(),
    };
    let connector = Connector::new(settings, deps, KeyCheck::Required);
    match connector
        .connect(&format!("{provider}:m").parse().unwrap())
        .unwrap()
    {
        Model::Provider(provider) => provider,
        Model::None | Model::Builtin => unreachable!("a provider was named"),
    }
}

/// Returns a request for text, retried by the policy.
pub(crate) fn request(text: &str) -> Request {
    Request {
        system: "ReplyForm in one line.".to_owned(),
        turns: vec![Turn::user(text)],
        temperature: Some(0.2),
        attempts: Attempts::ByPolicy,
        ..Request::new(PromptId("test"), 100)
    }
}

/// Returns a request for a call of one function.
pub(crate) fn forced_request(text: &str) -> Request {
    let parameters = json!({
        "type": "object",
        "properties": {"title": {"type": "string", "description": "A title"}},
        "required": ["title"],
    });
    Request {
        form: ReplyForm::Forced(Function {
            name: "respond_in_schema".to_owned(),
            description: "Takes the answer".to_owned(),
            parameters,
        }),
        ..request(text)
    }
}
