//! Names that agents give to working directories.

use std::path::Path;

use crate::text::sha256;

/// The hash that Gemini CLI and Qwen Code use for a directory: SHA-256 of its path, in hexadecimal.
pub fn project_hash(directory: &Path) -> String {
    sha256(directory.as_os_str().as_encoded_bytes())
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
