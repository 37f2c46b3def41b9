//! What runners of tests, lints, builds and tasks did, and installers.

use super::acts::{Act, Context, Kind};
use super::flags::{has, operands, value};
use super::segments::Segment;
use crate::side::builtin::clean::cut;
use crate::side::builtin::names::{directory_name, file_name, is_working_directory};

/// Programs, the sub-commands that count (any, if empty), and what kind of thing they do.
const RUNNERS: &[(&str, &[&str], Kind)] = &[
    ("go", &["test"], Kind::Test),
    ("cargo", &["test", "nextest"], Kind::Test),
    ("pytest", &[], Kind::Test),
    ("py.test", &[], Kind::Test),
    ("jest", &[], Kind::Test),
    ("vitest", &[], Kind::Test),
    ("mocha", &[], Kind::Test),
    ("ava", &[], Kind::Test),
    ("rspec", &[], Kind::Test),
    ("phpunit", &[], Kind::Test),
    ("ctest", &[], Kind::Test),
    ("playwright", &["test"], Kind::Test),
    ("cypress", &["run"], Kind::Test),
    ("deno", &["test"], Kind::Test),
    ("bun", &["test"], Kind::Test),
    ("npm", &["test", "t"], Kind::Test),
    ("pnpm", &["test", "t"], Kind::Test),
    ("yarn", &["test"], Kind::Test),
    ("dotnet", &["test"], Kind::Test),
    ("mvn", &["test", "verify"], Kind::Test),
    ("swift", &["test"], Kind::Test),
    ("mix", &["test"], Kind::Test),
    ("gradle", &["test", "check"], Kind::Test),
    ("gradlew", &["test", "check"], Kind::Test),
    ("tox", &[], Kind::Test),
    ("nox", &[], Kind::Test),
    ("bats", &[], Kind::Test),
    ("go", &["vet"], Kind::Lint),
    ("cargo", &["clippy", "check"], Kind::Lint),
    ("golangci-lint", &[], Kind::Lint),
    ("staticcheck", &[], Kind::Lint),
    ("eslint", &[], Kind::Lint),
    ("biome", &["check", "lint"], Kind::Lint),
    ("oxlint", &[], Kind::Lint),
    ("stylelint", &[], Kind::Lint),
    ("ruff", &["check"], Kind::Lint),
    ("mypy", &[], Kind::Lint),
    ("pyright", &[], Kind::Lint),
    ("flake8", &[], Kind::Lint),
    ("pylint", &[], Kind::Lint),
    ("tsc", &[], Kind::Lint),
    ("shellcheck", &[], Kind::Lint),
    ("rubocop", &[], Kind::Lint),
    ("hadolint", &[], Kind::Lint),
    ("actionlint", &[], Kind::Lint),
    ("markdownlint", &[], Kind::Lint),
    ("pre-commit", &["run"], Kind::Lint),
    ("gofmt", &[], Kind::Format),
    ("goimports", &[], Kind::Format),
    ("go", &["fmt"], Kind::Format),
    ("prettier", &[], Kind::Format),
    ("black", &[], Kind::Format),
    ("isort", &[], Kind::Format),
    ("ruff", &["format"], Kind::Format),
    ("cargo", &["fmt"], Kind::Format),
    ("rustfmt", &[], Kind::Format),
    ("clang-format", &[], Kind::Format),
    ("terraform", &["fmt"], Kind::Format),
    ("go", &["build", "install"], Kind::Build),
    ("cargo", &["build", "b"], Kind::Build),
    ("cmake", &[], Kind::Build),
    ("ninja", &[], Kind::Build),
    ("gcc", &[], Kind::Build),
    ("g++", &[], Kind::Build),
    ("clang", &[], Kind::Build),
    ("rustc", &[], Kind::Build),
    ("javac", &[], Kind::Build),
    ("vite", &["build"], Kind::Build),
    ("next", &["build"], Kind::Build),
    ("webpack", &[], Kind::Build),
    ("docker", &["build"], Kind::Build),
    ("dotnet", &["build"], Kind::Build),
    ("mvn", &["compile", "package", "install"], Kind::Build),
    ("gradle", &["build", "assemble"], Kind::Build),
    ("gradlew", &["build", "assemble"], Kind::Build),
    ("swift", &["build"], Kind::Build),
    ("wasm-pack", &["build"], Kind::Build),
];

/// Runners of tasks that a project names, and the word before the name, if any.
const TASK_RUNNERS: &[(&str, &[&str])] = &[
    ("npm", &["run", "run-script"]),
    ("pnpm", &["run"]),
    ("yarn", &["run"]),
    ("bun", &["run"]),
    ("mise", &["run", "r"]),
    ("deno", &["task"]),
    ("poetry", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("just", &[]),
    ("make", &[]),
    ("gmake", &[]),
    ("task", &[]),
    ("rake", &[]),
    ("composer", &["run"]),
];

/// Words in names of tasks.
const TASK_WORDS: &[(Kind, &[&str])] = &[
    (
        Kind::Test,
        &["test", "tests", "spec", "e2e", "unit", "integration", "ci"],
    ),
    (
        Kind::Lint,
        &[
            "lint",
            "check",
            "typecheck",
            "tsc",
            "clippy",
            "vet",
            "type",
            "eslint",
        ],
    ),
    (Kind::Format, &["fmt", "format", "prettier"]),
    (Kind::Build, &["build", "compile", "bundle", "dist"]),
];

const fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Test => 90,
        Kind::Lint => 85,
        Kind::Build => 83,
        Kind::Format => 82,
        Kind::Repository | Kind::Install | Kind::Change | Kind::Run | Kind::Read | Kind::Search => {
            75
        }
    }
}

/// Options that ask for a look instead of a change.
const ONLY_LOOKING: &[&str] = &["-l", "--check", "-d", "--list-different", "--diff", "-c"];

pub(super) fn act(program: &str, segment: &Segment, context: Context<'_>) -> Option<Act> {
    let words = &segment.words;
    let arguments = words.get(1..).unwrap_or_default();
    if matches!(program, "python" | "python3" | "py")
        && let Some(module) = value(words, &["-m"])
    {
        return python_module(module, arguments, context);
    }
    if program == "node" && has(arguments, &["--test"]) {
        return Some(runner(
            Kind::Test,
            "node --test",
            program,
            arguments,
            context,
        ));
    }
    if matches!(
        program,
        "uv" | "poetry" | "pdm" | "hatch" | "pipenv" | "bundle" | "dotenv"
    ) && matches!(arguments.first().map(String::as_str), Some("run" | "exec"))
        && arguments.len() > 1
    {
        let inner = Segment {
            words: arguments[1..].to_vec(),
            ..segment.clone()
        };
        return super::acts::act(&inner, context);
    }
    if matches!(program, "pnpm" | "yarn" | "npm" | "bun")
        && matches!(
            arguments.first().map(String::as_str),
            Some("exec" | "dlx" | "x")
        )
        && arguments.len() > 1
    {
        let inner = Segment {
            words: arguments[1..]
                .iter()
                .filter(|word| *word != "--")
                .cloned()
                .collect(),
            ..segment.clone()
        };
        return super::acts::act(&inner, context);
    }
    if let Some(install) = install(program, arguments, context) {
        return Some(install);
    }
    let subs = operands(
        arguments,
        &[
            "-C",
            "--manifest-path",
            "-p",
            "--project",
            "-f",
            "--dir",
            "--prefix",
            "--filter",
            "-w",
        ],
    );
    let sub = subs
        .first()
        .copied()
        .unwrap_or_default()
        .split(':')
        .next()
        .unwrap_or_default();
    let found = RUNNERS
        .iter()
        .find(|(name, known, _)| *name == program && (known.is_empty() || known.contains(&sub)));
    if let Some((_, known, kind)) = found {
        let name = if known.is_empty() {
            program.to_owned()
        } else {
            format!("{program} {sub}")
        };
        return Some(runner(*kind, &name, program, arguments, context));
    }
    task(program, &subs)
}

/// A runner whose output is evidence.
fn runner(
    kind: Kind,
    name: &str,
    program: &str,
    arguments: &[String],
    context: Context<'_>,
) -> Act {
    let kind = match kind {
        Kind::Format if has(arguments, ONLY_LOOKING) => Kind::Lint,
        other => other,
    };
    let act = |verb: &str, object: String| Act::new(rank(kind), kind, verb, object, name);
    match kind {
        Kind::Test => {
            let one = value(arguments, &["-run", "--run", "-t", "--test", "-k"])
                .filter(|one| is_identifier(one));
            if let Some(one) = one {
                return act("Ran", cut(one, 40));
            }
            match place(program, arguments, context) {
                Some(place) => act("Ran", format!("{name} in {place}")),
                None => act("Ran", name.to_owned()),
            }
        }
        Kind::Build => match built(program, arguments, context) {
            Some(target) => act("Built", target),
            None => act("Ran", name.to_owned()),
        },
        _ => act("Ran", name.to_owned()),
    }
}

fn is_identifier(text: &str) -> bool {
    let text = text.trim_start_matches('^').trim_end_matches('$');
    text.len() > 3
        && text
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The one package or file that is tested.
fn place(program: &str, arguments: &[String], context: Context<'_>) -> Option<String> {
    if program == "cargo" {
        let package = value(arguments, &["-p", "--package"]);
        return package.map(|package| cut(package, 30));
    }
    let valued = [
        "-run",
        "-count",
        "-timeout",
        "-k",
        "-m",
        "-c",
        "-t",
        "-tags",
        "-race",
        "--config",
        "-p",
        "-j",
        "-n",
        "--maxfail",
    ];
    let rest = arguments.get(usize::from(program == "go")..)?;
    let operands: Vec<&str> = operands(rest, &valued)
        .into_iter()
        .filter(|word| !matches!(*word, "test" | "run" | "watch"))
        .collect();
    let [only] = operands.as_slice() else {
        return None;
    };
    let path = only.split("::").next().unwrap_or_default();
    let path = path.trim_end_matches("...").trim_end_matches('/');
    if !path.contains('/') && !path.contains('.')
        || is_working_directory(path, context.cwd)
        || path == "./"
    {
        return None;
    }
    let name = file_name(path, context.cwd);
    (!name.is_empty() && name.len() <= 36).then_some(name)
}

fn built(program: &str, arguments: &[String], context: Context<'_>) -> Option<String> {
    match program {
        "docker" => value(arguments, &["-t", "--tag"]).map(|tag| format!("image {}", cut(tag, 40))),
        "cargo" => value(arguments, &["-p", "--package", "--bin"]).map(str::to_owned),
        "go" => {
            let named = operands(arguments.get(1..)?, &["-o", "-ldflags", "-tags"]);
            match named.as_slice() {
                [one] if !one.ends_with("...") && !is_working_directory(one, context.cwd) => Some(
                    directory_name(one, context.cwd)
                        .trim_end_matches('/')
                        .to_owned(),
                ),
                _ => None,
            }
        }
        _ => None,
    }
}

fn python_module(module: &str, arguments: &[String], context: Context<'_>) -> Option<Act> {
    match module {
        "pytest" => Some(runner(
            Kind::Test,
            "pytest",
            "pytest",
            after_module(arguments),
            context,
        )),
        "unittest" => Some(Act::new(90, Kind::Test, "Ran", "unittest", "unittest")),
        "mypy" | "ruff" | "pylint" | "flake8" => {
            Some(Act::new(85, Kind::Lint, "Ran", module, module))
        }
        "black" | "isort" => Some(Act::new(82, Kind::Format, "Ran", module, module)),
        "build" => Some(Act::new(
            83,
            Kind::Build,
            "Ran",
            "python build",
            "python build",
        )),
        "pip" => install("pip", after_module(arguments), context),
        "venv" => Some(Act::new(
            63,
            Kind::Change,
            "Created",
            "virtual environment",
            "python -m venv",
        )),
        other => Some(Act::new(
            69,
            Kind::Run,
            "Ran",
            cut(other, 36),
            format!("python -m {other}"),
        )),
    }
}

fn after_module(arguments: &[String]) -> &[String] {
    let place = arguments.iter().position(|word| word == "-m");
    place
        .and_then(|place| arguments.get(place + 2..))
        .unwrap_or_default()
}

/// A task that a project names.
fn task(program: &str, operands: &[&str]) -> Option<Act> {
    let (_, before) = TASK_RUNNERS.iter().find(|(name, _)| *name == program)?;
    let task = match (before.is_empty(), operands) {
        (true, [task, ..]) => *task,
        (true, []) => "",
        (false, [first, task, ..]) if before.contains(first) => *task,
        // Some runners take a task without saying so.
        (false, [task, ..]) if matches!(program, "yarn" | "pnpm" | "mise") => *task,
        (false, _) => return None,
    };
    if task.is_empty() {
        return Some(Act::new(83, Kind::Build, "Ran", program, program));
    }
    let words: Vec<&str> = task.split([':', '-', '_', '.', '/']).collect();
    let kind = TASK_WORDS
        .iter()
        .find(|(_, known)| words.iter().any(|word| known.contains(word)))
        .map(|(kind, _)| *kind);
    let shown = cut(task, 36);
    Some(match kind {
        Some(kind) => {
            let object = if task == "test" || task == "tests" {
                "tests".to_owned()
            } else {
                shown.clone()
            };
            Act::new(rank(kind), kind, "Ran", object, shown)
        }
        None => Act::new(
            69,
            Kind::Run,
            "Ran",
            format!("{program} {shown}"),
            format!("{program} {shown}"),
        ),
    })
}

/// Installers: the program, the sub-commands, and options with a value.
const INSTALLERS: &[(&str, &[&str])] = &[
    ("npm", &["install", "i", "ci", "add"]),
    ("pnpm", &["install", "i", "add"]),
    ("yarn", &["install", "add"]),
    ("bun", &["install", "add"]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("uv", &["add", "sync", "pip"]),
    ("poetry", &["add", "install"]),
    ("cargo", &["install", "add"]),
    ("apt-get", &["install"]),
    ("apt", &["install"]),
    ("brew", &["install"]),
    ("gem", &["install"]),
    ("bundle", &["install"]),
    ("go", &["get", "mod"]),
    ("dnf", &["install"]),
    ("apk", &["add"]),
    ("composer", &["install", "require"]),
];

/// Outputs of installers that had nothing to do.
const NOTHING_TO_INSTALL: &[&str] = &[
    "already installed",
    "already satisfied",
    "up to date",
    "is already",
];

fn install(program: &str, arguments: &[String], context: Context<'_>) -> Option<Act> {
    let (_, subs) = INSTALLERS.iter().find(|(name, _)| *name == program)?;
    let found = operands(
        arguments,
        &[
            "-r",
            "--requirement",
            "--version",
            "--prefix",
            "--features",
            "-e",
        ],
    );
    let (sub, mut packages) = found.split_first().map(|(sub, rest)| (*sub, rest))?;
    if !subs.contains(&sub) {
        return None;
    }
    let name = format!("{program} {sub}");
    let act = |verb: &str, object: String| Some(Act::new(75, Kind::Install, verb, object, &name));
    if sub == "mod" {
        let action = packages.first().copied().unwrap_or_default();
        return act("Ran", format!("go mod {action}"));
    }
    if sub == "pip" {
        packages = packages.get(1..).unwrap_or_default();
    }
    let nothing = NOTHING_TO_INSTALL
        .iter()
        .any(|words| context.output.contains(words));
    match packages {
        _ if nothing => act(
            "Ran",
            format!("{name} {}", packages.first().copied().unwrap_or_default())
                .trim()
                .to_owned(),
        ),
        [] => act("Ran", name.clone()),
        [one] => act("Installed", cut(package(one), 36)),
        several => act("Installed", format!("{} packages", several.len())),
    }
}

/// A package without its version.
fn package(spec: &str) -> &str {
    let end = spec
        .char_indices()
        .skip(1)
        .find(|(_, character)| matches!(character, '@' | '=' | '<' | '>' | '~' | '['))
        .map_or(spec.len(), |(at, _)| at);
    &spec[..end]
}
