//! Findings of `doctor` about models.

use crate::config::Config;
use crate::io::{CancelToken, Io};
use crate::model::{
    Connector, KeyCheck, Model, ModelDeps, ModelName, PromptId, Provider, RemoteModel, Request,
    Turn,
};
use crate::records::{Condition, DoctorRecord, Subject};
use crate::text::counted;
use crate::view::ProgressLine;

/// Maximum number of tokens in a probe's reply; some models think first.
const PROBE_TOKENS: u32 = 1024;

/// Maximum number of similar names to list.
const MAX_NAMES: usize = 5;

/// Returns findings about each configured provider and model.
pub(crate) fn models(config: &Config, probe: bool, quiet: bool, io: &mut Io) -> Vec<DoctorRecord> {
    let settings = config.models(None);
    let connector = |keys| Connector::new(settings.clone(), ModelDeps::of(io), keys);
    let providers = connector(KeyCheck::Optional);
    let models = connector(KeyCheck::Required);
    let mut findings = Vec::new();
    for provider in settings.providers.keys() {
        let model = RemoteModel {
            provider: provider.clone(),
            model: "any".to_owned(),
        };
        let connected = providers.connect(&ModelName::Remote(model));
        let found = finding(Subject::Model, provider, "provider", "");
        findings.push(judged(found, connected.map(|_| ())));
    }
    let progress = ProgressLine::spinner("asking the models", quiet, io);
    let advisor = config.advisor(None);
    for chosen in [&settings.fast, &settings.main, &advisor]
        .into_iter()
        .flatten()
    {
        let mut found = finding(Subject::Model, &chosen.name, "configured", chosen.by);
        let name = chosen.name.parse::<ModelName>();
        let connected = name.map_err(anyhow::Error::from).and_then(|name| {
            let model = models.connect(&name)?;
            Ok((name, model))
        });
        let tried = match connected {
            Ok((ModelName::Remote(name), Model::Provider(provider))) if probe => {
                let (value, tried) = asked(&*provider, &name.model);
                found.value = value;
                tried
            }
            connected => connected.map(|_| ()).map_err(|error| error.to_string()),
        };
        findings.push(judged(found, tried));
    }
    drop(progress);
    findings
}

/// Sends a short request to a model and lists its server's models. A model may reply without being
/// listed: some servers have no list, or an incomplete one.
fn asked(provider: &dyn Provider, name: &str) -> (String, Result<(), String>) {
    let stop = CancelToken::default();
    let mut request = Request::new(PromptId("doctor_probe"), PROBE_TOKENS);
    request
        .turns
        .push(Turn::user("Answer with the word `ready`."));
    let answer = provider.complete(&request, &stop);
    let listed = provider.models(&stop).unwrap_or_default();
    let count = counted(listed.len() as u64, "model", "models");
    match (answer, listed.is_empty()) {
        (Ok(_), true) => ("responded".to_owned(), Ok(())),
        (Ok(_), false) => (format!("responded; its server lists {count}"), Ok(())),
        (Err(failure), true) => ("configured".to_owned(), Err(failure.to_string())),
        (Err(failure), false) if listed.iter().any(|one| one == name) => {
            (format!("listed among {count}"), Err(failure.to_string()))
        }
        (Err(failure), false) => {
            let names = nearest(name, listed).join(", ");
            let problem = format!("{failure}; its server has {count}, such as {names}");
            ("not listed".to_owned(), Err(problem))
        }
    }
}

/// Returns the names most similar to `name`.
fn nearest(name: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort_by_cached_key(|other| strsim::damerau_levenshtein(name, other));
    names.truncate(MAX_NAMES);
    names
}

/// Returns a finding without a problem.
pub(crate) fn finding(subject: Subject, name: &str, value: &str, source: &str) -> DoctorRecord {
    DoctorRecord {
        subject,
        name: name.to_owned(),
        value: value.to_owned(),
        source: source.to_owned(),
        condition: Condition::Ok,
        problem: None,
    }
}

/// Returns the finding, broken if `tried` failed.
pub(crate) fn judged(found: DoctorRecord, tried: Result<(), impl ToString>) -> DoctorRecord {
    match tried {
        Ok(()) => found,
        Err(error) => DoctorRecord {
            condition: Condition::Broken,
            problem: Some(error.to_string()),
            ..found
        },
    }
}
