//! Files that are one JSON array of records, such as `claude-execution-output.json`. They are read as
//! lines: each element becomes a line at the same offset, so the number of a line is that of its element.

use std::io::{self, BufWriter, Read, Write};

use super::open::{Positioned, SessionFile};

/// Number of bytes to read at once.
const READ_SIZE: usize = 128 * 1024;

/// Writes the elements into a temporary file without a name, each on a line. Every byte keeps its offset.
///
/// # Errors
/// Reading or writing failed.
pub(super) fn elements_as_lines(file: SessionFile) -> io::Result<SessionFile> {
    let mut target = BufWriter::with_capacity(READ_SIZE, tempfile::tempfile()?);
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
    Ok(SessionFile {
        file: target.into_inner()?,
        ..file
    })
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
mod tests {
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
