//! Commands known to change something. This affects only the message: a command without a table
//! entry is not read-only either.

const WRITERS: &[(&str, &str)] = &[
    (
        "chattr chcon chgrp chmod chown cp csplit dd fallocate install link ln mkdir mkfifo mknod \
         mktemp mv patch rename rm rmdir rsync scp setfacl setfattr shred split sponge tee touch \
         truncate unlink zip",
        "changes files",
    ),
    ("kill killall pkill renice skill snice", "changes processes"),
    (
        "crontab halt mount passwd poweroff reboot shutdown swapoff swapon sync sysctl systemctl \
         umount useradd userdel usermod",
        "changes the system",
    ),
    (
        "apt apt-get brew dnf dpkg pacman snap yum",
        "installs software",
    ),
];

/// Returns the effect of a command, as text that follows its name.
pub(super) fn what_it_changes(name: &str) -> Option<&'static str> {
    let (_, what) = WRITERS
        .iter()
        .find(|(names, _)| names.split(' ').any(|known| known == name))?;
    Some(what)
}
