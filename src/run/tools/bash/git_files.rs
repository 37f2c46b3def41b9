//! Strict readers of git's configuration files and of its index.

use memchr::memchr;

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

/// Parses a configuration file; `None` if git might read other settings. Each is on one line of its own. Git refuses
/// values with wrong quotes.
pub(super) fn parse_settings(text: &str) -> Option<Vec<Setting>> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_letter);
    let mut settings = Vec::new();
    let mut section = None;
    for line in text.lines() {
        let line = line.trim_matches([' ', '\t']);
        // A backslash at the end joins lines.
        if line.ends_with('\\') || line.contains(|sign: char| sign.is_control() && sign != '\t') {
            return None;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.strip_suffix(']')?;
            let (name, subsection) = header.split_once(" \"").unwrap_or((header, "\""));
            if !is_name(name) || subsection.strip_suffix('"')?.contains(['"', '\\']) {
                return None;
            }
            let parent = if name == header { "" } else { ".*" };
            section = Some(name.to_ascii_lowercase() + parent);
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let key = key.trim_end_matches([' ', '\t']).to_ascii_lowercase();
        if !is_name(&key) || !key.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return None;
        }
        let is_plain = !value.contains(['"', '\\']);
        let comment = value.find(['#', ';']).filter(|_| is_plain);
        let value = value.get(..comment.unwrap_or(value.len()))?;
        settings.push((
            format!("{}.{key}", section.as_ref()?),
            value.trim_matches([' ', '\t']).to_owned(),
        ));
    }
    Some(settings)
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
