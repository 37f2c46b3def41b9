//! The act of a simple command, from a table of forms (`words/commands.txt`).

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use super::noun::{Invocation, WORDS};
use crate::shell::{CommandPart, PartWord};
use crate::side::builtin::clean::cut;

/// The kind of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Test,
    Lint,
    Format,
    Build,
    /// A change to a repository or on its host.
    Repository,
    Install,
    /// Files were changed.
    Change,
    /// A program was run.
    #[serde(alias = "task")]
    Run,
    /// Something was read. The content may mention errors.
    Read,
    /// Files or texts were looked for.
    Search,
}

/// Parses a rank and a kind.
fn class_of(class: &str) -> Option<(u8, Kind)> {
    let (rank, kind) = class.split_once(' ')?;
    let kind = Kind::deserialize(StrDeserializer::<Error>::new(kind)).ok()?;
    Some((rank.parse().ok()?, kind))
}

impl Kind {
    /// Whether the output is evidence of a success or a failure.
    pub(super) fn is_check(self) -> bool {
        matches!(self, Self::Test | Self::Lint | Self::Format | Self::Build)
    }
}

/// What an act may have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::side::builtin) enum Effect {
    /// Nothing.
    #[default]
    None,
    /// A program ran, which may change anything.
    Unknown,
    /// Files, a repository or installed packages.
    Changed,
}

/// The act of a simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) program: String,
    /// The act of the highest rank names the command.
    pub(super) rank: u8,
    pub(super) kind: Kind,
    /// In the past tense, e.g. `Ran`.
    pub(super) verb: String,
    /// The object of the verb; may be empty.
    pub(super) object: String,
    /// The name of the command, used if it failed, e.g. `git push`.
    pub(super) name: String,
    /// Whether the output shows the success, e.g. the number of a pull request.
    pub(super) is_shown: bool,
}

impl Act {
    /// Whether the act says that it succeeded in changing something.
    pub(super) fn is_claim(&self) -> bool {
        self.effect() != Effect::None && !matches!(&*self.verb, "Ran" | "Sent")
    }

    pub(super) fn effect(&self) -> Effect {
        match self.kind {
            Kind::Change | Kind::Repository | Kind::Install | Kind::Format => Effect::Changed,
            Kind::Read | Kind::Search => Effect::None,
            _ => Effect::Unknown,
        }
    }

    /// Returns the act without the claim that it succeeded, unless the output shows it.
    pub(super) fn attempted(self) -> Self {
        if self.is_shown || !self.is_claim() {
            return self;
        }
        self.into_run()
    }

    /// Returns the act of an unknown program.
    pub(super) fn ran(program: &str) -> Self {
        let name = cut(program, 36);
        Self {
            program: program.to_owned(),
            is_shown: false,
            rank: UNKNOWN,
            kind: Kind::Run,
            verb: "Ran".to_owned(),
            object: name.clone(),
            name,
        }
    }

    /// Returns the act of a program that the table does not name.
    fn unknown(call: &Invocation<'_>, words: &[String]) -> Self {
        let plain = |word: &&&str| {
            let is_plain = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            word.len() <= 20 && word.chars().all(is_plain)
        };
        let mut act = Self::ran(call.program);
        if let Some(operand) = call.operands.first().filter(plain) {
            act.object = format!("{} {operand}", act.object);
        }
        if words.first().is_some_and(|word| word.contains('/')) {
            act.rank = OWN;
        }
        act
    }

    /// Returns the act as `Ran` and the name of the command.
    pub(super) fn into_run(self) -> Self {
        Self {
            verb: "Ran".to_owned(),
            object: self.name.clone(),
            ..self
        }
    }
}

/// A line of the table.
#[derive(Debug)]
struct Form {
    programs: Vec<&'static str>,
    words: Vec<Vec<&'static str>>,
    options: Vec<Vec<&'static str>>,
    /// Must be in the output.
    output: Option<&'static str>,
    writes_file: bool,
    rank: u8,
    kind: Kind,
    verb: &'static str,
    object: &'static str,
}

static FORMS: LazyLock<Vec<Form>> =
    LazyLock::new(|| WORDS.lines("forms").filter_map(Form::parse).collect());

impl Form {
    fn parse(line: &'static str) -> Option<Self> {
        let mut columns = line.split('|').map(str::trim);
        let (pattern, class) = (columns.next()?, columns.next()?);
        let (verb, object) = (columns.next()?, columns.next()?);
        let (rank, kind) = class_of(class)?;
        let (pattern, output) = match pattern.split_once('"') {
            Some((pattern, output)) => (pattern, Some(output.trim_end_matches('"'))),
            None => (pattern, None),
        };
        let mut tokens = pattern.split_whitespace();
        let choices = |token: &'static str| token.split(',').collect::<Vec<_>>();
        let programs = choices(tokens.next()?);
        let (options, words): (Vec<_>, Vec<_>) = tokens
            .filter(|token| *token != ">")
            .partition(|token| token.starts_with('-'));
        Some(Self {
            programs,
            words: words.into_iter().map(choices).collect(),
            options: options.into_iter().map(choices).collect(),
            output,
            writes_file: pattern.contains('>'),
            rank,
            kind,
            verb,
            object,
        })
    }

    fn fits(&self, call: &Invocation<'_>) -> bool {
        let is_there = |choices: &Vec<&str>| {
            call.arguments.iter().any(|word| {
                choices.contains(&"-*") && word.starts_with('-')
                    || choices.iter().any(|choice| {
                        let rest = word.strip_prefix(choice);
                        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                    })
            })
        };
        let is_in_place = |(place, choices): (usize, &Vec<&str>)| {
            call.operands
                .get(place)
                .is_some_and(|word| choices.contains(word))
        };
        ["*", call.program]
            .iter()
            .any(|name| self.programs.contains(name))
            && self.words.iter().enumerate().all(is_in_place)
            && self.options.iter().all(is_there)
            && (!self.writes_file || call.written.is_some())
            && self.output.is_none_or(|text| call.output.contains(text))
    }

    /// Returns the act of the command; `None` if a part of the object is unknown.
    fn act(&self, call: &Invocation<'_>) -> Option<Act> {
        let is_named = usize::from(self.object.contains("{name}"));
        let named = call.operands.get(..self.words.len().max(is_named));
        let mut name = call.program.to_owned();
        for word in named.or(call.operands.get(..self.words.len()))? {
            name = format!("{name} {}", cut(word, 24));
        }
        let call = Invocation {
            name: &name,
            operands: call.operands.get(self.words.len()..)?.to_vec(),
            ..call.clone()
        };
        let object = fill(self.object, &call)?;
        let finds = |noun: &str, text: fn(&Invocation<'_>) -> bool| {
            self.object.contains(noun) && text(&call)
        };
        let is_shown = self.output.is_some()
            || finds("{subject}", |_| true)
            || finds("{new number", |call| call.noun("new number").is_some())
            || finds("{pushed", |call| call.output.contains(" -> "));
        let mut act = Act {
            program: call.program.to_owned(),
            is_shown,
            rank: self.rank,
            kind: self.kind,
            verb: self.verb.to_owned(),
            object,
            name: name.clone(),
        };
        match self.object {
            "{task}" => task(&mut act, call.program),
            "{file}" => act.name.clone_from(&act.object),
            "{output}" if !call.has_document => act.rank = SET_UP,
            _ => {}
        }
        Some(act)
    }
}

/// The rank of steps that prepare others.
const SET_UP: u8 = 63;

/// The rank of unknown programs: a description is more informative, unless the program belongs to the project.
const UNKNOWN: u8 = 44;
const OWN: u8 = 69;

/// Minimum rank of the project's own scripts.
const SCRIPT: u8 = 68;

fn fill(template: &str, call: &Invocation<'_>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}')?;
        let (key, otherwise) = match hole.split_once(':') {
            Some((key, otherwise)) => (key, Some(otherwise)),
            None => (hole, None),
        };
        filled.push_str(before);
        filled.push_str(&call.noun(key).or(otherwise.map(str::to_owned))?);
        rest = after;
    }
    Some(
        (filled + rest)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// Describes a task of a project, classified by the words of its name.
fn task(act: &mut Act, program: &str) {
    act.name.clone_from(&act.object);
    let words: Vec<&str> = act.name.split([':', '-', '_', '.', '/']).collect();
    let class = WORDS.lines("task words").find_map(|line| {
        let (class, known) = line.split_once(": ")?;
        let is_known = known.split(' ').any(|known| words.contains(&known));
        is_known.then(|| class_of(class))?
    });
    match class {
        Some((rank, kind)) => (act.rank, act.kind) = (rank, kind),
        None => act.object = format!("{program} {}", act.object),
    }
    if act.object == "test" {
        act.object.push('s');
    }
}

/// Whether a program does nothing worth a name, except in substitutions.
pub(super) fn is_glue(program: &str) -> bool {
    program.is_empty() || WORDS.has("glue", program)
}

/// Whether a program in a pipe only filters.
pub(super) fn is_filter(program: &str) -> bool {
    WORDS.has("filters", program)
}

/// Returns the act of a simple command; `None` for keywords, `cd`, `echo` and the like.
pub(super) fn act(command: &CommandPart, output: &str, cwd: Option<&str>) -> Option<Act> {
    let words: Vec<String> = (command.own_words().iter())
        .map(|word| word.label().to_owned())
        .collect();
    let words = words.as_slice();
    let program = command.own_program();
    let is_glue = is_glue(program);
    if is_glue && command.output().is_none() {
        return None;
    }
    let arguments = words.get(1..).unwrap_or_default();
    let mut operands = command.operands();
    let wrapped = command.words.len() - words.len();
    let mut wrappers = command.words.iter().take(wrapped).map(PartWord::label);
    if wrappers.any(|word| word == "xargs") {
        // The files come from the pipe.
        operands.push("$()");
    }
    let call = Invocation {
        program,
        arguments,
        operands,
        name: program,
        written: command.output(),
        has_document: command.has_here_document(),
        output,
        cwd,
    };
    let mut forms = FORMS.iter().filter(|form| form.fits(&call));
    let known = forms.find_map(|form| form.act(&call));
    let act = known.or_else(|| (!is_glue).then(|| Act::unknown(&call, words)));
    // The file says more than a program that only prints.
    let only_prints = |act: &Act| {
        act.effect() == Effect::None
            || act.kind == Kind::Run && act.rank < SCRIPT && act.verb != "Sent"
    };
    match call.noun("output") {
        Some(object) if act.as_ref().is_none_or(only_prints) => Some(Act {
            program: program.to_owned(),
            is_shown: false,
            rank: 71,
            kind: Kind::Change,
            verb: "Wrote".to_owned(),
            name: act.map_or_else(|| object.clone(), |act| act.name),
            object,
        }),
        _ => act,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_parses() {
        assert_eq!(FORMS.len(), WORDS.lines("forms").count());
        for form in FORMS.iter() {
            let is_closed = form.object.matches('{').count() == form.object.matches('}').count();
            assert!(is_closed && !form.verb.is_empty(), "{form:?}");
        }
    }

    #[test]
    fn acts_are_named() {
        let table = [
            ("git -C /x push -u origin topic", "", "Pushed topic"),
            (
                "git checkout -b topic origin/main",
                "",
                "Created branch topic",
            ),
            ("git diff main..HEAD --stat", "", "Compared main..HEAD"),
            (
                "git show 05b72ec^:src/net/mod.rs",
                "",
                "Viewed net/mod.rs at 05b72ec^",
            ),
            ("git frobnicate x", "", "Ran git frobnicate"),
            (
                "gh pr create --draft",
                "https://github.com/o/r/pull/7",
                "Created draft PR #7",
            ),
            (
                "gh api repos/o/r/pulls/7/comments",
                "[]",
                "Read PR #7 comments",
            ),
            ("npm run test:ci", "", "Ran test:ci"),
            ("yarn deploy", "", "Ran yarn deploy"),
            ("make", "", "Ran make"),
            ("pnpm install", "", "Ran pnpm install"),
            ("npm i zod@4", "", "Installed zod"),
            ("python -m pytest tests/a.py", "", "Ran pytest in a.py"),
            ("uv run python x/job.py", "", "Ran job.py"),
            ("timeout 5 docker compose up", "", "Ran docker compose"),
            ("gradle build", "", "Ran gradle build"),
            ("kubectl -n web get pods", "", "Ran kubectl get"),
            ("cp a.rs b.rs", "", "Copied a.rs to b.rs"),
            ("cmake --build .", "", "Ran cmake"),
            ("env A=1 ./run.sh now", "", "Ran run.sh now"),
            ("git log > a.txt", "", "Wrote a.txt"),
            ("xargs rm -f", "", "Deleted files"),
            ("xargs -0 -n 1 sed -i s/a/b/", "", "Edited files"),
            ("curl -s https://a.io/b", "", "Fetched a.io/b"),
            ("curl -sXDELETE https://a.io/b", "", "Sent DELETE to a.io/b"),
            (
                "curl -X PUT -d x=1 https://a.io/b",
                "",
                "Sent PUT to a.io/b",
            ),
            ("curl -XDELETE https://a.io/b", "", "Sent DELETE to a.io/b"),
            ("curl --json={} https://a.io/b", "", "Sent POST to a.io/b"),
            ("curl -G -d q=1 https://a.io/b", "", "Fetched a.io/b"),
            ("curl -sSfLo x https://a.io/b", "", "Downloaded a.io/b"),
            ("curl -so /dev/null https://a.io/b", "", "Fetched a.io/b"),
            ("wget https://a.io/b", "", "Downloaded a.io/b"),
            ("http DELETE a.io/b", "", "Sent DELETE to a.io/b"),
            ("find . -name '*.log' -delete", "", "Deleted *.log files"),
            ("find . -exec rm {} +", "", "Ran rm on files"),
        ];
        for (script, output, expected) in table {
            let list = crate::shell::parse(script);
            let act = act(&list.commands[0], output, Some("/w")).unwrap();
            assert_eq!(format!("{} {}", act.verb, act.object), expected, "{script}");
        }
    }
}
