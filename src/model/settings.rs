//! What can be configured about models.

use std::collections::BTreeMap;

use super::dialect::DialectOverrides;
use super::key::KeySource;
use crate::http::{Header, HttpSettings, PlainText};

/// Which models there are, and how they are reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelSettings {
    /// The model for labels, titles and recaps.
    pub fast: Option<ChosenModel>,
    /// The model for the conversation itself.
    pub main: Option<ChosenModel>,
    /// What is said about providers, known ones and others.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// How requests are made.
    pub http: HttpSettings,
}

/// A model that somebody chose. Whether the name makes sense shows when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    /// Its name.
    pub name: String,
    /// Who chose it: a flag, a variable, or `fast_model` and `model` in the configuration file.
    pub by: &'static str,
}

/// What is said about a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderSettings {
    /// The known provider that it is like; without, it is the one of its own name.
    pub preset: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// Its key.
    pub key: KeySource,
    /// Headers of every request.
    pub headers: Vec<Header>,
    /// Whether keys are sent to it without encryption.
    pub plain_text: PlainText,
    /// How it differs.
    pub dialect: DialectOverrides,
}
