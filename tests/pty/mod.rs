//! A pseudo-terminal.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Opens a terminal of 40 lines and this width. Returns its other end, then the terminal.
pub(crate) fn open_pty(columns: u16) -> (OwnedFd, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let controller = openpt(flags).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let mut options = File::options();
    let terminal = options.read(true).write(true).open(name.to_str().unwrap());
    let terminal = terminal.unwrap();
    let size = Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&terminal, size).unwrap();
    (controller, terminal)
}
