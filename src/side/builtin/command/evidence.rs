//! Results of tests, lints and builds in their output. Only lines of the runners themselves count.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use memchr::{memchr, memrchr};
use regex::Regex;

use super::forms::Kind;
use super::noun::WORDS as COMMAND_WORDS;
use crate::side::builtin::clean::WordList;
use crate::text::pattern;

/// The result in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// A failure, with the count of a summary.
    Failed(Option<u64>),
    /// Issues of a linter.
    Issues(u64),
    /// A linter without issues.
    NoIssues,
    /// A success, with the count of a summary.
    Passed(Option<u64>),
    /// No result.
    Nothing,
}

static LINES: LazyLock<WordList> =
    LazyLock::new(|| WordList::new(include_str!("../words/evidence.txt")));

/// The way to combine several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    /// The sum: the runner counts each part.
    Sum,
    /// The last count.
    Last,
}

/// Summary lines of test runners, with the groups `failed` and `passed`; each may be missing.
static SUMMARY: LazyLock<Vec<(Regex, Count)>> = LazyLock::new(|| {
    let sums = expressions("test counts, added up").map(|regex| (regex, Count::Sum));
    let lasts = expressions("test counts, the last one counts").map(|regex| (regex, Count::Last));
    sums.chain(lasts).collect()
});
static FAILURE: LazyLock<Regex> = LazyLock::new(|| any_of("test failures"));
static BUILD_FAILURE: LazyLock<Regex> = LazyLock::new(|| any_of("build failures"));
static ISSUE_COUNT: LazyLock<Vec<Regex>> = LazyLock::new(|| expressions("issue counts").collect());
static CLEAN: LazyLock<Regex> = LazyLock::new(|| any_of("no issues"));

/// Size of the end of an output that is searched for errors, in bytes.
const ERROR_SEARCH_BYTES: usize = 3000;

/// All patterns in one, since nearly all lines match none.
static ANY_SIGN: LazyLock<Regex> = LazyLock::new(|| {
    let patterns: Vec<&str> = LINES.all_lines().collect();
    let groups = pattern(r"\(\?<\w+>");
    let unnamed = patterns.join("|");
    let unnamed = groups.replace_all(&unnamed, "(?:");
    pattern(&format!("(?mR){unnamed}"))
});

/// Each relevant line contains at least one of these words. Searching them is several times as fast as the
/// patterns.
const WORDS: &str = "pass|PASS|fail|Fail|FAIL|error|Error|ERR|Tests|panic: |make|npm |✖ |not ok |ok  |OK|Ran |# |\
    issue|problem|offense|Success|Prettier|.go:|.c:|.cc:|.cpp:|.h:|.rs:|.swift:|.java:|.kt:|.zig:";

static ANY_WORD: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(WORDS.split('|')));

fn any_of(section: &str) -> Regex {
    let lines: Vec<String> = LINES
        .lines(section)
        .map(|line| format!("(?:{line})"))
        .collect();
    pattern(&lines.join("|"))
}

fn expressions(section: &str) -> impl Iterator<Item = Regex> {
    let patterns = LINES.lines(section);
    patterns.map(pattern)
}

/// Returns the lines that match a pattern.
fn matching_lines(output: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    if ANY_WORD
        .as_ref()
        .is_some_and(|any| any.find(output).is_none())
    {
        return lines;
    }
    let mut at = 0;
    while let Some(sign) = ANY_SIGN.find_at(output, at) {
        let start = memrchr(b'\n', &output.as_bytes()[..sign.start()]).map_or(0, |end| end + 1);
        let length = memchr(b'\n', &output.as_bytes()[sign.end()..]);
        at = length.map_or(output.len(), |length| sign.end() + length + 1);
        lines.extend(output[start..at].lines());
    }
    lines
}

/// Removes colours.
pub(super) fn uncolored(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\x1b', text.as_bytes()).is_some() {
        Cow::Owned(crate::text::terminal_safe(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// Finds the result of commands of these kinds in their output.
pub(super) fn evidence(kinds: &[Kind], output: &str) -> Evidence {
    let has = |kind| kinds.contains(&kind);
    let lines = matching_lines(output);
    let mut found = [Evidence::Nothing; 3];
    if has(Kind::Test) {
        found[0] = tests(&lines);
    }
    if has(Kind::Lint) || has(Kind::Format) {
        found[1] = issues(&lines);
    }
    if has(Kind::Build) && lines.iter().any(|line| BUILD_FAILURE.is_match(line)) {
        found[2] = Evidence::Failed(None);
    }
    let bad = |evidence: &&Evidence| matches!(evidence, Evidence::Failed(_) | Evidence::Issues(_));
    let counted =
        |evidence: &&Evidence| matches!(evidence, Evidence::Failed(Some(_)) | Evidence::Issues(_));
    if let Some(failure) = found
        .iter()
        .find(counted)
        .or_else(|| found.iter().find(bad))
    {
        return *failure;
    }
    let [tests, issues, _] = found;
    if has(Kind::Test) { tests } else { issues }
}

fn issues(lines: &[&str]) -> Evidence {
    let count = |line: &&str| {
        let found = ISSUE_COUNT.iter().filter_map(|count| count.captures(line));
        found
            .filter_map(|found| found["count"].parse().ok())
            .next_back()
    };
    let counted: Option<u64> = lines.iter().filter_map(count).next_back();
    let is_compiler_error = |line: &&&str| line.contains(": error TS");
    let compiler_errors = lines.iter().filter(is_compiler_error).count();
    let is_failure = |line: &&str| {
        line.ends_with("ERROR task failed")
            || line.starts_with("error[E")
            || line.starts_with("error: ")
    };
    match counted {
        Some(count) if count > 0 => Evidence::Issues(count),
        _ if compiler_errors > 0 => Evidence::Issues(compiler_errors as u64),
        _ if lines.iter().any(is_failure) => Evidence::Failed(None),
        Some(_) => Evidence::NoIssues,
        None if lines.iter().any(|line| CLEAN.is_match(line)) => Evidence::NoIssues,
        None => Evidence::Nothing,
    }
}

impl Count {
    /// Combines a count with the earlier ones.
    fn add(self, before: Option<u64>, count: Option<u64>) -> Option<u64> {
        match (count, self) {
            (Some(count), Self::Sum) => Some(before.unwrap_or_default() + count),
            (Some(count), Self::Last) => Some(count),
            (None, _) => before,
        }
    }
}

fn tests(lines: &[&str]) -> Evidence {
    let (mut failures, mut passed_tests) = (None, None);
    let mut failing: BTreeSet<&str> = BTreeSet::new();
    let mut failed = false;
    let mut go_passed = false;
    let mut unittest_ran = None;
    for line in lines.iter().copied() {
        if let Some(test) = line.trim_start().strip_prefix("--- FAIL: ") {
            let name = test.split([' ', '(']).next().unwrap_or_default();
            // A failing subtest fails its test too; only tests are counted.
            if !name.contains('/') {
                failing.insert(name);
            }
            failed = true;
        }
        go_passed |= line == "PASS" || line.starts_with("ok  ");
        if let Some(ran) = line.strip_prefix("Ran ") {
            unittest_ran = ran
                .split(' ')
                .next()
                .and_then(|count| count.parse::<u64>().ok());
        }
        if line == "OK" && unittest_ran.is_some() {
            passed_tests = unittest_ran;
        }
        failed |= FAILURE.is_match(line);
        for (pattern, how) in SUMMARY.iter() {
            let Some(found) = pattern.captures(line) else {
                continue;
            };
            let number = |name: &str| {
                found
                    .name(name)
                    .and_then(|group| group.as_str().parse::<u64>().ok())
            };
            let wrong = match (number("failed"), number("errors")) {
                (None, None) => None,
                (failed, errors) => Some(failed.unwrap_or_default() + errors.unwrap_or_default()),
            };
            let total = number("total");
            let passed = number("passed")
                .or_else(|| total.map(|total| total.saturating_sub(wrong.unwrap_or_default())));
            if wrong.is_none() && passed.is_none() {
                continue;
            }
            failures = how.add(failures, wrong);
            passed_tests = how.add(passed_tests, passed);
        }
    }
    match (failures, passed_tests) {
        (Some(count), _) if count > 0 => Evidence::Failed(Some(count)),
        _ if failed => {
            Evidence::Failed(u64::try_from(failing.len()).ok().filter(|count| *count > 0))
        }
        (_, Some(count)) if count > 0 => Evidence::Passed(Some(count)),
        _ if go_passed => Evidence::Passed(None),
        _ => Evidence::Nothing,
    }
}

/// Whether the end of an output reports an error.
pub(super) fn has_error_line(output: &str) -> bool {
    let start = output.ceil_char_boundary(output.len().saturating_sub(ERROR_SEARCH_BYTES));
    output[start..].lines().any(|line| {
        let line = line.trim_start().to_lowercase();
        let starts = |section, text: &str| {
            let mut starts = COMMAND_WORDS.lines(section);
            starts.any(|start| text.starts_with(start))
        };
        let is_error = line.split_once("error: ").is_some_and(|(_, what)| {
            let what = what.trim();
            !what.is_empty() && !starts("no errors", what)
        });
        let mut phrases = COMMAND_WORDS.lines("error phrases");
        is_error || starts("error starts", &line) || phrases.any(|phrase| line.contains(phrase))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_finds_its_line() {
        LINES.all_lines().for_each(|line| drop(pattern(line)));
        let line = "3 passed, 1 warning in 0.40s";
        for (before, after) in [
            ("", ""),
            ("x\r\n", "\r\nx"),
            ("\n \n", "\n\n"),
            ("12\n", "\nin"),
        ] {
            assert!(matching_lines(&format!("{before}{line}{after}")).contains(&line));
        }
        assert!(matching_lines("x\n\ny").is_empty());
    }

    #[test]
    fn every_pattern_contains_a_word() {
        // Optional parts and alternatives need not contain a word.
        let optional = Regex::new(r"\((?:[^()]|\([^()]*\))*\)[?*]").unwrap();
        let durations = r" in [0-9.]+s";
        for pattern in LINES.all_lines() {
            let plain = pattern.replace('\\', "");
            let surely = optional.replace_all(&plain, "");
            let has = |text: &str| WORDS.split('|').any(|sign| text.contains(sign));
            let by_extension = pattern.contains(".(?:go|c|cc|cpp|h|rs|swift|java|kt|zig):");
            // Without a count, this line is not a result.
            let needs_counts = pattern.ends_with(durations);
            assert!(has(&surely) || by_extension || needs_counts, "{pattern}");
        }
    }

    #[test]
    fn runners_are_understood() {
        let passed = |count| Evidence::Passed(Some(count));
        let failed = |count| Evidence::Failed(Some(count));
        let table = [
            (
                "test result: ok. 12 passed; 0 failed; 0 ignored\ntest result: ok. 3 passed; 0 failed;",
                passed(15),
            ),
            (
                "test result: FAILED. 10 passed; 2 failed; 0 ignored",
                failed(2),
            ),
            (
                "error: could not compile `x` (lib) due to 1 previous error",
                Evidence::Failed(None),
            ),
            (
                "     Summary [   0.1s] 9 tests run: 9 passed, 0 skipped",
                passed(9),
            ),
            (
                "     Summary [   0.1s] 9 tests run: 8 passed, 1 failed, 0 skipped",
                failed(1),
            ),
            ("=== 1 failed, 3 passed in 0.4s ===", failed(1)),
            ("3 passed, 1 warning in 0.40s", passed(3)),
            (
                "============ no tests ran in 0.01s ============",
                Evidence::Nothing,
            ),
            ("===== 2 failed, 1 passed, 1 error in 3.1s =====", failed(3)),
            ("Tests:       1 failed, 17 passed, 18 total", failed(1)),
            (" Tests  4 passed (4)", passed(4)),
            ("  12 passing (20ms)\n  1 failing", failed(1)),
            ("# pass 3\n# fail 0", passed(3)),
            (" 5 pass\n 0 fail", passed(5)),
            ("ok | 5 passed | 0 failed (3ms)", passed(5)),
            ("Ran 5 tests in 0.001s\n\nOK", passed(5)),
            (
                "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
                failed(2),
            ),
            ("12 examples, 1 failure", failed(1)),
            (
                "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0",
                failed(1),
            ),
            (
                "Failed!  - Failed:     1, Passed:     3, Skipped: 0",
                failed(1),
            ),
            ("80% tests passed, 1 tests failed out of 5", failed(1)),
            (
                "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/part\nFAIL\nFAIL\tx/y\t0.4s",
                failed(1),
            ),
            (
                "ok  \tx/y\t0.1s\n?   \tx/z\t[no test files]",
                Evidence::Passed(None),
            ),
            (
                "ok  \tx/y\t0.1s\nFAIL\tx/z [build failed]",
                Evidence::Failed(None),
            ),
            ("nothing here", Evidence::Nothing),
        ];
        for (output, expected) in table {
            assert_eq!(evidence(&[Kind::Test], output), expected, "{output}");
        }
    }

    #[test]
    fn linters_and_builds_are_understood() {
        let table = [
            (Kind::Lint, "3 issues:\n* gocritic: 3", Evidence::Issues(3)),
            (Kind::Lint, "0 issues.", Evidence::NoIssues),
            (
                Kind::Lint,
                "✖ 4 problems (4 errors, 0 warnings)",
                Evidence::Issues(4),
            ),
            (
                Kind::Lint,
                "a.ts(1,2): error TS2304: x\nb.ts(1,2): error TS1: y",
                Evidence::Issues(2),
            ),
            (Kind::Lint, "All checks passed!", Evidence::NoIssues),
            (
                Kind::Lint,
                "Found 3 errors in 2 files (checked 9 source files)",
                Evidence::Issues(3),
            ),
            (
                Kind::Lint,
                "Success: no issues found in 3 source files",
                Evidence::NoIssues,
            ),
            (
                Kind::Build,
                "# a/b\nx.go:1:2: undefined: y",
                Evidence::Failed(None),
            ),
            (
                Kind::Build,
                "make: *** [all] Error 2",
                Evidence::Failed(None),
            ),
            (
                Kind::Build,
                "   Compiling x v0.1.0\n    Finished",
                Evidence::Nothing,
            ),
        ];
        for (kind, output, expected) in table {
            assert_eq!(evidence(&[kind], output), expected, "{output}");
        }
    }
}
