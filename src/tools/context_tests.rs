use std::path::Component;

use proptest::prelude::*;

use super::super::test_context::Session;
use super::*;

#[test]
fn paths_become_absolute() {
    let session = Session::new();
    let context = &session.context;
    let base = session.path("");
    let table = [
        ("a.txt", base.join("a.txt")),
        ("./x/../b", base.join("b")),
        ("/etc/../tmp/./c", PathBuf::from("/tmp/c")),
        ("/../..", PathBuf::from("/")),
        ("~", PathBuf::from("/home/somebody")),
        ("~/d", PathBuf::from("/home/somebody/d")),
        ("~//d", PathBuf::from("/home/somebody/d")),
        ("~other/d", base.join("~other/d")),
    ];
    for (text, expected) in table {
        assert_eq!(absolute(text, context), expected, "{text}");
    }
}

#[test]
fn paths_below_the_directory_are_shown_relative() {
    assert_eq!(shown(Path::new("/a/b/c"), Path::new("/a")), "b/c");
    assert_eq!(shown(Path::new("/a"), Path::new("/a")), "/a");
    assert_eq!(shown(Path::new("/ab/c"), Path::new("/a")), "/ab/c");
}

proptest! {
    #[test]
    fn normalising_is_idempotent_and_leaves_no_dots(text in "/?([a-c.]{0,3}/){0,6}[a-c.]{0,3}") {
        let once = normalised(&Path::new("/base").join(text));
        prop_assert!(once.is_absolute());
        prop_assert_eq!(normalised(&once), once.clone());
        prop_assert!(!once.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir)));
    }
}

#[test]
fn only_dangerous_variables_are_removed() {
    let environment: Environment = [
        ("BASH_ENV", "/tmp/evil"),
        ("BASH_FUNC_ls%%", "() { rm -rf x; }"),
        ("BASHFUL", "no"),
        ("ENVIRONMENT", "kept"),
        ("HOME", "/root"),
        ("GIT_EXTERNAL_DIFF", "/tmp/evil"),
        ("GREP", "/tmp/evil"),
        ("LD_PRELOAD", "/tmp/evil.so"),
        ("LESSOPEN", "|evil %s"),
        ("MANPAGER", "evil"),
        ("OLDPWD", "/elsewhere"),
        ("PAGER", "evil"),
        ("PATH", "/bin:.::/usr/bin:bin"),
        ("PYTHONPATH", "."),
        ("RIPGREP_CONFIG_PATH", "/tmp/evil"),
        ("PS4", "$(id)"),
        ("SHELLOPTS", "noexec"),
        ("TURNPIPE", "9"),
    ]
    .into_iter()
    .collect();
    let expected: Vec<(OsString, OsString)> = [
        ("BASHFUL", "no"),
        ("ENVIRONMENT", "kept"),
        ("HOME", "/root"),
        ("PATH", "/bin:/usr/bin"),
        ("TURNPIPE", "1"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    assert_eq!(cleaned(&environment, &BTreeSet::new()), expected);
    let kept = BTreeSet::from(["PAGER".into()]);
    let passed = cleaned(&environment, &kept);
    assert!(passed.contains(&("PAGER".into(), "evil".into())));
    assert_eq!(passed.len(), expected.len() + 1);
}

#[test]
fn our_settings_replace_others() {
    let mut variables = vec![("GIT_CONFIG_COUNT".into(), "7".into())];
    keep_git_from_writing(&mut variables);
    assert_eq!(variables.len(), 6);
    assert!(variables.contains(&("GIT_CONFIG_COUNT".into(), "1".into())));
}
