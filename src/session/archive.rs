//! Session files that their agent has compressed (Codex: `archived_sessions/*.jsonl.zst`).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use ruzstd::decoding::StreamingDecoder;

use super::open::SessionFile;
use crate::jsonl::read_at;

/// The extension of a compressed session file.
pub(super) const EXTENSION: &str = ".jsonl.zst";

/// The first bytes of every zstd file.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The largest session that is unpacked, in bytes. A small archive may hold a very large one.
const LARGEST: u64 = 16 * 1024 * 1024 * 1024;

/// Whether the file is compressed.
///
/// # Errors
/// Reading failed.
pub(super) fn is_archive(file: &SessionFile) -> io::Result<bool> {
    let mut magic = [0; MAGIC.len()];
    let filled = read_at(&file.file, &mut magic, 0)?;
    Ok(magic[..filled] == MAGIC)
}

/// Unpacks a compressed file into a temporary file without a name. Path and identity stay those of
/// the archive.
///
/// # Errors
/// Reading or writing failed, the archive is damaged, or its content is too large.
pub(super) fn unpacked(file: SessionFile) -> io::Result<SessionFile> {
    let mut target = tempfile::tempfile()?;
    let size = unpack(&file.file, &mut target)?;
    Ok(SessionFile {
        file: target,
        size,
        ..file
    })
}

fn unpack(mut packed: &File, target: &mut File) -> io::Result<u64> {
    packed.seek(SeekFrom::Start(0))?;
    let mut size = 0;
    let mut block = vec![0; 64 * 1024];
    // A file may consist of several frames.
    loop {
        let before = packed.stream_position()?;
        let mut decoder = match StreamingDecoder::new(packed) {
            Ok(decoder) => decoder,
            Err(error) if before == 0 => return Err(io::Error::other(error.to_string())),
            // The remaining bytes are not a frame.
            Err(_) => return Ok(size),
        };
        loop {
            let read = decoder.read(&mut block)?;
            if read == 0 {
                break;
            }
            size += read as u64;
            if size > LARGEST {
                return Err(io::Error::other("holds more than 16 GiB"));
            }
            target.write_all(&block[..read])?;
        }
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use crate::jsonl::Mapping;
    use crate::session::{Agent, Session, discover};

    const SESSION: &str = r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"t1","cwd":"/x"}}
{"timestamp":"2026-01-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}
"#;

    #[test]
    fn a_compressed_session_is_read_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-t1.jsonl.zst");
        let mut packed = compress_to_vec(SESSION.as_bytes(), CompressionLevel::Fastest);
        std::fs::write(&path, &packed).unwrap();
        let found = discover(&[crate::session::Root {
            agent: None,
            path: folder.path().to_owned(),
        }]);
        assert_eq!(found.len(), 1);
        let session = Session::open(&path).unwrap();
        assert_eq!(session.agent(), Agent::Codex);
        assert_eq!(session.file.size, SESSION.len() as u64);
        let facts = session.summary(Mapping::Allowed).unwrap();
        assert_eq!(facts.first_prompt.as_deref(), Some("hello"));
        // Two frames make one file.
        packed.extend(compress_to_vec(
            SESSION.as_bytes(),
            CompressionLevel::Fastest,
        ));
        std::fs::write(&path, &packed).unwrap();
        let twice = Session::open(&path).unwrap();
        assert_eq!(twice.file.size, 2 * SESSION.len() as u64);
        // Damaged.
        packed.truncate(30);
        std::fs::write(&path, &packed).unwrap();
        assert!(Session::open(&path).is_err());
    }
}
