//! Splits a trajectory into lines, without holding it in memory.

use memchr::memmem::find;

/// Maximum number of nested arrays and objects that are split.
const MAX_FRAMES: usize = 16;

/// Maximum length of a name or a version to remember, in bytes.
const MAX_WORD: usize = 32;

/// The beginning of all versions.
const VERSION: &[u8] = b"ATIF-v1.";

/// A part of a trajectory whose elements are separate lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Trajectory,
    Steps,
    Subagents,
}

impl Frame {
    /// Returns the text before its elements and after them.
    fn delimiters(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Trajectory => (b"{", b"}"),
            Self::Steps => (b"\"steps\":[", b"]"),
            Self::Subagents => (b"\"subagent_trajectories\":[", b"]"),
        }
    }
}

/// Whether the beginning of a file has the words of a trajectory. Few other files have them.
pub fn may_be_trajectory(beginning: &[u8]) -> bool {
    find(beginning, b"\"schema_version\"").is_some() && find(beginning, VERSION).is_some()
}

/// Turns a trajectory into lines. Each has one member or one step: `{"steps":[STEP]}`, or
/// `{"subagent_trajectories":[{"steps":[STEP]}]}` for a subagent. The last one is `{"end":{}}`.
#[derive(Debug, Default)]
pub struct TrajectoryLines {
    /// The number of open objects and arrays.
    depth: usize,
    /// The outermost ones, whose elements become lines.
    frames: Vec<Frame>,
    is_in_string: bool,
    is_escaped: bool,
    /// The beginning of the last string in the innermost frame.
    word: Vec<u8>,
    /// The string before it: the name of the member if `word` is a value.
    name: Vec<u8>,
    /// Whether the last byte ended an object or array.
    is_closed: bool,
    /// Whether the version was read.
    pub is_trajectory: bool,
    /// Whether the object has ended.
    pub has_ended: bool,
}

impl TrajectoryLines {
    /// Appends the lines of the next bytes to `lines`.
    pub fn split(&mut self, bytes: &[u8], lines: &mut Vec<u8>) {
        for byte in bytes {
            if self.has_ended {
                return;
            }
            self.push_byte(*byte, lines);
        }
    }

    /// Ends the line of a trajectory that is cut off after a complete element.
    pub fn finish(&mut self, lines: &mut Vec<u8>) {
        let is_whole = self.is_closed && self.depth == self.frames.len();
        if is_whole && !self.is_in_string && !self.has_ended {
            self.end_line(lines);
        }
    }

    fn push_byte(&mut self, byte: u8, lines: &mut Vec<u8>) {
        let is_direct = self.depth == self.frames.len();
        if self.is_in_string {
            self.is_in_string = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            if is_direct && self.is_in_string && self.word.len() < MAX_WORD {
                self.word.push(byte);
            }
            let is_version = self.word.starts_with(VERSION) && self.name == b"schema_version";
            self.is_trajectory |= is_version && self.depth == 1;
            lines.push(byte);
            return;
        }
        match byte {
            b'"' => {
                self.is_in_string = true;
                if is_direct {
                    std::mem::swap(&mut self.name, &mut self.word);
                    self.word.clear();
                }
            }
            b'{' | b'[' => {
                let frame = self.open_frame(byte).filter(|_| is_direct);
                self.frames.extend(frame);
                self.depth += 1;
            }
            b'}' | b']' => {
                if is_direct {
                    self.frames.pop();
                }
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    lines.extend_from_slice(b"}\n{\"end\":{}}\n");
                    self.has_ended = true;
                    return;
                }
            }
            _ if byte.is_ascii_whitespace() => return,
            b',' if is_direct => {
                self.is_closed = false;
                self.end_line(lines);
                for frame in &self.frames {
                    lines.extend_from_slice(frame.delimiters().0);
                }
                return;
            }
            // Not an object.
            _ if self.depth == 0 => self.has_ended = true,
            _ => {}
        }
        self.is_closed = matches!(byte, b'}' | b']');
        lines.push(byte);
    }

    /// Returns the frame that opens in the innermost one.
    fn open_frame(&self, byte: u8) -> Option<Frame> {
        if self.frames.len() >= MAX_FRAMES {
            return None;
        }
        match (self.frames.last(), byte) {
            (None | Some(Frame::Subagents), b'{') => Some(Frame::Trajectory),
            (Some(Frame::Trajectory), b'[') if self.word == b"steps" => Some(Frame::Steps),
            (Some(Frame::Trajectory), b'[') if self.word == b"subagent_trajectories" => {
                Some(Frame::Subagents)
            }
            _ => None,
        }
    }

    /// Ends the line after an element.
    fn end_line(&self, lines: &mut Vec<u8>) {
        for frame in self.frames.iter().rev() {
            lines.extend_from_slice(frame.delimiters().1);
        }
        lines.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn lines_of(json: &str) -> (String, TrajectoryLines) {
        let (mut lines, mut text) = (TrajectoryLines::default(), Vec::new());
        lines.split(json.as_bytes(), &mut text);
        lines.finish(&mut text);
        (String::from_utf8(text).unwrap(), lines)
    }

    #[test]
    fn members_and_steps_become_lines() {
        let table = [
            (
                r#"{"schema_version":"ATIF-v1.7","steps":[{"a":[1,2]},{"b":"],\"{"}],"x":1}"#,
                "{\"schema_version\":\"ATIF-v1.7\"}\n{\"steps\":[{\"a\":[1,2]}]}\n\
                 {\"steps\":[{\"b\":\"],\\\"{\"}]}\n{\"x\":1}\n{\"end\":{}}\n",
            ),
            (
                "{\n \"schema_version\" : \"ATIF-v1.0\",\n \"subagent_trajectories\": [{\"steps\": [1, 2], \"y\": 3}, {}]}",
                "{\"schema_version\":\"ATIF-v1.0\"}\n{\"subagent_trajectories\":[{\"steps\":[1]}]}\n\
                 {\"subagent_trajectories\":[{\"steps\":[2]}]}\n{\"subagent_trajectories\":[{\"y\":3}]}\n\
                 {\"subagent_trajectories\":[{}]}\n{\"end\":{}}\n",
            ),
            // Cut off in a string.
            (
                r#"{"schema_version":"ATIF-v1.7","steps":[{},{"a":"x,"#,
                "{\"schema_version\":\"ATIF-v1.7\"}\n{\"steps\":[{}]}\n{\"steps\":[{\"a\":\"x,",
            ),
            // Cut off after a step, in its list and after the list, and after a part of a step.
            (
                "{\"schema_version\":\"ATIF-v1.7\",\"steps\":[{\"a\":[1]}\n ",
                "{\"schema_version\":\"ATIF-v1.7\"}\n{\"steps\":[{\"a\":[1]}]}\n",
            ),
            (
                r#"{"schema_version":"ATIF-v1.7","subagent_trajectories":[{"steps":[{}]"#,
                "{\"schema_version\":\"ATIF-v1.7\"}\n{\"subagent_trajectories\":[{\"steps\":[{}]}]}\n",
            ),
            (
                r#"{"schema_version":"ATIF-v1.7","steps":[{"a":[1]"#,
                "{\"schema_version\":\"ATIF-v1.7\"}\n{\"steps\":[{\"a\":[1]",
            ),
        ];
        for (json, expected) in table {
            let (text, lines) = lines_of(json);
            assert_eq!(text, expected);
            assert!(lines.is_trajectory, "{json}");
        }
    }

    #[test]
    fn only_the_version_of_the_object_itself_counts() {
        for json in [
            r#"{"type":"user","input":{"schema_version":"ATIF-v1.7"}}"#,
            r#"{"schema_version":"1.7","x":"ATIF-v1.7"}"#,
            r#"{"a":1}{"schema_version":"ATIF-v1.7"}"#,
            r#"["schema_version","ATIF-v1.7"]"#,
            r#"x{"schema_version":"ATIF-v1.7"}"#,
        ] {
            assert!(!lines_of(json).1.is_trajectory, "{json}");
        }
    }

    #[test]
    fn deep_subagents_make_short_lines() {
        let deep = r#"{"subagent_trajectories":["#.repeat(10_000) + r#"{"steps":[1,2,3],"x":1}"#;
        let (text, _) = lines_of(&deep);
        assert!(text.len() < 2 * deep.len());
    }

    proptest! {
        /// However the bytes are cut, every line is an object, and the lines together are the trajectory.
        #[test]
        fn lines_join_to_the_trajectory(
            steps in proptest::collection::vec(".{0,12}", 0..6),
            is_pretty: bool,
            size in 1_usize..40,
        ) {
            let steps: Vec<Value> = steps.iter().map(|text| json!({"message": text, "extra": [{}, text]})).collect();
            let value = json!({"steps": steps, "schema_version": "ATIF-v1.6", "notes": "steps"});
            let json = if is_pretty { format!("{value:#}") } else { value.to_string() };
            let (mut lines, mut text) = (TrajectoryLines::default(), Vec::new());
            json.as_bytes().chunks(size).for_each(|bytes| lines.split(bytes, &mut text));
            prop_assert!(lines.is_trajectory && lines.has_ended);
            let (mut joined, mut read) = (json!({"steps": []}), Vec::new());
            for line in String::from_utf8(text).unwrap().lines() {
                let mut line: Value = serde_json::from_str(line).unwrap();
                read.extend(line["steps"].as_array().into_iter().flatten().cloned());
                line.as_object_mut().unwrap().retain(|name, _| !["steps", "end"].contains(&&**name));
                joined.as_object_mut().unwrap().extend(line.as_object().unwrap().clone());
            }
            joined["steps"] = read.into();
            prop_assert_eq!(joined, value);
        }
    }
}
