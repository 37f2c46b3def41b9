//! Session files that are read as unnamed files of lines: compressed ones (`*.zst`), by their agent or in
//! an archive, and those that are one JSON value: an array of records, such as `claude-execution-output.json`, or a
//! trajectory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use ruzstd::decoding::StreamingDecoder;

use crate::files::open::{BYTE_ORDER_MARK, Positioned, SessionFile};
use crate::files::scratch_file::ScratchFile;
use turnpipe_core::jsonl::fill_at;
use turnpipe_formats::agent::{COMPRESSED, ReadExtent, TrajectoryLines};

/// The first bytes of every zstd file.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum size of an unpacked session, in bytes. A small file may contain a very large one.
pub(crate) const MAX_UNPACKED: u64 = 1024 * 1024 * 1024;

/// Maximum size to unpack for a list, in bytes.
const MAX_LISTED: u64 = 64 * 1024 * 1024;

/// Maximum size of the window, in bytes. Every decoder should support it (RFC 8878, 3.1.1.1.2).
const MAX_WINDOW: u64 = 8 * 1024 * 1024;

/// Maximum length of a frame header up to its content size, in bytes.
const MAX_HEADER: usize = 18;

/// Returns the name that a compressed file has when it is unpacked. `None` if it is not compressed.
pub(crate) fn strip_compression(name: &str) -> Option<&str> {
    name.strip_suffix(COMPRESSED)?.strip_suffix('.')
}

/// Whether the file is compressed.
///
/// # Errors
/// Reading failed.
pub(crate) fn is_compressed(file: &SessionFile) -> io::Result<bool> {
    let mut magic = [0; MAGIC.len()];
    let filled = fill_at(&file.file, &mut magic, 0)?;
    Ok(magic[..filled] == MAGIC)
}

/// Unpacks a compressed file into a file without a name. Keeps the path and identity of the
/// compressed file.
///
/// # Errors
/// Reading or writing failed, the file is damaged, its content is too large, or unpacking takes
/// too much memory.
pub(crate) fn unpack_file(file: SessionFile, wanted: ReadExtent) -> io::Result<SessionFile> {
    let mut target = ScratchFile::new()?;
    unpack(&file.file, &mut target, wanted)?;
    Ok(file.with_content(target))
}

/// Writes the content of a compressed file into `target`. Returns its size in bytes.
///
/// # Errors
/// See [`unpack_file`].
pub(crate) fn unpack(
    mut packed: &File,
    target: &mut dyn Write,
    wanted: ReadExtent,
) -> io::Result<u64> {
    packed.seek(SeekFrom::Start(0))?;
    let mut size = 0;
    let mut block = vec![0; 64 * 1024];
    // A file may consist of several frames.
    loop {
        let before = packed.stream_position()?;
        let mut header = [0; MAX_HEADER];
        let filled = fill_at(packed, &mut header, before)?;
        if read_window_size(&header[..filled]).is_some_and(|window| window > MAX_WINDOW) {
            return Err(io::Error::other(
                "needs more than 8 MiB of memory to unpack; unpack it with `zstd -d --long=31`",
            ));
        }
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
            target.write_all(&block[..read])?;
            size += read as u64;
            match wanted {
                ReadExtent::Ends if size >= MAX_LISTED => return Ok(size),
                ReadExtent::Whole | ReadExtent::Settled if size > MAX_UNPACKED => {
                    return Err(io::Error::other(
                        "contains more than 1 GiB; unpack it with `zstd -d`",
                    ));
                }
                ReadExtent::Ends | ReadExtent::Whole | ReadExtent::Settled => {}
            }
        }
    }
}

/// Returns the memory that a frame requires, in bytes, from its header (RFC 8878, 3.1.1.1). `None` if it
/// is not a frame.
fn read_window_size(header: &[u8]) -> Option<u64> {
    let (descriptor, rest) = header.strip_prefix(&MAGIC)?.split_first()?;
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let window = rest.first()?;
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // The content is its own window. Its size follows the id of a dictionary.
    let id = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length = 1 << (descriptor >> 6);
    let mut size = [0; 8];
    size[..length].copy_from_slice(rest.get(id..id + length)?);
    Some(u64::from_le_bytes(size))
}

/// Number of bytes to read at once.
const READ_SIZE: usize = 128 * 1024;

/// Writes the elements into a file without a name, each on a line. Every byte keeps its offset.
///
/// # Errors
/// Reading or writing failed.
pub(crate) fn split_elements(file: SessionFile) -> io::Result<SessionFile> {
    let mut target = ScratchFile::new()?;
    let mut source = Positioned { file: &file, at: 0 };
    let mut block = vec![0; READ_SIZE];
    let mut position = Position::default();
    loop {
        let read = source.read(&mut block)?;
        if read == 0 {
            break;
        }
        for byte in &mut block[..read] {
            *byte = position.advance(*byte);
        }
        target.write_all(&block[..read])?;
    }
    Ok(file.with_content(target))
}

/// Writes the members and steps of a trajectory into a file without a name, each on a line. Returns
/// `None` if the file is not a trajectory.
///
/// # Errors
/// Reading or writing failed.
pub(crate) fn split_trajectory(file: &SessionFile) -> io::Result<Option<ScratchFile>> {
    let mut target = ScratchFile::new()?;
    let mut source = Positioned { file, at: 0 };
    let mut block = vec![0; READ_SIZE];
    let (mut lines, mut split) = (TrajectoryLines::default(), Vec::new());
    while !lines.has_ended {
        let read = source.read(&mut block)?;
        if read == 0 {
            break;
        }
        let is_first = source.at == read as u64;
        let mut text = &block[..read];
        if is_first {
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        split.clear();
        lines.split(text, &mut split);
        target.write_all(&split)?;
    }
    split.clear();
    lines.finish(&mut split);
    target.write_all(&split)?;
    Ok(lines.is_trajectory.then_some(target))
}

/// The position in a JSON text.
#[derive(Debug, Default)]
struct Position {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl Position {
    /// Moves past a byte. Returns the byte to write instead.
    fn advance(&mut self, byte: u8) -> u8 {
        if self.is_in_string {
            self.is_in_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return byte;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'[' | b'{' => {
                self.depth += 1;
                if self.depth == 1 {
                    return b' ';
                }
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return b' ';
                }
            }
            b',' if self.depth == 1 => return b'\n',
            b'\n' | b'\r' => return b' ',
            _ => {}
        }
        byte
    }
}

#[cfg(test)]
mod array_tests {
    use super::*;

    #[test]
    fn elements_become_lines_at_their_offsets() {
        let table = [
            (
                r#"[{"a":[1,2]},{"b":"],\"{"}]"#,
                " {\"a\":[1,2]}\n{\"b\":\"],\\\"{\"} ",
            ),
            (
                "[\n  {\n    \"a\": \"\\\\\"\n  },\n  {}\n]\n",
                "    {     \"a\": \"\\\\\"   }\n   {}   ",
            ),
            // Cut off in a string.
            ("[{},{\"a\":\"x,", " {}\n{\"a\":\"x,"),
        ];
        for (json, lines) in table {
            let mut position = Position::default();
            let bytes = json.bytes().map(|byte| position.advance(byte)).collect();
            assert_eq!(String::from_utf8(bytes).unwrap(), lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;
    use crate::{Session, discover};
    use turnpipe_core::jsonl::Mapping;
    use turnpipe_formats::agent::Agent;
    use turnpipe_formats::agent::NamedRoots;

    const SESSION: &str = r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"t1","cwd":"/x"}}
{"timestamp":"2026-01-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}
"#;

    #[test]
    fn archives_have_a_memory_limit() {
        // The window descriptor encodes 1 KiB << exponent.
        let table = [
            (vec![0x00, 13 << 3], Some(8 << 20)),
            (vec![0x00, 13 << 3 | 1], Some(9 << 20)),
            (vec![0x00, 31 << 3 | 7], Some((1 << 41) + (7 << 38))),
            // One segment, with a dictionary and a size of one, four and eight bytes.
            (vec![0x21, 9, 77], Some(77)),
            (vec![0xa0, 1, 0, 0, 1], Some((1 << 24) + 1)),
            (vec![0xe0, 0, 0, 0, 0, 1, 0, 0, 0], Some(1 << 32)),
            (vec![0xe0, 0], None),
        ];
        for (header, size) in table {
            let header = [&MAGIC[..], &header].concat();
            assert_eq!(read_window_size(&header), size, "{header:?}");
        }
        assert_eq!(read_window_size(b"{\"type\":1}"), None);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wide.jsonl.zst");
        // A frame that requires 2 GiB and contains one empty block.
        let frame = [&MAGIC[..], &[0x00, 21 << 3, 1, 0, 0]].concat();
        std::fs::write(&path, frame).unwrap();
        let refused = Session::open(&path).unwrap_err().to_string();
        assert!(refused.starts_with("needs more than 8 MiB"), "{refused}");
    }

    #[test]
    fn a_list_only_unpacks_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-t1.jsonl.zst");
        let blank = " ".repeat(1 << 20) + "\n";
        let long = SESSION.to_owned() + &blank.repeat(80);
        let packed = compress_to_vec(long.as_bytes(), CompressionLevel::Uncompressed);
        std::fs::write(&path, packed).unwrap();
        let listed = Session::open_for_list(&path, &NamedRoots::default()).unwrap();
        assert!(listed.file.size < MAX_LISTED + (1 << 20));
        let facts = listed.summary(Mapping::Allowed).unwrap();
        assert_eq!(facts.session_id.as_deref(), Some("t1"));
        assert_eq!(Session::open(&path).unwrap().file.size, long.len() as u64);
    }

    #[test]
    fn compressed_sessions_are_read_like_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout-t1.jsonl.zst");
        let mut packed = compress_to_vec(SESSION.as_bytes(), CompressionLevel::Fastest);
        std::fs::write(&path, &packed).unwrap();
        let found = discover(&[crate::Root {
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
