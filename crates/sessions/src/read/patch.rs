//! The text of a patch.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use crate::read::file_state::{WholeRemoval, find_whole_removal};
use turnpipe_formats::agent::{EditKind, FileEdit};

/// The changes of one file in a patch.
#[derive(Default)]
struct PatchedFile<'a> {
    edits: Vec<&'a FileEdit>,
    /// The number of its last change of the name, or of the first change.
    order: usize,
    is_removed: bool,
}

/// Returns the changes as a patch for the directory `root`, and the paths outside of it, which are omitted.
/// The changes of a file follow each other. A moved file has its last name from the first change on, because
/// `git apply` does not move files that the same patch changed.
pub fn format_patch(edits: &[FileEdit], root: &Path) -> (String, Vec<String>) {
    let (mut files, mut outside): (Vec<PatchedFile<'_>>, Vec<String>) = (Vec::new(), Vec::new());
    let mut index_by_path: HashMap<&str, usize> = HashMap::new();
    for (order, edit) in edits.iter().enumerate() {
        let moved_to = edit.moved_to.as_deref().unwrap_or(&edit.path);
        if [&*edit.path, moved_to]
            .iter()
            .any(|path| strip_root(path, root).is_none())
        {
            outside.push(edit.path.clone());
            continue;
        }
        let known = index_by_path.remove(&*edit.path);
        let present = known.filter(|index| !files[*index].is_removed);
        let index = present.unwrap_or_else(|| {
            files.push(PatchedFile {
                order,
                ..PatchedFile::default()
            });
            files.len() - 1
        });
        index_by_path.insert(moved_to, index);
        let file = &mut files[index];
        file.edits.push(edit);
        file.is_removed = edit.kind == EditKind::Remove;
        if moved_to != edit.path {
            file.order = order;
        }
    }
    files.sort_by_key(|file| file.order);
    let mut patch = String::new();
    for file in &files {
        let removed = Some(file).filter(|file| file.is_removed && file.edits.len() > 1);
        let removal = removed.map(|file| find_whole_removal(&file.edits));
        let edits = match &removal {
            Some(WholeRemoval::Nothing) => continue,
            Some(WholeRemoval::Whole(edit)) => vec![edit],
            _ => file.edits.clone(),
        };
        let last = edits
            .last()
            .map_or("", |edit| edit.moved_to.as_deref().unwrap_or(&edit.path));
        for (index, edit) in edits.iter().enumerate() {
            let is_old = index == 0 && edit.kind != EditKind::Add;
            let old = if is_old { &*edit.path } else { last };
            let is_change = matches!(edit.kind, EditKind::Change | EditKind::Context);
            let is_empty = is_change && edit.hunks.is_empty() && old == last;
            if let (Some(old), Some(new), false) =
                (strip_root(old, root), strip_root(last, root), is_empty)
            {
                write_section(&mut patch, edit, &old, &new);
            }
        }
    }
    (patch, outside)
}

/// Adds the section of a change.
fn write_section(patch: &mut String, edit: &FileEdit, old: &str, new: &str) {
    let names = [format!("a/{old}"), format!("b/{new}")].map(|name| quote_name(&name));
    let [from, to] = &names;
    let _ = writeln!(patch, "diff --git {from} {to}");
    if old != new {
        let [old, new] = [old, new].map(quote_name);
        let _ = writeln!(patch, "rename from {old}\nrename to {new}");
    }
    match edit.kind {
        EditKind::Add => patch.push_str("new file mode 100644\n"),
        EditKind::Remove => patch.push_str("deleted file mode 100644\n"),
        EditKind::Change | EditKind::Context | EditKind::Replace => {}
    }
    if edit.hunks.is_empty() {
        return;
    }
    let from = if edit.kind == EditKind::Add {
        "/dev/null"
    } else {
        from
    };
    let to = if edit.kind == EditKind::Remove {
        "/dev/null"
    } else {
        to
    };
    // A tab ends a name with blanks.
    let [from, to] = [from, to].map(|name| {
        let end = if name.contains(' ') { "\t" } else { "" };
        format!("{name}{end}")
    });
    let _ = writeln!(patch, "--- {from}\n+++ {to}");
    patch.push_str(&edit.hunks);
    if !edit.hunks.ends_with('\n') {
        patch.push('\n');
    }
}

/// Returns a path relative to the directory, unless it is outside.
fn strip_root(path: &str, root: &Path) -> Option<String> {
    let path = Path::new(path);
    let relative = match path.strip_prefix(root) {
        Ok(relative) => relative,
        Err(_) if path.is_relative() => path,
        Err(_) => return None,
    };
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    let relative = relative.strip_prefix(".").unwrap_or(relative);
    let is_inside = relative.components().all(is_plain) && relative != Path::new("");
    is_inside.then(|| relative.display().to_string())
}

/// Returns a name as git quotes it.
fn quote_name(name: &str) -> String {
    let is_special = |character: char| character.is_control() || "\"\\".contains(character);
    if !name.contains(is_special) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
