//! SHA-256 in hexadecimal.

use std::io;

use super::append;
use sha2::{Digest as _, Sha256};

/// A writer that hashes its input.
#[derive(Debug, Default)]
pub struct Sha256Writer(Sha256);

impl Sha256Writer {
    /// Returns the hash as 64 lower-case hexadecimal digits.
    pub fn finish(self) -> String {
        let bytes = self.0.finalize();
        bytes.iter().fold(String::new(), |mut digits, byte| {
            append!(digits, "{byte:02x}");
            digits
        })
    }
}

impl io::Write for Sha256Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the hash of bytes as 64 lower-case hexadecimal digits.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    Sha256Writer(Sha256::new_with_prefix(bytes)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_standard() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), expected);
    }
}
