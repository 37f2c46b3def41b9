//! What `git` did.

use super::acts::{Act, Context, Kind};
use super::flags::{has, operands, value};
use crate::side::builtin::clean::cut;
use crate::side::builtin::names::{directory_name, file_name, file_names, revision};

/// Sub-commands that only read: the verb, and what is read.
const READS: &[(&str, u8, &str, &str)] = &[
    ("log", 48, "Viewed", "git log"),
    ("reflog", 47, "Viewed", "git reflog"),
    ("blame", 47, "Viewed", "git blame"),
    ("shortlog", 46, "Viewed", "git shortlog"),
    ("status", 46, "Checked", "git status"),
    ("tag", 45, "Listed", "tags"),
    ("remote", 45, "Listed", "git remotes"),
    ("config", 45, "Checked", "git config"),
    ("show-ref", 45, "Listed", "git refs"),
    ("for-each-ref", 45, "Listed", "git refs"),
    ("ls-files", 45, "Listed", "git files"),
    ("ls-tree", 45, "Listed", "git tree"),
    ("ls-remote", 45, "Listed", "remote refs"),
    ("rev-list", 45, "Listed", "git revisions"),
    ("cat-file", 45, "Read", "git object"),
    ("merge-base", 45, "Checked", "git merge-base"),
    ("describe", 45, "Ran", "git describe"),
    ("check-ignore", 45, "Checked", "git ignore rules"),
];

/// Options with a value.
const VALUED: &[&str] = &[
    "-m", "-F", "-C", "-c", "-n", "--author", "--format", "--since", "-S", "-G", "-u", "-o",
];

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn act(words: &[String], context: Context<'_>) -> Option<Act> {
    let mut rest = words.get(1..)?;
    while let Some(first) = rest.first().filter(|word| word.starts_with('-')) {
        let skipped = if matches!(first.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree") {
            2
        } else {
            1
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    let (sub, arguments) = rest.split_first()?;
    let targets = operands(arguments, VALUED);
    let name = format!("git {sub}");
    let other = |rank, verb: &str, object: String| {
        Some(Act::new(rank, Kind::Repository, verb, object, &name))
    };
    let first = targets.first().copied().unwrap_or_default();
    let read =
        |rank, verb: &str, object: String| Some(Act::new(rank, Kind::Read, verb, object, &name));
    match sub.as_str() {
        "push" => other(100, "Pushed", pushed(arguments, &targets, context.output)),
        "commit" => Some(commit(arguments, context.output, &name)),
        "rebase" if has(arguments, &["--abort"]) => other(82, "Aborted", "rebase".to_owned()),
        "rebase" if has(arguments, &["--continue", "--skip"]) => {
            let is_done = context.output.contains("Successfully rebased");
            other(
                82,
                if is_done { "Finished" } else { "Continued" },
                "rebase".to_owned(),
            )
        }
        "rebase" if context.output.contains("is up to date") => {
            other(82, "Checked", "rebase, up to date".to_owned())
        }
        "rebase" => other(
            82,
            "Rebased",
            if first.is_empty() {
                "branch".to_owned()
            } else {
                format!("onto {}", revision(first))
            },
        ),
        "merge" if has(arguments, &["--abort"]) => other(82, "Aborted", "merge".to_owned()),
        "merge" if context.output.contains("Already up to date") => {
            other(82, "Merged", "nothing, already up to date".to_owned())
        }
        "merge" => other(
            82,
            "Merged",
            if first.is_empty() {
                "branch".to_owned()
            } else {
                revision(first)
            },
        ),
        "cherry-pick" => other(82, "Cherry-picked", revision(first)),
        "revert" => other(82, "Reverted", revision(first)),
        "checkout" | "switch" => Some(checkout(arguments, &targets, context, &name)),
        "restore" => other(
            80,
            "Restored",
            if has(arguments, &["--staged"]) {
                "staged files".to_owned()
            } else {
                files(&targets, context)
            },
        ),
        "stash" => match first {
            "list" | "show" => read(46, "Listed", "stashes".to_owned()),
            "pop" | "apply" => other(81, "Restored", "stash".to_owned()),
            "drop" | "clear" => other(81, "Dropped", "stash".to_owned()),
            _ => other(81, "Stashed", "changes".to_owned()),
        },
        "reset" => other(
            81,
            "Reset",
            if first.is_empty() {
                "git index".to_owned()
            } else {
                format!("to {}", revision(first))
            },
        ),
        "branch" if has(arguments, &["-d", "-D", "--delete"]) => {
            other(80, "Deleted", format!("branch {}", revision(first)))
        }
        "branch" if has(arguments, &["-m", "-M", "--move"]) => {
            other(80, "Renamed", "branch".to_owned())
        }
        "branch" if has(arguments, &["--show-current"]) => {
            read(45, "Checked", "current branch".to_owned())
        }
        "branch" if !first.is_empty() && arguments.iter().all(|word| !word.starts_with('-')) => {
            other(80, "Created", format!("branch {}", revision(first)))
        }
        "branch" => read(46, "Listed", "branches".to_owned()),
        "pull" => other(
            80,
            "Pulled",
            if first.is_empty() {
                "latest".to_owned()
            } else {
                targets.join("/")
            },
        ),
        "clone" => {
            let name = first
                .trim_end_matches('/')
                .rsplit(['/', ':'])
                .next()
                .unwrap_or_default();
            other(80, "Cloned", name.trim_end_matches(".git").to_owned())
        }
        "worktree" => match first {
            "add" => other(80, "Added", "worktree".to_owned()),
            "remove" | "prune" => other(80, "Removed", "worktree".to_owned()),
            _ => read(46, "Listed", "worktrees".to_owned()),
        },
        "fetch" => other(
            62,
            "Fetched",
            if first.is_empty() {
                "from remote".to_owned()
            } else {
                revision(first)
            },
        ),
        "add" => Some(add(arguments, &targets, &name, context)),
        "rm" => other(70, "Removed", files(&targets, context)),
        "mv" => other(70, "Moved", file_name(first, context.cwd)),
        "init" => other(63, "Initialized", "git repository".to_owned()),
        "apply" | "am" => other(80, "Applied", "patch".to_owned()),
        "tag" if !first.is_empty() && !has(arguments, &["-l", "--list"]) => {
            other(80, "Tagged", revision(first))
        }
        "gc" | "prune" => other(70, "Ran", name.clone()),
        "diff" => Some(diff(arguments, &targets, &name, context)),
        "show" => Some(show(&targets, &name, context)),
        "grep" => Some(Act::new(40, Kind::Search, "Searched", "git grep", &name)),
        "rev-parse" => read(
            45,
            "Ran",
            format!("git rev-parse {}", revision(first))
                .trim()
                .to_owned(),
        ),
        "log" => {
            let range = targets
                .iter()
                .find(|target| target.contains("..") || target.contains('~'));
            let range = range
                .map(|range| format!(" {}", revision(range)))
                .unwrap_or_default();
            read(48, "Viewed", format!("git log{range}"))
        }
        "status" => {
            let is_clean = context.output.contains("working tree clean");
            let act = Act::new(46, Kind::Read, "Checked", "git status", &name);
            Some(if is_clean {
                act.with_finding("clean")
            } else {
                act
            })
        }
        sub => {
            let known = READS.iter().find(|(known, ..)| *known == sub);
            match known {
                Some((_, rank, verb, object)) => read(*rank, verb, (*object).to_owned()),
                None => other(66, "Ran", name.clone()),
            }
        }
    }
}

fn files(targets: &[&str], context: Context<'_>) -> String {
    match targets {
        [] | ["."] => "files".to_owned(),
        targets => file_names(targets, context.cwd),
    }
}

fn pushed(arguments: &[String], targets: &[&str], output: &str) -> String {
    if output.contains("Everything up-to-date") {
        return "nothing, already up to date".to_owned();
    }
    if has(arguments, &["--delete", "-d"]) {
        return "a branch deletion".to_owned();
    }
    if has(arguments, &["--tags"]) {
        return "tags".to_owned();
    }
    let from_output = output.lines().find_map(|line| {
        let (_, after) = line.split_once(" -> ")?;
        let is_ref_update = line.contains("..") || line.contains("[new ") || line.contains('+');
        is_ref_update.then(|| after.split_whitespace().next())?
    });
    let branch = from_output
        .or_else(|| targets.get(1).copied())
        .unwrap_or("branch");
    cut(branch.trim_start_matches("HEAD:"), 40)
}

fn commit(arguments: &[String], output: &str, name: &str) -> Act {
    let act = |verb: &str, object: &str| Act::new(95, Kind::Repository, verb, object, name);
    let subject = output.lines().find_map(|line| {
        let inner = line.trim_start().strip_prefix('[')?;
        let (place, subject) = inner.split_once("] ")?;
        let hash = place.split_whitespace().last()?;
        (hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(subject)
    });
    match subject {
        Some(subject) if has(arguments, &["--amend"]) => {
            act("Amended", &format!("commit: {subject}"))
        }
        Some(subject) => act("Committed:", subject.trim()),
        None if output.contains("nothing to commit")
            || output.contains("no changes added to commit") =>
        {
            act("Nothing to commit", "")
        }
        None if has(arguments, &["--amend"]) => act("Amended", "commit"),
        None => act("Committed", "changes"),
    }
}

fn checkout(arguments: &[String], targets: &[&str], context: Context<'_>, name: &str) -> Act {
    let act = |verb: &str, object: String| Act::new(80, Kind::Repository, verb, object, name);
    let created = value(arguments, &["-b", "-B", "-c", "-C"]);
    if let Some(branch) = created {
        return act("Created", format!("branch {}", cut(branch, 40)));
    }
    if let Some(place) = arguments.iter().position(|word| word == "--") {
        let files: Vec<&str> = arguments[place + 1..].iter().map(String::as_str).collect();
        return act("Restored", self::files(&files, context));
    }
    match targets {
        ["."] => act("Restored", "files".to_owned()),
        [first, ..] => act("Checked out", revision(first)),
        [] => act("Checked out", "branch".to_owned()),
    }
}

fn add(arguments: &[String], targets: &[&str], name: &str, context: Context<'_>) -> Act {
    let object = match targets {
        [] | ["."] => "all changes".to_owned(),
        _ if has(arguments, &["-A", "--all"]) => "all changes".to_owned(),
        [one] if one.ends_with('/') => directory_name(one, context.cwd),
        [one] => file_name(one, context.cwd),
        several => format!("{} files", several.len()),
    };
    Act::new(61, Kind::Change, "Staged", object, name)
}

fn diff(arguments: &[String], targets: &[&str], name: &str, context: Context<'_>) -> Act {
    let range = targets.iter().find(|target| target.contains(".."));
    if let Some(range) = range {
        return Act::new(50, Kind::Read, "Compared", revision(range), name);
    }
    let staged = has(arguments, &["--staged", "--cached"]);
    let file = targets
        .last()
        .filter(|target| target.contains('.') && !target.starts_with('.'));
    match (file, targets) {
        (Some(file), _) => Act::new(
            50,
            Kind::Read,
            "Viewed",
            format!("diff of {}", file_name(file, context.cwd)),
            name,
        ),
        (None, [first, ..]) if *first != "." => Act::new(
            50,
            Kind::Read,
            "Viewed",
            format!("git diff {}", revision(first)),
            name,
        ),
        _ if staged => Act::new(50, Kind::Read, "Viewed", "staged diff", name),
        _ => Act::new(50, Kind::Read, "Viewed", "git diff", name),
    }
}

fn show(targets: &[&str], name: &str, context: Context<'_>) -> Act {
    let object = match targets.first() {
        None => "last commit".to_owned(),
        Some(target) => match target.split_once(':') {
            Some((at, path)) if !path.is_empty() => {
                format!("{} at {}", file_name(path, context.cwd), revision(at))
            }
            _ => format!("commit {}", revision(target)),
        },
    };
    Act::new(49, Kind::Read, "Viewed", object, name)
}
