//! Names that agents give to working directories.

use std::fmt::Write;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The hash that Gemini CLI and Qwen Code use for a directory: SHA-256 of its path, in hexadecimal.
pub fn project_hash(directory: &Path) -> String {
    let digest = Sha256::digest(directory.as_os_str().as_encoded_bytes());
    digest.iter().fold(String::new(), |mut hash, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_a_hash() {
        assert_eq!(
            project_hash(Path::new("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
