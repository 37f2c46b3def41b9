//! The words and the names of files in a text in any language, whose structure is not known.

use super::outline::names_in;
use super::programs;
use super::wildcard::{GAP, GLOB};

/// Maximum length of a name with spaces, in bytes.
const MAX_NAME: usize = 255;

/// Maximum length of the path in a string of code, in bytes.
const MAX_PATH: usize = 4096;

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

/// Whether a letter separates names in code.
fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || "\"'`|<>();&[]{}".contains(letter)
}

/// Returns the strings of code that may be the paths of files and have separators, also with escapes replaced.
fn paths_in_strings(code: &str) -> Vec<String> {
    let mut strings: Vec<&str> = Vec::new();
    // An apostrophe in a comment is not the start of a string, so that the text between any two quotes may be one.
    for quote in ['"', '\'', '`'] {
        let is_escaped = |at: usize| {
            let before = &code[..at];
            (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
        };
        let ends = code.match_indices(quote).map(|(at, _)| at);
        let ends: Vec<usize> = ends.filter(|at| !is_escaped(*at)).collect();
        strings.extend(ends.windows(2).map(|ends| &code[ends[0] + 1..ends[1]]));
    }
    // `q~x y~` of Perl, `%q(x y)` and `%(x y)` of Ruby
    let starts = code.match_indices(['q', 'Q', '%']);
    strings.extend(starts.filter_map(|(at, _)| delimited(&code[at + 1..])));
    let is_path = |text: &String| {
        let mut names = text.split('/');
        text.len() <= MAX_PATH
            && names.all(|name| name.len() <= MAX_NAME)
            && text.contains(char::is_alphanumeric)
            && text.contains(|letter| letter == '\\' || is_separator(letter))
            && !text.contains('\n')
    };
    let plain = strings.iter().map(|text| unescaped(text));
    let strings = strings.iter().map(|text| (*text).to_owned());
    strings.chain(plain).filter(is_path).collect()
}

/// Returns the text between the first letter and the one that closes it, if the first is a sign.
fn delimited(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let open = text.chars().next()?;
    let pairs = ["()", "[]", "{}", "<>"];
    let pair = pairs.iter().find(|pair| pair.starts_with(open));
    let close = pair.and_then(|pair| pair.chars().last()).unwrap_or(open);
    if open.is_alphanumeric() || ",;=".contains(open) {
        return None;
    }
    let mut depth = 0;
    let end = text.floor_char_boundary(MAX_PATH);
    let (end, _) = text[..end].char_indices().find(|(at, letter)| {
        if *letter == close && *at > 0 {
            depth -= 1;
        } else if *letter == open {
            depth += 1;
        }
        depth == 0
    })?;
    text.get(open.len_utf8()..end)
}

/// Returns a text without the backslashes of escapes.
fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let next = || match letters.next() {
        Some('\\') => letters.next(),
        letter => letter,
    };
    std::iter::from_fn(next).collect()
}

/// Returns the possible names of files in a text in any language, without unknown text before them.
pub(super) fn names_of(text: &str) -> Vec<String> {
    // `s,x,cat .env,`: any character may enclose a name.
    let is_delimiter = |letter: char| "!#%,:;@^~+=-_".contains(letter);
    let named = |text: String| {
        let is_code = is_code(&text);
        let strings = if is_code {
            paths_in_strings(&text)
        } else {
            Vec::new()
        };
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
        let strings = strings.iter().map(String::as_str);
        let names = whole.into_iter().chain(pieces).chain(strings);
        let names = names.map(|name| {
            name.trim_start_matches(|letter| letter == GAP || letter == '/' && has_gap)
        });
        let names = names.filter(|name| !name.is_empty() && !name.ends_with(GAP));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    spelled(text).flat_map(named).collect()
}
