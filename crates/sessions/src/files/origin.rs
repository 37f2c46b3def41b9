//! The origin of an archived file, in a skippable frame at its end (RFC 8878, 3.1.2).

use std::fs::File;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files::open::open_safely;
use crate::state::SessionScope;
use turnpipe_core::jsonl::fill_at;

/// The first bytes of a skippable frame.
const MAGIC: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// Length of the magic number and the size at the start of a frame, in bytes.
const HEADER: usize = 8;

/// Maximum size of an origin, in bytes.
const MAX_SIZE: u32 = 64 * 1024;

/// The file that an archived file is a copy of, as of the time of copying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveOrigin {
    /// The digest of its path.
    pub(crate) scope: String,
    /// Its path, for people.
    pub(crate) path: String,
    /// The number of bytes that were copied.
    pub(crate) size: u64,
    /// The modification time, in nanoseconds.
    pub(crate) modified: u64,
}

impl ArchiveOrigin {
    /// Describes a file.
    pub(crate) fn new(path: &Path, size: u64, modified: SystemTime) -> Self {
        let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            scope: SessionScope::from_path(path).digest().to_owned(),
            path: path.display().to_string(),
            size,
            modified: u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// Reads the origin of an archived file. `None` if it has none, or cannot be read.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let opened = open_safely(path).ok()?;
        Self::read_at_end(&opened.file, opened.size)
    }

    fn read_at_end(file: &File, size: u64) -> Option<Self> {
        // The payload ends with the length of the JSON in it.
        let mut length = [0; 4];
        fill_at(file, &mut length, size.checked_sub(4)?).ok()?;
        let length = Some(u32::from_le_bytes(length)).filter(|length| *length <= MAX_SIZE)?;
        let mut frame = vec![0; HEADER + length as usize];
        let start = size.checked_sub(frame.len() as u64 + 4)?;
        fill_at(file, &mut frame, start).ok()?;
        let (header, json) = frame.split_at(HEADER);
        (header == Self::encode_header(length)).then(|| serde_json::from_slice(json).ok())?
    }

    /// Returns the frame, which every decoder skips.
    pub(crate) fn to_frame(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).unwrap_or_default();
        let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
        [
            &Self::encode_header(length)[..],
            &json,
            &length.to_le_bytes(),
        ]
        .concat()
    }

    fn encode_header(length: u32) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        header[4..].copy_from_slice(&length.saturating_add(4).to_le_bytes());
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::compressed::unpack;
    use turnpipe_formats::agent::ReadExtent;

    #[test]
    fn decoders_skip_the_origin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl.zst");
        let origin = ArchiveOrigin::new(&path, 7, UNIX_EPOCH + std::time::Duration::from_nanos(9));
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let packed = ruzstd::encoding::compress_to_vec(&b"content"[..], level);
        std::fs::write(&path, [packed.clone(), origin.to_frame()].concat()).unwrap();
        assert_eq!(ArchiveOrigin::read(&path), Some(origin));
        let mut content = Vec::new();
        unpack(&File::open(&path).unwrap(), &mut content, ReadExtent::Whole).unwrap();
        assert_eq!(content, b"content");
        for other in [&b""[..], b"abc", b"content\0\0\0\0", &packed] {
            std::fs::write(&path, other).unwrap();
            assert_eq!(ArchiveOrigin::read(&path), None);
        }
    }
}
