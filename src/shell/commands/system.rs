//! Commands that tell about the system and its processes.

use crate::shell::options::{Arguments, Command, Operands, PLAIN, Unknown};
use crate::shell::refusal::Refusal;

/// The entries. Nothing that resolves names over the network.
pub(in crate::shell) const COMMANDS: &[Command] = &[
    Command {
        names: &["whoami", "logname", "arch", "nproc", "tty"],
        short: "s",
        long: &["all", "ignore=", "silent", "quiet", "help", "version"],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["id"],
        short: "agGnruzZ",
        long: &[
            "context", "group", "groups", "name", "real", "user", "zero", "help", "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["groups", "users"],
        long: &["help", "version"],
        ..PLAIN
    },
    Command {
        names: &["who"],
        short: "abdHlmpqrstTuw",
        long: &[
            "all", "boot", "heading", "count", "users", "short", "help", "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["uname"],
        short: "asnrvmpio",
        long: &[
            "all",
            "kernel-name",
            "nodename",
            "kernel-release",
            "kernel-version",
            "machine",
            "processor",
            "hardware-platform",
            "operating-system",
            "help",
            "version",
        ],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    // An operand is the new name.
    Command {
        names: &["hostname"],
        short: "sI",
        long: &["short", "all-ip-addresses", "version", "help"],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    // An operand without a plus sign is the new time; so is the value of `-s`.
    Command {
        names: &["date"],
        short: "d:f:I::r:Ru",
        long: &[
            "date=",
            "debug",
            "file=",
            "iso-8601[=]",
            "reference=",
            "rfc-email",
            "rfc-3339=",
            "utc",
            "universal",
            "resolution",
            "help",
            "version",
        ],
        operands: Operands::AtMost(1),
        also: Some(date_prints),
        ..PLAIN
    },
    Command {
        names: &["uptime"],
        short: "psV",
        long: &["pretty", "since", "help", "version"],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["locale"],
        short: "acmkv",
        long: &[
            "all-locales",
            "charmaps",
            "category-name",
            "keyword-name",
            "verbose",
            "help",
            "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["free"],
        short: "bkmghltwv",
        long: &[
            "bytes", "kilo", "mega", "giga", "tera", "human", "si", "lohi", "line", "total",
            "wide", "help", "version",
        ],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["vmstat"],
        short: "afmnsdDp:S:tw",
        ..PLAIN
    },
    // Its own and two older ways to write options; none of them changes anything.
    Command {
        names: &["ps"],
        short: "AaCcdeEFfGgHhIjJKkLlMmNnOoPpqrSsTtUuVvwXxyZz:",
        long: &[
            "cols=",
            "columns=",
            "cumulative",
            "deselect",
            "forest",
            "format=",
            "group=",
            "Group=",
            "headers",
            "help",
            "no-headers",
            "no-heading",
            "pid=",
            "ppid=",
            "quick-pid=",
            "rows=",
            "sid=",
            "sort=",
            "tty=",
            "user=",
            "User=",
            "version",
            "width=",
            "info",
        ],
        unknown: Unknown::Anywhere,
        ..PLAIN
    },
    Command {
        names: &["pgrep"],
        short: "acd:fg:G:ilnoO:P:s:t:u:U:vxwr:",
        long: &[
            "list-name",
            "list-full",
            "full",
            "newest",
            "oldest",
            "parent=",
            "uid=",
            "euid=",
            "exact",
            "ignore-case",
            "count",
            "delimiter=",
            "pgroup=",
            "group=",
            "session=",
            "terminal=",
            "inverse",
            "help",
            "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["pidof"],
        short: "csxo:qS:",
        ..PLAIN
    },
    Command {
        names: &["pstree"],
        short: "aAcCglnNpsStTuUV",
        ..PLAIN
    },
    // Anything but these asks name servers.
    Command {
        names: &["lsof"],
        short: "vh",
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["lscpu"],
        short: "abBcCe::Jp::sxy",
        long: &[
            "all",
            "online",
            "offline",
            "bytes",
            "caches[=]",
            "extended[=]",
            "json",
            "parse[=]",
            "hex",
            "physical",
            "output-all",
            "help",
            "version",
        ],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["lsblk"],
        short: "aAbdDe:fI:iJlLmMnNo:OpPrsStTvVx:z",
        long: &[
            "all",
            "bytes",
            "nodeps",
            "fs",
            "json",
            "list",
            "noheadings",
            "output=",
            "output-all",
            "paths",
            "pairs",
            "raw",
            "inverse",
            "tree[=]",
            "help",
            "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["lsmod", "lsb_release", "sw_vers"],
        short: "aidrcsv",
        long: &[
            "all",
            "id",
            "description",
            "release",
            "codename",
            "short",
            "productVersion",
        ],
        operands: Operands::AtMost(0),
        ..PLAIN
    },
    Command {
        names: &["findmnt"],
        short: "abcDefghilJmno:OprRsS:t:T:uvxy",
        long: &[
            "json",
            "list",
            "noheadings",
            "output=",
            "raw",
            "real",
            "target=",
            "types=",
            "help",
            "version",
        ],
        ..PLAIN
    },
    Command {
        names: &["getconf"],
        short: "a",
        ..PLAIN
    },
    Command {
        names: &["printenv"],
        short: "0",
        long: &["null", "help", "version"],
        unknown: Unknown::Anywhere,
        ..PLAIN
    },
    Command {
        names: &["sleep"],
        long: &["help", "version"],
        unknown: Unknown::Anywhere,
        ..PLAIN
    },
    Command {
        names: &["cal", "ncal"],
        short: "13A:B:jmnSwsy",
        ..PLAIN
    },
];

fn date_prints(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    match arguments
        .operands
        .iter()
        .find(|word| !word.prefix.starts_with('+'))
    {
        Some(word) => Err(Refusal::unknown(
            word.span.clone(),
            "`date` with an operand that is no format sets the clock",
        )),
        None => Ok(()),
    }
}
