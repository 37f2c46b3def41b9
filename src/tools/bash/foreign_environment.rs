//! The environment of another agent's shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::workspace_programs::WorkspacePrograms;
use crate::io::is_of_process;
use crate::tools::DecisionContext;
use crate::tools::removed_variables::{Concerned, Condition, removed_variable};

/// Returns why programs may run code, or use settings, of the workspace because of a variable.
pub(super) fn refused(
    context: &DecisionContext,
    programs: &[&str],
    workspace: &mut WorkspacePrograms,
) -> Option<String> {
    let environment = &context.environment;
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
    let usual = ["less", "more", "pager"].map(Some);
    let named = environment.iter().filter(|(name, _)| {
        removed_variable(name).is_some_and(|variable| variable.condition == Condition::Pager)
    });
    let pagers = named.map(|(_, value)| value.to_str()).chain(usual);
    let pagers: Option<Vec<_>> = pagers.map(|pager| pager_programs(pager?)).collect();
    let pagers = pagers.map(|names| names.concat());
    let is_git = programs.contains(&"git");
    let started = pagers.iter().flatten().filter(|_| is_git);
    let concerns = |concerned: Concerned| {
        let mut programs = programs.iter().chain(started.clone());
        match concerned {
            Concerned::All => true,
            Concerned::Scripts => programs.any(|program| workspace.has_script(program)),
            Concerned::Program(name) => programs.any(|program| *program == name),
        }
    };
    let mut set = environment.iter().filter(|(_, value)| !value.is_empty());
    let refused = set.find(|(name, value)| {
        removed_variable(name).is_some_and(|variable| {
            let holds = match variable.condition {
                Condition::Absolute => is_absolute(value),
                Condition::Unset => false,
                Condition::Pager | Condition::Any => true,
            };
            !holds && concerns(variable.concerns)
        })
    });
    if let Some((name, _)) = refused {
        let name = name.to_string_lossy();
        return Some(format!(
            "`{name}` may lead to code or settings of the workspace"
        ));
    }
    // Bash runs an exported function instead of the program.
    let is_function = |program: &&&str| {
        let name = format!("BASH_FUNC_{program}%%");
        environment.get(&name).is_some()
    };
    if let Some(program) = programs.iter().find(is_function) {
        return Some(format!("`{program}` is a function of the environment"));
    }
    if !is_git {
        return None;
    }
    let less = environment.get("LESS");
    let options = less.map(|options| options.to_str().map(|options| options.split(' ')));
    let is_plain = options.is_none_or(|words| words.is_some_and(|mut words| words.all(is_option)));
    let is_usual = pagers.is_some_and(|names| workspace.find(names.into_iter()).is_none());
    let why = "git may start a pager of the workspace";
    (!is_plain || !is_usual).then(|| why.to_owned())
}

/// Returns the programs of a command for a pager; `None` if a shell may read it in another way, or a program may read or
/// write a file that the command names: `sh page`, `less -oQ`.
pub(super) fn pager_programs(command: &str) -> Option<Vec<&str>> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " |_.-+/%=,:@".contains(letter);
    if !command.chars().all(is_plain) {
        return None;
    }
    let mut programs = Vec::new();
    for part in command.split('|') {
        let words = part.split(' ').filter(|word| !word.is_empty());
        let words: Vec<&str> = words.collect();
        let assigned = words.iter().take_while(|word| word.contains('='));
        let (assigned, words) = words.split_at(assigned.count());
        let mut values = assigned.iter().map(|set| set.strip_prefix("LESS="));
        let Some((program, options)) = words.split_first() else {
            continue;
        };
        // `||-lesspipe %s`
        let program = program.trim_start_matches('-');
        let is_program = program.starts_with('/') || !program.contains('/');
        let mut options = options.iter().filter(|word| **word != "%s");
        let is_plain = values.all(|value| value.is_some_and(is_option))
            && options.all(|word| word.starts_with(['-', '+']) && is_option(word));
        if !is_program || !is_plain {
            return None;
        }
        programs.push(program);
    }
    Some(programs)
}

/// Whether a word is an option, or letters of options, without the name of a file: `-FRX`, `--tabs=4`, but no `-oQ`.
fn is_option(word: &str) -> bool {
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match word.strip_prefix("--") {
        Some(long) => {
            let (name, value) = long.split_once('=').unwrap_or((long, ""));
            // `--lesskey-src`, `--log-file`
            let name = name.to_ascii_lowercase();
            !name.starts_with("le") && !name.starts_with("lo") && is_name(value)
        }
        None => !word.contains(['/', 'k', 'o', 'O', 't', 'T']) && !word.contains("=."),
    }
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
            ("ls", "BASH_FUNC_ls%%", "() { ./x; }", false),
            ("ls", "BASH_FUNC_which%%", "() { :; }", true),
            ("ls", "PYTHONPATH", ".", true),
            ("ls", "PERL5LIB", "lib", true),
            ("wc a.txt", "PERL5LIB", "lib", false),
            ("wc a.txt", "PERL5OPT", "-Ilib", false),
            ("rg a", "RIPGREP_CONFIG_PATH", "rc", false),
            ("ls", "RIPGREP_CONFIG_PATH", "rc", true),
            ("git log", "GIT_AUTHOR_NAME", "x", true),
            ("git log", "GIT_DIR", "/opt/x/.git", false),
            ("git log", "LESSKEYIN", "keys", false),
            ("git log", "LESS", "-FRX", true),
            ("git log", "LESS", "-R --mouse --tabs=4", true),
            ("git log", "LESS", "-F --lesskey-src=a.txt", false),
            ("git log", "LESS", "-FoQ", false),
            ("git log", "BAT_PAGER", "./page", false),
            ("git log", "BAT_CONFIG_PATH", "batrc", false),
            ("git log", "LESSOPEN", "| /usr/bin/lesspipe %s", true),
            ("ls", "GIT_DIR", "x", true),
        ];
        for (command, name, value, expected) in rows {
            let set = [("PATH", path.as_str()), (name, value)];
            let found = reads(&mut session, command, &set);
            assert_eq!(found, *expected, "{name}={value} {command}");
        }
    }

    #[test]
    fn a_pipe_among_the_programs_is_not_waited_for() {
        let mut session = session();
        let bin = session.path("bin");
        fs::create_dir(&bin).unwrap();
        let mut make = std::process::Command::new("mkfifo");
        assert!(make.arg(bin.join("less")).status().unwrap().success());
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let set = [("PATH", path.as_str()), ("PYTHONPATH", "lib")];
        assert!(!reads(&mut session, "git log", &set));
    }

    #[test]
    fn settings_that_a_variable_names_are_those_of_git() {
        let mut session = session();
        let place = tempfile::tempdir().unwrap();
        let settings = place.path().join("settings");
        let named = settings.display().to_string();
        let mut with = |text: &str| {
            fs::write(&settings, text).unwrap();
            reads(&mut session, "git log", &[("GIT_CONFIG_GLOBAL", &named)])
        };
        assert!(with("[user]\nname = x\n"));
        assert!(!with("[log]\nshowSignature = true\n"));
    }

    #[test]
    fn a_pager_of_the_workspace_is_not_the_users() {
        let mut session = session();
        let bin = session.path("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("c++less"), "").unwrap();
        fs::write(session.path("less"), "").unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let rows = [
            ("cat", true),
            ("LESS=FRX less -+S | cat", true),
            ("c++less", false),
            ("$M -s", false),
            ("de\"lta\"", false),
            ("true;cat", false),
            ("tools/page", false),
            ("sh a.txt", false),
            ("tee Q", false),
            ("PATH=bin less", false),
            ("LESS=-oQ less", false),
            ("less -FoQ", false),
            ("less --LOG-FILE=Q", false),
            ("less LESS=p", false),
            ("diff-so-fancy | less --tabs=4 -RFX", true),
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
        assert!(!configured("sh a.txt", "/usr/bin:/bin"));
        assert!(!configured("tools/page", "/usr/bin:/bin"));
        assert!(!configured("cat", &path), "a pager that is not looked up");
    }
}
