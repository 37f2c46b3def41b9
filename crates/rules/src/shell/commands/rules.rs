//! Rules that a table cannot express, and commands that read from a server and change nothing there.

use crate::shell::verdict::{Checked, is_one_of};
use crate::shell::word::{Arguments, Value, Word, refuse};

/// An extra rule for a command, given its name and its arguments.
pub(in crate::shell) type Check = fn(&str, &Arguments<'_>) -> Checked;

/// Returns the rule with this name in the tables.
pub(in crate::shell) fn rule(name: &str) -> Option<Check> {
    Some(match name {
        "archive" => only_looks_inside,
        "date" => prints_the_date,
        "files" => reads_named_files,
        "formats" => verifies_nothing,
        "gets" => gets_settings,
        "gets-only" => gets_only,
        "github" => names_no_server,
        "lists" => creates_no_ref,
        "package" => is_package,
        "remote" => is_remote,
        "no-response-file" => reads_no_options,
        "reflog" => shows_reflog,
        "version" => says_its_version,
        _ => return None,
    })
}

/// Accepts output to standard output, or exactly one mode that lists or tests. Programs disagree on
/// which of several modes counts.
fn only_looks_inside(name: &str, arguments: &Arguments<'_>) -> Checked {
    const LOOKING: &[&str] = &["l", "t", "list", "test"];
    const PRINTING: &[&str] = &["c", "stdout", "to-stdout"];
    const UNZIP: &[&str] = &["l", "t", "v", "p", "z", "Z"];
    const UNPACKING: &[&str] = &["d", "decompress", "uncompress"];
    let count = |names: &[&str]| {
        let given = arguments.options.iter();
        given.filter(|given| names.contains(&given.name)).count()
    };
    let is_harmless = if name == "unzip" {
        count(UNZIP) == 1
    } else {
        count(PRINTING) > 0 || (count(LOOKING) == 1 && count(UNPACKING) == 0)
    };
    if is_harmless {
        return Ok(());
    }
    let first = arguments.options.first().map(|given| given.word);
    let word = first.or(arguments.operands.first().copied());
    refuse(
        word,
        format!("`{name}` may unpack or replace files unless exactly one option says otherwise"),
    )
}

/// Refuses operands of `date` other than formats, which set the clock.
fn prints_the_date(_: &str, arguments: &Arguments<'_>) -> Checked {
    let mut operands = arguments.operands.iter();
    match operands.find(|word| !word.prefix.starts_with('+')) {
        Some(word) => refuse(
            Some(word),
            "`date` with an operand other than a format sets the clock",
        ),
        None => Ok(()),
    }
}

/// Accepts at most one text or pattern, then ordinary files with plain names; at least one operand.
fn reads_named_files(name: &str, arguments: &Arguments<'_>) -> Checked {
    let is_named = |word: &&Word| {
        word.literal().is_some_and(|text| {
            text != "-"
                && !text.contains('\n')
                && !text.contains("/dev/")
                && !text.contains("/proc/")
        })
    };
    let is_plain = |word: &&Word| {
        let mut bytes = word.prefix.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._/+,@=-".contains(&byte))
    };
    let operands = &arguments.operands;
    if !operands.is_empty()
        && operands.iter().all(is_named)
        && operands.iter().skip(1).all(is_plain)
    {
        return Ok(());
    }
    refuse(
        operands.first().copied(),
        format!("`{name}` without the plain names of files"),
    )
}

/// Refuses `@file`, from which the binary utilities read further options at any position.
fn reads_no_options(_: &str, arguments: &Arguments<'_>) -> Checked {
    let value = arguments.options.iter().find(|given| match given.value {
        Value::Text(text) | Value::Begins(text) => text.is_empty() || text.starts_with('@'),
        Value::None => false,
    });
    let mut operands = arguments.operands.iter();
    let operand = operands.find(|word| word.prefix.starts_with('@'));
    match value.map(|given| given.word).or(operand.copied()) {
        Some(word) => refuse(Some(word), "options from a file (`@…`)"),
        None => Ok(()),
    }
}

fn says_its_version(name: &str, arguments: &Arguments<'_>) -> Checked {
    if arguments.options.is_empty() {
        return refuse(None, format!("`{name}` only reads with certain options"));
    }
    Ok(())
}

/// Refuses formats that request signatures, which another program verifies, and remerging, which writes objects.
fn verifies_nothing(name: &str, arguments: &Arguments<'_>) -> Checked {
    const MERGES: &str = "off none first-parent 1 separate combined c dense-combined cc";
    for given in &arguments.options {
        let why = match (given.name, given.value) {
            (_, Value::None) => continue,
            ("format" | "pretty" | "sort" | "group", Value::Text(format))
                if !may_verify_signatures(format) =>
            {
                continue;
            }
            ("format" | "pretty" | "sort" | "group", _) => {
                "a format that may start a program to verify signatures"
            }
            ("diff-merges", Value::Text(how)) if is_one_of(MERGES, how) => {
                continue;
            }
            ("diff-merges", _) => "merges that may be merged again",
            _ => continue,
        };
        return refuse(Some(given.word), format!("`{name}`: {why}"));
    }
    Ok(())
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

/// Refuses `git reflog expire` and similar, which change the reflog; a ref is shown.
fn shows_reflog(_: &str, arguments: &Arguments<'_>) -> Checked {
    match arguments.operands.first() {
        Some(word)
            if matches!(
                word.literal(),
                None | Some("expire" | "delete" | "drop" | "write")
            ) =>
        {
            Err(word.writes("this changes the reflog"))
        }
        _ => Ok(()),
    }
}

/// Accepts a name alone, which is read; a name with a value is set.
fn gets_settings(_: &str, arguments: &Arguments<'_>) -> Checked {
    const ASKING: &[&str] = &["get", "get-all", "get-regexp", "get-urlmatch", "list", "l"];
    let name = arguments
        .operands
        .first()
        .map_or(usize::MAX, |name| name.span.start);
    // `git config a.b --list` sets a value.
    if let Some(given) = arguments
        .options
        .iter()
        .find(|given| given.word.span.start > name)
    {
        return Err(given.word.writes("an option after the name is a value"));
    }
    if arguments.has_one_of(ASKING) {
        return Ok(());
    }
    match arguments.operands.as_slice() {
        [name] if name.literal().is_some_and(|name| name.contains('.')) => Ok(()),
        [_, value, ..] => Err(value.writes("a setting is changed")),
        rest => refuse(
            rest.first().copied(),
            "`git config` in a form not known to be read-only",
        ),
    }
}

/// Accepts a repository as `OWNER/NAME` and operands without a server.
pub(super) fn names_no_server(name: &str, arguments: &Arguments<'_>) -> Checked {
    for given in &arguments.options {
        let is_repository = matches!(given.name, "R" | "repo");
        if is_repository && !matches!(given.value, Value::Text(text) if is_repository_name(text)) {
            return refuse(
                Some(given.word),
                format!("`{name}` with a repository of another server"),
            );
        }
    }
    let is_local = |word: &&Word| {
        !word.prefix.contains("://")
            && (!name.starts_with("gh repo") || is_repository_name(&word.prefix))
    };
    match arguments.operands.iter().find(|word| !is_local(word)) {
        Some(word) => refuse(Some(word), format!("`{name}` with an address of a server")),
        None => Ok(()),
    }
}

fn is_repository_name(text: &str) -> bool {
    text.matches('/').count() <= 1 && is_plain(text, "-_./")
}

fn is_plain(text: &str, others: &str) -> bool {
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '@')
        && text.chars().all(is_known)
}

/// Refuses methods other than GET, and GraphQL, whose requests are sent with POST.
pub(super) fn gets_only(name: &str, arguments: &Arguments<'_>) -> Checked {
    let is_get = |value| matches!(value, Value::Text("GET" | "get"));
    let mut options = arguments.options.iter();
    if let Some(given) =
        options.find(|given| matches!(given.name, "X" | "method") && !is_get(given.value))
    {
        return refuse(
            Some(given.word),
            format!("`{name}` with a method other than GET"),
        );
    }
    match arguments.operands.as_slice() {
        [path] if path.prefix.trim_matches('/') != "graphql" => Ok(()),
        _ => refuse(
            arguments.operands.first().copied(),
            format!("`{name}` without one path"),
        ),
    }
}

/// Accepts an address that starts with `https://`, or the name of a remote, which is a requirement of the verdict.
pub(super) fn is_remote(name: &str, arguments: &Arguments<'_>) -> Checked {
    match arguments.operands.first() {
        Some(word) if !word.prefix.starts_with("https://") && !is_plain(&word.prefix, "-_") => {
            refuse(
                Some(word),
                format!("`{name}` with an address that may start a program"),
            )
        }
        _ => Ok(()),
    }
}

/// Accepts names and versions of packages, without addresses and paths.
pub(super) fn is_package(name: &str, arguments: &Arguments<'_>) -> Checked {
    let is_named = |word: &&Word| {
        let scope = word.prefix.strip_prefix('@').map_or(0, |_| 1);
        word.prefix.matches('/').count() == scope && is_plain(&word.prefix, "-_.@/^~*+ ")
    };
    match arguments.operands.iter().find(|word| !is_named(word)) {
        Some(word) => refuse(Some(word), format!("`{name}` with an address or a path")),
        None if arguments.operands.is_empty() => refuse(None, format!("`{name}` without a name")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::may_verify_signatures;
    use crate::shell::{Verdict, analyse};

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

    #[test]
    fn reads_from_servers_are_accepted_on_request_only() {
        for line in [
            "gh pr view 12 --json title,body | jq .title",
            "gh pr list --state open -L 5 -R a/b && git log -1",
            "gh pr diff 12 | head -50",
            "gh api repos/a/b/pulls/1 --paginate --jq '.[].id'",
            "gh api -X GET repos/a/b",
            "gh run view 1 --log-failed | tail -20",
            "git ls-remote origin 'refs/heads/*'",
            "git ls-remote --tags https://github.com/a/b",
            "cargo search serde --limit 3",
            "npm view @a/b@1.2 versions --json",
            "pip index versions requests",
        ] {
            let analysis = analyse(line);
            assert_eq!(analysis.verdict, Verdict::Unknown, "{line}");
            let allowed = analysis.allowing_network_reads();
            assert!(allowed.verdict.is_read_only(), "{line}: {}", allowed.why);
        }
    }

    #[test]
    fn other_requests_are_refused_in_any_case() {
        for line in [
            "gh pr create",
            "gh pr view --web",
            "gh pr view https://example.com/a/b/pull/1",
            "gh pr view 1 -R example.com/a/b",
            "gh repo view example.com/a/b",
            "gh repo view git@example.com:a/b",
            "gh api https://example.com/x",
            "gh api repos/a/b -f x=1",
            "gh api -X POST repos/a/b",
            "gh api --method=DELETE repos/a/b",
            "gh api graphql",
            "gh api repos/a/b --input x.json",
            "gh api repos/a/b --hostname example.com",
            "gh api repos/a/b --cache 1h",
            "gh api \"repos/$x\"",
            "gh issue list --search \"$(cat .env)\"",
            "gh auth token",
            "GH_HOST=example.com gh pr list",
            "git ls-remote ext::sh",
            "git ls-remote ../other",
            "git ls-remote --upload-pack=x origin",
            "git fetch --dry-run",
            "cargo search --index x y",
            "cargo info path+file:///x",
            "npm view a/b",
            "npm view ./x",
            "npm view git+https://example.com/x",
            "npm view",
            "npm view x --registry=https://example.com",
            "pip index versions -i https://example.com x",
            "curl https://example.com",
            "wget -qO- https://example.com",
            "gh pr list > prs.txt",
            "xargs gh pr view",
        ] {
            let analysis = analyse(line).allowing_network_reads();
            assert!(!analysis.verdict.is_read_only(), "{line}");
        }
    }
}
