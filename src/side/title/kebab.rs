//! Titles in the older form of names: `fix-login-button`.

use crate::text::truncate_utf16;

/// The longest name, in UTF-16 units.
const LONGEST: usize = 60;

/// The words of a title in lower case with hyphens between them; letters of any script stay.
/// Empty if it has none.
pub(in crate::side) fn to_kebab(title: &str) -> String {
    let lowered = title.to_lowercase();
    let words: Vec<&str> = lowered
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let name = words.join("-");
    let cut = truncate_utf16(&name, LONGEST);
    if cut.len() == name.len() {
        return name;
    }
    // Not in the middle of a word, if that leaves anything.
    let whole = cut.rfind('-').map_or(cut, |at| &cut[..at]);
    whole.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_hyphens() {
        let table = [
            ("Fix login button", "fix-login-button"),
            ("`fix_login`: button!", "fix-login-button"),
            ("修复登录 按钮", "修复登录-按钮"),
            ("--", ""),
        ];
        for (title, expected) in table {
            assert_eq!(to_kebab(title), expected);
        }
        let long = to_kebab(&"word ".repeat(30));
        assert!(long.len() <= LONGEST && long.ends_with("word"));
    }
}
