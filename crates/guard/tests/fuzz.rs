//! The fuzz target of the shell analysis, with an ordinary compiler.
#![expect(clippy::unwrap_used, reason = "a test")]

#[path = "../../../fuzz/checks/mutations.rs"]
mod mutations;
#[path = "../../../fuzz/checks/shell_analyse.rs"]
mod shell_analyse;

/// Texts that mutations insert.
const TOKENS: &[&str] = &[
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "(",
    ")",
    "{ ",
    "; }",
    "<",
    ">",
    ">&",
    "<(",
    "<<E\n",
    "\nE\n",
    "<<<",
    "'",
    "\"",
    "`",
    "$(",
    "$((",
    "))",
    "${",
    "}",
    "$x",
    "$'",
    "\\",
    "\\\n",
    "#",
    "*",
    "[",
    "]",
    "{a,b}",
    "[[ ",
    " ]]",
    "! ",
    "~",
    "=",
    "a=",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    ";;",
    "time ",
    "-n",
    "é",
    "2>&1",
    "\t",
    "rm x",
];

#[test]
fn the_analysis_of_any_text_holds_its_invariants() {
    mutations::run("shell_analyse", TOKENS, shell_analyse::check);
}
