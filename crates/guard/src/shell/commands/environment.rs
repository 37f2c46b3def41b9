//! Commands that may print secret variables of the environment.

use crate::shell::options;
use crate::shell::table::Command;
use crate::shell::verdict::is_one_of;
use crate::shell::word::PartWord;

/// Variables without secrets.
const PUBLIC_VARIABLES: &str = "\
    BASH BASHPID BASH_SOURCE BASH_VERSION CARGO_HOME COLORTERM COLUMNS EDITOR EUID FUNCNAME GOPATH GOROOT HOME HOSTNAME \
    HOSTTYPE IFS JAVA_HOME LANG LANGUAGE LINENO LINES LOGNAME MACHTYPE NODE_ENV NVM_DIR OLDPWD OSTYPE PAGER PATH \
    PIPESTATUS PPID PWD RANDOM REPLY RUSTUP_HOME SECONDS SHELL SHLVL TERM TMPDIR TZ UID USER VIRTUAL_ENV VISUAL _";

/// Whether the value of a variable may be secret, unless the command line sets it.
pub(in crate::shell) fn may_be_secret(name: &str) -> bool {
    !is_one_of(PUBLIC_VARIABLES, name) && !name.starts_with("LC_")
}

/// Whether a command may print variables of its environment, or of other processes, that may be secret.
pub(super) fn prints_environment(name: &str, entry: &Command, words: &[PartWord]) -> bool {
    let has_env = |word: &PartWord| word.prefix().to_ascii_lowercase().contains("env");
    let is_unknown = |word: &PartWord| word.literal().is_none();
    match name {
        "printenv" => {
            let is_name = |word: &&PartWord| !word.prefix().starts_with('-');
            let mut names = words.iter().filter(is_name).peekable();
            names.peek().is_none() || names.any(|word| word.literal().is_none_or(may_be_secret))
        }
        "ps" => words.iter().any(may_print_variables),
        "yq" => words.iter().any(|word| is_unknown(word) || has_env(word)),
        // The second value of `--arg` counts as the first operand.
        "jq" => options::parse_arguments(entry, name, words).is_ok_and(|arguments| {
            let mut programs = arguments.operands.iter().take(1 + arguments.options.len());
            arguments.has_any_option(&["f", "from-file"])
                || programs.any(|word| is_unknown(word))
                || words.iter().any(has_env)
        }),
        _ => false,
    }
}

/// Whether a word of `ps` may make it print variables: `E`, or `e` among letters without a dash, as in `ps auxe` and in
/// some versions `ps -auxe`.
fn may_print_variables(word: &PartWord) -> bool {
    let text = word.literal().unwrap_or("e");
    match text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => false,
        Some(letters) => {
            let bsd_letters = letters.split_once('u').map_or("", |(_, after)| after);
            bsd_letters.contains('e') || letters.contains('E')
        }
        None => text.contains(['e', 'E']),
    }
}

#[cfg(test)]
mod tests {
    use crate::shell::analyse;

    #[test]
    fn commands_that_print_variables_are_found() {
        for line in [
            "printenv",
            "printenv TOKEN",
            "printenv HOME token",
            "printenv -0 HOME \"$x\"",
            "env",
            "env -0 | sort",
            "timeout 5 printenv TOKEN",
            "cat a | while read l; do printenv \"$l\"; done",
            "ps e",
            "ps auxe",
            "ps axeww -o pid",
            "ps -auxe",
            "ps -p 1 e",
            "ps u e",
            "ps -f e",
            "ps p 1 e",
            "ps --forest e",
            "ps -eo pid,etime,cmd",
            "ps -E",
            "jq -n env",
            "jq -n '$ENV.TOKEN'",
            "jq -nr '[env|keys[]]'",
            "jq -nrf a.jq",
            "jq --from-file a.jq a.json",
            "jq \"$x\" a.json",
            "jq -n --arg a b \"$x\"",
            "yq '.a = strenv(TOKEN)' a.yml",
            "printf %s \"$API_KEY\"",
            "echo ${API_KEY:0:4}",
            "echo \"${API_KEY[@]}\"",
            "for i in 1 2; do echo \"${i:+$API_KEY}\"; done",
            "echo $token",
            "echo $http_proxy",
            "x=$API_KEY; echo $x",
            "for k in $API_KEY; do echo $k; done",
            "case $API_KEY in a*) echo yes ;; esac",
            "[[ $API_KEY == a* ]] && echo yes",
            "test \"$API_KEY\" = a && echo yes",
            "ls \"$API_KEY\"",
            "echo $(echo $API_KEY)",
        ] {
            let analysis = analyse(line);
            let is_found = analysis.line.reveals.is_some() && analysis.verdict.is_read_only();
            assert!(is_found, "{line}: {}", analysis.why);
            assert!(analysis.conditions().contains(&"clean-environment"));
        }
    }

    #[test]
    fn other_commands_need_no_clean_environment() {
        for line in [
            "printenv HOME PATH",
            "env LC_ALL=C sort a",
            "ps",
            "ps aux",
            "ps -ef | grep node",
            "ps axo pid,ppid",
            "ps aux --sort=-%mem",
            "jq .name package.json",
            "jq -r --arg v x '.a == $v' a.json",
            "for f in *.json; do jq .name \"$f\"; done",
            "echo \"$HOME\" ${LC_ALL:-C} $? $1 ${#API_KEY}",
            "echo '$API_KEY' \\$API_KEY",
            "x=1; echo $x",
            "for f in *.rs; do echo \"${f%.rs}\"; done",
            "cat a | while read -r name rest; do echo \"$name $rest\"; done",
        ] {
            let analysis = analyse(line);
            assert_eq!(analysis.line.reveals, None, "{line}");
            assert!(analysis.verdict.is_read_only(), "{line}: {}", analysis.why);
        }
    }
}
