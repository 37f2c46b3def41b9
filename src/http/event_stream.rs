//! Server-sent events from bytes that come in pieces. Pure: bytes in, events out.

use super::TooLong;
use super::lines::LineSplitter;

/// The decoder of one stream. Of an event only the data is used: its lines, separated by line feeds.
/// Invalid UTF-8 becomes U+FFFD.
#[derive(Debug, Default)]
pub struct EventStream {
    lines: LineSplitter,
    /// A byte order mark may still come.
    begun: bool,
    /// The data of the event that has begun, if it has any.
    data: Option<Vec<u8>>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl EventStream {
    /// The data of the events that a piece completes.
    ///
    /// # Errors
    /// A line is too long.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        let (begun, data) = (&mut self.begun, &mut self.data);
        self.lines.push(bytes, |line| {
            let line = if std::mem::replace(begun, true) {
                line
            } else {
                line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
            };
            if line.is_empty() {
                events.extend(finished(data));
            } else {
                read_field(line, data);
            }
        })?;
        Ok(events)
    }

    /// The data at the end of the stream, of an event without the blank line that completes it. It
    /// may be torn.
    pub fn rest(mut self) -> Option<String> {
        let line = self.lines.rest();
        let line = if self.begun {
            line.as_slice()
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line)
        };
        read_field(line, &mut self.data);
        finished(&mut self.data)
    }
}

fn read_field(line: &[u8], data: &mut Option<Vec<u8>>) {
    let (name, value) = match memchr::memchr(b':', line) {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => (line, &b""[..]),
    };
    // Others are comments, types, fields for reconnecting, or unknown.
    if name != b"data" {
        return;
    }
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match data {
        Some(data) => {
            data.push(b'\n');
            data.extend_from_slice(value);
        }
        None => *data = Some(value.to_vec()),
    }
}

fn finished(data: &mut Option<Vec<u8>>) -> Option<String> {
    let data = data.take()?;
    Some(String::from_utf8_lossy(&data).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut stream = EventStream::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(stream.push(piece).unwrap());
        }
        events.extend(stream.rest());
        events
    }

    #[test]
    fn events_are_read_by_the_rules_wherever_the_pieces_split() {
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

    #[test]
    fn invalid_bytes_do_not_end_the_stream() {
        let decoded = decode([&b"data: a\xFFb\n\ndata: c\n\n"[..]]);
        assert_eq!(decoded, ["a\u{fffd}b", "c"]);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "data", ":", " ", "\r", "\n", "\r\n", "event", "{\"a\":1}", "ä", "\u{feff}", "\n\n",
                ]),
                0..40,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let text = parts.concat().into_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            places.extend([0, text.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &text[pair[0]..pair[1]]);
            prop_assert_eq!(decode(pieces), decode([text.as_slice()]));
        }

        #[test]
        fn any_bytes_are_read(text in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode(text.chunks(1)), decode([text.as_slice()]));
        }

        #[test]
        fn what_is_sent_arrives(data in prop::collection::vec("[^\r\n]{0,12}", 1..6)) {
            let sent = format!("data: {}\n\n", data.join("\n\ndata: "));
            let got = decode([sent.as_bytes()]);
            prop_assert_eq!(got, data);
        }
    }
}
