//! Rules that a table cannot express.

use super::network::{gets_only, is_package, is_remote, names_no_server};
use crate::shell::verdict::{Checked, is_one_of};
use crate::shell::word::{Arguments, Given, PartWord, Value, refuse};

/// An extra rule for a command, given its name and its arguments.
pub(in crate::shell) type Check = fn(&str, &Arguments<'_>) -> Checked;

/// Returns the rule with this name in the tables.
pub(in crate::shell) fn rule(name: &str) -> Option<Check> {
    Some(match name {
        "archive" => only_looks_inside,
        "date" => prints_the_date,
        "formats" => verifies_nothing,
        "gets" => gets_settings,
        "gets-only" => gets_only,
        "github" => names_no_server,
        "lists" => creates_no_ref,
        "package" => is_package,
        "remote" => is_remote,
        "modules" => imports_nothing,
        "no-response-file" => reads_no_options,
        "version" => says_its_version,
        _ => return None,
    })
}

/// Accepts exactly one option that prints, lists or tests.
fn only_looks_inside(name: &str, arguments: &Arguments<'_>) -> Checked {
    const LOOKING: &str = "l t c list test stdout to-stdout v p z Z";
    let unpacks = arguments.has_one_of(&["d", "decompress"]);
    let prints = arguments.has_one_of(&["c", "stdout", "to-stdout"]);
    let looking = arguments.options.iter();
    let looking = looking.filter(|given| is_one_of(LOOKING, given.name));
    if looking.count() == 1 && (prints || !unpacks) {
        return Ok(());
    }
    refuse(None, format!("`{name}` may unpack or replace files"))
}

/// Refuses operands of `date` other than formats, which set the clock.
fn prints_the_date(_: &str, arguments: &Arguments<'_>) -> Checked {
    let mut operands = arguments.operands.iter();
    match operands.find(|word| !word.prefix().starts_with('+')) {
        Some(word) => refuse(
            Some(word),
            "`date` with an operand other than a format sets the clock",
        ),
        None => Ok(()),
    }
}

/// Refuses `@file`, from which the binary utilities read further options at any position.
fn reads_no_options(_: &str, arguments: &Arguments<'_>) -> Checked {
    let value = arguments.options.iter().find(|given| match given.value {
        Value::Text(text) | Value::Begins(text) => text.is_empty() || text.starts_with('@'),
        Value::None => false,
    });
    let mut operands = arguments.operands.iter();
    let operand = operands.find(|word| word.prefix().starts_with('@'));
    match value.map(|given| given.word).or(operand.copied()) {
        Some(word) => refuse(Some(word), "options from a file (`@…`)"),
        None => Ok(()),
    }
}

/// Refuses programs of `jq` and `yq` that read other files, whose names they may compute.
fn imports_nothing(name: &str, arguments: &Arguments<'_>) -> Checked {
    let values = arguments.options.iter().map(|given| given.word);
    let mut words = values.chain(arguments.operands.iter().copied());
    let imports = |word: &&PartWord| {
        let readers = ["import", "include", "modulemeta"];
        let own = ["load"].iter().filter(|_| name == "yq");
        let mut readers = readers.iter().chain(own);
        readers.any(|reader| word.prefix().contains(reader))
    };
    match words.find(imports) {
        Some(word) => refuse(
            Some(word),
            format!("`{name}` reads the files that the program names"),
        ),
        None => Ok(()),
    }
}

fn says_its_version(name: &str, arguments: &Arguments<'_>) -> Checked {
    if arguments.options.is_empty() {
        return refuse(None, format!("`{name}` only reads with certain options"));
    }
    Ok(())
}

/// Refuses formats that request signatures, which another program verifies.
fn verifies_nothing(name: &str, arguments: &Arguments<'_>) -> Checked {
    let verifies = |given: &&Given<'_>| {
        is_one_of("format pretty sort group", given.name)
            && match given.value {
                Value::None => false,
                Value::Text(format) => may_verify_signatures(format),
                Value::Begins(_) => true,
            }
    };
    match arguments.options.iter().find(verifies) {
        Some(given) => refuse(
            Some(given.word),
            format!("`{name}`: a format that may start a program to verify signatures"),
        ),
        None => Ok(()),
    }
}

/// Whether a format or sort key of git may request a signature, which another program verifies.
/// Padding or colors may separate the `%` and the `G` of `%G?`.
pub fn may_verify_signatures(format: &str) -> bool {
    let after = format.split_once('%').map_or("", |(_, after)| after);
    after.contains('G') || format.to_ascii_lowercase().contains("signature")
}

/// Refuses operands of `branch` and `tag`, which are created unless they list.
fn creates_no_ref(_: &str, arguments: &Arguments<'_>) -> Checked {
    match arguments.operands.first() {
        Some(word) if !arguments.has_one_of(&["l", "list"]) => {
            Err(word.writes("a name without `--list` is created"))
        }
        _ => Ok(()),
    }
}

/// Accepts a name alone, which is read; a name with a value is set.
fn gets_settings(name: &str, arguments: &Arguments<'_>) -> Checked {
    const ASKING: &[&str] = &["get", "get-all", "get-regexp", "get-urlmatch", "list", "l"];
    match arguments.operands.as_slice() {
        _ if arguments.has_one_of(ASKING) => Ok(()),
        [setting] if setting.prefix().contains('.') => Ok(()),
        [_, value, ..] => Err(value.writes("a setting is changed")),
        _ => refuse(
            None,
            format!("`{name}` in a form not known to be read-only"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::may_verify_signatures;

    #[test]
    fn formats_that_verify_signatures_are_found() {
        for format in [
            "%G?",
            "%h %+GG",
            "% GT",
            "%-G?",
            "%<(9)%GS",
            "%(signature:key)",
            "%C(red)%G?",
        ] {
            assert!(may_verify_signatures(format), "{format}");
        }
        for format in ["%an <%ae>", "G %h", "%(refname)", "oneline"] {
            assert!(!may_verify_signatures(format), "{format}");
        }
    }
}
