//! Conditions on the arguments of commands that a table cannot express.

use super::{awk, conditions, sed};
use crate::shell::variables::may_be_set;
use crate::shell::verdict::is_one_of;
use crate::shell::word::{Arguments, Given, PartWord, Value};

/// A predicate on the name and the arguments of a command: whether it only reads.
pub(in crate::shell) type Check = fn(&str, &Arguments<'_>) -> bool;

/// Returns the condition that the tables call `rule=NAME`.
pub(in crate::shell) fn find_rule(name: &str) -> Option<Check> {
    Some(match name {
        "[" => |_, arguments| conditions::is_plain_bracket(arguments.words),
        "archive" => only_looks_inside,
        "awk" => awk::only_reads,
        // Other operands of `date` set the clock.
        "date" => |_, arguments| {
            let mut operands = arguments.operands.iter();
            operands.all(|word| word.prefix().starts_with('+'))
        },
        "formats" => verifies_nothing,
        "gets" => gets_settings,
        "lists" => only_lists,
        "modules" => imports_nothing,
        "no-response-file" => reads_no_options,
        "printf" => prints_a_format,
        "read" => reads_into_variables,
        "sed" => sed::only_reads,
        "set" => sets_strict_options,
        "tar" => lists_archive,
        "test" => |_, arguments| conditions::is_plain_test(arguments.words),
        "version" => |_, arguments| !arguments.options.is_empty(),
        _ => return None,
    })
}

/// Whether `git branch` or `git tag` creates nothing.
fn only_lists(_: &str, arguments: &Arguments<'_>) -> bool {
    arguments.operands.is_empty() || arguments.has_any_option(&["l", "list"])
}

/// Whether exactly one option says that the command prints, lists or tests.
fn only_looks_inside(_: &str, arguments: &Arguments<'_>) -> bool {
    const READING_OPTIONS: &str = "l t c list test stdout to-stdout v p z Z";
    let unpacks = arguments.has_any_option(&["d", "decompress"]);
    let prints = arguments.has_any_option(&["c", "stdout", "to-stdout"]);
    let options = arguments.options.iter();
    let reading = options.filter(|option| is_one_of(READING_OPTIONS, option.name));
    reading.count() == 1 && (prints || !unpacks)
}

/// Whether no argument is an `@file`, from which the binary utilities read further options.
fn reads_no_options(_: &str, arguments: &Arguments<'_>) -> bool {
    let mut values = arguments.options.iter().filter_map(Given::text);
    let mut operands = arguments.operands.iter().map(|word| word.prefix());
    operands.all(|text| !text.starts_with('@'))
        && values.all(|text| !text.is_empty() && !text.starts_with('@'))
}

/// Whether a program of `jq` or `yq` imports no other files, whose names it may compute.
fn imports_nothing(name: &str, arguments: &Arguments<'_>) -> bool {
    let values = arguments.options.iter().map(|option| option.word);
    let mut words = values.chain(arguments.operands.iter().copied());
    words.all(|word| {
        let mentions = |function: &&str| word.prefix().contains(function);
        let mut importing = ["import", "include", "modulemeta"].iter();
        !(importing.any(mentions) || name == "yq" && mentions(&"load"))
    })
}

/// Whether no format requests signatures, which another program verifies.
fn verifies_nothing(_: &str, arguments: &Arguments<'_>) -> bool {
    let mut options = arguments.options.iter();
    options.all(|option| match option.value {
        Value::None => true,
        _ if !is_one_of("format pretty sort group", option.name) => true,
        Value::Text(format) => !may_verify_signatures(format),
        Value::Prefix(_) => false,
    })
}

/// Whether a format or sort key of git may request a signature. Padding or colors may separate the `%` and the `G` of
/// `%G?`.
fn may_verify_signatures(format: &str) -> bool {
    let after = format.split_once('%').map_or("", |(_, after)| after);
    after.contains('G') || format.to_ascii_lowercase().contains("signature")
}

/// Whether `git config` has an option that reads, or a single name. A name with a value is set.
fn gets_settings(_: &str, arguments: &Arguments<'_>) -> bool {
    const QUERY_OPTIONS: &[&str] = &["get", "get-all", "get-regexp", "get-urlmatch", "list", "l"];
    let is_name = |word: &&PartWord| word.prefix().contains('.');
    arguments.has_any_option(QUERY_OPTIONS)
        || arguments.operands.len() == 1 && arguments.operands.iter().all(is_name)
}

/// Whether the format of `printf` assigns nothing. `-v` and the conversion `%n` assign variables.
fn prints_a_format(_: &str, arguments: &Arguments<'_>) -> bool {
    let format = match arguments.words {
        [first, format, ..] if first.literal() == Some("--") => format,
        [format, ..] if !format.prefix().starts_with('-') => format,
        _ => return false,
    };
    let assigns = |conversion| matches!(conversion, 'n' | '\0');
    format
        .literal()
        .is_some_and(|text| !conversions(text).any(assigns))
}

/// Returns the letters of the conversions in a format of `printf`; NUL for an incomplete one.
pub(in crate::shell) fn conversions(format: &str) -> impl Iterator<Item = char> + '_ {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('%')?;
        let after = after.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || "-+ #'.*hlLjzt".contains(letter)
        });
        let mut letters = after.chars();
        let conversion = letters.next().unwrap_or('\0');
        rest = letters.as_str();
        Some(conversion)
    })
}

/// Whether `read` sets ordinary variables.
fn reads_into_variables(_: &str, arguments: &Arguments<'_>) -> bool {
    let mut names = arguments.operands.iter().map(|word| word.literal());
    names.all(|name| name.is_some_and(may_be_set))
}

/// Whether the options of `set` only make the shell stricter or print what it runs.
fn sets_strict_options(_: &str, arguments: &Arguments<'_>) -> bool {
    const STRICT: &str =
        "-e -u -x -eu -ex -ux -eux -o -eo -uo -euo -euxo -exo errexit nounset pipefail xtrace";
    let mut options = arguments.words.iter().map(|word| word.literal());
    let last = arguments.words.last();
    begins_with_option(arguments)
        && last.is_some_and(|last| !last.prefix().ends_with('o'))
        && options.all(|option| option.is_some_and(|option| is_one_of(STRICT, option)))
}

/// Whether the first word may be an option.
fn begins_with_option(arguments: &Arguments<'_>) -> bool {
    let first = arguments.words.first();
    first.is_some_and(|first| first.prefix().starts_with('-'))
}

/// Whether `tar` lists a local archive. A first word without a dash could be options too.
fn lists_archive(_: &str, arguments: &Arguments<'_>) -> bool {
    let is_local = |word: &PartWord| word.literal().is_some_and(|text| !text.contains(':'));
    arguments.has_any_option(&["t", "list"])
        && begins_with_option(arguments)
        && arguments.words.iter().all(is_local)
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
