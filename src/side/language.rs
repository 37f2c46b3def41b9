//! In which language a conversation is held, as far as letters and small words tell.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A language that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// The code in options, e.g. `de`.
    pub code: &'static str,
    /// The name in prompts.
    pub name: &'static str,
    mark: Mark,
}

/// Which language answers are to be in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LanguageChoice {
    /// That of the conversation.
    #[default]
    Conversation,
    /// This one.
    Named(Language),
}

/// By what a language is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Letters in these ranges.
    Letters(&'static [(char, char)]),
    /// Latin letters and these words, which hardly any other language has.
    Words(&'static [&'static str]),
}

const HAN: &[(char, char)] = &[('\u{3400}', '\u{4dbf}'), ('\u{4e00}', '\u{9fff}')];
const KANA: &[(char, char)] = &[('\u{3041}', '\u{30ff}')];

/// Japanese stands before Chinese: whoever writes kana writes Japanese, whatever else.
const LANGUAGES: &[Language] = &[
    letters("ja", "Japanese", KANA),
    letters(
        "ko",
        "Korean",
        &[('\u{ac00}', '\u{d7a3}'), ('\u{1100}', '\u{11ff}')],
    ),
    letters("zh", "Chinese", HAN),
    letters("uk", "Ukrainian", &[('і', 'ї'), ('є', 'є'), ('ґ', 'ґ')]),
    letters("ru", "Russian", &[('\u{400}', '\u{4ff}')]),
    letters(
        "ar",
        "Arabic",
        &[('\u{620}', '\u{64a}'), ('\u{671}', '\u{6d3}')],
    ),
    letters("he", "Hebrew", &[('\u{5d0}', '\u{5ea}')]),
    letters("el", "Greek", &[('\u{386}', '\u{3ce}')]),
    letters("th", "Thai", &[('\u{e01}', '\u{e4e}')]),
    letters("hi", "Hindi", &[('\u{904}', '\u{963}')]),
    words(
        "en",
        "English",
        &[
            "the", "and", "is", "to", "of", "this", "that", "with", "for", "it", "you", "we",
            "are", "not", "please", "what", "how", "can", "should", "from", "have", "when", "why",
            "add", "fix", "make", "there", "does",
        ],
    ),
    words(
        "de",
        "German",
        &[
            "der", "das", "und", "ist", "nicht", "ein", "eine", "ich", "wir", "mit", "auf", "für",
            "bitte", "wie", "warum", "wenn", "den", "dem", "zu", "von", "auch", "noch", "wird",
            "kannst", "mir", "einen", "sich", "dass",
        ],
    ),
    words(
        "fr",
        "French",
        &[
            "le", "les", "des", "est", "une", "dans", "pour", "pas", "avec", "je", "nous", "vous",
            "et", "ne", "du", "sur", "qui", "il", "ce", "cette", "peux", "au", "mais", "être",
        ],
    ),
    words(
        "es",
        "Spanish",
        &[
            "el", "los", "las", "una", "por", "para", "con", "y", "es", "del", "esta", "este",
            "como", "pero", "puedes", "cuando", "más", "hay", "lo", "al", "está", "hacer", "en",
        ],
    ),
    words(
        "pt",
        "Portuguese",
        &[
            "os", "uma", "não", "com", "em", "do", "da", "um", "você", "isso", "são", "mas", "ao",
            "está", "quando", "pode", "fazer", "mais", "na", "no", "para",
        ],
    ),
    words(
        "it",
        "Italian",
        &[
            "il", "gli", "che", "di", "non", "per", "una", "sono", "con", "della", "nel", "questo",
            "puoi", "anche", "perché", "e", "è", "del", "alla", "più",
        ],
    ),
    words(
        "nl",
        "Dutch",
        &[
            "het", "een", "niet", "van", "ik", "dat", "met", "voor", "zijn", "op", "naar", "maar",
            "wij", "kun", "wordt", "ook", "de", "deze", "waarom",
        ],
    ),
    words(
        "pl",
        "Polish",
        &[
            "nie", "jest", "się", "na", "do", "że", "czy", "jak", "proszę", "dla", "oraz", "tego",
            "mi", "można", "przez",
        ],
    ),
    words(
        "tr",
        "Turkish",
        &[
            "bir", "ve", "bu", "için", "ile", "değil", "nasıl", "neden", "lütfen", "çok", "olarak",
            "gibi", "var", "yok",
        ],
    ),
    words(
        "sv",
        "Swedish",
        &[
            "och", "att", "det", "är", "inte", "som", "en", "för", "på", "med", "jag", "kan", "av",
            "vi", "den",
        ],
    ),
];

const fn letters(
    code: &'static str,
    name: &'static str,
    ranges: &'static [(char, char)],
) -> Language {
    Language {
        code,
        name,
        mark: Mark::Letters(ranges),
    }
}

const fn words(code: &'static str, name: &'static str, words: &'static [&'static str]) -> Language {
    Language {
        code,
        name,
        mark: Mark::Words(words),
    }
}

/// Of the words of a text this many must be known ones, at least.
const FEWEST_WORDS: usize = 2;

/// A letter of a script without words between blanks says as much as so many Latin letters.
const WEIGHT: usize = 3;

impl Language {
    /// The language with this code, or this English name.
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |language: &&Self| {
            language.code.eq_ignore_ascii_case(name) || language.name.eq_ignore_ascii_case(name)
        };
        LANGUAGES.iter().find(is_it).copied()
    }

    /// Whether a short text may be in this language. Only what speaks clearly against it counts:
    /// names, and words like "parser", belong to no language.
    pub fn may_be_that_of(self, text: &str) -> bool {
        match self.mark {
            Mark::Letters(ranges) => {
                let own = text.chars().any(|letter| is_in(ranges, letter));
                // Chinese titles have no kana, but Japanese ones may have none either.
                own || self.code == "ja" && text.chars().any(|letter| is_in(HAN, letter))
            }
            Mark::Words(_) => dominant_language(text).is_none_or(|found| found == self),
        }
    }
}

/// The language that most of a text is in, if it can be told. Code is left out.
pub fn dominant_language(text: &str) -> Option<Language> {
    let prose = without_code(text);
    let mut latin = 0_usize;
    let mut counts = vec![0_usize; LANGUAGES.len()];
    for letter in prose.chars().filter(|letter| is_letter(*letter)) {
        let found = LANGUAGES.iter().position(
            |language| matches!(language.mark, Mark::Letters(ranges) if is_in(ranges, letter)),
        );
        match found {
            Some(place) => counts[place] += 1,
            None => latin += 1,
        }
    }
    let by_letters = counts.iter().sum::<usize>();
    if by_letters * WEIGHT >= latin && by_letters > 0 {
        return most_written(&counts);
    }
    most_spoken(&prose)
}

/// Some scripts are shared: the language with letters of its own is meant.
fn most_written(counts: &[usize]) -> Option<Language> {
    let total: usize = counts.iter().sum();
    let marked = LANGUAGES.iter().zip(counts).find(|(language, count)| {
        let share = match language.code {
            "ja" => 8,
            "uk" => 30,
            _ => 2,
        };
        **count > 0 && **count * share >= total
    });
    let most = LANGUAGES
        .iter()
        .zip(counts)
        .max_by_key(|(_, count)| **count);
    marked.or(most).map(|(language, _)| *language)
}

fn most_spoken(prose: &str) -> Option<Language> {
    let lowered = prose.to_lowercase();
    let spoken: Vec<&str> = lowered
        .split(|letter: char| !letter.is_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    let known = |language: &Language| match language.mark {
        Mark::Words(words) => spoken.iter().filter(|word| words.contains(word)).count(),
        Mark::Letters(_) => 0,
    };
    let mut counts: Vec<(usize, Language)> = LANGUAGES
        .iter()
        .map(|language| (known(language), *language))
        .collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [(most, language), (second, _), ..] if *most >= FEWEST_WORDS && most > second => {
            Some(*language)
        }
        _ => None,
    }
}

fn is_in(ranges: &[(char, char)], letter: char) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&letter))
}

fn is_letter(character: char) -> bool {
    matches!(
        character.general_category(),
        GeneralCategory::UppercaseLetter
            | GeneralCategory::LowercaseLetter
            | GeneralCategory::TitlecaseLetter
            | GeneralCategory::OtherLetter
            | GeneralCategory::ModifierLetter
    )
}

/// Code blocks, code words and paths say nothing about a language.
fn without_code(text: &str) -> String {
    let mut prose = String::new();
    for (number, block) in text.split("```").enumerate() {
        if number % 2 == 1 {
            continue;
        }
        for (number, span) in block.split('`').enumerate() {
            if number % 2 == 1 && !span.contains('\n') {
                continue;
            }
            for word in span.split_whitespace() {
                if !word.contains(['/', '_', '=', '{', '\\']) || !word.is_ascii() {
                    prose.push_str(word);
                    prose.push(' ');
                }
            }
        }
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<&'static str> {
        dominant_language(text).map(|language| language.code)
    }

    #[test]
    fn conversations_are_in_some_language() {
        let table = [
            ("please fix the login button on the page", Some("en")),
            ("bitte mach den Test grün, er ist nicht stabil", Some("de")),
            (
                "peux-tu corriger les tests dans ce dossier, je ne comprends pas",
                Some("fr"),
            ),
            (
                "por favor corrige los errores en el archivo y dime por qué",
                Some("es"),
            ),
            (
                "por favor corrija os testes, isso não funciona com uma lista",
                Some("pt"),
            ),
            ("修复登录按钮在移动端的问题 LoginButton.tsx", Some("zh")),
            ("ログインボタンを修正してください", Some("ja")),
            ("로그인 버튼을 고쳐 주세요", Some("ko")),
            ("почини кнопку входа", Some("ru")),
            ("полагодь кнопку входу, її не видно", Some("uk")),
            ("`the and of to is` почини", Some("ru")),
            ("src/main.rs", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn only_what_is_clear_speaks_against_an_answer() {
        let named = |name| Language::named(name).unwrap();
        let table = [
            ("zh", "Fix login button", false),
            ("zh", "修复 LoginButton", true),
            ("en", "修复登录按钮", false),
            ("en", "Parser refactoring", true),
            ("en", "Corregir los errores en el parser", false),
            ("de", "Login-Test reparieren", true),
            ("German", "Fix the login of the app", false),
            ("ja", "認証修正", true),
        ];
        for (language, text, expected) in table {
            assert_eq!(
                named(language).may_be_that_of(text),
                expected,
                "{language} {text}"
            );
        }
        assert_eq!(Language::named("tlh"), None);
    }
}
