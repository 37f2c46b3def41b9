//! Opens and replaces files at paths that may already be a FIFO, a device or a link.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// Start and end of the names of files that are being written.
pub const UNFINISHED: (&str, &str) = (".turnpipe-", ".unfinished");

/// Opens a regular file, with further flags of `open(2)`. Does not wait for the other end of a FIFO.
///
/// # Errors
/// The file is not a regular file, or the system reported an error.
pub fn open_regular(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    match options.custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        // A FIFO without a reader.
        Err(error) if Errno::from_io_error(&error) != Some(Errno::NXIO) => Err(error),
        Ok(_) | Err(_) => Err(io::Error::other("is not a regular file")),
    }
}

/// Reads a regular file, through links.
///
/// # Errors
/// See [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<String> {
    let file = open_regular(path, OpenOptions::new().read(true), OFlags::empty())?;
    io::read_to_string(file)
}

/// Creates or replaces the file at `path`, which is relative to `root`. The file gets its name only after `write`
/// succeeded. Creates missing directories with `permissions`, and follows no link below `root`. Returns the
/// directory of the file.
///
/// # Errors
/// The error of `write`; or a directory of the path is a link, or the system reported an error.
pub fn replace_below<Failure>(
    root: &Path,
    path: &Path,
    permissions: Mode,
    write: impl FnOnce(&File) -> Result<(), Failure>,
    to_failure: impl Fn(io::Error) -> Failure,
) -> Result<File, Failure> {
    let created = open_parent(root, path, permissions).and_then(|dir| {
        let (start, end) = UNFINISHED;
        let random = RandomState::new().build_hasher().finish();
        let unfinished = format!("{start}{random:016x}{end}");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = permissions & Mode::from_raw_mode(0o666);
        let file = openat(&dir, &unfinished, flags, mode)?;
        Ok((dir, unfinished, File::from(file)))
    });
    let (dir, unfinished, file) = created.map_err(&to_failure)?;
    let renamed = write(&file).and_then(|()| {
        let name = path.file_name().unwrap_or_default();
        renameat(&dir, &unfinished, &dir, name).map_err(|error| to_failure(error.into()))
    });
    if renamed.is_err() {
        // The first error is more important.
        let _ = unlinkat(&dir, &unfinished, AtFlags::empty());
    }
    renamed.map(|()| dir)
}

fn open_parent(root: &Path, path: &Path, permissions: Mode) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut dir = File::open(root)?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = part else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if let Err(error) = mkdirat(&dir, name, permissions)
            && error != Errno::EXIST
        {
            return Err(error.into());
        }
        dir = match openat(&dir, name, flags, Mode::empty()) {
            Ok(inner) => inner.into(),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let problem = format!("{} is a link or a file", name.display());
                return Err(io::Error::other(problem));
            }
            Err(error) => return Err(error.into()),
        };
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "abc").unwrap();
        symlink(at("file"), at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), 0o600.into()).unwrap();
        for (name, expected) in [("file", true), ("link", true), ("pipe", false), ("", false)] {
            assert_eq!(read_regular(&at(name)).is_ok(), expected, "{name}");
        }
        for (name, expected) in [
            ("file", true),
            ("link", false),
            ("pipe", false),
            ("", false),
        ] {
            let opened = open_regular(&at(name), OpenOptions::new().append(true), OFlags::NOFOLLOW);
            assert_eq!(opened.is_ok(), expected, "{name}");
        }
        assert!(read_regular(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn a_file_is_replaced_whole_and_through_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        fs::create_dir_all(root.join("a")).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, root.join("a/link")).unwrap();
        symlink(outside.join("file"), root.join("a/file")).unwrap();
        fs::write(root.join("plain"), "").unwrap();
        let write = |path: &str, failure: Option<io::Error>| {
            let fill = |mut file: &File| {
                file.write_all(b"new")?;
                failure.map_or(Ok(()), Err)
            };
            replace_below(&root, Path::new(path), Mode::RWXU, fill, |error| error).map(drop)
        };
        for path in ["a/file", "top", "b/c/new"] {
            write(path, None).unwrap();
            assert_eq!(fs::read(root.join(path)).unwrap(), b"new", "{path}");
            assert!(!root.join(path).is_symlink(), "{path}");
        }
        write("top", Some(io::ErrorKind::Other.into())).unwrap_err();
        for path in [
            "a/link/x",
            "a/link/b/x",
            "plain/x",
            "../x",
            "a/../../x",
            "/x",
        ] {
            write(path, None).unwrap_err();
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 4);
    }
}
