use super::*;

fn phrase(command: &str, description: Option<&str>, output: &str) -> String {
    let run = Run {
        command,
        description,
        output,
        ending: Ending::Ok,
        cwd: Some("/w"),
    };
    describe(&run).phrase
}

#[test]
fn errors_are_reported_only_if_the_status_hides_them() {
    for output in [
        "Error: none",
        "errors: 0",
        "error: 0 of 3",
        "Last error: null",
    ] {
        assert_eq!(phrase("./check.sh | tail -3", None, output), "Ran check.sh");
        assert_eq!(phrase("./check.sh", None, output), "Ran check.sh");
    }
    let error = "cp: cannot stat 'a': No such file or directory";
    assert_eq!(
        phrase("cp a b; true", None, error),
        "Ran cp, errors in output"
    );
    assert_eq!(phrase("test -f a || touch a", None, ""), "Ran touch");
    let hidden = phrase("./check.sh | tail -3", None, "error: disk full");
    assert_eq!(hidden, "Ran check.sh, errors in output");
    assert_eq!(
        phrase("./check.sh", None, "error: disk full"),
        "Ran check.sh"
    );
}

#[test]
fn descriptions_replace_minor_acts() {
    let table = [
        (
            "frob --all",
            Some("Check the tables"),
            "Ran frob to check the tables",
        ),
        (
            "python3 -c 'open(\"a\", \"w\")' | cat",
            Some("Show a"),
            "Ran python3 to show a",
        ),
        ("cat a | head -1", Some("Show a"), "Showed a"),
        (
            "ls | while read f; do mv $f x/; done",
            Some("List files"),
            "Moved to x/",
        ),
        ("frob all", None, "Ran frob all"),
        (
            "for f in a b; do frob $f; done",
            Some("Count rows"),
            "Ran frob to count rows",
        ),
        ("git commit -m x", Some("Commit it"), "Committed changes"),
        ("frob", Some("Fix the tables"), "Ran frob"),
        ("bash -lc 'cat a.rs'", None, "Read a.rs"),
        ("bash -c 'cat a.rs' > b.rs", None, "Wrote b.rs"),
    ];
    for (command, description, expected) in table {
        assert_eq!(phrase(command, description, ""), expected, "{command}");
    }
}
