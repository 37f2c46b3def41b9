//! Parses configuration files of git strictly.

/// A key, with `*` for its subsection and the rest in lower case, and a value: `remote.*.url`, `https://example.com`.
/// Values with quotes or backslashes have those too.
pub(super) type Setting = (String, String);

/// Whether a setting is in `git_settings.txt`.
pub(super) fn is_harmless((name, value): &Setting) -> bool {
    include_str!("git_settings.txt").lines().any(|row| {
        let (section, keys) = row.split_once(' ').unwrap_or_default();
        let key = name
            .strip_prefix(section)
            .and_then(|key| key.strip_prefix('.'));
        key.is_some_and(|key| {
            keys.split(' ').any(|known| match known.split_once('=') {
                Some((known, only)) => known == key && value.eq_ignore_ascii_case(only),
                None => known == "*" || known == key,
            })
        })
    })
}

/// Parses a configuration file with each setting on one line; `None` if git might read other settings. Git itself
/// refuses values with unbalanced quotes.
pub(super) fn parse_settings(text: &str) -> Option<Vec<Setting>> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_letter);
    let mut settings = Vec::new();
    let mut section = None;
    for indented in text.lines() {
        let line = indented.trim_matches([' ', '\t']);
        // A backslash at the end joins lines.
        if line.ends_with('\\') || line.contains(|sign: char| sign.is_control() && sign != '\t') {
            return None;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let header = rest.strip_suffix(']')?;
            let (name, subsection) = header.split_once(" \"").unwrap_or((header, "\""));
            if !is_name(name) || subsection.strip_suffix('"')?.contains(['"', '\\']) {
                return None;
            }
            let parent = if name == header { "" } else { ".*" };
            section = Some(name.to_ascii_lowercase() + parent);
            continue;
        }
        let (name, text) = line.split_once('=').unwrap_or((line, "true"));
        let key = name.trim_end_matches([' ', '\t']).to_ascii_lowercase();
        if !is_name(&key) || !key.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return None;
        }
        let is_plain = !text.contains(['"', '\\']);
        let comment = text.find(['#', ';']).filter(|_| is_plain);
        let value = text.get(..comment.unwrap_or(text.len()))?;
        settings.push((
            format!("{}.{key}", section.as_ref()?),
            value.trim_matches([' ', '\t']).to_owned(),
        ));
    }
    Some(settings)
}

#[cfg(test)]
#[path = "git_files_tests.rs"]
mod tests;
