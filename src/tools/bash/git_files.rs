//! Strict readers of git's configuration files and of its index.

use memchr::memchr;

const BLANKS: [char; 2] = [' ', '\t'];

/// A setting of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// In lower case.
    pub(super) section: String,
    pub(super) subsection: Option<String>,
    /// The last part of the key, in lower case.
    pub(super) key: String,
    /// `true` if the file has none.
    pub(super) value: String,
}

impl Setting {
    /// Returns the whole key.
    pub(super) fn name(&self) -> String {
        let Self { section, key, .. } = self;
        match &self.subsection {
            Some(subsection) => format!("{section}.{subsection}.{key}"),
            None => format!("{section}.{key}"),
        }
    }

    /// Whether it is this setting of a section without subsections.
    pub(super) fn is(&self, section: &str, key: &str) -> bool {
        self.section == section && self.subsection.is_none() && self.key == key
    }

    /// Whether the value names a file in the same way for all versions of git.
    pub(super) fn is_path(&self) -> bool {
        !self.value.is_empty() && !self.value.contains(char::is_control)
    }

    /// Whether it is in `git_settings.txt`.
    pub(super) fn is_harmless(&self) -> bool {
        let has_setting = |word: &str| match word.split_once('=') {
            Some((key, value)) => key == self.key && self.value.eq_ignore_ascii_case(value),
            None => word == "*" || word == self.key,
        };
        include_str!("git_settings.txt").lines().any(|row| {
            let mut words = row.split(' ');
            let section = words.next().unwrap_or_default();
            let parent = section.strip_suffix(".*");
            parent.unwrap_or(section) == self.section
                && parent.is_some() == self.subsection.is_some()
                && words.any(has_setting)
        })
    }
}

/// Parses a configuration file; `None` if git might read it in another way. Every setting is on one line of its own.
pub(super) fn parse_settings(text: &str) -> Option<Vec<Setting>> {
    let mut settings = Vec::new();
    let mut header = None;
    for line in text.lines().map(|line| line.trim_matches(BLANKS)) {
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            return None;
        }
        if is_blank(line) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            header = Some(parse_header(rest)?);
            continue;
        }
        let (section, subsection) = header.clone()?;
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim_end_matches(BLANKS), parse_value(value)?),
            None => (line, "true".to_owned()),
        };
        if !key.starts_with(|first: char| first.is_ascii_alphabetic())
            || !key.chars().all(is_letter)
        {
            return None;
        }
        settings.push(Setting {
            section,
            subsection,
            key: key.to_ascii_lowercase(),
            value,
        });
    }
    Some(settings)
}

/// Whether the rest of a line has no more than a comment.
fn is_blank(text: &str) -> bool {
    text.is_empty() || text.starts_with(['#', ';'])
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

/// Parses the header of a section after its bracket.
fn parse_header(text: &str) -> Option<(String, Option<String>)> {
    let (name, rest) = text.split_at(text.find(|letter| !is_letter(letter))?);
    let (subsection, rest) = match rest.strip_prefix(BLANKS) {
        Some(rest) => {
            let quoted = rest.trim_start_matches(BLANKS).strip_prefix('"')?;
            let (subsection, rest) = quoted.split_once("\"]")?;
            (Some(subsection), rest)
        }
        None => (None, rest.strip_prefix(']')?),
    };
    let is_plain = subsection.is_none_or(|name| !name.contains(['"', '\\']));
    let is_header = !name.is_empty() && is_plain && is_blank(rest.trim_start_matches(BLANKS));
    is_header.then(|| (name.to_ascii_lowercase(), subsection.map(str::to_owned)))
}

/// Parses a value, which may have quotes anywhere, up to the end of the line.
fn parse_value(text: &str) -> Option<String> {
    let mut value = String::new();
    let (mut end, mut is_quoted) = (0, false);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            ' ' | '\t' if !is_quoted => {
                if !value.is_empty() {
                    value.push(letter);
                }
                continue;
            }
            '\\' => value.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'b' => '\u{8}',
                sign @ ('"' | '\\') => sign,
                _ => return None,
            }),
            _ => value.push(letter),
        }
        end = value.len();
    }
    value.truncate(end);
    (!is_quoted).then_some(value)
}

/// Checks that an index lists only files of the work tree, and submodules if they are allowed.
///
/// # Errors
/// It has other entries, or is in a form that is not known, e.g. a split one, for this reason.
pub(super) fn check_index(index: &[u8], allows_submodules: bool) -> Result<(), &'static str> {
    const UNKNOWN: &str = "git's index is in a form that is not known";
    let mut rest = index.strip_prefix(b"DIRC").ok_or(UNKNOWN)?;
    let mut next = || read_number(&mut rest).ok_or(UNKNOWN);
    let (version, count) = (next()?, next()?);
    if !(2..=4).contains(&version) {
        return Err(UNKNOWN);
    }
    let mut name = Vec::new();
    for _ in 0..count {
        let mode = read_entry(&mut rest, version, &mut name).ok_or(UNKNOWN)?;
        let mut parts = name.split(|byte| *byte == b'/');
        // An empty part is that before the slash of an absolute path.
        if parts.any(|part| part.is_empty() || part == b"..") {
            return Err("git's index names files outside its work tree");
        }
        match mode {
            0o100_644 | 0o100_755 | 0o120_000 => {}
            0o160_000 if allows_submodules => {}
            // Git masks the mode of a submodule, which may have other bits.
            _ if mode & 0o170_000 == 0o160_000 => {
                return Err("git may inspect submodules, which have separate settings");
            }
            _ => return Err(UNKNOWN),
        }
    }
    // After the extensions, the checksum of the file.
    while rest.len() != 20 {
        let (name, after) = rest.split_first_chunk().ok_or(UNKNOWN)?;
        rest = after;
        let size = read_number(&mut rest).ok_or(UNKNOWN)?;
        let is_known = [b"TREE", b"REUC", b"UNTR", b"FSMN"].contains(&name);
        // Others lead to another file (`link`), or let threads of git read the entries elsewhere (`IEOT`).
        let after = rest.get(size as usize..).filter(|_| is_known);
        rest = after.ok_or(UNKNOWN)?;
    }
    Ok(())
}

/// Reads an entry of an index; returns its mode. `name` is the one of the entry before, and becomes its own. Returns
/// `None` if git might read it in another way.
fn read_entry(rest: &mut &[u8], version: u32, name: &mut Vec<u8>) -> Option<u32> {
    let entry = *rest;
    let mode = read_number(&mut entry.get(24..)?)?;
    let flags = u16::from_be_bytes(*entry.get(60..)?.first_chunk()?);
    let is_extended = flags & 0x4000 != 0;
    if is_extended && version == 2 {
        return None;
    }
    let mut text = entry.get(if is_extended { 64 } else { 62 }..)?;
    if version == 4 {
        name.truncate(name.len().checked_sub(read_offset(&mut text)?)?);
    } else {
        name.clear();
    }
    let (end, of_name) = text
        .split_at_checked(memchr(0, text)?)
        .map(|(end, rest)| (rest, end))?;
    name.extend(of_name);
    // The names of earlier versions end at a multiple of eight bytes.
    let padding = match version {
        4 => 1,
        _ => 8 - (entry.len() - end.len()) % 8,
    };
    *rest = end.get(padding..)?;
    let length = usize::from(flags & 0xfff);
    (length == name.len().min(0xfff)).then_some(mode)
}

/// Reads a number of four bytes.
fn read_number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_be_bytes(*number))
}

/// Reads a number of several bytes, each with seven bits and a mark that another one follows.
fn read_offset(rest: &mut &[u8]) -> Option<usize> {
    let mut offset = 0_usize;
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        offset = offset.checked_mul(128)? + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(offset);
        }
        offset += 1;
    }
}

#[cfg(test)]
#[path = "git_files_tests.rs"]
mod tests;
