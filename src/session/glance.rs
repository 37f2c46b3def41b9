//! What the beginning of a long line tells of its session: agents write first what they write into
//! every record, and then what was said, which may be long. Whoever wants to know more, or has to be
//! sure that the record is whole, reads the line.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use super::Facts;

/// Shorter lines are read as a whole, in bytes.
const LONG: usize = 1024;

/// How much of a line is looked at, in bytes.
const BEGINNING: usize = 512;

/// The end of one record, and the beginning of another on the same line.
static GLUED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"}{\""));

/// The key that tells rows of subagents.
static SIDECHAIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"isSidechain\""));

/// What keys of models begin with.
static MODEL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"model"));

/// Keys of directories.
static DIRECTORIES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"cwd\""), Finder::new(b"\"directories\"")]);

/// Keys of branches.
static BRANCHES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"gitBranch\""), Finder::new(b"\"branch\"")]);

/// A long line that looks whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glance<'a> {
    /// The beginning of its record.
    pub(super) beginning: &'a str,
    line: &'a [u8],
}

impl<'a> Glance<'a> {
    /// A glance at a line; `None` if it is short, or does not look like one whole record.
    pub(super) fn at(line: &'a [u8]) -> Option<Self> {
        let looks_whole = line.starts_with(b"{\"") && line.ends_with(b"}\n");
        if line.len() < LONG || !looks_whole || GLUED.find(line).is_some() {
            return None;
        }
        let (first, _) = line.split_at_checked(BEGINNING)?;
        // No further than a member may end: half a character or half a number tell nothing.
        let end = memrchr(b',', first)?;
        let beginning = str::from_utf8(&first[..end]).ok()?;
        Some(Self { beginning, line })
    }

    /// Whether reading the line would tell no more than its beginning `told`, and what is `known` from
    /// later lines. A key in the beginning may mean something only by what stands behind it.
    pub(super) fn told_all(&self, told: &Facts, known: &Facts) -> bool {
        let is_missing =
            |fact: fn(&Facts) -> &Option<String>| fact(told).is_none() && fact(known).is_none();
        let rest = &self.line[self.beginning.len()..];
        told.last_activity.is_some()
            && !(is_missing(|facts| &facts.cwd) && names_a_directory(self.line))
            && !(is_missing(|facts| &facts.branch) && names_a_branch(self.line))
            && !(is_missing(|facts| &facts.model) && names_a_model(self.line))
            // The model of a subagent is not that of the session.
            && !(told.model.is_some() && SIDECHAIN.find(rest).is_some())
    }
}

/// Whether a line, or a part of one, names a directory.
pub(super) fn names_a_directory(line: &[u8]) -> bool {
    DIRECTORIES.iter().any(|key| key.find(line).is_some())
}

fn names_a_branch(line: &[u8]) -> bool {
    BRANCHES.iter().any(|key| key.find(line).is_some())
}

/// Whether there is a key of a model; in some formats `model` is a role, too.
pub(super) fn names_a_model(line: &[u8]) -> bool {
    MODEL.find_iter(line).any(|at| {
        let rest = &line[at + MODEL.needle().len()..];
        let Some((key, behind)) = memchr(b'"', rest).and_then(|end| rest.split_at_checked(end))
        else {
            return false;
        };
        // In somebody's text quotation marks have backslashes.
        !key.contains(&b'\\') && behind[1..].trim_ascii_start().starts_with(b":")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::Agent;

    fn told(agent: Agent, record: &str) -> Facts {
        let mut facts = Facts::default();
        agent.format().facts(record, &mut facts);
        facts
    }

    fn long() -> String {
        r#""text":"said \"model\": \"cwd\": and more","#.repeat(40)
    }

    #[test]
    fn only_long_lines_that_look_whole_are_glanced_at() {
        let long = long();
        let rows = [
            (format!("{{{long}\"a\":1}}\n"), true),
            (format!("{{{long}\"a\":1}}"), false),
            (format!("{{{long}\"a\":\n"), false),
            (format!("{long}\"a\":1}}\n"), false),
            (format!("{{\"b\":2}}{{{long}\"a\":1}}\n"), false),
            ("{\"a\":1}\n".to_owned(), false),
        ];
        for (line, is_glanced_at) in rows {
            assert_eq!(
                Glance::at(line.as_bytes()).is_some(),
                is_glanced_at,
                "{line}"
            );
        }
    }

    #[test]
    fn what_stands_behind_the_beginning_is_missed_only_if_it_is_known() {
        let envelope = r#""type":"assistant","timestamp":"2026-01-02T03:04:05Z","cwd":"/a","#;
        let long = long();
        let line = format!("{{{envelope}{long}\"gitBranch\":\"b\",\"model\":\"m\"}}\n");
        let glance = Glance::at(line.as_bytes()).unwrap();
        let facts = told(Agent::Qwen, glance.beginning);
        assert_eq!(facts.cwd.as_deref(), Some("/a"));
        assert!(!glance.told_all(&facts, &Facts::default()));
        let known = Facts {
            branch: Some("b".to_owned()),
            model: Some("m".to_owned()),
            ..Facts::default()
        };
        assert!(glance.told_all(&facts, &known));
        assert!(!glance.told_all(&Facts::default(), &known));
    }

    #[test]
    fn a_role_is_no_model() {
        let rows = [
            (r#"{"role":"model","parts":[]}"#, false),
            (r#"{"role":"model"}"#, false),
            (r#"{"model":"m"}"#, true),
            (r#"{"modelId" : "m"}"#, true),
            (r#"{"role":"model","model":"m"}"#, true),
            (r#"{"text":"\"model\":\"m\""}"#, false),
            (r#"{"model"#, false),
        ];
        for (line, is_named) in rows {
            assert_eq!(names_a_model(line.as_bytes()), is_named, "{line}");
        }
    }

    proptest! {
        /// In whatever order members stand: either a glance tells that it is not enough, or it told
        /// what reading tells.
        #[test]
        fn a_glance_tells_what_reading_tells(
            members in Just(vec![
                r#""type":"assistant""#,
                r#""timestamp":"2026-01-02T03:04:05Z""#,
                r#""cwd":"/a,b""#,
                r#""gitBranch": "b""#,
                r#""model": "m""#,
                r#""isSidechain":true"#,
                r#""message":{"role":"model","model":"n","parts":[]}"#,
                r#""payload":{"cwd":"/c","model":"o"}"#,
            ]).prop_shuffle(),
            count in 4_usize..9,
            place in 0_usize..9,
            length in 0_usize..90,
            agent in prop::sample::select(vec![Agent::Qwen, Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Pi]),
        ) {
            let mut members: Vec<String> = members[..count].iter().map(|&member| member.to_owned()).collect();
            let said = format!(r#""said":"{}""#, r#"a \"cwd\": \n"#.repeat(length));
            members.insert(place.min(count), said);
            let record = format!("{{{}}}", members.join(","));
            let line = format!("{record}\n");
            if let Some(glance) = Glance::at(line.as_bytes()) {
                let facts = told(agent, glance.beginning);
                if glance.told_all(&facts, &Facts::default()) {
                    let all = told(agent, &record);
                    prop_assert_eq!(facts.last_activity, all.last_activity);
                    prop_assert_eq!(facts.cwd, all.cwd);
                    prop_assert_eq!(facts.branch, all.branch);
                    prop_assert_eq!(facts.model, all.model);
                }
            }
        }
    }
}
