//! Duration of a decision about a call with 200 rules.
//!
//! `cargo bench --bench permission` prints microseconds for typical calls, the best of several rounds: for the
//! analysis of the command line, and for the decision.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Map;
use turnpipe::permission::{Action, Behavior, Mode, Request, Rule, RuleSource, Rules};
use turnpipe::shell::analyse;

const COMMANDS: &[&str] = &[
    "ls -la",
    "grep -rn 'fn main' src | head -20",
    "npm run task99 -- --watch",
    "cd src && cargo build --release 2>&1 | tee build.log",
    "rm -rf target/debug/incremental",
    "git commit -m \"$message\" && git push origin main",
];

fn main() -> io::Result<()> {
    let source = Arc::new(RuleSource {
        name: "settings.json".to_owned(),
        anchor: PathBuf::from("/work"),
    });
    let rules = (0..50).flat_map(|number| {
        [
            (format!("Bash(npm run task{number} *)"), Behavior::Allow),
            (format!("Bash(deploy{number} *)"), Behavior::Deny),
            (format!("Edit(src/module{number}/**)"), Behavior::Allow),
            (format!("Read(secrets{number}/**)"), Behavior::Deny),
        ]
    });
    let rules = rules.chain([("Bash(npm run task99 *)".to_owned(), Behavior::Allow)]);
    let rules: Result<Vec<Rule>, _> = rules
        .map(|(text, behavior)| Rule::parse(&text, behavior, &source))
        .collect();
    let rules = Rules::new(rules.map_err(io::Error::other)?);
    let directory = PathBuf::from("/home/somebody/project");
    let directories = [directory.clone()];
    let input = Map::new();
    let mut out = io::stdout().lock();
    let mut measure = |name: &str, tool: &str, action: &Action, analysing: Duration| {
        let request = Request {
            tool,
            input: &input,
            action,
            directory: &directory,
            working_directories: &directories,
            confines_reads: false,
            is_confined: false,
            masks_files: false,
            links: &|_| Some(Vec::new()),
            home: Some(Path::new("/home/somebody")),
            real_path: &|path| Some(path.to_owned()),
        };
        let best = best_of(200, || rules.decide(Mode::Default, &request));
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        writeln!(
            out,
            "{:>9.1} {:>9.1}  {name}",
            micros(analysing),
            micros(best)
        )
    };
    for command in COMMANDS {
        let analysis = analyse(command);
        let action = Action::Command {
            script: (*command).to_owned(),
            only_reads: analysis.verdict.is_read_only(),
            is_ambiguous: false,
            line: analysis.line,
        };
        let analysing = best_of(200, || analyse(command));
        measure(command, "Bash", &action, analysing)?;
    }
    let action = Action::Files {
        reads: Vec::new(),
        writes: vec![directory.join("src/module49/lib.rs")],
    };
    measure("Edit src/module49/lib.rs", "Edit", &action, Duration::ZERO)
}

fn best_of<T>(rounds: usize, mut run: impl FnMut() -> T) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed());
    }
    best
}
