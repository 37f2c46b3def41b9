//! Commands that are accepted in a few fixed forms only: compilers, package managers, clients of
//! services. Nothing that asks a server, writes a cache, or reads settings that start programs.

use crate::shell::refusal::Refusal;
use crate::shell::simple_command::Call;
use crate::shell::word::Word;

/// The words of a command, and what may follow.
struct Form {
    words: &'static [&'static str],
    then: Then,
}

/// What may follow the fixed words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Nothing.
    End,
    /// Words that are plainly no options.
    Operands,
}

const fn form(words: &'static [&'static str]) -> Form {
    Form {
        words,
        then: Then::End,
    }
}

const fn with_operands(words: &'static [&'static str]) -> Form {
    Form {
        words,
        then: Then::Operands,
    }
}

/// Programs of which `--version` is accepted, and `--help` as well.
const VERSIONED: &[&str] = &[
    "ansible",
    "bash",
    "bun",
    "c++",
    "cargo",
    "cc",
    "clang",
    "clang++",
    "clang-format",
    "clippy-driver",
    "cmake",
    "composer",
    "curl",
    "deno",
    "docker",
    "dotnet",
    "eslint",
    "g++",
    "gcc",
    "gh",
    "gpg",
    "go",
    "helm",
    "java",
    "javac",
    "kubectl",
    "ld",
    "lua",
    "make",
    "meson",
    "mypy",
    "ninja",
    "node",
    "npm",
    "npx",
    "perl",
    "php",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "prettier",
    "pytest",
    "python",
    "python2",
    "python3",
    "ruby",
    "ruff",
    "rustc",
    "rustfmt",
    "rustup",
    "sqlite3",
    "ssh",
    "swift",
    "terraform",
    "tsc",
    "uv",
    "wget",
    "yarn",
    "zsh",
];

const VERSION_OPTIONS: &[&str] = &["--version"];

const FORMS: &[Form] = &[
    form(&["bun", "-v"]),
    form(&["cargo", "-V"]),
    form(&["cargo", "--list"]),
    form(&["cargo", "version"]),
    form(&["cargo", "locate-project"]),
    form(&["cargo", "metadata", "--no-deps"]),
    form(&["cargo", "metadata", "--no-deps", "--offline"]),
    form(&["cargo", "metadata", "--no-deps", "--format-version", "1"]),
    form(&["cargo", "metadata", "--no-deps", "--format-version=1"]),
    form(&["cargo", "metadata", "--format-version", "1", "--no-deps"]),
    form(&["cargo", "metadata", "--format-version=1", "--no-deps"]),
    form(&[
        "cargo",
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]),
    form(&[
        "cargo",
        "metadata",
        "--offline",
        "--no-deps",
        "--format-version",
        "1",
    ]),
    form(&[
        "cargo",
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
    ]),
    form(&[
        "cargo",
        "metadata",
        "--format-version",
        "1",
        "--offline",
        "--no-deps",
    ]),
    form(&["docker", "-v"]),
    form(&["docker", "context", "ls"]),
    form(&["docker", "context", "list"]),
    form(&["docker", "context", "show"]),
    form(&["gcc", "-dumpversion"]),
    form(&["gcc", "-dumpmachine"]),
    form(&["gh", "version"]),
    form(&["gh", "alias", "list"]),
    form(&["gh", "config", "list"]),
    with_operands(&["gh", "config", "get"]),
    form(&["gh", "extension", "list"]),
    form(&["go", "version"]),
    form(&["go", "env"]),
    form(&["go", "env", "-json"]),
    with_operands(&["go", "env"]),
    form(&["java", "-version"]),
    form(&["kubectl", "version", "--client"]),
    form(&["kubectl", "config", "view"]),
    form(&["kubectl", "config", "view", "--minify"]),
    form(&["kubectl", "config", "current-context"]),
    form(&["kubectl", "config", "get-contexts"]),
    form(&["kubectl", "config", "get-clusters"]),
    form(&["kubectl", "config", "get-users"]),
    form(&["node", "-v"]),
    form(&["npm", "-v"]),
    form(&["perl", "-v"]),
    form(&["php", "-v"]),
    form(&["pip", "-V"]),
    form(&["pip", "list"]),
    with_operands(&["pip", "show"]),
    form(&["pip3", "-V"]),
    form(&["pip3", "list"]),
    with_operands(&["pip3", "show"]),
    form(&["python", "-V"]),
    form(&["python3", "-V"]),
    form(&["ruby", "-v"]),
    form(&["rustc", "-V"]),
    form(&["rustc", "-vV"]),
    form(&["rustc", "-Vv"]),
    form(&["ssh", "-V"]),
    form(&["tsc", "-v"]),
    form(&["yarn", "-v"]),
];

/// Whether forms of this command are listed.
pub(super) fn knows(name: &str) -> bool {
    VERSIONED.contains(&name) || FORMS.iter().any(|form| form.words.first() == Some(&name))
}

/// Looks for the form that the words have.
pub(super) fn check(_: &mut Call<'_>, name: &Word, words: &[Word]) -> Result<(), Refusal> {
    let program = name.prefix.as_str();
    if let [only] = words
        && VERSIONED.contains(&program)
        && only
            .literal()
            .is_some_and(|option| VERSION_OPTIONS.contains(&option))
    {
        return Ok(());
    }
    let accepted = FORMS.iter().any(|form| {
        let Some((first, fixed)) = form.words.split_first() else {
            return false;
        };
        let (beginning, rest) = words.split_at(fixed.len().min(words.len()));
        *first == program
            && beginning.len() == fixed.len()
            && beginning
                .iter()
                .zip(fixed)
                .all(|(word, fixed)| word.literal() == Some(fixed))
            && match form.then {
                Then::End => rest.is_empty(),
                Then::Operands => rest.iter().all(Word::cannot_be_option),
            }
    });
    if accepted {
        return Ok(());
    }
    let span = words
        .first()
        .map_or(name.span.clone(), |word| word.span.clone());
    Err(Refusal::unknown(
        span,
        format!("`{program}` in a form that is not known to only read"),
    ))
}
