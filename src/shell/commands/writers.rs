//! Commands that are known to change something. Nothing depends on this table but the wording: a
//! command that is in no table at all is not read-only either.

/// What a command does, after its name; nothing if it is not known.
pub(super) fn what_it_changes(name: &str) -> Option<&'static str> {
    WRITERS
        .iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, what)| *what)
}

const WRITERS: &[(&[&str], &str)] = &[
    (
        &[
            "chattr",
            "chcon",
            "chgrp",
            "chmod",
            "chown",
            "cp",
            "csplit",
            "dd",
            "fallocate",
            "install",
            "link",
            "ln",
            "mkdir",
            "mkfifo",
            "mknod",
            "mktemp",
            "mv",
            "patch",
            "rename",
            "rm",
            "rmdir",
            "rsync",
            "scp",
            "setfacl",
            "setfattr",
            "shred",
            "split",
            "sponge",
            "tee",
            "touch",
            "truncate",
            "unlink",
            "zip",
        ],
        "changes files",
    ),
    (
        &["kill", "killall", "pkill", "renice", "skill", "snice"],
        "changes processes",
    ),
    (
        &[
            "halt",
            "mount",
            "poweroff",
            "reboot",
            "shutdown",
            "swapoff",
            "swapon",
            "sync",
            "sysctl",
            "systemctl",
            "umount",
            "useradd",
            "userdel",
            "usermod",
            "passwd",
            "crontab",
        ],
        "changes the system",
    ),
    (
        &[
            "apt", "apt-get", "brew", "dnf", "dpkg", "pacman", "snap", "yum",
        ],
        "installs software",
    ),
];
