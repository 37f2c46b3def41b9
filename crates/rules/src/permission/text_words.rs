//! The words and the names of files in a text in any language, whose structure is not known.

use super::outline::names_in;
use super::programs;
use super::wildcard::{GAP, GLOB};

/// Maximum length of a name with spaces, in bytes.
const MAX_NAME: usize = 255;

/// Returns names that stand for any file.
pub(super) fn any_names() -> [String; 2] {
    [format!("{GAP}/{GLOB}"), format!("{GAP}/.{GLOB}")]
}

/// Whether a text has only letters, digits and these characters, and does not start with a dash.
pub(super) fn is_plain(text: &str, others: &str) -> bool {
    let is_allowed = |letter: char| {
        letter.is_alphanumeric() || [GAP, GLOB].contains(&letter) || others.contains(letter)
    };
    !text.starts_with('-') && text.chars().all(is_allowed)
}

/// Whether a text has signs that are unusual in the name of a file and the value of an option.
fn is_code(text: &str) -> bool {
    !is_plain(text.trim_start_matches('-'), "_.+-/@~:,%{}[]*?=")
}

/// Returns the words of a text in any language, also with its quotes and escapes removed.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let is_separator = |letter: char| {
        !letter.is_alphanumeric() && ![GAP, GLOB].contains(&letter) && !"_.+-/".contains(letter)
    };
    // In code, any sign may enclose a name: `q.rm x.`, `/rm/`; `-rm` of `make` is `rm`.
    let is_code = is_code(text);
    let is_option = text.starts_with('-') && !is_code;
    // `git+ssh://h/x`, `url.ssh://h/.insteadOf`
    let is_address = text.contains("://");
    let words = |text: String| {
        let is_assigned = text.contains('=');
        let words = text.split(is_separator).flat_map(|word| {
            let pieces = word
                .split(['/', '+', '.', '-', '_'])
                .filter(|_| is_code || is_address);
            let unmarked = word.strip_prefix('-').filter(|_| !is_option);
            let unmarked = unmarked.filter(|word| is_assigned || !word.starts_with('-'));
            let unmarked = unmarked.map(|word| word.trim_start_matches('-'));
            let word = word.trim_start_matches('+').trim_end_matches('.');
            std::iter::once(word).chain(unmarked).chain(pieces)
        });
        let words = words.filter(|word| !word.is_empty());
        // `git-push` is `git push`.
        let words = words.map(programs::name).flat_map(|word| {
            let command = word.strip_prefix("git-").map(|command| ["git", command]);
            std::iter::once(word).chain(command.into_iter().flatten())
        });
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    spelled(text).flat_map(words).collect()
}

/// Returns a text with `\n` and `\t` replaced, and the same without quotes and backslashes if it has any.
fn spelled(text: &str) -> impl Iterator<Item = String> {
    let quotes = ['"', '\'', '\\'];
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    let plain = text.contains(quotes).then(|| text.replace(quotes, ""));
    std::iter::once(text).chain(plain)
}

/// Returns the possible names of files in a text in any language, without unknown text before them.
pub(super) fn names_of(text: &str) -> Vec<String> {
    let is_separator = |letter: char| letter.is_whitespace() || "\"'`|<>();&[]{}".contains(letter);
    // `s,x,cat .env,`: any character may enclose a name.
    let is_delimiter = |letter: char| "!#%,:;@^~+=-_".contains(letter);
    let named = |text: String| {
        let is_code = is_code(&text);
        let pieces = text.split(is_separator).flat_map(|piece| {
            let inner = piece.split(is_delimiter).filter(|_| is_code);
            let inner = inner.filter(move |inner| *inner != piece && inner.len() > 1);
            let below =
                Some(piece.trim_start_matches('/')).filter(|below| is_code && *below != piece);
            // `--- a/x` of a patch
            let patched = ["a/", "b/"]
                .iter()
                .find_map(|side| piece.strip_prefix(side));
            let names = names_in(piece)
                .chain(below)
                .chain(patched.filter(|_| is_code));
            names.chain(inner.flat_map(|inner| [inner, inner.trim_matches('/')]))
        });
        let has_gap = text.contains(GAP);
        let whole = Some(text.as_str()).filter(|text| text.len() <= MAX_NAME);
        let names = whole.into_iter().chain(pieces);
        let names = names.map(|name| {
            name.trim_start_matches(|letter| letter == GAP || letter == '/' && has_gap)
        });
        let names = names.filter(|name| !name.is_empty() && !name.ends_with(GAP));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    spelled(text).flat_map(named).collect()
}
