//! File names for ids from other programs.

/// Maximum length of a name that is used unchanged, in bytes. Leaves space for an extension.
const MAX_NAME_LENGTH: usize = 128;

/// Returns a file name for `id` that stays in its directory, is not hidden, and does not clash with another id:
/// letters, digits, `-`, `_` and inner dots are kept. If other characters were removed, a hash of the whole id
/// follows.
pub fn safe_file_name(id: &str) -> String {
    let mut name: String = id
        .chars()
        .take(MAX_NAME_LENGTH)
        .map(|character| {
            if is_harmless(character) {
                character
            } else {
                '_'
            }
        })
        .collect();
    if name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    if name == id && !id.is_empty() {
        return name;
    }
    name.truncate(MAX_NAME_LENGTH - 17);
    format!("{name}-{:016x}", fingerprint(id))
}

fn is_harmless(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// FNV-1a: short, and stable across versions, unlike the standard library's hasher.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_ids_stay() {
        assert_eq!(safe_file_name("toolu_01A-b.c"), "toolu_01A-b.c");
    }

    #[test]
    fn hostile_ids_are_defused_and_stay_apart() {
        let hostile = [
            "../../etc/passwd",
            ".",
            "..",
            "",
            "a/b",
            "a_b",
            "\0",
            ".hidden",
        ];
        let names: std::collections::BTreeSet<_> =
            hostile.iter().map(|id| safe_file_name(id)).collect();
        assert_eq!(names.len(), hostile.len());
        assert!(
            names
                .iter()
                .all(|name| !name.contains('/') && !name.starts_with('.'))
        );
    }

    proptest! {
        #[test]
        fn always_one_plain_component(id in any::<String>()) {
            let name = safe_file_name(&id);
            prop_assert!(!name.is_empty() && name.len() <= MAX_NAME_LENGTH);
            prop_assert!(name.chars().all(is_harmless) && !name.starts_with('.'));
        }
    }
}
