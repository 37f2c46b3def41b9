//! The options of command patterns, in any spelling: `-rf` is `-r --force`, `-XGET` is `--request GET`.

use super::programs;
use super::wildcard::{GAP, GLOB, Wildcard, begins_with_gap, escaped};

/// An option of a pattern: one of several readings, each of which is a list of options.
#[derive(Debug, Clone)]
pub(super) struct OptionPattern(Vec<Vec<Wanted>>);

/// An option that is looked for.
#[derive(Debug, Clone)]
struct Wanted {
    name: String,
    value: Option<String>,
    /// Whether the value, or the name if it has no value, may be longer.
    is_open: bool,
}

/// The options that some words give.
pub(super) struct GivenOptions<'a> {
    program: &'a str,
    words: Vec<&'a str>,
    options: Vec<(String, Option<&'a str>)>,
    /// The known beginnings of words known only at run time, which may be any option.
    unknown: Vec<&'a str>,
}

impl OptionPattern {
    /// Parses an option of a program; `None` if it has a star before its end.
    pub(super) fn parse(program: &str, option: &str) -> Option<Self> {
        let text = option.strip_suffix('*').unwrap_or(option);
        if text.contains('*') {
            return None;
        }
        let wanted = |(name, value): (String, Option<&str>)| Wanted {
            is_open: text != option && (value.is_some() || name.starts_with("--")),
            name,
            value: value.map(str::to_owned),
        };
        // `git branch -D` is `--delete --force`.
        let together =
            programs::combined(program, text).map(|name| wanted((name.to_owned(), None)));
        let together: Vec<Wanted> = together.collect();
        let together = Some(together).filter(|options| !options.is_empty());
        let wanted: Vec<Wanted> = readings(program, text).into_iter().map(wanted).collect();
        let letters = cluster(text).unwrap_or_default();
        let count = letters.chars().count();
        if wanted.len() <= count.max(1) {
            return Some(Self([wanted].into_iter().chain(together).collect()));
        }
        let mut readings = wanted.into_iter();
        // All letters, or one of the others: `-X` with a value, or a long name with one dash. The `f` of `-rf` is no value.
        let all: Vec<Wanted> = readings.by_ref().take(count).collect();
        let is_cluster = letters.chars().all(char::is_alphanumeric);
        let is_letter = |value: &str| value.len() == 1 && value.starts_with(char::is_lowercase);
        let others = readings.filter(|one| {
            let value = one.value.as_deref();
            one.is_open
                || one.name.starts_with("--") && letters.contains('=')
                || !value.is_some_and(is_letter)
        });
        let others = others.map(|one| vec![one]);
        let all = Some(all).filter(|_| is_cluster);
        Some(Self(all.into_iter().chain(others).collect()))
    }

    /// Whether it is among the options of some words.
    pub(super) fn is_among(&self, given: &GivenOptions<'_>) -> bool {
        let mut readings = self.0.iter();
        readings.any(|wanted| wanted.iter().all(|one| one.is_among(given)))
    }
}

impl Wanted {
    fn is_among(&self, given: &GivenOptions<'_>) -> bool {
        let fits = |text: &str, wanted: &str| match text.strip_prefix(wanted) {
            Some(rest) => rest.is_empty() || self.is_open,
            None => text.contains([GAP, GLOB]) && Wildcard::parse(&escaped(wanted)).may_cover(text),
        };
        let has_value = |attached: Option<&str>| match (&self.value, attached) {
            (None, _) => true,
            (Some(value), Some(attached)) => fits(attached, value),
            // Code is taken apart at signs.
            (Some(value), None) => {
                let is_here = |value: &str| given.words.iter().any(|word| fits(word, value));
                is_here(value) || value.contains('=') && value.split('=').all(is_here)
            }
        };
        let is_name = |name: &str| {
            let is_longer = self.value.is_none() && self.is_open && name.starts_with(&self.name);
            is_longer || name == self.name || is_shortened(given.program, name, &self.name)
        };
        // `-$x`, `--fo$x`
        let may_be = |known: &&str| {
            let is_letters = known.starts_with('-') && !known.starts_with("--");
            let mut names = programs::spellings(given.program, &self.name);
            is_letters || names.any(|name| name.starts_with(known))
        };
        let mut options = given.options.iter();
        options.any(|(name, value)| is_name(name) && has_value(*value))
            || given.unknown.iter().any(may_be)
    }
}

impl<'a> GivenOptions<'a> {
    /// Finds the options in the words of a program. With `fills_gaps`, a word known only at run time may be any.
    pub(super) fn of(program: &'a str, words: &'a [impl AsRef<str>], fills_gaps: bool) -> Self {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let unknown = words.iter().filter(|_| fills_gaps);
        let unknown = unknown.filter_map(|word| Some(word.split_once([GAP, GLOB])?.0));
        // `tar xf`
        let bundle = words
            .get(1)
            .filter(|_| program == "tar")
            .map(|word| format!("-{word}"));
        let bundle = bundle.iter().flat_map(|word| {
            let found = readings(program, word).into_iter();
            found.map(|(name, _)| (name, None)).collect::<Vec<_>>()
        });
        let options = words
            .iter()
            .flat_map(|word| readings(program, word))
            .chain(bundle);
        let options = options.flat_map(|(name, value)| {
            let others: Vec<_> = programs::combined(program, &name).collect();
            let others = others.into_iter().map(|name| (name.to_owned(), None));
            others.chain([(name.clone(), value)]).collect::<Vec<_>>()
        });
        Self {
            program,
            options: options.collect(),
            unknown: unknown.collect(),
            words,
        }
    }
}

/// Returns the options that a word may give, each with its first spelling and the value in the word: first the letters
/// of `-rf`, then `-r` with the value `f`, then `--rf`.
fn readings<'a>(program: &str, word: &'a str) -> Vec<(String, Option<&'a str>)> {
    let canonical = |name: &str| programs::canonical(program, name).to_owned();
    // `git push origin +main`
    if program == "git" && word.starts_with('+') {
        return vec![(canonical("--force"), None)];
    }
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    if !name.starts_with('-') || begins_with_gap(name) {
        return Vec::new();
    }
    let whole = canonical(name);
    let Some(letters) = cluster(word).filter(|_| whole == name) else {
        return vec![(whole, value)];
    };
    let each = letters
        .chars()
        .map(|letter| (canonical(&format!("-{letter}")), None));
    let mut rest = letters.chars();
    let first = rest
        .next()
        .map(|letter| (canonical(&format!("-{letter}")), Some(rest.as_str())));
    let first = first.filter(|(_, value)| value.is_some_and(|value| !value.is_empty()));
    let long = (letters.len() > 1).then(|| (canonical(&format!("-{name}")), value));
    each.chain(first).chain(long).collect()
}

/// Returns what follows the dash of an option with one dash.
fn cluster(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))
}

/// Whether a long option is the beginning of another. `npm i --save` is not short for `npm i --save-dev`.
fn is_shortened(program: &str, option: &str, name: &str) -> bool {
    let rest = name.strip_prefix(option).filter(|_| option.len() > 2);
    let is_whole = programs::WHOLE_OPTIONS.contains(program);
    rest.is_some_and(|rest| !(rest.is_empty() || is_whole && rest.starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_in_every_spelling() {
        let rows = [
            ("rm", "-rf", "-f --recursive", true),
            ("rm", "-rf", "-r f", false),
            ("curl", "-XGET", "--request=GET", true),
            ("curl", "-XGET", "-sX GET", true),
            ("curl", "-XGET", "-X POST", false),
            ("make", "-j4", "--jobs 4", true),
            ("terraform", "-var-file=a", "--var-file a", true),
            ("terraform", "-var-file=a", "-var-file=b", false),
            ("kubectl", "--namespace=prod*", "-nprod-eu", true),
            ("git", "--force", "+main", true),
            ("git", "-D", "-fd", true),
            ("git", "-D", "--delete x", false),
            ("git", "--delete", "-D", true),
            ("git", "--force-with-lease", "--force-with", true),
            ("npm", "--save-dev", "--save", false),
            ("npm", "--save*", "--save-dev", true),
            ("tar", "-xf", "tar xvf", true),
        ];
        for (program, option, words, expected) in rows {
            let words: Vec<&str> = words.split(' ').collect();
            let given = GivenOptions::of(program, &words, false);
            let found = OptionPattern::parse(program, option)
                .unwrap()
                .is_among(&given);
            assert_eq!(found, expected, "{program} {option}: {words:?}");
        }
    }
}
