//! Removes terminal control sequences, with a forward state machine after ECMA-48.
//!
//! Sequences are removed as a whole, with their payload, in 7-bit and 8-bit encoding, complete or not. An
//! incomplete string ends at the end of its line, by choice: the next lines stay visible. Of
//! single control characters, U+0085 and those of ASCII are kept, except CAN, SUB and ESC.

use super::character_class::{CharacterClass, classify};

/// Removes all control sequences. Line breaks are kept, even inside a sequence, which they end.
pub(super) fn remove_escape_sequences(text: &str) -> String {
    let mut state = State::Ground;
    text.chars()
        .filter(|character| {
            let (next, action) = advance(state, *character);
            state = next;
            matches!(action, Action::Text)
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
    OscString,
    /// In another string: DCS, SOS, PM, APC, the window title of `screen`.
    String,
}

/// The treatment of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// It is text.
    Text,
    /// It is part of a sequence.
    Sequence,
}

/// One step of the machine.
fn advance(state: State, character: char) -> (State, Action) {
    if let Some(introduced) = state_after_control(character) {
        // ESC ends a string, whether `\` follows or not. `ESC \` has no effect elsewhere, so the state after ESC need
        // not tell whether it was in a string.
        return (introduced, Action::Sequence);
    }
    if classify(character) == CharacterClass::LineBreak {
        return (State::Ground, Action::Text);
    }
    match state {
        State::Ground => (State::Ground, Action::Text),
        State::Escape => advance_escape(character),
        State::EscapeIntermediate => match character {
            '\u{30}'..='\u{7e}' => (State::Ground, Action::Sequence),
            '\u{20}'..='\u{2f}' => (State::EscapeIntermediate, Action::Sequence),
            _ => advance_interrupted(State::EscapeIntermediate, character),
        },
        State::Csi => match character {
            '\u{40}'..='\u{7e}' => (State::Ground, Action::Sequence),
            '\u{20}'..='\u{3f}' => (State::Csi, Action::Sequence),
            _ => advance_interrupted(State::Csi, character),
        },
        State::OscString if character == '\u{07}' => (State::Ground, Action::Sequence),
        State::OscString | State::String => (state, Action::Sequence),
    }
}

/// Returns the state after characters that start or abort a sequence in any state.
fn state_after_control(character: char) -> Option<State> {
    match character {
        '\u{1b}' => Some(State::Escape),
        '\u{9b}' => Some(State::Csi),
        '\u{9d}' => Some(State::OscString),
        '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => Some(State::String),
        // CAN and SUB abort, ST terminates, and the other controls of this row are single.
        '\u{18}' | '\u{1a}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9c}' => Some(State::Ground),
        _ => None,
    }
}

fn advance_escape(character: char) -> (State, Action) {
    let next = match character {
        '[' => State::Csi,
        ']' => State::OscString,
        'P' | 'X' | '^' | '_' | 'k' => State::String,
        '\u{20}'..='\u{2f}' => State::EscapeIntermediate,
        '\u{30}'..='\u{7e}' => State::Ground,
        _ => return advance_interrupted(State::Escape, character),
    };
    (next, Action::Sequence)
}

/// Handles a character that a short sequence cannot contain. Terminals execute or ignore a control there and
/// continue the sequence; all other characters end it.
fn advance_interrupted(state: State, character: char) -> (State, Action) {
    if character.is_ascii_control() {
        (state, Action::Sequence)
    } else {
        (State::Ground, Action::Text)
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
}
