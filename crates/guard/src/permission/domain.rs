//! Host patterns, as in `WebFetch(domain:*.example.com)`.

use url::Url;

use super::pattern::Pattern;

/// The host pattern of a rule.
#[derive(Debug, Clone)]
pub struct DomainPattern {
    /// In lower case and without a trailing dot.
    pub(super) text: String,
    /// Matches a host whose labels are separated by `/`.
    path: Pattern,
}

impl DomainPattern {
    /// Parses `example.com`, `*.example.com` or `*`; `None` if no host can match.
    pub fn parse(pattern: &str) -> Option<Self> {
        let is_in_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.*".contains(letter);
        if pattern.is_empty() || !(pattern.starts_with('[') || pattern.chars().all(is_in_name)) {
            return None;
        }
        let text = pattern.trim_end_matches('.').to_ascii_lowercase();
        let names = match text.strip_prefix("*.") {
            Some(domain) => format!("**/*/{}", convert_to_path(domain)),
            None if text == "*" => "**".to_owned(),
            None => convert_to_path(&text),
        };
        let path = Pattern::from_path(&names).ok()?;
        Some(Self { text, path })
    }

    /// Whether a host matches, in lower case and without a trailing dot.
    pub fn covers(&self, host: &str) -> bool {
        self.path.covers(&host.replace('.', "/"))
    }
}

/// Converts a domain to a path pattern with one name per label.
fn convert_to_path(domain: &str) -> String {
    let names = domain.replace("**", "*").replace('.', "/");
    names.replace('[', "\\[")
}

/// Returns the host of a URL, in lower case and without a trailing dot.
pub(super) fn parse_host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    Some(url.host_str()?.trim_end_matches('.').to_owned())
}
