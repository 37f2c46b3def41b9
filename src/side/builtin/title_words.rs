//! The words of titles: shortened, counted and cut between two phrases.

use std::sync::LazyLock;

use super::clean::{MORE, WordList, prefix};
use super::names::{address, last_part, revision};
use crate::text::display_width;

/// Maximum width of a title, in cells.
pub(super) const MAX_CELLS: usize = 64;

/// Minimum width of a title that is cut before a joint, in cells.
const MIN_CUT_CELLS: usize = 44;

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

/// Cuts words to a title. The cut is at the end of a clause, before a conjunction or before a
/// preposition, and never after a function word.
pub(super) fn cut(words: &[String]) -> String {
    let whole = words.join(" ");
    if display_width(&whole) <= MAX_CELLS {
        return whole;
    }
    let mut width = 0;
    let fits = |word: &&String| {
        width += display_width(word) + 1;
        width <= MAX_CELLS
    };
    let fit = words.iter().take_while(fits).count();
    let is_subordinate = WORDS.has(
        "clause joints",
        &words.first().map_or("", String::as_str).to_lowercase(),
    );
    let says_enough =
        |kept: &&[String]| kept.iter().filter(|word| is_informative(word)).count() > ENOUGH_WORDS;
    let cut_before = |joints: &str| {
        let starts = (1..=fit).rev().map(|end| &words[..end]);
        starts.filter(says_enough).find(|kept| {
            let last = kept.last().map_or("", String::as_str);
            let next = words.get(kept.len()).map_or("", String::as_str);
            let ends_clause = last.ends_with([',', ';', ':', '–', '—']) || last == "-";
            (ends_clause && !is_subordinate || WORDS.has(joints, &next.to_lowercase()))
                && display_width(&kept.join(" ")) >= MIN_CUT_CELLS
        })
    };
    let mut kept = cut_before("clause joints")
        .or_else(|| cut_before("phrase joints"))
        .unwrap_or(&words[..fit]);
    while let [start @ .., last] = kept
        && !start.is_empty()
        && (is_function_word(last) || last.len() < 3)
    {
        kept = start;
    }
    let mut title = kept.join(" ");
    if display_width(&title) < MIN_CUT_CELLS / 2 {
        // A long word follows.
        prefix(&whole, MAX_CELLS - 1).clone_into(&mut title);
    }
    // Remove an unclosed bracket or quotation mark.
    let open = title.rfind('(').filter(|at| !title[*at..].contains(')'));
    let title = open
        .filter(|at| *at > 0)
        .map_or(title.as_str(), |at| &title[..at]);
    let title = if title.matches('"').count() % 2 == 1 {
        title.replace('"', "")
    } else {
        title.to_owned()
    };
    let title = title.trim_end_matches([',', ';', ':', '.', '-', '–', '—', '(', ' ']);
    format!("{title}{MORE}")
}

/// Cuts a text without spaces at the end of a clause if possible.
pub(super) fn cut_east_asian(text: &str) -> String {
    if display_width(text) <= MAX_CELLS {
        return text.to_owned();
    }
    let kept = prefix(text, MAX_CELLS - 1);
    let clause = kept.rfind(['，', '；', '、', '。']).filter(|at| *at > 0);
    format!("{}{MORE}", clause.map_or(kept, |at| &kept[..at]))
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
