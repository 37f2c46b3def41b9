//! Host patterns, as in `WebFetch(domain:*.example.com)`.

use url::Url;

use super::pattern::Pattern;

/// The host pattern of a rule.
#[derive(Debug, Clone)]
pub struct DomainPattern {
    /// In lower case and without a trailing dot.
    pub(super) text: String,
    /// Label patterns, last label first; `*` matches within a label. Empty: any host.
    labels: Vec<Pattern>,
    /// Whether it matches subdomains only.
    is_below: bool,
}

impl DomainPattern {
    /// Parses `example.com`, `*.example.com` or `*`; `None` if no host can match.
    pub fn parse(pattern: &str) -> Option<Self> {
        let is_in_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.*".contains(letter);
        if pattern.is_empty() || !(pattern.starts_with('[') || pattern.chars().all(is_in_name)) {
            return None;
        }
        let pattern = pattern.trim_end_matches('.').to_ascii_lowercase();
        let below = pattern.strip_prefix("*.");
        let domain = below.unwrap_or(&pattern);
        let labels = domain.rsplit('.').filter(|_| domain != "*");
        Some(Self {
            labels: labels.map(Pattern::of_text).collect(),
            is_below: below.is_some(),
            text: pattern,
        })
    }

    /// Whether a host matches, in lower case and without a trailing dot.
    pub fn covers(&self, host: &str) -> bool {
        let host: Vec<&str> = host.rsplit('.').collect();
        let is_long_enough = match (self.labels.len(), self.is_below) {
            (0, false) => true,
            (count, true) => host.len() > count,
            (count, false) => host.len() == count,
        };
        is_long_enough
            && self
                .labels
                .iter()
                .zip(host)
                .all(|(pattern, label)| pattern.covers(label))
    }
}

/// Returns the host of a URL, in lower case and without a trailing dot.
pub(super) fn host(address: &str) -> Option<String> {
    let address = Url::parse(address).ok()?;
    Some(address.host_str()?.trim_end_matches('.').to_owned())
}
