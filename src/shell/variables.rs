//! Which variables a command line may set.

use super::word::Word;

/// Variables that mean something to the shell, the loader or to programs that start others.
/// Setting any other name changes nothing but what `$NAME` expands to.
const RESERVED: &[&str] = &[
    "ALL_PROXY",
    "AWKLIBPATH",
    "AWKPATH",
    "BROWSER",
    "CDPATH",
    "CHILD_MAX",
    "COLUMNS",
    "COMPREPLY",
    "DIRSTACK",
    "EDITOR",
    "ENV",
    "EXECIGNORE",
    "FCEDIT",
    "FIGNORE",
    "FPATH",
    "FUNCNEST",
    "GETCONF_DIR",
    "GLOBIGNORE",
    "GROUPS",
    "HOME",
    "HOSTALIASES",
    "HOSTFILE",
    "IFS",
    "IGNOREEOF",
    "INPUTRC",
    "KUBECONFIG",
    "LINES",
    "LOCALDOMAIN",
    "LOCPATH",
    "MAGIC",
    "MAKEFLAGS",
    "MALLOC_TRACE",
    "NLSPATH",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "PAGER",
    "PATH",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PROMPT_DIRTRIM",
    "PWD",
    "READLINE_LINE",
    "SHELL",
    "SHELLOPTS",
    "SHLVL",
    "TAPE",
    "TERMCAP",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TIMEFORMAT",
    "TMOUT",
    "TMP",
    "TMPDIR",
    "TMPPREFIX",
    "UID",
    "EUID",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
];

/// Beginnings of names that are reserved as well.
const RESERVED_PREFIXES: &[&str] = &[
    "AWS_",
    "BASH",
    "BZIP",
    "CARGO",
    "COMP_",
    "DOCKER",
    "DYLD_",
    "GCONV_",
    "GH_",
    "GIT_",
    "GO",
    "GREP_",
    "GZIP",
    "HIST",
    "JAVA",
    "JDK_",
    "JQ_",
    "KUBE",
    "LC_",
    "LANG",
    "LD_",
    "LESS",
    "LS_",
    "MAIL",
    "MAN",
    "NODE",
    "NPM_",
    "PERL",
    "PIP_",
    "PS",
    "PYTHON",
    "RES_",
    "RIPGREP_",
    "RUBY",
    "RUST",
    "SSH",
    "SUDO_",
    "TAR_",
    "TREE_",
    "UNZIP",
    "XDG_",
    "XZ_",
    "YQ_",
    "ZIP",
    "ZSTD_",
    "npm_",
    "http",
    "no_proxy",
    "HTTP",
    "all_proxy",
    "ftp_proxy",
];

/// Variables that may be passed to a command, and what their values may look like.
const PASSED: &[(&str, Accepted)] = &[
    ("CLICOLOR", Accepted::Plain),
    ("CLICOLOR_FORCE", Accepted::Plain),
    ("COLORTERM", Accepted::Plain),
    ("COLUMNS", Accepted::Plain),
    ("FORCE_COLOR", Accepted::Plain),
    ("GIT_OPTIONAL_LOCKS", Accepted::OneOf(&["0"])),
    ("GIT_PAGER", Accepted::OneOf(&["", "cat"])),
    ("GIT_TERMINAL_PROMPT", Accepted::OneOf(&["0"])),
    ("GREP_COLOR", Accepted::Plain),
    ("GREP_COLORS", Accepted::Plain),
    ("LANG", Accepted::Plain),
    ("LANGUAGE", Accepted::Plain),
    ("LC_ALL", Accepted::Plain),
    ("LC_COLLATE", Accepted::Plain),
    ("LC_CTYPE", Accepted::Plain),
    ("LC_MESSAGES", Accepted::Plain),
    ("LC_NUMERIC", Accepted::Plain),
    ("LC_TIME", Accepted::Plain),
    ("LINES", Accepted::Plain),
    ("LS_COLORS", Accepted::Plain),
    ("NO_COLOR", Accepted::Plain),
    ("PAGER", Accepted::OneOf(&["", "cat"])),
    ("TERM", Accepted::Plain),
    ("TZ", Accepted::TimeZone),
];

enum Accepted {
    /// Letters, digits and a few signs; no slash, so no path.
    Plain,
    /// The same, and slashes inside.
    TimeZone,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// Whether setting a variable of the shell changes nothing but its expansion.
pub(super) fn may_be_set(name: &str) -> bool {
    name != "_"
        && !RESERVED.contains(&name)
        && !RESERVED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether a command may be given this variable: `NAME=value command`.
pub(super) fn may_be_passed(name: &str, value: &Word) -> bool {
    let Some(value) = value.literal() else {
        return false;
    };
    PASSED
        .iter()
        .find(|(passed, _)| *passed == name)
        .is_some_and(|(_, accepted)| match accepted {
            Accepted::Plain => value.bytes().all(is_plain),
            Accepted::TimeZone => {
                value.starts_with(|first: char| first.is_ascii_alphabetic())
                    && !value.contains("..")
                    && value.bytes().all(|byte| is_plain(byte) || byte == b'/')
            }
            Accepted::OneOf(values) => values.contains(&value),
        })
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-:;=@+,*".contains(&byte)
}
