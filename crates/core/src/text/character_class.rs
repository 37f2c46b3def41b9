//! Classes of characters for terminal-safe text: tables only. The treatment of each class is in `terminal_safe`.

use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

/// The class of a character. Classes do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharacterClass {
    /// A line break in some terminal, editor or log viewer.
    LineBreak,
    /// A tab or a space of any width.
    Blank,
    /// Invisible, or reorders text: controls, bidi controls, zero-width characters, fillers, noncharacters,
    /// variation selectors other than U+FE0F.
    Hidden,
    /// U+FE0F, which selects the colour form of an emoji.
    EmojiSelector,
    /// U+200D, which joins emoji, and shapes Indic conjuncts.
    Joiner,
    /// U+200C, which separates Arabic and Indic letters.
    NonJoiner,
    /// A tag letter or digit, used in flags of regions.
    FlagTag,
    /// The tag that ends a flag of a region.
    CancelTag,
    /// The black flag that starts a flag of a region.
    FlagBase,
    /// An ASCII character that becomes a keycap with U+20E3.
    KeycapBase,
    /// U+20E3.
    Keycap,
    /// A pictograph, or a skin tone.
    Emoji,
    /// A mark that is drawn over the previous character.
    Mark(Script),
    /// Any other visible character.
    Visible(Script),
}

/// Scripts in which joiners have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Arabic: a non-joiner separates two letters.
    Arabic,
    /// A letter or vowel of an Indic script.
    Indic,
    /// An Indic sign that suppresses a vowel. A joiner may also follow it at the end of a word.
    IndicVirama,
    /// All others.
    Other,
}

/// Inclusive ranges of code points.
type Ranges = [(u32, u32)];

const LINE_BREAKS: &Ranges = &[(0x0a, 0x0d), (0x85, 0x85), (0x2028, 0x2029)];

/// Default ignorable code points, interlinear annotation and hieroglyph format controls, controls. Tested last: some
/// of them have a class of their own.
const HIDDEN: &Ranges = &[
    (0x00, 0x1f),
    (0x7f, 0x9f),
    (0xad, 0xad),
    (0x034f, 0x034f),
    (0x061c, 0x061c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x1_3430, 0x1_343f),
    (0x1_bca0, 0x1_bca3),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0xe_0fff),
];

const ARABIC: &Ranges = &[
    (0x0600, 0x06ff),
    (0x0750, 0x077f),
    (0x0870, 0x08ff),
    (0xfb50, 0xfdff),
    (0xfe70, 0xfefe),
    (0x1_0ec0, 0x1_0eff),
];

/// Devanagari to Sinhala, Myanmar, Khmer, Vedic extensions, Javanese, Brahmi to Sharada and later blocks.
const INDIC: &Ranges = &[
    (0x0900, 0x0dff),
    (0x1000, 0x109f),
    (0x1780, 0x17ff),
    (0x1b00, 0x1bff),
    (0x1cd0, 0x1cff),
    (0xa8e0, 0xa8ff),
    (0xa980, 0xa9df),
    (0x1_1000, 0x1_11df),
    (0x1_1200, 0x1_14df),
];

const VIRAMAS: &str = "\u{94d}\u{9cd}\u{a4d}\u{acd}\u{b4d}\u{bcd}\u{c4d}\u{ccd}\u{d3b}\u{d3c}\
    \u{d4d}\u{dca}\u{1039}\u{103a}\u{17d2}\u{1b44}\u{a9c0}\u{11046}\u{110b9}";

/// Classifies a character.
pub(super) fn classify(character: char) -> CharacterClass {
    match character {
        // The Braille cell without dots separates words.
        ' ' | '\t' | '\u{2800}' => CharacterClass::Blank,
        '0'..='9' | '#' | '*' => CharacterClass::KeycapBase,
        '!'..='~' => CharacterClass::Visible(Script::Other),
        '\u{200c}' => CharacterClass::NonJoiner,
        '\u{200d}' => CharacterClass::Joiner,
        '\u{20e3}' => CharacterClass::Keycap,
        '\u{fe0f}' => CharacterClass::EmojiSelector,
        '\u{1f3f4}' => CharacterClass::FlagBase,
        '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}' => CharacterClass::FlagTag,
        '\u{e007f}' => CharacterClass::CancelTag,
        _ => classify_by_table(character),
    }
}

fn classify_by_table(character: char) -> CharacterClass {
    let code_point = u32::from(character);
    if contains(LINE_BREAKS, code_point) {
        CharacterClass::LineBreak
    } else if contains(HIDDEN, code_point) || is_plane_noncharacter(code_point) {
        CharacterClass::Hidden
    } else if character.is_emoji_char() && !is_regional_indicator(code_point) {
        CharacterClass::Emoji
    } else {
        match character.general_category() {
            GeneralCategory::SpaceSeparator => CharacterClass::Blank,
            GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark => {
                CharacterClass::Mark(script(character))
            }
            _ => CharacterClass::Visible(script(character)),
        }
    }
}

fn contains(ranges: &Ranges, code_point: u32) -> bool {
    let following = ranges.partition_point(|(first, _)| *first <= code_point);
    following > 0 && code_point <= ranges[following - 1].1
}

/// Whether a code point is a noncharacter such as U+FFFE, U+FFFF or U+1FFFE.
fn is_plane_noncharacter(code_point: u32) -> bool {
    code_point & 0xfffe == 0xfffe
}

/// Whether a code point is a letter of country flags, which need no joiner and no selector.
fn is_regional_indicator(code_point: u32) -> bool {
    (0x1_f1e6..=0x1_f1ff).contains(&code_point)
}

fn script(character: char) -> Script {
    let code_point = u32::from(character);
    if VIRAMAS.contains(character) {
        Script::IndicVirama
    } else if contains(INDIC, code_point) {
        Script::Indic
    } else if contains(ARABIC, code_point) {
        Script::Arabic
    } else {
        Script::Other
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn tables_are_sorted_and_do_not_overlap() {
        for table in [LINE_BREAKS, HIDDEN, ARABIC, INDIC] {
            assert!(
                table.iter().all(|(first, last)| first <= last),
                "{table:x?}"
            );
            assert!(
                table.windows(2).all(|pair| pair[0].1 < pair[1].0),
                "{table:x?}"
            );
        }
    }

    #[test]
    fn controls_and_separators_are_not_visible() {
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let class = classify(character);
            match character.general_category() {
                GeneralCategory::Control => assert!(
                    matches!(
                        class,
                        CharacterClass::Hidden | CharacterClass::LineBreak | CharacterClass::Blank
                    ),
                    "{character:?}"
                ),
                GeneralCategory::SpaceSeparator => {
                    assert_eq!(class, CharacterClass::Blank, "{character:?}");
                }
                GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => {
                    assert_eq!(class, CharacterClass::LineBreak, "{character:?}");
                }
                _ => {}
            }
        }
    }

    #[test]
    fn format_characters_are_hidden_unless_they_have_a_shape() {
        let shown: Vec<u32> = (0..=0x10_ffff)
            .filter_map(char::from_u32)
            .filter(|character| character.general_category() == GeneralCategory::Format)
            .filter(|character| matches!(classify(*character), CharacterClass::Visible(_)))
            .map(u32::from)
            .collect();
        // Arabic, Syriac and Kaithi signs that enclose or precede the number after them.
        let signs: Vec<u32> = (0x600..=0x605)
            .chain([0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x1_10bd, 0x1_10cd])
            .collect();
        assert_eq!(shown, signs);
    }

    #[test]
    fn characters_have_the_expected_class() {
        let table = [
            ('a', CharacterClass::Visible(Script::Other)),
            ('7', CharacterClass::KeycapBase),
            ('\u{301}', CharacterClass::Mark(Script::Other)),
            ('\u{64e}', CharacterClass::Mark(Script::Arabic)),
            ('م', CharacterClass::Visible(Script::Arabic)),
            ('क', CharacterClass::Visible(Script::Indic)),
            ('\u{94d}', CharacterClass::Mark(Script::IndicVirama)),
            ('❤', CharacterClass::Emoji),
            ('🏽', CharacterClass::Emoji),
            ('🇫', CharacterClass::Visible(Script::Other)),
            ('\u{e000}', CharacterClass::Visible(Script::Other)),
            ('\u{fffd}', CharacterClass::Visible(Script::Other)),
            ('\u{ffff}', CharacterClass::Hidden),
            ('\u{1fffe}', CharacterClass::Hidden),
            ('\u{e0001}', CharacterClass::Hidden),
            ('\u{e0041}', CharacterClass::Hidden),
        ];
        for (character, class) in table {
            assert_eq!(classify(character), class, "{character:?}");
        }
    }
}
