//! The content of a session that was unpacked or converted.

use std::fs::File;
use std::io::{self, Seek, Write};

use turnpipe_core::io::create_temporary;

/// Maximum size in memory, in bytes.
const MAX_IN_MEMORY: u64 = 16 * 1024 * 1024;

/// A file without a name: in memory while it is small (Linux), otherwise a temporary file.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    pub(crate) file: File,
    /// The size in bytes.
    pub(crate) size: u64,
    is_in_memory: bool,
}

impl ScratchFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// No directory of temporary files can be written to.
    pub(crate) fn new() -> io::Result<Self> {
        let memory = create_memory_file();
        Ok(Self {
            is_in_memory: memory.is_ok(),
            file: memory.or_else(|_| create_temporary_file())?,
            size: 0,
        })
    }
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_in_memory && self.size + bytes.len() as u64 > MAX_IN_MEMORY {
            let mut file = create_temporary_file()?;
            self.file.rewind()?;
            io::copy(&mut self.file, &mut file)?;
            (self.file, self.is_in_memory) = (file, false);
        }
        let written = self.file.write(bytes)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn create_temporary_file() -> io::Result<File> {
    create_temporary(|directory| tempfile::tempfile_in(directory))
}

#[cfg(target_os = "linux")]
fn create_memory_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("turnpipe", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn create_memory_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpipe_core::jsonl::fill_at;

    #[test]
    fn a_large_file_moves_to_disk_with_its_content() {
        let mut scratch = ScratchFile::new().unwrap();
        let block: Vec<u8> = (0..=250).cycle().take(1 << 20).collect();
        let mut content = Vec::new();
        for count in 1..=18 {
            scratch.write_all(&block).unwrap();
            content.extend_from_slice(&block);
            let fits = cfg!(target_os = "linux") && count <= 16;
            assert_eq!(scratch.is_in_memory, fits, "{count}");
        }
        assert_eq!(scratch.size, 18 << 20);
        let mut read = vec![0; content.len() + 1];
        assert_eq!(fill_at(&scratch.file, &mut read, 0).unwrap(), content.len());
        assert!(read[..content.len()] == content);
    }
}
