//! Host patterns, as in `WebFetch(domain:*.example.com)`.

use url::Url;

use super::pattern::Pattern;

/// The host pattern of a rule.
#[derive(Debug, Clone)]
pub struct DomainPattern {
    /// In lower case and without a trailing dot.
    pub(super) text: String,
    /// The pattern of hosts whose labels are the names of a path.
    labels: Pattern,
}

impl DomainPattern {
    /// Parses `example.com`, `*.example.com` or `*`; `None` if no host can match.
    pub fn parse(pattern: &str) -> Option<Self> {
        let is_in_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.*".contains(letter);
        if pattern.is_empty() || !(pattern.starts_with('[') || pattern.chars().all(is_in_name)) {
            return None;
        }
        let text = pattern.trim_end_matches('.').to_ascii_lowercase();
        let labels = match text.strip_prefix("*.") {
            Some(domain) => format!("**/*/{}", labels_of(domain)),
            None if text == "*" => "**".to_owned(),
            None => labels_of(&text),
        };
        let labels = Pattern::of_path(&labels).ok()?;
        Some(Self { text, labels })
    }

    /// Whether a host matches, in lower case and without a trailing dot.
    pub fn covers(&self, host: &str) -> bool {
        self.labels.covers(&host.replace('.', "/"))
    }
}

/// Converts a domain to a path.
fn labels_of(domain: &str) -> String {
    domain
        .replace("**", "*")
        .replace('.', "/")
        .replace('[', "\\[")
}

/// Returns the host of a URL, in lower case and without a trailing dot.
pub(super) fn host(address: &str) -> Option<String> {
    let address = Url::parse(address).ok()?;
    Some(address.host_str()?.trim_end_matches('.').to_owned())
}
