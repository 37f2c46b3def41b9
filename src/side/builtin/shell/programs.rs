//! What all other programs did.

use super::acts::{Act, Context, Kind};
use super::flags::{has, operands};
use super::segments::Segment;
use crate::side::builtin::clean::cut;
use crate::side::builtin::names::{
    address, directory_name, file_name, file_names, glob_noun, is_working_directory, pattern_noun,
};

/// Interpreters whose first operand is a script.
const INTERPRETERS: &[&str] = &[
    "python", "python3", "py", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "deno", "bun",
    "tsx", "ts-node", "Rscript", "lua", "pwsh",
];

/// Programs that only look at the system.
const LOOKS: &[(&str, &str)] = &[
    ("which", "Checked"),
    ("whereis", "Checked"),
    ("type", "Checked"),
    ("ps", "Listed processes"),
    ("env", "Listed environment"),
    ("printenv", "Listed environment"),
    ("df", "Checked disk space"),
    ("du", "Checked disk usage"),
    ("free", "Checked memory"),
    ("uname", "Checked system"),
    ("date", "Checked date"),
    ("whoami", "Checked user"),
    ("id", "Checked user"),
    ("hostname", "Checked host name"),
    ("lsof", "Checked open files"),
    ("netstat", "Checked network"),
    ("ss", "Checked network"),
    ("nproc", "Checked processors"),
    ("stat", "Checked"),
    ("file", "Checked"),
    ("tree", "Listed"),
    ("top", "Listed processes"),
    ("pgrep", "Listed processes"),
];

/// Programs with sub-commands: how many words name what they did.
const WITH_SUBCOMMANDS: &[&str] = &[
    "docker",
    "docker-compose",
    "kubectl",
    "helm",
    "terraform",
    "cargo",
    "go",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "uv",
    "poetry",
    "pip",
    "brew",
    "aws",
    "gcloud",
    "az",
    "systemctl",
    "mise",
    "nix",
    "dotnet",
    "rustup",
    "ollama",
    "claude",
    "entire",
    "firebase",
    "vercel",
    "supabase",
    "bundle",
    "rails",
    "mix",
    "turnpipe",
    "podman",
    "apt-get",
    "apt",
    "conda",
    "tmux",
    "ansible",
];

#[expect(clippy::too_many_lines, reason = "it is a table")]
pub(super) fn act(program: &str, segment: &Segment, context: Context<'_>) -> Option<Act> {
    let arguments = segment.words.get(1..).unwrap_or_default();
    let cwd = context.cwd;
    if has(arguments, &["--version", "-V"]) && arguments.len() == 1 || program == "command" {
        let of = if program == "command" {
            operands(arguments, &[])
                .first()
                .copied()
                .unwrap_or("commands")
        } else {
            program
        };
        return Some(Act::new(
            14,
            Kind::Read,
            "Checked",
            format!("{of} version"),
            program,
        ));
    }
    let act =
        |rank, kind, verb: &str, object: String| Some(Act::new(rank, kind, verb, object, program));
    match program {
        "rm" | "rmdir" | "unlink" | "trash" => act(
            70,
            Kind::Change,
            "Deleted",
            paths(&operands(arguments, &[]), context),
        ),
        "mv" => act(
            71,
            Kind::Change,
            "Moved",
            moved(&operands(arguments, &["-t"]), context),
        ),
        "cp" | "rsync" | "scp" => act(
            71,
            Kind::Change,
            "Copied",
            moved(&operands(arguments, &["-t"]), context),
        ),
        "ln" => act(
            70,
            Kind::Change,
            "Linked",
            moved(&operands(arguments, &["-t"]), context),
        ),
        "mkdir" => {
            let named = operands(arguments, &["-m"]);
            let first = named
                .first()
                .map(|path| directory_name(path, cwd))
                .unwrap_or_default();
            act(
                63,
                Kind::Change,
                "Created",
                if named.len() > 1 {
                    format!("{} directories", named.len())
                } else {
                    first
                },
            )
        }
        "touch" => act(
            63,
            Kind::Change,
            "Created",
            paths(&operands(arguments, &["-d", "-t", "-r"]), context),
        ),
        "chmod" | "chown" => {
            let named = operands(arguments, &[]);
            act(
                63,
                Kind::Change,
                "Changed mode of",
                paths(named.get(1..).unwrap_or_default(), context),
            )
        }
        "kill" | "pkill" | "killall" => act(66, Kind::Change, "Stopped", "processes".to_owned()),
        "tar" | "unzip" | "zip" | "gunzip" | "gzip" => {
            act(66, Kind::Change, "Ran", program.to_owned())
        }
        "sed"
            if arguments
                .iter()
                .any(|word| word.starts_with("-i") || word == "--in-place") =>
        {
            let named = operands(arguments, &["-e", "-i"]);
            act(
                72,
                Kind::Change,
                "Edited",
                paths(
                    named.last().map(std::slice::from_ref).unwrap_or_default(),
                    context,
                ),
            )
        }
        "perl"
            if arguments
                .iter()
                .any(|word| word.starts_with("-p") && word.contains('i') || word == "-i") =>
        {
            let named = operands(arguments, &["-e"]);
            act(
                72,
                Kind::Change,
                "Edited",
                paths(
                    named.last().map(std::slice::from_ref).unwrap_or_default(),
                    context,
                ),
            )
        }
        "tee" => operands(arguments, &[])
            .first()
            .map(|target| wrote(target, context)),
        "curl" | "wget" | "http" | "https" => {
            let url = operands(
                arguments,
                &[
                    "-H",
                    "-d",
                    "-o",
                    "-X",
                    "-u",
                    "--data",
                    "--header",
                    "-O",
                    "-w",
                    "-A",
                    "--data-raw",
                    "--request",
                    "--output",
                ],
            )
            .into_iter()
            .find(|word| word.contains("://") || word.contains('.') || word.contains(':'));
            act(
                65,
                Kind::Run,
                "Fetched",
                url.map_or_else(|| "a page".to_owned(), address),
            )
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => {
            Some(search(program, arguments, context))
        }
        "find" | "fd" => Some(find(program, arguments, context)),
        "ls" | "dir" | "eza" | "exa" => {
            let named = operands(arguments, &["-I", "-w"]);
            let object = match named.as_slice() {
                [] => "working directory".to_owned(),
                [one] if is_file(one) => file_name(one, cwd),
                [one] if is_working_directory(one, cwd) => "working directory".to_owned(),
                [one] => directory_name(one, cwd),
                several => format!("{} places", several.len()),
            };
            act(22, Kind::Read, "Listed", object)
        }
        "cat" | "head" | "tail" | "less" | "more" | "bat" | "nl" | "jq" | "yq" | "sed" | "awk"
        | "xxd" | "od" | "strings" | "base64" | "hexdump" => {
            Some(reader(program, arguments, segment, context))
        }
        "wc" => {
            let named = operands(arguments, &[]);
            act(24, Kind::Read, "Counted lines in", paths(&named, context))
        }
        "diff" | "cmp" => {
            let named = operands(arguments, &["-U", "-C"]);
            act(45, Kind::Read, "Compared", paths(&named, context))
        }
        "sort" | "uniq" | "cut" | "tr" | "column" | "xargs" | "tac" | "rev" => {
            let mut act = Act::new(20, Kind::Read, "Ran", program, program);
            act.vague = true;
            Some(act)
        }
        _ => Some(run(program, arguments, segment, context)),
    }
}

/// A file was written by a redirection.
pub(super) fn wrote(target: &str, context: Context<'_>) -> Act {
    Act::new(
        71,
        Kind::Change,
        "Wrote",
        file_name(target, context.cwd),
        "write",
    )
}

fn is_file(path: &str) -> bool {
    let base = path.rsplit('/').next().unwrap_or_default();
    base.get(1..).is_some_and(|rest| rest.contains('.')) && !path.ends_with('/')
}

fn paths(named: &[&str], context: Context<'_>) -> String {
    match named {
        [] => "files".to_owned(),
        [one] if one.ends_with('/') => directory_name(one, context.cwd),
        [one] if one.contains('*') => glob_noun(one),
        [one] if one.contains("$()") || *one == "$" => "files".to_owned(),
        several => {
            let mut distinct: Vec<&str> = Vec::new();
            for path in several {
                if !distinct.contains(path) {
                    distinct.push(path);
                }
            }
            file_names(&distinct, context.cwd)
        }
    }
}

fn moved(named: &[&str], context: Context<'_>) -> String {
    match named {
        [] => "files".to_owned(),
        [one] => paths(std::slice::from_ref(one), context),
        [one, to] => {
            let target = if is_file(to) {
                file_name(to, context.cwd)
            } else {
                directory_name(to, context.cwd)
            };
            let from = paths(std::slice::from_ref(one), context);
            if from == target {
                from
            } else {
                format!("{from} to {target}")
            }
        }
        [several @ .., _] => paths(several, context),
    }
}

fn search(program: &str, arguments: &[String], context: Context<'_>) -> Act {
    let valued = [
        "-e",
        "-A",
        "-B",
        "-C",
        "-m",
        "--include",
        "--exclude",
        "--exclude-dir",
        "-g",
        "--glob",
        "-t",
        "--type",
        "-f",
    ];
    let pattern = super::flags::value(arguments, &["-e", "--regexp"]);
    let named = operands(arguments, &valued);
    let (pattern, places) = match (pattern, named.split_first()) {
        (Some(pattern), _) => (pattern, named.as_slice()),
        (None, Some((pattern, places))) => (*pattern, places),
        (None, None) => ("", named.as_slice()),
    };
    let noun = pattern_noun(pattern);
    let place = match places {
        [one] if is_file(one) && !one.contains('*') => Some(file_name(one, context.cwd)),
        [one] if !is_working_directory(one, context.cwd) && !one.contains(['*', '$']) => {
            Some(directory_name(one, context.cwd)).filter(|directory| directory.len() <= 18)
        }
        _ => None,
    };
    let (verb, object, vague) = match (noun, place) {
        (Some(noun), Some(place)) if noun.len() + place.len() < 44 => {
            let vague = noun.contains(' ');
            ("Searched for", format!("{noun} in {place}"), vague)
        }
        (Some(noun), _) => {
            let vague = noun.contains(' ');
            ("Searched for", noun, vague)
        }
        (None, Some(place)) => ("Searched", place, true),
        (None, None) => ("Searched", "files".to_owned(), true),
    };
    let mut act = Act::new(40, Kind::Search, verb, object, program);
    act.vague = vague;
    act
}

fn find(program: &str, arguments: &[String], context: Context<'_>) -> Act {
    let name = super::flags::value(arguments, &["-name", "-iname", "-path", "-regex"]);
    let named = operands(
        arguments,
        &[
            "-name",
            "-iname",
            "-type",
            "-path",
            "-maxdepth",
            "-mindepth",
            "-mtime",
            "-size",
            "-e",
            "-t",
            "-regex",
            "-newer",
        ],
    );
    let place = named
        .iter()
        .find(|place| {
            !place.contains(['*', '(', '!', '{', ';']) && !is_working_directory(place, context.cwd)
        })
        .filter(|_| program == "find" || named.len() > 1)
        .map(|place| format!(" in {}", directory_name(place, context.cwd)))
        .unwrap_or_default();
    let pattern = name
        .map(glob_noun)
        .or_else(|| (program == "fd").then(|| named.first().map(|word| glob_noun(word)))?);
    let what = pattern.map_or_else(
        || "files".to_owned(),
        |pattern| format!("{pattern} files").replace("files files", "files"),
    );
    Act::new(
        38,
        Kind::Search,
        "Looked for",
        format!("{what}{place}"),
        program,
    )
}

fn reader(program: &str, arguments: &[String], segment: &Segment, context: Context<'_>) -> Act {
    let mut named = operands(
        arguments,
        &["-n", "-c", "-e", "-F", "--arg", "-A", "-B", "-v", "-f"],
    );
    if matches!(program, "jq" | "yq" | "sed" | "awk")
        && !named.is_empty()
        && !has(arguments, &["-e", "-f"])
    {
        named.remove(0);
    }
    let mut act = Act::new(30, Kind::Read, "Read", paths(&named, context), program);
    if segment.has_document || named.is_empty() {
        act = Act::new(20, Kind::Read, "Ran", program, program);
        act.vague = true;
    }
    if matches!(program, "jq" | "yq" | "awk") {
        act.vague = true;
    }
    if let Some(target) = segment.target.as_deref() {
        return wrote(target, context);
    }
    act
}

fn run(program: &str, arguments: &[String], segment: &Segment, context: Context<'_>) -> Act {
    if let Some((_, told)) = LOOKS.iter().find(|(known, _)| *known == program) {
        let (verb, object) = if let Some((verb, object)) = told.split_once(' ') {
            (verb, object.to_owned())
        } else {
            let named = operands(arguments, &["-L", "-I", "-c", "-f"]);
            (
                *told,
                named
                    .first()
                    .map_or_else(|| program.to_owned(), |path| file_name(path, context.cwd)),
            )
        };
        return Act::new(12, Kind::Read, verb, object, program);
    }
    if INTERPRETERS.contains(&program) {
        let script = operands(
            arguments,
            &["-e", "-c", "-r", "--require", "--import", "-W", "-X"],
        );
        return match script.first() {
            Some(&"run") if matches!(program, "deno" | "bun") && script.len() > 1 => {
                let name = file_name(script[1], context.cwd);
                Act::new(69, Kind::Run, "Ran", name.clone(), name)
            }
            Some(script) if !has(arguments, &["-c", "-e"]) => {
                let name = file_name(script, context.cwd);
                Act::new(69, Kind::Run, "Ran", name.clone(), name)
            }
            _ => {
                let mut act = Act::new(67, Kind::Run, "Ran", format!("{program} script"), program);
                act.vague = true;
                act
            }
        };
    }
    let shown = cut(program, 36);
    if program == "go" && arguments.first().is_some_and(|word| word == "run") {
        let rest = operands(arguments.get(1..).unwrap_or_default(), &["-exec", "-tags"]);
        let what: Vec<String> = rest
            .iter()
            .filter(|word| !word.starts_with("/dev/"))
            .enumerate()
            .map(|(number, word)| {
                if number == 0 {
                    file_name(word, context.cwd)
                } else {
                    (*word).to_owned()
                }
            })
            .take(2)
            .collect();
        let object = format!("go run {}", what.join(" "));
        return Act::new(68, Kind::Run, "Ran", cut(object.trim(), 40), "go run");
    }
    if WITH_SUBCOMMANDS.contains(&program) {
        let words = operands(
            arguments,
            &["-n", "--namespace", "-f", "--file", "-C", "-p"],
        );
        let sub: Vec<&str> = words
            .into_iter()
            .take(if matches!(program, "docker" | "aws" | "gcloud") {
                2
            } else {
                1
            })
            .collect();
        let sub: Vec<&str> = sub.into_iter().filter(|word| word.len() <= 24).collect();
        let name = format!("{program} {}", sub.join(" "));
        return Act::new(66, Kind::Run, "Ran", cut(name.trim(), 40), name.trim());
    }
    let is_path = segment.words.first().is_some_and(|word| word.contains('/'));
    let sub = operands(arguments, &[])
        .first()
        .copied()
        .filter(|word| is_plain_word(word))
        .map(|word| format!(" {word}"))
        .unwrap_or_default();
    let object = format!("{shown}{sub}");
    let rank = if is_path { 69 } else { 65 };
    Act::new(rank, Kind::Run, "Ran", object, shown)
}

fn is_plain_word(word: &str) -> bool {
    word.len() <= 20
        && word
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter == '-')
}
