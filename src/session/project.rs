//! Names that agents give to working directories.

use std::path::Path;

use sha2::{Digest, Sha256};

/// The hash that Gemini CLI and Qwen Code use for a directory: SHA-256 of its path, in hexadecimal.
pub fn project_hash(directory: &Path) -> String {
    let path = directory.as_os_str().as_encoded_bytes();
    format!("{:x}", Sha256::digest(path))
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
