//! Pages as displayed in terminals of several widths, compared with `tests/data/pages`.
//!
//! `TURNPIPE_UPDATE=1 cargo test --test cli pages::` regenerates them. Review the difference before
//! you commit.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use turnpipe::text::display_width;

use crate::skip::sample;
use crate::terminal::{Attached, input, run_on_pty};
use crate::turnpipe::command;

/// The lines of a page. The terminal wraps lines of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Rows, which must fit.
    Fit,
    /// Also text of messages.
    Wrap,
}

/// A page that a command prints.
struct Page {
    name: &'static str,
    /// As in a shell.
    arguments: &'static str,
    stdin: &'static str,
    lines: Lines,
}

const fn page(name: &'static str, lines: Lines, arguments: &'static str) -> Page {
    Page {
        name,
        arguments,
        stdin: "",
        lines,
    }
}

const STATUS_LINE: &str = r#"{"model":{"display_name":"Opus \u001b[2J修复"},"transcript_path":"sessions/plain.jsonl","context_window":{"used_percentage":41.6}}"#;

const PAGES: &[Page] = &[
    page("list", Lines::Fit, "session list -o text --root sessions"),
    page(
        "list-counts",
        Lines::Fit,
        "session list -o text --root sessions --counts",
    ),
    page("stats", Lines::Fit, "session stats -o text --root sessions"),
    page(
        "stats-by-day",
        Lines::Fit,
        "session stats -o text --root sessions --by day",
    ),
    page(
        "stats-by-block",
        Lines::Fit,
        "session stats -o text --root sessions --by block",
    ),
    page(
        "stats-by-model",
        Lines::Fit,
        "session stats -o text --root sessions --by model",
    ),
    page(
        "stats-by-cwd-and-session",
        Lines::Fit,
        "session stats -o text --root sessions --by cwd,session",
    ),
    page(
        "stats-by-tool",
        Lines::Fit,
        "session stats -o text --root sessions --by project,tool",
    ),
    Page {
        stdin: STATUS_LINE,
        ..page(
            "statusline",
            Lines::Fit,
            "session stats --root sessions --statusline",
        )
    },
    page(
        "show",
        Lines::Wrap,
        "session show -o text sessions/plain.jsonl",
    ),
    page(
        "show-wide",
        Lines::Wrap,
        "session show -o text sessions/wide.jsonl",
    ),
    page(
        "show-hostile",
        Lines::Wrap,
        "session show -o text sessions/hostile.jsonl",
    ),
    page(
        "show-compact",
        Lines::Wrap,
        "session show -o text --calls grouped sessions/plain.jsonl",
    ),
    page(
        "tail",
        Lines::Wrap,
        "session tail -o text sessions/plain.jsonl",
    ),
    page(
        "tail-hostile",
        Lines::Wrap,
        "session tail -o text sessions/hostile.jsonl",
    ),
    page(
        "search",
        Lines::Wrap,
        "session search -o text line --root sessions",
    ),
    page(
        "search-wide",
        Lines::Wrap,
        "session search -o text 解析器 --root sessions",
    ),
    page(
        "search-counts",
        Lines::Fit,
        "session search -o text -c line --root sessions",
    ),
    Page {
        stdin: "git log --oneline && git push origin main\n",
        ..page(
            "check-permission",
            Lines::Wrap,
            "check permission --plain --allow 'Bash(git log *)' --deny 'Bash(git push *)'",
        )
    },
    page(
        "no-session",
        Lines::Wrap,
        "session show -o text 'sessions/none-\u{1b}[2J.jsonl'",
    ),
    page(
        "no-dimension",
        Lines::Wrap,
        "session stats -o text --by weekday",
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pages")
}

/// Returns the output in a terminal of this width, or in a pipe.
fn render_page(page: &Page, columns: Option<u16>, variables: &[(&str, &str)]) -> String {
    let mut command = command();
    command
        .current_dir(folder())
        .args(shlex::split(page.arguments).unwrap())
        .env("TURNPIPE_CLOCK", "2026-01-03T12:00:00Z")
        .env("HOME", "/nowhere")
        .env("PAGER", "")
        .envs(variables.iter().copied());
    command.stdin(input(page.stdin));
    if let Some(columns) = columns {
        return run_on_pty(columns, Attached::OutputBesideMessages, &mut command).1;
    }
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn pages_fit_and_are_harmless() {
    let mut problems = Vec::new();
    let other_terminals = sample([80, 60, 120, 200], 4, |_| ());
    for page in PAGES {
        let mut pages: Vec<(String, String)> = Vec::new();
        for columns in [Some(60), Some(80), Some(120), Some(200), None] {
            let plain = render_page(page, columns, &[("TERM", "xterm"), ("NO_COLOR", "1")]);
            let title = columns.map_or("a pipe".to_owned(), |columns| format!("{columns} columns"));
            let mut check = |is_right: bool, problem: &str| {
                if !is_right {
                    problems.push(format!("{}, {title}: {problem}\n{plain}", page.name));
                }
            };
            let is_harmful = |character: char| {
                character.is_control() && character != '\n'
                    || "\u{202e}\u{202c}".contains(character)
            };
            check(!plain.contains(is_harmful), "control characters");
            if let Some(columns) = columns {
                let mut lines = plain.lines();
                let is_message = |line: &str| line.starts_with("turnpipe: ");
                let fits = |line| display_width(line) <= columns.into() || is_message(line);
                let fits = lines.all(fits);
                check(fits || page.lines == Lines::Wrap, "too wide");
                if other_terminals.contains(&columns) {
                    let dumb = render_page(page, Some(columns), &[("TERM", "dumb")]);
                    check(dumb == plain, "a dumb terminal shows something else");
                    let colored = render_page(page, Some(columns), &[("TERM", "xterm")]);
                    check(without_colors(&colored) == plain, "colors change the text");
                }
            }
            match pages.last_mut() {
                Some((titles, page)) if *page == plain => write!(titles, ", {title}").unwrap(),
                _ => pages.push((title, plain)),
            }
        }
        let pages = pages
            .iter()
            .map(|(title, page)| format!("──── {title}\n{page}"));
        let pages: String = pages.collect();
        let file = folder().join(page.name).with_extension("txt");
        if std::env::var_os("TURNPIPE_UPDATE").is_some() {
            fs::write(&file, &pages).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != pages {
            problems.push(format!("{} is not what it was:\n{pages}", page.name));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the text without the sequences that set colors.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        let (codes, rest) = part.split_once('m').unwrap();
        assert!(
            codes
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b';'),
            "{text:?}"
        );
        rest
    });
    first + &rest.collect::<String>()
}

/// The findings differ between machines, but fit.
#[test]
fn the_findings_of_doctor_fit() {
    let doctor = page("doctor", Lines::Fit, "doctor");
    for columns in [60, 80, 120, 200] {
        let page = render_page(
            &doctor,
            Some(columns),
            &[("TERM", "xterm"), ("NO_COLOR", "1")],
        );
        assert!(page.lines().count() > 10, "{page}");
        // Problems are shown in full.
        for line in page.lines().filter(|line| !line.starts_with("    ")) {
            assert!(display_width(line) <= columns.into(), "{columns}: {line}");
        }
    }
}
