//! Copies one file atomically: after a kill, the copy is complete or absent.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::Mode;
use ruzstd::encoding::{CompressionLevel, FrameCompressor};

use crate::files::compressed::unpack;
use crate::files::open::{SessionError, SessionFile, open_safely};
use crate::files::origin::ArchiveOrigin;
use turnpipe_core::io::{UNFINISHED, replace_below, retry_interrupted};
use turnpipe_formats::agent::ReadExtent;

/// A file that cannot be archived or removed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    cause: String,
    /// Whether writing failed.
    pub is_write_error: bool,
}

impl Problem {
    pub(super) fn new(path: &Path, cause: impl Display) -> Self {
        Self {
            path: path.to_owned(),
            cause: cause.to_string(),
            is_write_error: false,
        }
    }

    pub(super) fn for_output(path: &Path, cause: impl Display) -> Self {
        Self {
            is_write_error: true,
            ..Self::new(path, cause)
        }
    }
}

/// A file to write. The source is opened for each pass over it.
pub(super) struct Copy<'a> {
    pub(super) open: &'a dyn Fn() -> Result<Box<dyn Read>, Problem>,
    /// The directory of the archive. No link below it is followed.
    pub(super) root: &'a Path,
    pub(super) target: &'a Path,
    /// Written after the compressed content. `None` if the content is not compressed.
    pub(super) origin: Option<&'a ArchiveOrigin>,
    pub(super) modified: SystemTime,
}

impl Copy<'_> {
    /// Writes the file under another name, compares it with its source, and renames it. Returns its size in bytes.
    pub(super) fn write(&self) -> Result<u64, Problem> {
        let to_problem = |error: io::Error| Problem::for_output(self.target, error);
        let relative = self.target.strip_prefix(self.root).unwrap_or(self.target);
        let mut size = 0;
        let fill = |file: &File| {
            let mut source = (self.open)()?;
            match self.origin {
                Some(origin) => {
                    compress(&mut source, file).map_err(to_problem)?;
                    (&*file).write_all(&origin.to_frame()).map_err(to_problem)?;
                }
                None => drop(io::copy(&mut source, &mut &*file).map_err(to_problem)?),
            }
            let copy = file.try_clone().map_err(to_problem)?;
            let copy = SessionFile::new(self.target, copy).map_err(to_problem)?;
            size = copy.size;
            if compare_opened(copy, self.origin.is_some(), &mut (self.open)()?)? != Comparison::Same
            {
                return Err(Problem::new(
                    self.target,
                    "the session changed while it was read",
                ));
            }
            file.set_modified(self.modified).map_err(to_problem)?;
            file.sync_all().map_err(to_problem)
        };
        let dir = replace_below(self.root, relative, Mode::RWXU, fill, to_problem)?;
        dir.sync_all().map_err(to_problem)?;
        Ok(size)
    }
}

/// Stores the first error of one side of the compressor, which would otherwise panic.
struct Guarded<'a, Inner> {
    inner: Inner,
    error: &'a RefCell<Option<io::Error>>,
}

impl<Inner: Read> Read for Guarded<'_, Inner> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.error.borrow().is_some() {
            return Ok(0);
        }
        let read = retry_interrupted(|| self.inner.read(buffer));
        Ok(read.unwrap_or_else(|error| {
            *self.error.borrow_mut() = Some(error);
            0
        }))
    }
}

impl<Inner: Write> Write for Guarded<'_, Inner> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.borrow().is_none()
            && let Err(error) = self.inner.write_all(bytes)
        {
            *self.error.borrow_mut() = Some(error);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn compress(source: &mut dyn Read, target: &File) -> io::Result<()> {
    let error = RefCell::new(None);
    let mut compressor = FrameCompressor::new(CompressionLevel::Fastest);
    compressor.set_source(Guarded {
        inner: source,
        error: &error,
    });
    compressor.set_drain(Guarded {
        inner: target,
        error: &error,
    });
    compressor.compress();
    drop(compressor);
    error.into_inner().map_or(Ok(()), Err)
}

/// The relation of the content of an archived file to a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Same,
    /// The source starts with the archived content, and is longer.
    Longer,
    /// The archived content starts with the source, and is longer.
    Shorter,
    Different,
}

/// A writer that compares its input with a source.
struct Comparer<'a> {
    source: &'a mut dyn Read,
    result: Comparison,
}

impl Write for Comparer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.result == Comparison::Same {
            let mut expected = Vec::with_capacity(bytes.len());
            (&mut *self.source)
                .take(bytes.len() as u64)
                .read_to_end(&mut expected)?;
            if !bytes.starts_with(&expected) {
                self.result = Comparison::Different;
            } else if expected.len() < bytes.len() {
                self.result = Comparison::Shorter;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compares an archived file with a source. If it `is_packed`, its unpacked content is compared; a file that was
/// compressed before is copied as it is.
pub(super) fn compare(
    archived: &Path,
    is_packed: bool,
    source: &mut dyn Read,
) -> Result<Comparison, Problem> {
    compare_opened(open(archived)?, is_packed, source)
}

fn compare_opened(
    mut file: SessionFile,
    is_packed: bool,
    source: &mut dyn Read,
) -> Result<Comparison, Problem> {
    let path = file.path.clone();
    let to_problem = |error: io::Error| Problem::new(&path, error);
    let mut comparer = Comparer {
        source,
        result: Comparison::Same,
    };
    if is_packed {
        unpack(&file.file, &mut comparer, ReadExtent::Whole).map_err(to_problem)?;
    } else {
        file.file.rewind().map_err(to_problem)?;
        io::copy(&mut file.file, &mut comparer).map_err(to_problem)?;
    }
    let mut result = comparer.result;
    if result == Comparison::Same && source.read(&mut [0]).map_err(to_problem)? > 0 {
        result = Comparison::Longer;
    }
    Ok(result)
}

/// Opens a regular file, not through a link.
pub(super) fn open(path: &Path) -> Result<SessionFile, Problem> {
    open_safely(path).map_err(|error: SessionError| Problem::new(path, error))
}

/// Removes the files that killed runs left below a directory.
pub(super) fn remove_unfinished(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => remove_unfinished(&entry.path()),
            Ok(kind)
                if kind.is_file()
                    && name.starts_with(UNFINISHED.0.as_bytes())
                    && name.ends_with(UNFINISHED.1.as_bytes()) =>
            {
                // A later run tries again.
                let _ = fs::remove_file(entry.path());
            }
            _ => {}
        }
    }
}

/// Returns the directory of a file. The root directory is its own parent.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
