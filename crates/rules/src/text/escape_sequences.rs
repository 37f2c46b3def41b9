//! Removes terminal control sequences, with a forward state machine after ECMA-48.
//!
//! Sequences are removed as a whole, with their payload, in 7-bit and 8-bit encoding, complete or not. An
//! incomplete string ends at the end of its line, as in terminals. Single control characters are kept.
//!
//! Classes of characters for terminal-safe text: tables only. `terminal_safe` decides how to treat a class.

use unicode_properties::{GeneralCategory, UnicodeEmoji, UnicodeGeneralCategory};

/// Removes all control sequences. Line breaks are kept, even inside a sequence, which they end. Control
/// characters outside sequences are kept.
pub(super) fn remove_escape_sequences(text: &str) -> String {
    let mut state = State::Ground;
    text.chars()
        .filter(|character| {
            let (next, fate) = step(state, *character);
            state = next;
            matches!(fate, Fate::Text)
        })
        .collect()
}

/// A state of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside sequences.
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes.
    EscapeIntermediate,
    /// After CSI.
    Csi,
    /// In a string that BEL also ends: OSC.
    BellString,
    /// In another string: DCS, SOS, PM, APC, the window title of `screen`.
    String,
}

/// The treatment of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is text.
    Text,
    /// It is part of a sequence.
    Sequence,
}

/// One step of the machine.
fn step(state: State, character: char) -> (State, Fate) {
    if let Some(introduced) = introduced_anywhere(character) {
        // ESC inside a string may start its terminator. Elsewhere `ESC \` has no effect, so that the state after
        // ESC does not depend on the string.
        return (introduced, Fate::Sequence);
    }
    if classify(character) == CharacterClass::LineBreak {
        return (State::Ground, Fate::Text);
    }
    match state {
        State::Ground => (State::Ground, Fate::Text),
        State::Escape => after_escape(character),
        State::EscapeIntermediate => match character {
            '\u{30}'..='\u{7e}' => (State::Ground, Fate::Sequence),
            '\u{20}'..='\u{2f}' => (State::EscapeIntermediate, Fate::Sequence),
            _ => within(State::EscapeIntermediate, character),
        },
        State::Csi => match character {
            '\u{40}'..='\u{7e}' => (State::Ground, Fate::Sequence),
            '\u{20}'..='\u{3f}' => (State::Csi, Fate::Sequence),
            _ => within(State::Csi, character),
        },
        State::BellString if character == '\u{07}' => (State::Ground, Fate::Sequence),
        State::BellString | State::String => (state, Fate::Sequence),
    }
}

/// Returns the state after characters that start or abort a sequence in any state.
fn introduced_anywhere(character: char) -> Option<State> {
    match character {
        '\u{1b}' => Some(State::Escape),
        '\u{9b}' => Some(State::Csi),
        '\u{9d}' => Some(State::BellString),
        '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => Some(State::String),
        // CAN and SUB abort, ST terminates, and the other controls of this row are single.
        '\u{18}' | '\u{1a}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9c}' => Some(State::Ground),
        _ => None,
    }
}

fn after_escape(character: char) -> (State, Fate) {
    let next = match character {
        '[' => State::Csi,
        ']' => State::BellString,
        'P' | 'X' | '^' | '_' | 'k' => State::String,
        '\u{20}'..='\u{2f}' => State::EscapeIntermediate,
        '\u{30}'..='\u{7e}' => State::Ground,
        _ => return within(State::Escape, character),
    };
    (next, Fate::Sequence)
}

/// Handles a character that a short sequence cannot contain. Terminals execute or ignore a control there and
/// continue the sequence; all other characters end it.
fn within(state: State, character: char) -> (State, Fate) {
    if character.is_ascii_control() {
        (state, Fate::Sequence)
    } else {
        (State::Ground, Fate::Text)
    }
}

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

/// Default ignorable code points, interlinear annotation and hieroglyph format controls, controls.
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
    } else if contains(HIDDEN, code_point) || is_last_of_its_plane(code_point) {
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
fn is_last_of_its_plane(code_point: u32) -> bool {
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_are_removed_as_a_whole() {
        let table = [
            ("plain", "plain"),
            ("a\u{1b}[1;31mb", "ab"),
            ("a\u{1b}[?1049hb", "ab"),
            ("a\u{1b}[1 qb", "ab"),
            ("a\u{1b}]0;t\u{07}b", "ab"),
            ("a\u{1b}]0;t\u{1b}\\b", "ab"),
            ("a\u{1b}Pq\u{07}still inside\u{1b}\\b", "ab"),
            ("a\u{1b}_G payload\u{1b}\\b", "ab"),
            ("a\u{1b}ktitle\u{1b}\\b", "ab"),
            ("a\u{1b}(0b", "ab"),
            ("a\u{1b} Fb", "ab"),
            ("a\u{1b}cb", "ab"),
            ("a\u{9b}31mb", "ab"),
            ("a\u{9d}0;t\u{9c}b", "ab"),
            ("a\u{90}payload\u{1b}\\b", "ab"),
            ("a\u{8e}b", "ab"),
        ];
        for (text, left) in table {
            assert_eq!(remove_escape_sequences(text), left, "{text:?}");
        }
    }

    #[test]
    fn broken_sequences_leave_nothing_executable() {
        let table = [
            ("a\u{1b}", "a"),
            ("a\u{1b}[", "a"),
            ("a\u{1b}[31", "a"),
            ("a\u{1b}]0;title", "a"),
            ("a\u{1b}]0;title\nb", "a\nb"),
            ("a\u{9f}never closed\u{85}b", "a\u{85}b"),
            ("a\u{1b}[31\nmb", "a\nmb"),
            ("a\u{1b}[3\u{00}1mb", "ab"),
            ("a\u{1b}\u{00}[31mb", "ab"),
            ("a\u{1b}[31\u{18}mb", "amb"),
            ("a\u{1b}]0;x\u{1a}b", "ab"),
            ("a\u{1b}[31\u{1b}[1mb", "ab"),
            ("a\u{1b}]0;x\u{1b}[31mb", "ab"),
            ("a\u{1b}]0;x\u{9b}31mb", "ab"),
            ("a\u{1b}\u{1b}[31mb", "ab"),
            ("a\u{1b}日b", "a日b"),
            ("a\u{1b}[3日b", "a日b"),
        ];
        for (text, left) in table {
            assert_eq!(remove_escape_sequences(text), left, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_sequence_is_left(
            text in "[ab;\\[\\]\\\\Pk0-9 \n\u{07}\u{18}\u{1b}\u{85}\u{90}\u{9b}\u{9c}\u{9d}\u{9f}é]{0,40}"
        ) {
            let once = remove_escape_sequences(&text);
            let introducer = once.find(['\u{1b}', '\u{9b}', '\u{9d}', '\u{90}']);
            prop_assert_eq!(introducer, None);
            prop_assert_eq!(remove_escape_sequences(&once), once);
        }

        #[test]
        fn line_breaks_are_kept(text in any::<String>()) {
            let line_breaks = |text: &str| text.chars()
                .filter(|character| classify(*character) == CharacterClass::LineBreak)
                .collect::<String>();
            prop_assert_eq!(line_breaks(&remove_escape_sequences(&text)), line_breaks(&text));
        }
    }

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
