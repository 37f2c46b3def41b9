//! The words of titles: shortened, counted and cut between two phrases.

use std::sync::LazyLock;

use super::clean::{MORE, WordList, prefix};
use super::names::{address, last_part, revision};
use super::prose::is_east_asian;
use crate::text::display_width;

/// Maximum width of a title, in cells.
pub(super) const TITLE_CELLS: usize = 64;

/// Maximum width that a cut before a joint loses, in cells.
const MAX_LOST_CELLS: usize = 20;

/// Minimum number of informative words, unless no title has that many.
pub(super) const ENOUGH_WORDS: usize = 2;

pub(super) static WORDS: LazyLock<WordList> =
    LazyLock::new(|| WordList::new(include_str!("words/title.txt")));

/// Shortens the words of a request.
pub(super) fn shown(request: &str) -> Vec<String> {
    let mut before = "";
    let words = request.split_whitespace().map(|word| {
        let shown = shown_word(word);
        let is_named = matches!(before.to_lowercase().as_str(), "pr" | "issue");
        before = word;
        match shown.rsplit_once(" #") {
            Some((_, number)) if is_named => format!("#{number}"),
            _ => shown,
        }
    });
    words.collect()
}

/// Shortens an absolute path to its last part, another path to its last two parts, and an address to
/// its name.
fn shown_word(word: &str) -> String {
    let core = word.trim_matches(|sign: char| "()<>,;:!?'\"".contains(sign));
    let core = core.trim_end_matches('.').trim_start_matches('@');
    if core.starts_with("http://") || core.starts_with("https://") {
        return word.replace(core, &address(core)).replace('@', "");
    }
    if core.len() >= 12 && core.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return word.replace(core, &revision(core));
    }
    let name = last_part(core);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && extension.starts_with(|letter: char| letter.is_ascii_alphabetic())
    });
    let is_absolute = core.starts_with(['/', '~']);
    let is_path = is_absolute || core.starts_with("./") || core.starts_with("../");
    if name.len() < core.len() && !name.is_empty() && (is_path || has_extension) {
        let parents = core
            .trim_end_matches('/')
            .strip_suffix(name)
            .unwrap_or_default();
        let parent = last_part(parents);
        let shown = if is_absolute || matches!(parent, "" | "." | "..") {
            name.to_owned()
        } else {
            format!("{parent}/{name}")
        };
        return word.replace(core, &shown).replace('@', "");
    }
    match word.strip_prefix('@') {
        Some(mention) if !mention.is_empty() => mention.to_owned(),
        _ => word.to_owned(),
    }
}

/// Joins the first sentences that fit into `cells`; cuts one only if a third of that is left for it.
pub(super) fn fill<'a>(sentences: impl IntoIterator<Item = &'a str>, cells: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let (width, added) = (display_width(&text), display_width(sentence));
        if width > 0 && width + added >= cells && width * 3 >= cells * 2 {
            break;
        }
        text.push_str(match text.chars().last() {
            None | Some('。' | '！' | '？' | '；') => "",
            Some('.' | '!' | '?' | ':' | ';' | MORE) => " ",
            Some(_) => ". ",
        });
        text.push_str(sentence);
    }
    let cells = if is_east_asian(&text) {
        cells * 3 / 5
    } else {
        cells
    };
    cut(&text, cells)
}

/// Cuts a text at the end of a clause, before a conjunction or before a preposition, and never after a
/// function word. A text without spaces is cut at the end of a clause if possible.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    if is_east_asian(text) {
        let kept = prefix(text, cells - 1);
        let clause = kept.rfind(['，', '；', '、', '。']).filter(|at| *at > 0);
        return format!("{}{MORE}", clause.map_or(kept, |at| &kept[..at]));
    }
    let words: Vec<&str> = text.split(' ').collect();
    let min_cells = cells.saturating_sub(MAX_LOST_CELLS);
    let mut width = 0;
    let fits = |word: &&&str| {
        width += display_width(word) + 1;
        width <= cells
    };
    let fit = words.iter().take_while(fits).count();
    let is_subordinate = WORDS.has("clause joints", &words[0].to_lowercase());
    let says_enough =
        |kept: &&[&str]| kept.iter().filter(|word| is_informative(word)).count() > ENOUGH_WORDS;
    let cut_before = |joints: &str| {
        let starts = (1..=fit).rev().map(|end| &words[..end]);
        starts.filter(says_enough).find(|kept| {
            let last = kept.last().copied().unwrap_or_default();
            let next = words.get(kept.len()).copied().unwrap_or_default();
            let ends_clause = last.ends_with([',', ';', ':', '–', '—']) || last == "-";
            (ends_clause && !is_subordinate || WORDS.has(joints, &next.to_lowercase()))
                && display_width(&kept.join(" ")) >= min_cells
        })
    };
    let mut kept = cut_before("clause joints")
        .or_else(|| cut_before("phrase joints"))
        .unwrap_or(&words[..fit]);
    while let [start @ .., last] = kept
        && !start.is_empty()
        && is_function_word(last)
    {
        kept = start;
    }
    let mut title = kept.join(" ");
    if display_width(&title) < min_cells / 2 {
        // A long word follows.
        prefix(text, cells - 1).clone_into(&mut title);
    }
    // Remove an unclosed bracket or quotation mark.
    let open = title.rfind('(').filter(|at| !title[*at..].contains(')'));
    let title = open
        .filter(|at| *at >= min_cells)
        .map_or(title.as_str(), |at| &title[..at]);
    let title = if title.matches('"').count() % 2 == 1 {
        title.replace('"', "")
    } else {
        title.to_owned()
    };
    let title = title.trim_end_matches([',', ';', ':', '.', '-', '–', '—', '(', ' ']);
    format!("{title}{MORE}")
}

fn is_function_word(word: &str) -> bool {
    let word = word
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase();
    let lists = ["clause joints", "phrase joints", "function words"];
    word.is_empty() || lists.iter().any(|list| WORDS.has(list, &word))
}

/// Whether a word names something.
pub(super) fn is_informative(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    !is_function_word(word) && (digits >= 2 || word.contains(char::is_alphabetic))
}
