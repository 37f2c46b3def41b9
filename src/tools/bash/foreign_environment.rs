//! The environment of another agent's shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::workspace_programs::WorkspacePrograms;
use crate::io::{Environment, is_of_process};

/// Variables with programs that show the output of git on a terminal, or that those start.
const PAGERS: [&str; 4] = ["PAGER", "GIT_PAGER", "LESSOPEN", "LESSCLOSE"];

/// Returns why programs may run code, or use settings, of the workspace because of a variable.
pub(super) fn refused(
    environment: &Environment,
    programs: &[&str],
    workspace: &mut WorkspacePrograms,
) -> Option<String> {
    let is_absolute = |value: &OsStr| {
        // The loader takes `;` and spaces for separators, and bash expands `BASH_ENV`.
        let is_sign = |byte: &u8| byte.is_ascii_whitespace() || b";$`~\\*?[".contains(byte);
        if value.as_bytes().iter().any(is_sign) {
            return false;
        }
        let mut entries = std::env::split_paths(value);
        let is_outside = |path: &Path| path.is_absolute() && !workspace.has_file(path);
        entries.all(|path| is_outside(&path) && !is_of_process(&path))
    };
    let concerns = |kind: &str| {
        let mut programs = programs.iter();
        let is_script = |program: &str| kind == "#!" && workspace.has_script(program);
        kind == "*" || programs.any(|program| *program == kind || is_script(program))
    };
    let set = environment.iter().filter(|(_, value)| !value.is_empty());
    let refused = set.into_iter().find(|(name, value)| {
        let row = row(name.as_bytes());
        row.is_some_and(|(kind, condition)| {
            let holds = match condition {
                "absolute" => is_absolute(value),
                condition => condition == "any",
            };
            !holds && concerns(kind)
        })
    });
    if let Some((name, _)) = refused {
        let name = name.to_string_lossy();
        return Some(format!(
            "`{name}` may lead to code or settings of the workspace"
        ));
    }
    if !programs.contains(&"git") {
        return None;
    }
    let usual = ["less", "more", "pager"].map(Some);
    let named = PAGERS.into_iter().filter_map(|name| environment.get(name));
    let mut pagers = named.map(OsStr::to_str).chain(usual);
    pagers.find_map(|pager| {
        let words = pager.and_then(program_words);
        match words.map(|words| workspace.find(words.into_iter()).is_some()) {
            Some(false) => None,
            _ => Some("git may start a pager of the workspace".to_owned()),
        }
    })
}

/// Returns the first row of `foreign_variables.txt` with a variable: its programs and its condition.
fn row(name: &[u8]) -> Option<(&'static str, &'static str)> {
    let rows = include_str!("foreign_variables.txt").lines();
    let rows = rows.filter(|row| !row.starts_with("# "));
    let mut rows = rows.map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.find_map(|row| match row.as_slice() {
        [kind, condition, names @ ..] => {
            let is_named = |known: &&str| match known.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix.as_bytes()),
                None => name == known.as_bytes(),
            };
            names.iter().any(is_named).then_some((*kind, *condition))
        }
        _ => None,
    })
}

/// Returns the words of a command for a pager, each of which may be a program; `None` if a shell may read them in another
/// way, or one leads to the working directory.
pub(super) fn program_words(command: &str) -> Option<Vec<&str>> {
    let words = command.split([' ', '|']);
    let words = words.map(|word| word.trim_start_matches('-'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_plain = |word: &&str| {
        let mut letters = word.chars();
        letters.all(|letter| letter.is_ascii_alphanumeric() || "_.-+/%=,:@".contains(letter))
            && (word.starts_with('/') || !word.contains('/'))
    };
    words.iter().all(is_plain).then_some(words)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use crate::shell::analyse;
    use crate::tools::bash::settled;
    use crate::tools::test_context::Session;
    use crate::tools::{ShellGuarantees, WriteProtection};

    /// Returns a session with a repository, as a hook sees it.
    fn session() -> Session {
        let mut session = Session::new();
        session.context.shell = ShellGuarantees::foreign(WriteProtection::Absent);
        fs::write(session.path("a.txt"), "a\n").unwrap();
        let mut init = std::process::Command::new("git");
        let status = init.args(["init", "-q"]).arg(session.path("")).status();
        assert!(status.unwrap().success());
        session
    }

    /// Whether a command only reads in an environment.
    fn reads(session: &mut Session, command: &str, set: &[(&str, &str)]) -> bool {
        let home = session.path("").display().to_string();
        let usual = [("PATH", "/usr/bin:/bin"), ("HOME", &*home)];
        let set = usual.into_iter().chain(set.iter().copied());
        session.context.environment = Arc::new(set.collect());
        settled(analyse(command), &session.context)
            .verdict
            .is_read_only()
    }

    #[test]
    fn no_variable_leads_to_code_or_settings_of_the_workspace() {
        let mut session = session();
        let own = session.path("lib").display().to_string();
        let bin = tempfile::tempdir().unwrap();
        fs::write(bin.path().join("wc"), "#!/usr/bin/perl\n").unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.path().display());
        let rows: &[(&str, &str, &str, bool)] = &[
            ("ls", "LD_LIBRARY_PATH", "/opt/x", true),
            ("ls", "LD_LIBRARY_PATH", "/opt/x:", false),
            ("ls", "LD_LIBRARY_PATH", &own, false),
            ("ls", "LD_PRELOAD", "/proc/self/cwd/x.so", false),
            ("ls", "LD_LIBRARY_PATH", "/opt/x;lib", false),
            ("ls", "BASH_ENV", ".bash_env", false),
            ("ls", "BASH_ENV", "/opt/$(./evil)", false),
            ("ls", "SHELLOPTS", "keyword", false),
            ("ls", "PYTHONPATH", ".", true),
            ("ls", "PERL5LIB", "lib", true),
            ("wc a.txt", "PERL5LIB", "lib", false),
            ("wc a.txt", "PERL5OPT", "-Ilib", false),
            ("rg a", "RIPGREP_CONFIG_PATH", "rc", false),
            ("ls", "RIPGREP_CONFIG_PATH", "rc", true),
            ("git log", "GIT_AUTHOR_NAME", "x", true),
            ("git log", "GIT_DIR", "/opt/x/.git", false),
            ("git log", "LESSKEYIN", "keys", false),
            ("ls", "GIT_DIR", "x", true),
        ];
        for (command, name, value, expected) in rows {
            let set = [("PATH", path.as_str()), (name, value)];
            let found = reads(&mut session, command, &set);
            assert_eq!(found, *expected, "{name}={value} {command}");
        }
    }

    #[test]
    fn a_pager_of_the_workspace_is_not_the_users() {
        let mut session = session();
        let bin = session.path("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("c++less"), "").unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let rows = [
            ("cat", true),
            ("LESS=FRX less -+S | cat", true),
            ("c++less", false),
            ("$M -s", false),
            ("de\"lta\"", false),
            ("true;cat", false),
            ("tools/page", false),
        ];
        for (pager, expected) in rows {
            let set = [("PATH", path.as_str()), ("GIT_PAGER", pager)];
            assert_eq!(reads(&mut session, "git log", &set), expected, "{pager}");
        }
        let mut configured = |value: &str, path: &str| {
            let settings = format!("[pager]\nshow = {value}\n");
            fs::write(session.path(".gitconfig"), settings).unwrap();
            reads(&mut session, "git log", &[("PATH", path)])
        };
        assert!(configured("cat", "/usr/bin:/bin"));
        assert!(!configured("tools/page", "/usr/bin:/bin"));
        assert!(!configured("cat", &path), "a pager that is not looked up");
    }
}
