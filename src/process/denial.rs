//! Whether a failed child looks as if the kernel's restrictions were the reason. A guess from what
//! it printed: programs report errors as text, in whatever words they like.

use super::{Ended, ExitStatus, Finished};

/// What programs print when the kernel refuses something: the texts and names of EACCES and EPERM,
/// and what becomes of a refused socket in a resolver of names.
const SIGNS: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "not permitted",
    "eacces",
    "eperm",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "unable to resolve",
    "failed to connect",
];

/// How much of each end of an output is looked at, in bytes.
const LOOKED_AT: u64 = 16 * 1024;

/// Whether it failed and said something like that, on either stream: `2>&1` is common.
pub(super) fn looks_denied(finished: &Finished) -> bool {
    let failed = finished.ended == Ended::Exited && finished.status != ExitStatus::Code(0);
    failed
        && [&finished.stderr, &finished.stdout]
            .into_iter()
            .any(|output| {
                let ends = [output.prefix(LOOKED_AT), output.suffix(LOOKED_AT)];
                ends.iter().flatten().any(|end| has_sign(end))
            })
}

fn has_sign(bytes: &[u8]) -> bool {
    let text = bytes.to_ascii_lowercase();
    SIGNS
        .iter()
        .any(|sign| memchr::memmem::find(&text, sign.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_found_in_any_case_and_nothing_else_is_one() {
        for text in [
            "touch: cannot touch 'x': Permission denied",
            "chattr: Operation not permitted while setting flags on a.txt",
            "Error: EPERM: operation not permitted, open 'x'",
            "curl: (6) Could not resolve host: example.org",
        ] {
            assert!(has_sign(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "grep: x: No such file or directory",
            "permission granted",
        ] {
            assert!(!has_sign(text.as_bytes()), "{text}");
        }
    }
}
