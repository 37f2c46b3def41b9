//! Programs in directories where the session may write, and variables that lead there.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::io::is_per_process_path;
use crate::permission::is_of_system;
use crate::run::tools::DecisionContext;
use crate::run::tools::child_environment::search_path;
use crate::run::tools::removed_variables::{AffectedPrograms, Condition, removed_variable};

/// Pagers that git starts by default, and usual ones in the settings of users.
const PAGERS: &str = "less more pager bat cat delta diff-so-fancy";

/// Finds programs in directories where the session may write, by the search of the shell.
pub(super) struct WorkspacePrograms {
    /// The directories where the session may write, as given and with links resolved.
    workspace: Vec<PathBuf>,
    /// Directories of `PATH`, and whether the session may write to each.
    directories: Vec<(PathBuf, bool)>,
    /// The programs that were looked up, and whether they are in the workspace.
    known: HashMap<String, bool>,
}

impl WorkspacePrograms {
    pub(super) fn new(context: &DecisionContext) -> Self {
        let allowed = context.allowed_directories.iter();
        let named = allowed
            .chain([&context.directory])
            .chain(&context.own_directory);
        let real = named.clone().filter_map(|path| path.canonicalize().ok());
        let workspace: Vec<PathBuf> = named.cloned().chain(real).collect();
        let path = search_path(&context.environment);
        let directories = std::env::split_paths(&path).map(|path| {
            // The directory may be a link to the workspace.
            let real = path.canonicalize();
            let is_inside = real.is_ok_and(|real| is_in_workspace(&real, &workspace));
            (path, is_inside)
        });
        Self {
            directories: directories.collect(),
            workspace,
            known: HashMap::new(),
        }
    }

    /// Returns the first of the shells and `names` that is a program of the workspace.
    pub(super) fn find<'names>(
        &mut self,
        names: impl Iterator<Item = &'names str>,
    ) -> Option<&'names str> {
        ["bash", "sh", "zsh", "dash"]
            .into_iter()
            .chain(names)
            .find(|name| self.contains(name))
    }

    /// Returns the reason why the effect of programs is unclear in the shell of another agent, if a variable makes it
    /// so.
    pub(super) fn find_unclear_variable(
        &mut self,
        context: &DecisionContext,
        programs: &[&str],
    ) -> Option<String> {
        for (name, value) in context.environment.iter() {
            let Some(variable) = removed_variable(name).filter(|_| !value.is_empty()) else {
                continue;
            };
            let is_concerned = match variable.programs {
                AffectedPrograms::All => true,
                AffectedPrograms::Scripts => {
                    programs.iter().any(|program| self.has_script(program))
                }
                AffectedPrograms::Program(name) => programs.contains(&name),
            };
            let is_clear = !is_concerned
                || match variable.condition {
                    Condition::Absolute => self.are_outside(value),
                    Condition::Unset => false,
                    Condition::Pager => self.has_no_program(value),
                    Condition::Any => true,
                };
            if !is_clear {
                let name = name.to_string_lossy();
                return Some(format!(
                    "`{name}` may lead to code or settings of the workspace"
                ));
            }
        }
        // Bash runs an exported function instead of the program.
        let mut names = programs.iter();
        let function = names.find(|name| {
            let name = format!("BASH_FUNC_{name}%%");
            context.environment.get(&name).is_some()
        });
        if let Some(program) = function {
            return Some(format!("`{program}` is a function of the environment"));
        }
        let is_git = programs.contains(&"git");
        let why = "git may start a pager of the workspace";
        (is_git && self.find(PAGERS.split(' ')).is_some()).then(|| why.to_owned())
    }

    /// Whether a value consists of absolute paths outside the workspace, separated by colons.
    fn are_outside(&self, value: &OsStr) -> bool {
        // The loader takes `;` and spaces for separators, and bash expands `BASH_ENV`.
        let is_special = |byte: &u8| byte.is_ascii_whitespace() || b";$`~\\*?[".contains(byte);
        let is_outside = |path: PathBuf| {
            path.is_absolute() && !self.has_file(&path) && !is_per_process_path(&path)
        };
        !value.as_bytes().iter().any(is_special) && std::env::split_paths(value).all(is_outside)
    }

    /// Whether no word of a command names a program of the workspace.
    fn has_no_program(&mut self, command: &OsStr) -> bool {
        let is_separator = |letter: char| !letter.is_alphanumeric() && !"/._+-".contains(letter);
        let words = command.to_str().unwrap_or("$").split(is_separator);
        let mut words = words.map(|word| word.trim_start_matches('-'));
        // A shell may split a command with these characters into other words.
        let mut bytes = command.as_bytes().iter();
        !bytes.any(|byte| b"$`~\\\"'".contains(byte))
            && words.all(|word| {
                let is_path = word.contains('/');
                word.is_empty()
                    || is_path && self.are_outside(word.as_ref())
                    || !is_path && !self.contains(word)
            })
    }

    /// Whether a path, or the file to which it leads, is in the workspace.
    fn has_file(&self, path: &Path) -> bool {
        let real = path.canonicalize();
        is_in_workspace(path, &self.workspace)
            || real.is_ok_and(|real| is_in_workspace(&real, &self.workspace))
    }

    /// Whether a program in `PATH` is a script.
    fn has_script(&self, program: &str) -> bool {
        let mut directories = self.directories.iter();
        directories.any(|(directory, _)| is_script(&directory.join(program)))
    }

    /// Whether a program in `PATH` is, or may start, a program of the workspace.
    fn contains(&mut self, program: &str) -> bool {
        if let Some(known) = self.known.get(program) {
            return *known;
        }
        let has_own = self.directories.iter().any(|(_, is_inside)| *is_inside);
        let found = self.directories.iter().any(|(directory, is_inside)| {
            let path = directory.join(program);
            // The program may be a link to the workspace.
            let is_own = *is_inside || has_own && is_script(&path);
            path.exists() && (is_own || self.has_file(&path))
        });
        self.known.insert(program.to_owned(), found);
        found
    }
}

/// Whether a program is a script, which may start other programs of `PATH`: `#!/usr/bin/env python3`.
fn is_script(program: &Path) -> bool {
    // Opening a pipe would wait for its writer.
    if !program.is_file() {
        return false;
    }
    let mut start = [0; 2];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"#!"
}

/// Whether the session may write to a program without approval. System programs need approval even
/// if a working directory, such as `/`, contains them.
fn is_in_workspace(program: &Path, workspace: &[PathBuf]) -> bool {
    let mut workspace = workspace.iter();
    workspace.any(|allowed| {
        program.starts_with(allowed) && (is_of_system(allowed) || !is_of_system(program))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use crate::run::tools::bash::check_requirements;
    use crate::run::tools::test_context::Session;
    use crate::run::tools::{ShellGuarantees, WriteProtection};
    use crate::shell::analyse;

    /// Returns a session as a hook sees it.
    fn session() -> Session {
        let mut session = Session::new();
        session.context.shell = ShellGuarantees::foreign(WriteProtection::Absent);
        fs::write(session.path("a.txt"), "a\n").unwrap();
        session
    }

    /// Whether a command only reads in an environment.
    fn reads(session: &mut Session, command: &str, set: &[(&str, &str)]) -> bool {
        let home = session.path("").display().to_string();
        let usual = [("PATH", "/usr/bin:/bin"), ("HOME", &*home)];
        let set = usual.into_iter().chain(set.iter().copied());
        session.context.environment = Arc::new(set.collect());
        check_requirements(analyse(command), &session.context)
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
            ("git log", "GIT_CONFIG_GLOBAL", "settings", false),
            ("git log", "GIT_CONFIG_GLOBAL", "/dev/null", true),
            ("git log", "XDG_CONFIG_HOME", "settings", false),
            ("git log", "LESSKEYIN", "keys", false),
            ("git log", "LESS", "-FRX", true),
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
            ("diff-so-fancy | less --tabs=4 -RFX", true),
            ("/usr/bin/less -R", true),
            ("c++less", false),
            ("cat | c++less -R", false),
            ("$M -s", false),
            ("c++\"less\"", false),
            ("tools/page", false),
            (&*bin.join("page").display().to_string(), false),
        ];
        for (pager, expected) in rows {
            let set = [("PATH", path.as_str()), ("GIT_PAGER", pager)];
            assert_eq!(reads(&mut session, "git log", &set), expected, "{pager}");
        }
        // A pipe among the programs is not waited for.
        let mut make = std::process::Command::new("mkfifo");
        assert!(make.arg(bin.join("less")).status().unwrap().success());
        assert!(!reads(&mut session, "git log", &[("PATH", &path)]));
    }
}
