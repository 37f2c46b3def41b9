//! The reading forms of git's subcommands.

use crate::shell::analysis::GitScope;
use crate::shell::options::{Arguments, Command, Operands, PLAIN};
use crate::shell::refusal::Refusal;

/// One form of a subcommand.
#[derive(Debug)]
pub(super) struct Reading {
    /// The word after the subcommand that makes it this form.
    pub(super) action: Option<&'static str>,
    /// What git looks at.
    pub(super) scope: GitScope,
    /// The options; the names are those of the subcommand.
    pub(super) command: Command,
}

const fn objects(command: Command) -> Reading {
    Reading {
        action: None,
        scope: GitScope::Objects,
        command,
    }
}

const fn work_tree(command: Command) -> Reading {
    Reading {
        action: None,
        scope: GitScope::WorkTree,
        command,
    }
}

const fn action(action: &'static str, scope: GitScope, command: Command) -> Reading {
    Reading {
        action: Some(action),
        scope,
        command,
    }
}

/// Options for what differences show. Not `--output`, `--ext-diff`, `--textconv`.
const DIFF_SHORT: &str = "puU:sO:zB::M::C::Dl:aRbwWS:G:X::c";
const LOG_SHORT: &str = "puU:sO:zB::M::C::Dl:aRbwWS:G:X::cn:iEFPgtmrL:";

macro_rules! with_diff_options {
    ($($more:literal),* $(,)?) => {
        &[
            "patch", "no-patch", "unified=", "raw", "patch-with-raw", "patch-with-stat", "indent-heuristic", "no-indent-heuristic", "minimal",
            "patience", "histogram", "anchored=", "diff-algorithm=", "stat[=]", "stat-width=", "stat-count=", "stat-name-width=",
            "compact-summary", "numstat", "shortstat", "dirstat[=]", "cumulative", "summary", "name-only", "name-status", "color[=]",
            "no-color", "color-moved[=]", "no-color-moved", "color-moved-ws=", "word-diff[=]", "word-diff-regex=", "color-words[=]",
            "no-renames", "rename-empty", "no-rename-empty", "check", "ws-error-highlight=", "full-index", "binary", "abbrev[=]",
            "break-rewrites[=]", "find-renames[=]", "find-copies[=]", "find-copies-harder", "irreversible-delete", "diff-filter=",
            "pickaxe-all", "pickaxe-regex", "find-object=", "skip-to=", "rotate-to=", "relative[=]", "no-relative", "text",
            "ignore-cr-at-eol", "ignore-space-at-eol", "ignore-space-change", "ignore-all-space", "ignore-blank-lines",
            "ignore-matching-lines=", "inter-hunk-context=", "function-context", "exit-code", "quiet", "no-ext-diff", "no-textconv",
            "src-prefix=", "dst-prefix=", "no-prefix", "default-prefix", "line-prefix=", "ita-invisible-in-index", "root",
            "output-indicator-new=", "output-indicator-old=", "output-indicator-context=", "ignore-submodules[=]",
            $($more),*
        ]
    };
}

const DIFF_LONG: &[&str] = with_diff_options![
    "cached",
    "staged",
    "merge-base",
    "no-index",
    "base",
    "ours",
    "theirs",
    "cc",
    "combined-all-paths",
];

const LOG_LONG: &[&str] = with_diff_options![
    "follow",
    "decorate[=]",
    "no-decorate",
    "decorate-refs=",
    "decorate-refs-exclude=",
    "source",
    "mailmap",
    "no-mailmap",
    "use-mailmap",
    "log-size",
    "max-count=",
    "skip=",
    "since=",
    "after=",
    "until=",
    "before=",
    "since-as-filter=",
    "author=",
    "committer=",
    "grep-reflog=",
    "grep=",
    "all-match",
    "invert-grep",
    "regexp-ignore-case",
    "basic-regexp",
    "extended-regexp",
    "fixed-strings",
    "perl-regexp",
    "remove-empty",
    "merges",
    "no-merges",
    "min-parents=",
    "max-parents=",
    "no-min-parents",
    "no-max-parents",
    "first-parent",
    "exclude-first-parent-only",
    "not",
    "all",
    "branches[=]",
    "tags[=]",
    "remotes[=]",
    "glob=",
    "exclude=",
    "exclude-hidden=",
    "reflog",
    "ignore-missing",
    "cherry-mark",
    "cherry-pick",
    "left-only",
    "right-only",
    "cherry",
    "walk-reflogs",
    "merge",
    "boundary",
    "simplify-by-decoration",
    "show-pulls",
    "full-history",
    "dense",
    "sparse",
    "simplify-merges",
    "ancestry-path[=]",
    "date-order",
    "author-date-order",
    "topo-order",
    "reverse",
    "no-walk[=]",
    "do-walk",
    "pretty[=]",
    "format=",
    "abbrev-commit",
    "no-abbrev-commit",
    "oneline",
    "encoding=",
    "expand-tabs[=]",
    "no-expand-tabs",
    "notes[=]",
    "no-notes",
    "relative-date",
    "date=",
    "parents",
    "children",
    "left-right",
    "graph",
    "no-graph",
    "show-linear-break[=]",
    "count",
    "timestamp",
    "cc",
    "combined-all-paths",
    "diff-merges=",
    "no-diff-merges",
    "stdin",
    "clear-decorations",
    "no-show-signature",
    // Of `rev-list` alone.
    "header",
    "objects",
    "objects-edge",
    "no-object-names",
    "disk-usage[=]",
    "quiet",
    "use-bitmap-index",
    "no-commit-header",
];

const LOG: Command = Command {
    short: LOG_SHORT,
    long: LOG_LONG,
    numbers: true,
    ..PLAIN
};

/// Options that choose among refs, for the listing forms of `branch`, `tag` and `for-each-ref`.
const REF_LONG: &[&str] = &[
    "list",
    "all",
    "remotes",
    "verbose",
    "no-verbose",
    "color[=]",
    "no-color",
    "column[=]",
    "no-column",
    "sort=",
    "merged=?",
    "no-merged=?",
    "contains=?",
    "no-contains=?",
    "points-at=?",
    "format=",
    "abbrev[=]",
    "no-abbrev",
    "ignore-case",
    "show-current",
    "omit-empty",
];

/// The forms.
pub(super) const READING: &[Reading] = &[
    objects(Command {
        names: &["log"],
        ..LOG
    }),
    work_tree(Command {
        names: &["show"],
        ..LOG
    }),
    objects(Command {
        names: &["rev-list"],
        ..LOG
    }),
    work_tree(Command {
        names: &["diff"],
        short: DIFF_SHORT,
        long: DIFF_LONG,
        numbers: true,
        ..PLAIN
    }),
    work_tree(Command {
        names: &["diff-tree", "diff-index", "diff-files"],
        short: "puU:sO:zB::M::C::Dl:aRbwWS:G:crtmvq",
        long: with_diff_options![
            "cached",
            "merge-base",
            "no-commit-id",
            "stdin",
            "cc",
            "pretty[=]",
            "format=",
            "always",
            "combined-all-paths",
            "oneline",
        ],
        ..PLAIN
    }),
    work_tree(Command {
        names: &["status"],
        short: "sbvu::z",
        long: &[
            "short",
            "branch",
            "show-stash",
            "porcelain[=]",
            "long",
            "verbose",
            "untracked-files[=]",
            "ignore-submodules[=]",
            "ignored[=]",
            "column[=]",
            "no-column",
            "ahead-behind",
            "no-ahead-behind",
            "renames",
            "no-renames",
            "find-renames[=]",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["branch"],
        short: "arvlqi",
        long: REF_LONG,
        also: Some(lists_or_names_nothing),
        ..PLAIN
    }),
    objects(Command {
        names: &["tag"],
        short: "ln::i",
        long: REF_LONG,
        also: Some(lists_or_names_nothing),
        ..PLAIN
    }),
    objects(Command {
        names: &["for-each-ref"],
        long: &[
            "count=",
            "sort=",
            "format=",
            "color[=]",
            "points-at=",
            "merged=?",
            "no-merged=?",
            "contains=?",
            "no-contains=?",
            "ignore-case",
            "omit-empty",
            "exclude=",
            "include-root-refs",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["show-ref"],
        short: "qdhs::",
        long: &[
            "head",
            "branches",
            "heads",
            "tags",
            "dereference",
            "hash[=]",
            "verify",
            "abbrev[=]",
            "quiet",
            "exists",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["show-branch"],
        short: "arg::",
        long: &[
            "all",
            "remotes",
            "current",
            "topo-order",
            "date-order",
            "sparse",
            "more=",
            "list",
            "merge-base",
            "independent",
            "no-name",
            "sha1-name",
            "topics",
            "reflog[=]",
            "color[=]",
            "no-color",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["remote"],
        short: "v",
        long: &["verbose"],
        operands: Operands::AtMost(0),
        ..PLAIN
    }),
    action(
        "get-url",
        GitScope::Objects,
        Command {
            names: &["remote"],
            long: &["push", "all"],
            operands: Operands::AtMost(1),
            ..PLAIN
        },
    ),
    objects(Command {
        names: &["rev-parse"],
        short: "q",
        long: &[
            "verify",
            "quiet",
            "sq",
            "short[=]",
            "not",
            "abbrev-ref[=]",
            "symbolic",
            "symbolic-full-name",
            "all",
            "branches[=]",
            "tags[=]",
            "remotes[=]",
            "glob=",
            "exclude=",
            "disambiguate=",
            "local-env-vars",
            "path-format=",
            "git-dir",
            "git-common-dir",
            "resolve-git-dir",
            "git-path",
            "show-toplevel",
            "show-superproject-working-tree",
            "shared-index-path",
            "absolute-git-dir",
            "is-inside-git-dir",
            "is-inside-work-tree",
            "is-bare-repository",
            "is-shallow-repository",
            "show-cdup",
            "show-prefix",
            "show-object-format[=]",
            "show-ref-format",
            "since=",
            "after=",
            "until=",
            "before=",
            "revs-only",
            "no-revs",
            "flags",
            "no-flags",
            "default=",
            "prefix=",
            "end-of-options",
        ],
        ..PLAIN
    }),
    work_tree(Command {
        names: &["ls-files"],
        short: "cdmoiskutvfzx:X:",
        long: &[
            "cached",
            "deleted",
            "modified",
            "others",
            "ignored",
            "stage",
            "killed",
            "directory",
            "no-empty-directory",
            "unmerged",
            "exclude=",
            "exclude-from=",
            "exclude-per-directory=",
            "exclude-standard",
            "error-unmatch",
            "with-tree=",
            "full-name",
            "abbrev[=]",
            "debug",
            "eol",
            "deduplicate",
            "sparse",
            "format=",
            "resolve-undo",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["ls-tree"],
        short: "drtlz",
        long: &[
            "long",
            "name-only",
            "name-status",
            "object-only",
            "full-name",
            "full-tree",
            "abbrev[=]",
            "format=",
        ],
        ..PLAIN
    }),
    // Not `--textconv`, `--filters`.
    objects(Command {
        names: &["cat-file"],
        short: "tspeZz",
        long: &[
            "allow-unknown-type",
            "batch[=]",
            "batch-check[=]",
            "batch-all-objects",
            "buffer",
            "unordered",
            "follow-symlinks",
            "use-mailmap",
            "no-filter",
        ],
        ..PLAIN
    }),
    work_tree(Command {
        names: &["blame", "annotate"],
        short: "cbL:ltS:pM::C::hesfnw",
        long: &[
            "root",
            "show-stats",
            "reverse",
            "first-parent",
            "porcelain",
            "line-porcelain",
            "incremental",
            "encoding=",
            "date=",
            "ignore-rev=",
            "ignore-revs-file=",
            "color-lines",
            "color-by-age",
            "show-name",
            "show-number",
            "show-email",
            "abbrev=",
            "score-debug",
            "since=",
            "minimal",
            "no-progress",
        ],
        ..PLAIN
    }),
    // Not `-O`, `--textconv`.
    work_tree(Command {
        names: &["grep"],
        short: "aIirvwEGFPnhHlLzcopWqm:A:B:C:f:e:",
        long: &[
            "cached",
            "untracked",
            "no-index",
            "no-exclude-standard",
            "exclude-standard",
            "text",
            "no-textconv",
            "ignore-case",
            "max-depth=",
            "recursive",
            "no-recursive",
            "word-regexp",
            "invert-match",
            "full-name",
            "extended-regexp",
            "basic-regexp",
            "perl-regexp",
            "fixed-strings",
            "line-number",
            "column",
            "files-with-matches",
            "name-only",
            "files-without-match",
            "null",
            "only-matching",
            "count",
            "color[=]",
            "no-color",
            "break",
            "heading",
            "show-function",
            "context=",
            "after-context=",
            "before-context=",
            "function-context",
            "max-count=",
            "threads=",
            "and",
            "or",
            "not",
            "all-match",
            "quiet",
        ],
        numbers: true,
        ..PLAIN
    }),
    objects(Command {
        names: &["shortlog"],
        short: "nsecw::",
        long: &[
            "numbered",
            "summary",
            "email",
            "format=",
            "date=",
            "group=",
            "committer",
            "all",
            "since=",
            "until=",
            "after=",
            "before=",
            "author=",
            "no-merges",
            "merges",
            "first-parent",
            "max-count=",
        ],
        numbers: true,
        ..PLAIN
    }),
    // Not `--dirty`, `--broken`, which write the index.
    objects(Command {
        names: &["describe"],
        long: &[
            "all",
            "tags",
            "contains",
            "abbrev=",
            "candidates=",
            "exact-match",
            "debug",
            "long",
            "match=",
            "exclude=",
            "always",
            "first-parent",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["reflog"],
        also: Some(shows_reflog),
        ..LOG
    }),
    action(
        "show",
        GitScope::Objects,
        Command {
            names: &["reflog"],
            ..LOG
        },
    ),
    action(
        "list",
        GitScope::Objects,
        Command {
            names: &["reflog"],
            ..PLAIN
        },
    ),
    action(
        "exists",
        GitScope::Objects,
        Command {
            names: &["reflog"],
            ..PLAIN
        },
    ),
    action(
        "list",
        GitScope::Objects,
        Command {
            names: &["stash"],
            ..LOG
        },
    ),
    action(
        "show",
        GitScope::WorkTree,
        Command {
            names: &["stash"],
            short: "puU:sO:zB::M::C::Dl:aRbwWS:G:X::c",
            long: with_diff_options!["include-untracked", "only-untracked"],
            ..PLAIN
        },
    ),
    action(
        "list",
        GitScope::Objects,
        Command {
            names: &["worktree"],
            short: "vz",
            long: &["porcelain", "verbose"],
            operands: Operands::AtMost(0),
            ..PLAIN
        },
    ),
    action(
        "list",
        GitScope::Objects,
        Command {
            names: &["notes"],
            operands: Operands::AtMost(1),
            ..PLAIN
        },
    ),
    action(
        "show",
        GitScope::Objects,
        Command {
            names: &["notes"],
            operands: Operands::AtMost(1),
            ..PLAIN
        },
    ),
    objects(Command {
        names: &["config"],
        short: "lzf:",
        long: &[
            "get",
            "get-all",
            "get-regexp",
            "get-urlmatch",
            "list",
            "global",
            "system",
            "local",
            "worktree",
            "file=",
            "blob=",
            "type=",
            "bool",
            "int",
            "bool-or-int",
            "path",
            "expiry-date",
            "null",
            "name-only",
            "show-names",
            "show-origin",
            "show-scope",
            "includes",
            "no-includes",
            "default=",
        ],
        also: Some(gets),
        ..PLAIN
    }),
    action(
        "get",
        GitScope::Objects,
        Command {
            names: &["config"],
            short: "zf:",
            long: &[
                "global",
                "system",
                "local",
                "worktree",
                "file=",
                "blob=",
                "all",
                "regexp",
                "value=",
                "fixed-value",
                "url=",
                "type=",
                "null",
                "show-names",
                "show-origin",
                "show-scope",
                "default=",
            ],
            ..PLAIN
        },
    ),
    action(
        "list",
        GitScope::Objects,
        Command {
            names: &["config"],
            short: "zf:",
            long: &[
                "global",
                "system",
                "local",
                "worktree",
                "file=",
                "blob=",
                "null",
                "name-only",
                "show-origin",
                "show-scope",
                "includes",
                "no-includes",
            ],
            operands: Operands::AtMost(0),
            ..PLAIN
        },
    ),
    objects(Command {
        names: &["count-objects"],
        short: "vH",
        long: &["verbose", "human-readable"],
        operands: Operands::AtMost(0),
        ..PLAIN
    }),
    objects(Command {
        names: &["merge-base"],
        short: "a",
        long: &["all", "octopus", "independent", "is-ancestor", "fork-point"],
        ..PLAIN
    }),
    objects(Command {
        names: &["name-rev"],
        long: &[
            "tags",
            "refs=",
            "exclude=",
            "all",
            "name-only",
            "no-undefined",
            "always",
        ],
        ..PLAIN
    }),
    objects(Command {
        names: &["cherry"],
        short: "v",
        long: &["abbrev[=]", "verbose"],
        ..PLAIN
    }),
    work_tree(Command {
        names: &["range-diff"],
        short: "puU:sz",
        long: &[
            "no-dual-color",
            "creation-factor=",
            "left-only",
            "right-only",
            "diff-merges=",
            "notes[=]",
            "no-notes",
            "stat[=]",
            "no-patch",
            "patch",
            "color[=]",
            "no-color",
        ],
        ..PLAIN
    }),
    work_tree(Command {
        names: &["check-ignore"],
        short: "qvzn",
        long: &["quiet", "verbose", "non-matching", "no-index", "stdin"],
        ..PLAIN
    }),
    work_tree(Command {
        names: &["check-attr"],
        short: "az",
        long: &["all", "cached", "stdin", "source="],
        ..PLAIN
    }),
    objects(Command {
        names: &["check-ref-format"],
        long: &[
            "branch",
            "normalize",
            "allow-onelevel",
            "no-allow-onelevel",
            "refspec-pattern",
        ],
        ..PLAIN
    }),
    // With a second operand, the ref is changed.
    objects(Command {
        names: &["symbolic-ref"],
        short: "q",
        long: &["quiet", "short", "recurse", "no-recurse"],
        operands: Operands::AtMost(1),
        ..PLAIN
    }),
    objects(Command {
        names: &["var"],
        short: "l",
        operands: Operands::AtMost(1),
        ..PLAIN
    }),
    objects(Command {
        names: &["version"],
        long: &["build-options"],
        operands: Operands::AtMost(0),
        ..PLAIN
    }),
];

/// `branch` and `tag` create what they are given, unless they list.
fn lists_or_names_nothing(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    match arguments.operands.first() {
        Some(word) if !arguments.has("l") && !arguments.has("list") => Err(Refusal::writes(
            word.span.clone(),
            "a name without `--list` is created",
        )),
        _ => Ok(()),
    }
}

/// `git reflog expire` and `git reflog delete` change it; anything else is shown.
fn shows_reflog(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    match arguments.operands.first() {
        Some(word)
            if matches!(
                word.literal(),
                None | Some("expire" | "delete" | "drop" | "write")
            ) =>
        {
            Err(Refusal::writes(
                word.span.clone(),
                "this changes the reflog",
            ))
        }
        _ => Ok(()),
    }
}

/// A name alone is asked for; with a value, it is set.
fn gets(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    const ASKING: [&str; 6] = ["get", "get-all", "get-regexp", "get-urlmatch", "list", "l"];
    if ASKING.iter().any(|option| arguments.has(option)) {
        return Ok(());
    }
    match arguments.operands.as_slice() {
        [name] if name.literal().is_some_and(|name| name.contains('.')) => Ok(()),
        [_, value, ..] => Err(Refusal::writes(value.span.clone(), "a setting is changed")),
        [word] => Err(Refusal::unknown(
            word.span.clone(),
            "`git config` in a form that is not known to only read",
        )),
        [] => Err(Refusal::unknown(0..0, "`git config` without a name")),
    }
}
