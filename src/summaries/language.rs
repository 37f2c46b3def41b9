//! The language of a conversation.

use std::sync::LazyLock;

use encoding_rs::SHIFT_JIS;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use regex::Regex;
use whatlang::{Detector, Lang, Script, detect_script};

use crate::text::pattern;

/// The known languages: code in options, code of the detector.
const CODES: &str = "ar:ara de:deu el:ell en:eng es:spa fr:fra he:heb hi:hin it:ita ja:jpn ko:kor \
                     nl:nld pl:pol pt:por ru:rus sv:swe th:tha tr:tur uk:ukr zh:cmn";

/// Minimum confidence for requesting a reply in the detected language.
const LIKELY: f64 = 0.5;

/// Minimum confidence for rejecting a reply in another language.
const SURE: f64 = 0.9;

/// A known language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language(Lang);

/// The language of replies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LanguageChoice {
    /// The language of the conversation.
    #[default]
    Conversation,
    /// This language.
    Named(Language),
}

impl Language {
    /// Finds a language by code (`de`, `zh-CN`) or English name.
    pub fn named(name: &str) -> Option<Self> {
        let code = name.split(['-', '_']).next().unwrap_or_default();
        known().find_map(|(known, language)| {
            let is_named =
                known.eq_ignore_ascii_case(code) || language.name().eq_ignore_ascii_case(name);
            is_named.then_some(language)
        })
    }

    /// Returns the English name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Lang::Cmn => "Chinese",
            other => other.eng_name(),
        }
    }

    /// Returns the code in options, e.g. `de`.
    pub(super) fn code(self) -> &'static str {
        let mut known = known();
        known
            .find_map(|(code, language)| (language == self).then_some(code))
            .unwrap_or_default()
    }

    /// Whether a short text may be in this language: `false` only if the detector is sure that it is
    /// not. Names, and words like "parser", belong to no language.
    pub fn is_plausible(self, text: &str) -> bool {
        let prose = prose(text);
        let Some(script) = detect_script(&prose) else {
            return true;
        };
        if !self.is_written_in(script) {
            // A few letters of this language among foreign names are enough.
            return prose
                .split("")
                .filter_map(detect_script)
                .any(|script| self.is_written_in(script));
        }
        if self.0 == Lang::Jpn && script == Script::Mandarin {
            // A text without kana may still be Japanese: its character set has no simplified characters.
            return !SHIFT_JIS.encode(&prose).2;
        }
        script != Script::Latin && script != Script::Cyrillic
            || detected(&prose, SURE).is_none_or(|found| found == self)
    }

    /// Whether it is written in Latin letters.
    pub(super) fn is_latin(self) -> bool {
        Script::Latin.langs().contains(&self.0)
    }

    fn is_written_in(self, script: Script) -> bool {
        script.langs().contains(&self.0) || (self.0 == Lang::Jpn && script == Script::Mandarin)
    }
}

/// Returns the language of most of a text, if it is likely enough. Code and quotations do not count.
pub fn dominant_language(text: &str) -> Option<Language> {
    detected(&in_main_script(&prose(text)), LIKELY)
}

/// Like [`dominant_language`], if it is almost certain.
pub(super) fn certain_language(text: &str) -> Option<Language> {
    detected(&in_main_script(&prose(text)), SURE)
}

/// Returns the words in the script of most words. In scripts without spaces two letters count as a
/// word.
fn in_main_script(prose: &str) -> String {
    let mut scripts: Vec<(Script, usize, Vec<&str>)> = Vec::new();
    for word in prose.split_whitespace() {
        let Some(script) = detect_script(word) else {
            continue;
        };
        let (script, weight) = match script {
            Script::Hiragana | Script::Katakana | Script::Mandarin => {
                (Script::Mandarin, word.chars().count())
            }
            Script::Thai => (script, word.chars().count() / 2),
            _ => (script, 2),
        };
        match scripts.iter_mut().find(|(known, ..)| *known == script) {
            Some((_, weights, words)) => {
                *weights += weight;
                words.push(word);
            }
            None => scripts.push((script, weight, vec![word])),
        }
    }
    let main = scripts.into_iter().max_by_key(|(_, weight, _)| *weight);
    main.map_or_else(String::new, |(.., words)| words.join(" "))
}

fn known() -> impl Iterator<Item = (&'static str, Language)> {
    CODES.split_whitespace().filter_map(|pair| {
        let (code, detector_code) = pair.split_once(':')?;
        Some((code, Language(Lang::from_code(detector_code)?)))
    })
}

fn detected(prose: &str, confidence: f64) -> Option<Language> {
    let detector = Detector::with_allowlist(known().map(|(_, language)| language.0).collect());
    let found = detector.detect(prose)?;
    (found.confidence() > confidence).then_some(Language(found.lang()))
}

/// Text between quotation marks, on one line.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#""[^"\n]*"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』"#));

/// Removes code, quotations, paths and identifiers.
fn prose(markdown: &str) -> String {
    let mut text = String::new();
    let mut skipped = 0;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::BlockQuote(_)) => skipped += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::BlockQuote(_)) => skipped -= 1,
            Event::Text(part) if skipped == 0 => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => text.push('\n'),
            _ => {}
        }
    }
    let text = QUOTED.replace_all(&text, " ");
    let is_word = |word: &&str| !word.is_ascii() || !word.contains(['/', '_', '=', '{', '\\', '.']);
    text.split_whitespace()
        .filter(is_word)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<&'static str> {
        dominant_language(text).map(Language::name)
    }

    #[test]
    fn languages_are_detected() {
        let table = [
            ("please fix the login button on the page", Some("English")),
            (
                "bitte mach den Test grün, er ist nicht stabil",
                Some("German"),
            ),
            (
                "peux-tu corriger les tests dans ce dossier, je ne comprends pas",
                Some("French"),
            ),
            (
                "por favor corrige los errores en el archivo y dime por qué",
                Some("Spanish"),
            ),
            (
                "por favor corrija os testes, isso não funciona com uma lista",
                Some("Portuguese"),
            ),
            (
                "修复登录按钮在移动端的问题 LoginButton.tsx",
                Some("Chinese"),
            ),
            ("ログインボタンを修正してください", Some("Japanese")),
            ("로그인 버튼을 고쳐 주세요", Some("Korean")),
            (
                "почини кнопку входа и объясни, что было не так",
                Some("Russian"),
            ),
            ("полагодь кнопку входу, її не видно", Some("Ukrainian")),
            (
                "`the and of to is` почини кнопку входа и объясни, что было не так",
                Some("Russian"),
            ),
            ("Refactor parser", None),
            ("please add i18n for the русский язык", Some("English")),
            (
                "почини LoginButton и объясни, что было не так",
                Some("Russian"),
            ),
            ("src/main.rs", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(name(text), expected, "{text}");
        }
    }

    #[test]
    fn quotations_do_not_count() {
        for quotation in [
            "\"认证失败：令牌已过期，请重新登录\"",
            "\n\n> 认证失败：令牌已过期，请重新登录\n\n",
            "\n```\n认证失败：令牌已过期，请重新登录\n```\n",
        ] {
            let text = format!(
                "When I log in, the application shows {quotation} and I would like to know why that happens."
            );
            assert_eq!(name(&text), Some("English"), "{text}");
        }
    }

    #[test]
    fn only_replies_that_are_surely_foreign_are_rejected() {
        let table = [
            ("zh", "Fix login button", false),
            ("zh", "修复 LoginButton", true),
            ("zh-CN", "修复登录按钮", true),
            ("en", "修复登录按钮", false),
            ("en", "Parser refactoring", true),
            (
                "en",
                "Corregir los errores que aparecen en el analizador cuando falta una coma",
                false,
            ),
            ("de", "Login-Test reparieren", true),
            (
                "German",
                "Fix the login of the app and then find out what the users wanted",
                false,
            ),
            ("ja", "認証修正", true),
            ("ja", "修复登录按钮", false),
            ("en", "`认证失败`", true),
        ];
        for (language, text, expected) in table {
            let named = Language::named(language).unwrap();
            assert_eq!(named.is_plausible(text), expected, "{language} {text}");
        }
        assert_eq!(Language::named("tlh"), None);
    }

    #[test]
    fn every_code_names_a_language() {
        assert_eq!(known().count(), CODES.split_whitespace().count());
    }
}
