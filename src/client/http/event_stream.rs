//! Server-sent events and lines of JSON from chunks of a stream. Pure.

use crate::jsonl::{LineEnding, LineSplitter, LineTooLong};

/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Decoder of a stream of server-sent events or JSON lines. Returns the data of each event, with line feeds
/// between its lines, or each line that is not blank, unparsed. Invalid UTF-8 becomes U+FFFD.
#[derive(Debug)]
pub struct Frames {
    lines: LineSplitter,
    /// The event that is being read; `None` for lines of JSON.
    event: Option<EventData>,
}

impl Frames {
    /// Returns a decoder of server-sent events.
    pub fn for_events() -> Self {
        Self {
            event: Some(EventData::default()),
            ..Self::for_json_lines()
        }
    }

    /// Returns a decoder of lines of JSON.
    pub fn for_json_lines() -> Self {
        Self {
            lines: LineSplitter::new(MAX_LINE_BYTES, LineEnding::Any),
            event: None,
        }
    }

    /// Returns the events or lines that a chunk completes.
    ///
    /// # Errors
    /// A line is too long.
    pub fn push(&mut self, mut chunk: &[u8]) -> Result<Vec<String>, LineTooLong> {
        let mut frames = Vec::new();
        while !chunk.is_empty() {
            let (length, is_complete) = self.lines.push(chunk);
            let line = self.lines.line()?;
            if is_complete {
                frames.extend(match &mut self.event {
                    Some(event) => event.push(line),
                    None => trim_line(line),
                });
            }
            chunk = &chunk[length..];
        }
        Ok(frames)
    }

    /// Returns the event without its final blank line, or the unfinished last line, at the end of the stream.
    /// It may be truncated.
    pub fn finish(mut self) -> Option<String> {
        let has_line = self.lines.finish();
        let line = self.lines.line().ok().filter(|_| has_line);
        let Some(mut event) = self.event else {
            return trim_line(line?);
        };
        line.map(|line| event.push(line));
        event.finish()
    }
}

/// The data of an event that is being read.
#[derive(Debug, Default)]
struct EventData {
    data: Option<Vec<u8>>,
    is_after_first_line: bool,
}

impl EventData {
    /// Reads a line. Returns the data of the event that it completes.
    fn push(&mut self, line: &[u8]) -> Option<String> {
        let line = if std::mem::replace(&mut self.is_after_first_line, true) {
            line
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            return self.finish();
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        // The other fields are comments, event types, reconnection delays, or unknown.
        if name == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }

    fn finish(&mut self) -> Option<String> {
        let data = self.data.take()?;
        Some(String::from_utf8_lossy(&data).into_owned())
    }
}

fn trim_line(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut stream = Frames::for_events();
        let mut events = Vec::new();
        for piece in chunks {
            events.extend(stream.push(piece).unwrap());
        }
        events.extend(stream.finish());
        events
    }

    #[test]
    fn events_are_decoded_wherever_chunks_are_split() {
        let text = "\u{feff}: hello\r\nevent: a\r\ndata: 1\r\ndata:2\r\ndata\r\n\r\n\
                    : ping\n\nevent: lost\n\nid: 7\nretry: 1\ndata:  ä€😀\n\ndata: [DONE]"
            .as_bytes();
        let expected = ["1\n2\n", " ä€😀", "[DONE]"];
        assert_eq!(decode([text]), expected);
        for split in 0..=text.len() {
            assert_eq!(
                decode([&text[..split], &text[split..]]),
                expected,
                "{split}"
            );
        }
        assert_eq!(decode(text.chunks(1)), expected);
    }

    fn json_lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = Frames::for_json_lines();
        let mut lines = Vec::new();
        for chunk in chunks {
            lines.extend(decoder.push(chunk).unwrap());
        }
        lines.extend(decoder.finish());
        lines
    }

    #[test]
    fn json_lines_are_whole_wherever_chunks_are_split() {
        let text = "{\"a\":\"ä😀\"}\r\n\n  {\"b\":1}\n{\"c\":".as_bytes();
        let expected = ["{\"a\":\"ä😀\"}", "{\"b\":1}", "{\"c\":"];
        for split in 0..=text.len() {
            let chunks = [&text[..split], &text[split..]];
            assert_eq!(json_lines(chunks), expected, "{split}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let mut decoder = Frames::for_json_lines();
        let chunk = vec![b'x'; 1 << 20];
        let error = (0..20).find_map(|_| decoder.push(&chunk).err());
        let limit = MAX_LINE_BYTES;
        assert_eq!(error, Some(LineTooLong { limit }));
    }

    #[test]
    fn invalid_bytes_do_not_end_the_stream() {
        let decoded = decode([&b"data: a\xFFb\n\ndata: c\n\n"[..]]);
        assert_eq!(decoded, ["a\u{fffd}b", "c"]);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "data", ":", " ", "\r", "\n", "\r\n", "event", "{\"a\":1}", "ä", "\u{feff}", "\n\n",
                ]),
                0..40,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let text = parts.concat().into_bytes();
            let mut positions: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            positions.extend([0, text.len()]);
            positions.sort_unstable();
            let chunks = positions.windows(2).map(|pair| &text[pair[0]..pair[1]]);
            prop_assert_eq!(decode(chunks), decode([text.as_slice()]));
        }

        #[test]
        fn any_bytes_are_read(text in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode(text.chunks(1)), decode([text.as_slice()]));
            prop_assert_eq!(json_lines(text.chunks(1)), json_lines([text.as_slice()]));
        }

        #[test]
        fn sent_data_arrives(data in prop::collection::vec("[^\r\n]{0,12}", 1..6)) {
            let sent = format!("data: {}\n\n", data.join("\n\ndata: "));
            let got = decode([sent.as_bytes()]);
            prop_assert_eq!(got, data);
        }
    }
}
