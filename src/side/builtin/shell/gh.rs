//! What GitHub's command-line tool did.

use super::acts::{Act, Context, Kind};
use super::flags::{has, operands, value};

const VALUED: &[&str] = &[
    "--repo",
    "-R",
    "--title",
    "-t",
    "--body",
    "-b",
    "--json",
    "--jq",
    "-q",
    "--limit",
    "-L",
    "--base",
    "-B",
    "--head",
    "-H",
    "--template",
    "--branch",
    "--job",
    "-X",
    "--method",
    "-f",
    "-F",
    "--field",
    "--raw-field",
    "--body-file",
    "--label",
    "--reviewer",
    "--assignee",
];

pub(super) fn act(words: &[String], context: Context<'_>) -> Option<Act> {
    let arguments = words.get(1..)?;
    let targets = operands(arguments, VALUED);
    let (topic, rest) = targets.split_first()?;
    let action = rest.first().copied().unwrap_or_default();
    let which = rest.get(1).copied().unwrap_or_default();
    let name = match *topic {
        "api" => "gh api".to_owned(),
        _ => format!("gh {topic} {action}").trim().to_owned(),
    };
    let reads = |object: String, verb: &str| Some(Act::new(63, Kind::Read, verb, object, &name));
    let writes = |rank, verb: &str, object: String| {
        Some(Act::new(rank, Kind::Repository, verb, object, &name))
    };
    let thing = match *topic {
        "pr" => "PR",
        "issue" => "issue",
        other => other,
    };
    let numbered = match which.rsplit('/').next().unwrap_or_default() {
        "" => thing.to_owned(),
        number
            if number.bytes().all(|byte| byte.is_ascii_digit())
                && matches!(*topic, "pr" | "issue") =>
        {
            format!("{thing} #{number}")
        }
        other => format!("{thing} {other}"),
    };
    match (*topic, action) {
        ("api", _) => Some(api(arguments, action, &name)),
        ("pr" | "issue", "create") => {
            let draft = if has(arguments, &["--draft", "-d"]) && *topic == "pr" {
                "draft "
            } else {
                ""
            };
            let number = number_in(
                context.output,
                if *topic == "pr" { "/pull/" } else { "/issues/" },
            );
            let number = number
                .map(|number| format!(" #{number}"))
                .unwrap_or_default();
            writes(101, "Created", format!("{draft}{thing}{number}"))
        }
        ("pr", "merge") => writes(101, "Merged", numbered),
        ("pr" | "issue", "close") => writes(66, "Closed", numbered),
        ("pr" | "issue", "reopen") => writes(66, "Reopened", numbered),
        ("pr" | "issue", "edit") => writes(66, "Updated", numbered),
        ("pr", "ready") => writes(66, "Marked", format!("{numbered} ready")),
        ("pr" | "issue", "comment") => writes(66, "Commented on", numbered),
        ("pr", "review") => writes(66, "Reviewed", numbered),
        ("pr", "checkout") => writes(80, "Checked out", numbered),
        ("pr", "diff") => reads(format!("diff of {numbered}"), "Viewed"),
        ("pr", "checks") => reads(format!("checks of {numbered}"), "Viewed"),
        ("pr" | "issue", "view") if has(arguments, &["--comments"]) => {
            reads(format!("{numbered} comments"), "Read")
        }
        ("pr" | "issue" | "release" | "repo", "view") => reads(numbered, "Viewed"),
        ("pr" | "issue" | "run" | "release" | "workflow" | "repo", "list") => {
            reads(format!("{thing}s"), "Listed")
        }
        ("run", "view") => {
            let logs = if has(arguments, &["--log", "--log-failed"]) {
                " logs"
            } else {
                ""
            };
            reads(format!("CI run {which}{logs}").replace("  ", " "), "Viewed")
        }
        ("run", "watch") => reads(format!("CI run {which}"), "Watched"),
        ("run", "rerun") => writes(66, "Reran", format!("CI run {which}")),
        ("search", _) => reads(format!("GitHub {action}"), "Searched"),
        ("auth", _) => reads("GitHub login".to_owned(), "Checked"),
        ("release", "create") => writes(101, "Created", format!("release {which}")),
        _ => writes(62, "Ran", name.clone()),
    }
}

fn api(arguments: &[String], path: &str, name: &str) -> Act {
    let method = value(arguments, &["-X", "--method"]);
    let has_fields = has(
        arguments,
        &["-f", "-F", "--field", "--raw-field", "--input"],
    );
    let writes = method.map_or(has_fields && path != "graphql", |method| {
        !method.eq_ignore_ascii_case("get")
    });
    let parts: Vec<&str> = path
        .split(['/', '?'])
        .filter(|part| !part.is_empty())
        .collect();
    let pull = parts
        .iter()
        .position(|part| matches!(*part, "pulls" | "issues"))
        .and_then(|at| parts.get(at + 1).map(|number| (parts[at], *number)))
        .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let about = pull.map(|(kind, number)| {
        let kind = if kind == "pulls" { "PR" } else { "issue" };
        format!("{kind} #{number}")
    });
    let is_about_comments = parts.contains(&"comments");
    let (rank, kind, verb, object) = match (writes, about) {
        (true, Some(about)) if parts.contains(&"replies") || is_about_comments && has_fields => (
            66,
            Kind::Repository,
            "Replied to",
            format!("{about} comment"),
        ),
        (true, Some(about)) => (66, Kind::Repository, "Updated", about),
        (false, Some(about)) if is_about_comments => {
            (63, Kind::Read, "Read", format!("{about} comments"))
        }
        (false, Some(about)) => (63, Kind::Read, "Read", about),
        (true, None) => (66, Kind::Repository, "Called", "GitHub API".to_owned()),
        (false, None) => (62, Kind::Read, "Queried", "GitHub API".to_owned()),
    };
    Act::new(rank, kind, verb, object, name)
}

fn number_in<'a>(output: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = output.split_once(before)?;
    let end = rest
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    Some(&rest[..end]).filter(|number| !number.is_empty())
}
