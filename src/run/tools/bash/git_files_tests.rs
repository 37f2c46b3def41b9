use std::fs;

use proptest::prelude::*;

use super::*;

fn names(text: &str) -> Option<Vec<String>> {
    let settings = parse_settings(text)?.into_iter();
    Some(
        settings
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
    )
}

#[test]
fn settings_are_parsed_as_by_git() {
    let rows: &[(&str, &[&str])] = &[
        ("", &[]),
        ("# a\n; b\n\n  \t\n", &[]),
        (
            "[Core]\n\tBare = false\n\tfsMonitor\n",
            &["core.bare=false", "core.fsmonitor=true"],
        ),
        ("[core]\r\nbare = false\r\n", &["core.bare=false"]),
        ("[a-b]\nx=1 # d\ny =\n", &["a-b.x=1", "a-b.y="]),
        ("[Branch \"A.b/#c]\"]\n  M = x y \n", &["branch.*.m=x y"]),
        ("[a]\nx = \"o#r\" z;", &["a.x=\"o#r\" z;"]),
    ];
    for (text, expected) in rows {
        assert_eq!(names(text).unwrap(), *expected, "{text}");
    }
    for text in [
        "x = 1",
        "[core] fsmonitor = x",
        "[core]\nfsmonitor = \\\nx",
        "[core] ; x",
        "[core]\nx y = 1",
        "[core]\n1x = 1",
        "[core]\nx # = 1",
        "[core.sub]\nx = 1",
        "[core \"a\\\"b\"]\nx = 1",
        "[core \"a\"b\"]\nx = 1",
        "[core \"a\" ]\nx = 1",
        "[core\"a\"]\nx = 1",
        "[ core]\nx = 1",
        "[]\nx = 1",
        "[core\nx = 1",
        "[core]\nx = a\rb",
        "[core]\nx = a\0b",
        "\u{feff}[core]\nx = 1",
    ] {
        assert_eq!(names(text), None, "{text:?}");
    }
}

#[test]
fn harmless_settings_are_listed() {
    for (setting, expected) in [
        ("core]\nfileMode = true", true),
        ("core]\nfsmonitor = FALSE", true),
        ("core]\nfsmonitor = true", false),
        ("core]\nfsmonitor", false),
        ("core]\npager = x", false),
        ("core \"x\"]\nfilemode = true", false),
        ("remote \"o\"]\nurl = ext::x", true),
        ("remote]\nurl = x", false),
        ("remote \"o\"]\npromisor = true", false),
        ("remote \"o\"]\npartialCloneFilter = blob:none", false),
        ("remote \"o\"]\nuploadpack = x", false),
        ("branch \"main\"]\nvscode-merge-base = origin/main", true),
        ("branch \"b\"]\ngithub-pr-owner-number = \"a#b#1\"", true),
        ("branch]\nsort = signature", false),
        ("extensions]\nworktreeConfig = true", true),
        ("extensions]\nobjectFormat = sha256", false),
        ("extensions]\npartialClone = o", false),
        ("index]\nsparse = true", false),
        ("lfs]\nrepositoryformatversion = 0", true),
        ("lfs \"https://example.com/x\"]\naccess = basic", true),
        ("lfs \"customtransfer.x\"]\npath = x", false),
        ("filter \"lfs\"]\nclean = git-lfs clean -- %f", false),
        ("diff \"x\"]\ntextconv = x", false),
        ("diff]\nexternal = x", false),
        ("merge \"x\"]\ndriver = x", false),
        ("include]\npath = x", false),
        ("includeIf \"gitdir:/x/\"]\npath = x", false),
        ("alias]\nst = status", false),
        ("log]\nshowSignature = true", false),
        ("pretty]\nx = %G?", false),
        ("#]\nadd = x", false),
        ("a]\n* = x", false),
    ] {
        let settings = parse_settings(&format!("[{setting}\n"));
        let is_harmless = settings.is_some_and(|settings| settings.iter().all(is_harmless));
        assert_eq!(is_harmless, expected, "{setting}");
    }
}

/// Returns lines of which some are read, and some only by git.
fn line() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "[core]",
        "[CORE] # x",
        "[core] fsmonitor = x",
        "[remote \"origin\"]",
        "[branch \"a\\\"b\"]",
        "[branch \"x]\"]  ; y",
        "[a.b]",
        "[include]",
        "[",
        "fsmonitor",
        "fsmonitor = \\",
        "  pager = \"a ; b\" c # d",
        "url = \"a",
        "url=a\\\\b\\tc",
        "a-b =  x  y  ",
        "a_b = x",
        "# x \\",
        "; [x]",
        "",
        "\t",
        "x = \"\" y",
        "x = a\"b\"c",
        "x = a\r",
        "\u{b}y = 1",
        "\u{feff}[core]",
    ]);
    prop_oneof![
        4 => fixed.prop_map(str::to_owned),
        2 => "[a-c]{1,2} ?= ?[a-c \"#;\\\\\t]{0,5}",
        1 => "\\[[a-c. \"\\]\\\\]{0,6}\\]?",
        1 => "[ -~\t]{0,9}",
    ]
}

proptest! {
    /// What is parsed is what git reads, or git refuses the file.
    #[test]
    fn git_reads_no_other_settings(lines in prop::collection::vec(line(), 0..7)) {
        let text = format!("[x]\n{}", lines.join("\n"));
        let Some(parsed) = parse_settings(&text) else {
            return Ok(());
        };
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        fs::write(&file, &text).unwrap();
        let mut git = std::process::Command::new("git");
        let listed = git.args(["config", "--list", "-z", "--no-includes", "--file"]).arg(&file);
        let listed = listed.output().unwrap();
        if !listed.status.success() {
            return Ok(());
        }
        let listed = String::from_utf8(listed.stdout).unwrap();
        let by_git: Vec<(String, String)> = listed.split_terminator('\0').map(|setting| {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            let (section, rest) = name.split_once('.').unwrap();
            let name = rest.rsplit_once('.').map_or(name.to_owned(), |(_, key)| format!("{section}.*.{key}"));
            // Versions of git differ in tabs inside of values.
            (name, value.replace('\t', " "))
        }).collect();
        prop_assert_eq!(parsed.len(), by_git.len(), "{:?}", text);
        for ((name, value), by_git) in parsed.into_iter().zip(by_git) {
            let value = if value.contains(['"', '\\']) { by_git.1.clone() } else { value.replace('\t', " ") };
            prop_assert_eq!((name, value), by_git, "{:?}", text);
        }
    }
}
