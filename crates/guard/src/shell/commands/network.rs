//! Commands that read from a server, and change nothing there.

use crate::shell::word::{Arguments, Given, PartWord, Value};

/// Whether repositories are `OWNER/NAME`, and operands name no server.
pub(super) fn names_no_server(name: &str, arguments: &Arguments<'_>) -> bool {
    let mut options = arguments.options.iter();
    let is_repository = |given: &Given<'_>| given.text().is_some_and(is_repository_name);
    let is_local = |word: &&PartWord| {
        !word.prefix().contains("://")
            && (!name.starts_with("gh repo") || is_repository_name(word.prefix()))
    };
    options.all(|given| !matches!(given.name, "R" | "repo") || is_repository(given))
        && arguments.operands.iter().all(is_local)
}

fn is_repository_name(text: &str) -> bool {
    text.matches('/').count() <= 1 && is_plain(text, "-_./")
}

fn is_plain(text: &str, others: &str) -> bool {
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '@')
        && text.chars().all(is_known)
}

/// Whether the method is GET and the path is not that of GraphQL, whose requests are sent with POST.
pub(super) fn gets_only(_: &str, arguments: &Arguments<'_>) -> bool {
    let is_get = |given: &Given<'_>| matches!(given.value, Value::Text("GET" | "get"));
    let mut options = arguments.options.iter();
    let path = match arguments.operands.as_slice() {
        [path] => path.prefix().trim_matches('/'),
        _ => return false,
    };
    path != "graphql" && options.all(|given| !matches!(given.name, "X" | "method") || is_get(given))
}

/// Whether the address starts with `https://`, or is the name of a remote, which is a requirement of the verdict.
pub(super) fn is_remote(_: &str, arguments: &Arguments<'_>) -> bool {
    let first = arguments.operands.first().map(|word| word.prefix());
    first.is_none_or(|address| address.starts_with("https://") || is_plain(address, "-_"))
}

/// Whether operands are names and versions of packages, without addresses and paths.
pub(super) fn is_package(_: &str, arguments: &Arguments<'_>) -> bool {
    let is_named = |word: &&PartWord| {
        let scope = usize::from(word.prefix().starts_with('@'));
        word.prefix().matches('/').count() == scope && is_plain(word.prefix(), "-_.@/^~*+ ")
    };
    !arguments.operands.is_empty() && arguments.operands.iter().all(is_named)
}

#[cfg(test)]
mod tests {
    use crate::shell::{Verdict, analyse};

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
            "cargo info serde",
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
