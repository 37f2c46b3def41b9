//! Argument and environment lists as `execve` wants them.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;

/// A list of NUL-terminated strings in one allocation.
#[derive(Debug, Default)]
pub(super) struct ExecStrings {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl ExecStrings {
    pub(super) fn with_capacity(strings: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            starts: Vec::with_capacity(strings),
        }
    }

    /// Adds one string, joined from `parts`.
    ///
    /// # Errors
    /// A part contains a NUL byte.
    pub(super) fn push(&mut self, parts: &[&OsStr]) -> io::Result<()> {
        self.starts.push(self.bytes.len());
        for part in parts {
            if memchr::memchr(0, part.as_bytes()).is_some() {
                return Err(contains_nul());
            }
            self.bytes.extend_from_slice(part.as_bytes());
        }
        self.bytes.push(0);
        Ok(())
    }

    /// Takes the strings for variables, and gives this one its value.
    pub(super) fn set(&mut self, name: &CStr, value: &CStr) {
        let name = name.to_bytes();
        self.starts.retain(|start| {
            let rest = self.bytes[*start..].strip_prefix(name);
            rest.is_none_or(|rest| rest.first() != Some(&b'='))
        });
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(name);
        self.bytes.push(b'=');
        self.bytes.extend_from_slice(value.to_bytes_with_nul());
    }

    /// The strings, one by one.
    #[cfg(any(not(target_os = "linux"), test))]
    pub(super) fn texts(&self) -> impl Iterator<Item = &CStr> {
        self.starts
            .iter()
            .filter_map(|start| CStr::from_bytes_until_nul(&self.bytes[*start..]).ok())
    }

    /// The pointers, closed by a null pointer. They are valid as long as `self` is not changed.
    pub(super) fn pointers(&self) -> Vec<*mut c_char> {
        let first = self.bytes.as_ptr().cast_mut().cast::<c_char>();
        let strings = self.starts.iter().map(|start| first.wrapping_add(*start));
        strings.chain([std::ptr::null_mut()]).collect()
    }
}

/// A single string for the kernel.
///
/// # Errors
/// It contains a NUL byte.
pub(super) fn exec_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| contains_nul())
}

fn contains_nul() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "contains a NUL byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_laid_out_one_after_the_other() {
        let mut strings = ExecStrings::with_capacity(2, 4);
        strings
            .push(&[OsStr::new("A"), OsStr::new("="), OsStr::new("b")])
            .unwrap();
        strings.push(&[OsStr::new("")]).unwrap();
        strings.push(&[OsStr::new("last")]).unwrap();
        let pointers = strings.pointers();
        assert_eq!(pointers.len(), 4);
        assert!(pointers[3].is_null());
        let texts: Vec<&[u8]> = pointers[..3]
            .iter()
            // SAFETY: the pointers lead into `strings`, which lives on, to NUL-terminated strings.
            .map(|pointer| unsafe { CStr::from_ptr(*pointer) }.to_bytes())
            .collect();
        assert_eq!(texts, [b"A=b".as_slice(), b"", b"last"]);
    }

    #[test]
    fn a_variable_is_replaced_or_added() {
        let mut strings = ExecStrings::default();
        for text in ["TMPDIR=/a", "TMPDIR2=/b", "A=TMPDIR=/c"] {
            strings.push(&[OsStr::new(text)]).unwrap();
        }
        strings.set(c"TMPDIR", c"/private");
        strings.set(c"NEW", c"");
        let texts: Vec<&CStr> = strings.texts().collect();
        assert_eq!(
            texts,
            [c"TMPDIR2=/b", c"A=TMPDIR=/c", c"TMPDIR=/private", c"NEW="]
        );
    }

    #[test]
    fn a_nul_byte_is_refused() {
        let mut strings = ExecStrings::default();
        assert!(strings.push(&[OsStr::new("a\0b")]).is_err());
        assert!(exec_string(OsStr::new("a\0b")).is_err());
    }
}
