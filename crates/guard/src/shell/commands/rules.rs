//! Rules that a table cannot express.

use crate::shell::verdict::is_one_of;
use crate::shell::word::{Arguments, Given, PartWord, Value};

/// Whether a command only reads with its arguments, given its name too.
pub(in crate::shell) type Check = fn(&str, &Arguments<'_>) -> bool;

/// Returns the rule with this name in the tables.
pub(in crate::shell) fn rule(name: &str) -> Option<Check> {
    Some(match name {
        "archive" => only_looks_inside,
        "date" => prints_the_date,
        "formats" => verifies_nothing,
        "gets" => gets_settings,
        "lists" => creates_no_ref,
        "modules" => imports_nothing,
        "no-response-file" => reads_no_options,
        "version" => says_its_version,
        _ => return None,
    })
}

/// Whether exactly one option says that the command prints, lists or tests.
fn only_looks_inside(_: &str, arguments: &Arguments<'_>) -> bool {
    const LOOKING: &str = "l t c list test stdout to-stdout v p z Z";
    let unpacks = arguments.has_one_of(&["d", "decompress"]);
    let prints = arguments.has_one_of(&["c", "stdout", "to-stdout"]);
    let looking = arguments.options.iter();
    let looking = looking.filter(|given| is_one_of(LOOKING, given.name));
    looking.count() == 1 && (prints || !unpacks)
}

/// Whether all operands of `date` are formats; others set the clock.
fn prints_the_date(_: &str, arguments: &Arguments<'_>) -> bool {
    let mut operands = arguments.operands.iter();
    operands.all(|word| word.prefix().starts_with('+'))
}

/// Whether there is no `@file`, from which the binary utilities read further options at any position.
fn reads_no_options(_: &str, arguments: &Arguments<'_>) -> bool {
    let values = arguments.options.iter().filter_map(Given::text);
    let mut operands = arguments.operands.iter().map(|word| word.prefix());
    operands.all(|text| !text.starts_with('@'))
        && values
            .into_iter()
            .all(|text| !text.is_empty() && !text.starts_with('@'))
}

/// Whether a program of `jq` or `yq` reads no other files, whose names it may compute.
fn imports_nothing(name: &str, arguments: &Arguments<'_>) -> bool {
    let values = arguments.options.iter().map(|given| given.word);
    let mut words = values.chain(arguments.operands.iter().copied());
    words.all(|word| {
        let imports = |reader: &&str| word.prefix().contains(reader);
        let mut readers = ["import", "include", "modulemeta"].iter();
        !(readers.any(imports) || name == "yq" && imports(&"load"))
    })
}

fn says_its_version(_: &str, arguments: &Arguments<'_>) -> bool {
    !arguments.options.is_empty()
}

/// Whether no format requests signatures, which another program verifies.
fn verifies_nothing(_: &str, arguments: &Arguments<'_>) -> bool {
    let mut options = arguments.options.iter();
    options.all(|given| match given.value {
        Value::None => true,
        _ if !is_one_of("format pretty sort group", given.name) => true,
        Value::Text(format) => !may_verify_signatures(format),
        Value::Begins(_) => false,
    })
}

/// Whether a format or sort key of git may request a signature, which another program verifies.
/// Padding or colors may separate the `%` and the `G` of `%G?`.
fn may_verify_signatures(format: &str) -> bool {
    let after = format.split_once('%').map_or("", |(_, after)| after);
    after.contains('G') || format.to_ascii_lowercase().contains("signature")
}

/// Whether `branch` and `tag` create no operand: only lists may have some.
fn creates_no_ref(_: &str, arguments: &Arguments<'_>) -> bool {
    arguments.operands.is_empty() || arguments.has_one_of(&["l", "list"])
}

/// Whether `config` has a name alone, which is read; a name with a value is set.
fn gets_settings(_: &str, arguments: &Arguments<'_>) -> bool {
    const ASKING: &[&str] = &["get", "get-all", "get-regexp", "get-urlmatch", "list", "l"];
    let is_name = |word: &&PartWord| word.prefix().contains('.');
    arguments.has_one_of(ASKING)
        || arguments.operands.len() == 1 && arguments.operands.iter().all(is_name)
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
