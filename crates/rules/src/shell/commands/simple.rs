//! Simple forms of commands that interpret a language. All versions parse them alike, so they need no
//! enforcement by the kernel.

use crate::shell::verdict::is_one_of;
use crate::shell::word::{Arguments, Word};

/// Primaries without an argument.
pub(super) const ALONE: &str = "\
    ! ( ) , -a -and -o -or -not -daystart -depth -d -follow -help --help \
    -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf -nowarn -warn -version \
    --version -empty -executable -false -true -nogroup -nouser -readable -writable -print \
    -print0 -ls -prune -quit -H -L -P -E -X -x -s";

/// Primaries with one argument.
pub(super) const WITH_ARGUMENT: &str = "\
    -maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid \
    -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name \
    -newer -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype \
    -context -printf -files0-from -D";

/// Primaries of `find` that some versions read in another way, that follow links, or that read a file of names.
const UNCLEAR_PRIMARIES: &str = "\
    -depth -d -follow -L -D -E -X -x -s -f -P -H -help --help -version --version -daystart -noleaf -nowarn -warn \
    -ignore_readdir_race -noignore_readdir_race -nogroup -nouser -files0-from -context -fstype -used , ";

/// Whether an accepted `find` command has only primaries of the lists above.
pub(super) fn is_simple_find(words: &[Word]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            if word.cannot_be_option() && !word.prefix.starts_with(['(', ')', '!', ',']) {
                continue;
            }
            return false;
        };
        if is_one_of(UNCLEAR_PRIMARIES, text) {
            return false;
        }
        if is_one_of(WITH_ARGUMENT, text) {
            if words.next().and_then(Word::literal).is_none() {
                return false;
            }
        } else if text.starts_with('-') && !is_one_of(ALONE, text) {
            return false;
        }
    }
    true
}

/// Whether an accepted `sed` command has only options of all versions, and a script without blocks, character
/// sets and escaped delimiters, so that all versions split it into the same commands.
pub(super) fn is_simple_sed(arguments: &Arguments<'_>, scripts: &[&str]) -> bool {
    let is_common = |name: &str| is_one_of("n r E e quiet silent regexp-extended expression", name);
    arguments.options.iter().all(|given| is_common(given.name))
        && scripts.iter().all(|script| is_simple_script(script))
        && arguments
            .operands
            .iter()
            .all(|word| word.cannot_be_option())
}

fn is_simple_script(script: &str) -> bool {
    let is_plain = |escaped: Option<char>| {
        escaped
            .is_some_and(|letter| letter.is_ascii_alphanumeric() || ".()*+?$^\"&-".contains(letter))
    };
    let mut letters = script.chars();
    while let Some(letter) = letters.next() {
        let is_clear = match letter {
            '\\' => is_plain(letters.next()),
            '[' | '{' | '}' | '\n' => false,
            _ => true,
        };
        if !is_clear {
            return false;
        }
    }
    true
}

/// Whether an accepted `awk` program has no escapes and at most one pattern, at its start, so that all
/// versions split it into the same tokens, and no sign of output to files and commands.
pub(super) fn is_simple_awk(arguments: &Arguments<'_>, program: &str) -> bool {
    let mut rest = program.trim_start();
    if let Some(pattern) = rest.strip_prefix('/') {
        let Some((pattern, after)) = pattern.split_once('/') else {
            return false;
        };
        if pattern.contains(['[', '\\', '\n']) {
            return false;
        }
        rest = after;
    }
    let mut printed = rest.split("print");
    printed.next();
    arguments.options.iter().all(|given| given.name == "F")
        && !rest.contains(['/', '\\'])
        && printed.all(|text| !text.contains(['>', '|']))
}

#[cfg(test)]
mod tests {
    use crate::shell::analyse;

    #[test]
    fn simple_forms_need_no_enforcement() {
        for line in [
            "find . -name '*.rs' -not -path './target/*' -type f",
            "find src docs \\( -iname a -o -name b \\) -maxdepth 2 -print0",
            "find src/* -newer Cargo.toml -size +1k",
            "find . -type f -exec grep -l a {} + -print",
            "find src -name '*.rs' -exec sed -n '1,9p' {} \\; -exec wc -l {} \\;",
            "sed -n '1,20p' a.txt",
            "sed -n '$p;3q' a.txt b.txt",
            "sed 's/a.*b/c/g' src/*.rs",
            "sed -E -e 's|^(a)\\.b|\\1|' -e '/^$/d'",
            "awk '{print $1, $NF}'",
            "awk -F: 'NR >= 3 && $2 > 1 {print \"x \" $2}' a.txt",
            "awk '/^a.b/ {n += $1} END {print n}' a.txt",
            "git log --oneline -5",
            "git show HEAD:src/main.rs | head -20",
            "git -C sub blame -L 1,5 a.rs",
            "git branch -a && git tag --list 'v*'",
            "git --version",
            "git diff --cached --stat",
            "git diff main feature -- a.rs && git diff main..feature --",
            "git diff '@{u}...' -- && git diff HEAD~2 v1.0^2 --",
            "git config --get user.name && git grep -n a && git check-ignore a",
        ] {
            let analysis = analyse(line);
            assert!(analysis.verdict.is_read_only(), "{line}: {}", analysis.why);
            assert_eq!(analysis.language, None, "{line}");
        }
    }

    #[test]
    fn other_forms_need_it() {
        for line in [
            "find -L . -name a",
            "find . -depth -name a",
            "find \"$x\"/a -name \"$y\"",
            "find . -name \"$y\"",
            "find . -files0-from a",
            "sed -s -n 1p a",
            "sed -n '1{p}' a",
            "sed 's/[a]/b/' a",
            "sed 's/a\\/b/c/' a",
            "sed -n 1p \"$x\"",
            "awk '{print $1 / 2}'",
            "awk '{gsub(/a/, \"b\"); print}'",
            "awk -v n=1 '{print n}'",
            "git status",
            "git diff",
            "git diff main..feature",
            "git config user.name x --list",
            "git config a.b --list",
            "git config user.name --",
            "git diff HEAD -- a",
            "git diff 'main@{1.day..ago}' --",
            "git diff 'HEAD^{/t..}' --",
            "git diff HEAD:a..b --",
            "git diff x..y-g0123456 --",
            "git diff HEAD^@ HEAD^@ --",
            "git diff --cached --no-index a b",
            "find . -exec touch {} +",
            "find . -exec sed -i s/a/b/ {} +",
            "find . -exec cat {}x \\;",
            "find . -exec cat {} \"$x\" -delete \\;",
            "find @a -exec strings {} \\;",
            "find . -exec {} \\;",
            "find . -exec cat {}",
            "find . -exec uniq {} {} \\;",
            "find . -exec uniq -c {} +",
            "find . -exec sh -c ls \\;",
            "find . -exec cat {} + -delete",
            "find . -execdir cat {} +",
            "git log \"$x\"",
            "git tag -l a",
        ] {
            let analysis = analyse(line);
            assert!(
                !analysis.verdict.is_read_only() || analysis.language.is_some(),
                "{line}"
            );
        }
    }
}
