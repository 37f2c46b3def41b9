use proptest::prelude::*;

use super::*;

#[test]
fn gaps_match_any_text() {
    let rows = [
        ("rm -rf *", "rm \0", true),
        ("rm -rf *", "rm -r\0 x", true),
        ("rm -rf *", "rm -v\0", false),
        ("rm -rf *", "\0 x", true),
        ("git push", "git \0", true),
        ("git push", "git pu\0sh x", false),
        ("*.env", "a/.en\0", true),
        ("*.env", "a\0.ex", false),
        ("a*b*c", "\0b\0", true),
        ("", "\0", true),
    ];
    for (pattern, text, expected) in rows {
        let found = Wildcard::parse(pattern).may_cover(text);
        assert_eq!(found, expected, "{pattern} {text:?}");
    }
}

#[test]
fn gaps_of_globs_stay_within_a_name_and_match_no_hidden_files() {
    let rows = [
        ("/*/.env", "/a/\0", false),
        ("/*/.env", "/a/\0.rs", false),
        ("/*/.env/*", "/a/\0.rs", false),
        ("/*/.env", "/a/\0/b.rs", false),
        ("/*/.env", "/a/.\0", true),
        ("/*/.env", "/a/.e\0v", true),
        ("/*/a.env", "/b/\0", true),
        ("/*/secrets/*", "/a/\0.rs", false),
        ("/*/secrets/*", "/a/\0/b", true),
        ("/*/secrets/*", "/a/s\0/b", true),
    ];
    for (pattern, path, expected) in rows {
        let found = Wildcard::parse(pattern).may_cover(&path.replace(GAP, &GLOB.to_string()));
        assert_eq!(found, expected, "{pattern} {path:?}");
    }
}

proptest! {
    #[test]
    fn agrees_with_a_regular_expression(pattern in "[ab*]{0,8}", text in "[ab*]{0,10}") {
        let expression = format!("^{}$", pattern.replace('*', ".*"));
        let expected = regex::Regex::new(&expression).unwrap().is_match(&text);
        let wildcard = Wildcard::parse(&pattern);
        prop_assert_eq!(wildcard.covers(&text), expected);
        prop_assert!(Wildcard::parse(&escaped(&text)).covers(&text));
        // Every prefix and suffix as a gap.
        let may_cover_all = (0..=text.len()).all(|cut| {
            wildcard.may_cover(&format!("{}\0", &text[..cut]))
                && wildcard.may_cover(&format!("\0{}", &text[cut..]))
        });
        prop_assert!(!expected || may_cover_all);
    }
}
