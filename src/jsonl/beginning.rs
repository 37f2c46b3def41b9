//! The first bytes of a file, read once for all who look at them.

use std::fs::File;
use std::io;

use super::buffer::Buffer;
use super::fixed_file::read_at;

/// See the module.
#[derive(Debug)]
pub struct Beginning {
    buffer: Buffer,
    length: usize,
}

impl Beginning {
    /// Reads up to `size` bytes.
    ///
    /// # Errors
    /// Reading failed (interrupted reads are repeated).
    pub fn read(file: &File, size: usize) -> io::Result<Self> {
        let mut buffer = Buffer::take();
        let length = read_at(file, buffer.room(size), 0)?;
        Ok(Self { buffer, length })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.filled(self.length)
    }
}
