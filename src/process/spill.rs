//! The file that takes what does not fit into memory.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// An unlinked temporary file, written at its end and read at any place.
#[derive(Debug)]
pub(super) struct SpillFile {
    file: File,
    length: u64,
}

/// How an [`SpillFile::append`] went.
pub(super) enum Appended {
    /// All of it is in the file.
    All,
    /// The file takes no more (the disk is full, a limit is reached); this many bytes are in it.
    Only(usize),
}

impl SpillFile {
    /// Creates the file in `directory`. It has no name, so nothing is left of it when it is closed.
    pub(super) fn create_in(directory: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Self { file, length: 0 })
    }

    /// Takes an open file as it is.
    #[cfg(test)]
    pub(super) fn from_file(file: File) -> Self {
        Self { file, length: 0 }
    }

    /// Bytes written so far.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Appended {
        let mut done = 0;
        while done < bytes.len() {
            match self.file.write(&bytes[done..]) {
                Ok(0) => return Appended::Only(done),
                Ok(count) => {
                    done += count;
                    self.length += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Appended::Only(done),
            }
        }
        Appended::All
    }

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter than that.
    pub(super) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileExt;
            self.file.read_exact_at(buffer, offset)
        }
        #[cfg(not(unix))]
        {
            use std::io::{Read, Seek, SeekFrom};
            let mut file = &self.file;
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(buffer)
        }
    }
}
