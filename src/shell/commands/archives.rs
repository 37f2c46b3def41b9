//! Commands that look into archives and compressed files without unpacking them.

use crate::shell::options::{Command, PLAIN};

/// The entries. `tar` has rules of its own.
pub(in crate::shell) const COMMANDS: &[Command] = &[
    Command {
        names: &[
            "zcat", "gzcat", "bzcat", "xzcat", "lzcat", "zstdcat", "lz4cat",
        ],
        short: "fqv",
        long: &["force", "quiet", "verbose", "help", "version"],
        ..PLAIN
    },
    // Without one of the needed options, files are replaced.
    Command {
        names: &["gzip", "gunzip"],
        short: "cdfklnqtv123456789",
        long: &[
            "stdout",
            "to-stdout",
            "decompress",
            "uncompress",
            "list",
            "no-name",
            "quiet",
            "test",
            "verbose",
            "help",
            "version",
        ],
        needs: &[
            "c",
            "l",
            "t",
            "stdout",
            "to-stdout",
            "list",
            "test",
            "help",
            "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["bzip2", "bunzip2"],
        short: "cdfkqstv123456789",
        long: &[
            "stdout",
            "decompress",
            "test",
            "quiet",
            "verbose",
            "small",
            "help",
            "version",
        ],
        needs: &["c", "t", "stdout", "test", "help", "version"],
        ..PLAIN
    },
    Command {
        names: &["xz", "unxz", "lzma", "unlzma"],
        short: "cdfklqtvT:0123456789e",
        long: &[
            "stdout",
            "to-stdout",
            "decompress",
            "list",
            "test",
            "quiet",
            "verbose",
            "robot",
            "help",
            "version",
        ],
        needs: &[
            "c",
            "l",
            "t",
            "stdout",
            "to-stdout",
            "list",
            "test",
            "help",
            "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["zstd", "unzstd"],
        short: "cdfklqtv",
        long: &[
            "stdout",
            "decompress",
            "list",
            "test",
            "quiet",
            "verbose",
            "help",
            "version",
        ],
        needs: &["c", "l", "t", "stdout", "list", "test", "help", "version"],
        ..PLAIN
    },
    Command {
        names: &["unzip"],
        short: "lZvtpzqCaP:x1s2mhTM",
        needs: &["l", "Z", "v", "t", "p", "z"],
        ..PLAIN
    },
    Command {
        names: &["zipinfo"],
        short: "12smlvhMtTzCx",
        ..PLAIN
    },
];
