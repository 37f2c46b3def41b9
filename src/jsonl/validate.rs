//! The exact validator: is this one JSON value, where does it end, and if not, where and why not.
//!
//! The grammar is RFC 8259, without limits: any nesting depth (no recursion), numbers of any size,
//! duplicate keys, escaped lone surrogates. It looks at bytes only; whether they are UTF-8 is
//! checked elsewhere. [`super::well_formed`] is the fast road for healthy lines, this is the
//! precise one for all others.

use std::fmt;
use std::ops::Range;

/// What a text starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing but whitespace.
    Blank,
    /// A whole value; text may follow it.
    Whole {
        /// Object, array or scalar.
        kind: Kind,
        /// Where the value stands, in bytes.
        span: Range<usize>,
    },
    /// A value that is in order as far as the text goes.
    CutOff,
    /// Not JSON.
    Broken(Fault),
}

/// The kind of a top-level value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// A string, number, `true`, `false` or `null`.
    Scalar,
}

/// Where a text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The first byte that no JSON text could have there.
    pub at: usize,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// Why a byte cannot stand where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// A value was expected.
    NotAValue,
    /// A key (or the end of the object) was expected.
    NotAKey,
    /// A colon was expected.
    NotAColon,
    /// A comma or the end of the array or object was expected.
    NotASeparator,
    /// `true`, `false` or `null` is misspelt.
    Literal,
    /// A digit was expected.
    Number,
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// An unknown escape sequence.
    Escape,
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotAValue => "a value was expected",
            Self::NotAKey => "a key was expected",
            Self::NotAColon => "a colon was expected",
            Self::NotASeparator => "a comma or a closing bracket was expected",
            Self::Literal => "not a word of JSON",
            Self::Number => "a digit was expected",
            Self::ControlCharacter => "raw control character in a string",
            Self::Escape => "unknown escape sequence in a string",
        })
    }
}

/// Validates the first JSON value in `text`.
#[must_use]
pub fn validate(text: &[u8]) -> Verdict {
    let mut walk = Walk { text, at: 0 };
    walk.skip_whitespace();
    let start = walk.at;
    let kind = match walk.peek() {
        None => return Verdict::Blank,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(_) => Kind::Scalar,
    };
    match walk.value() {
        Ok(()) => Verdict::Whole {
            kind,
            span: start..walk.at,
        },
        Err(Stop::End) => Verdict::CutOff,
        Err(Stop::Wrong(wrong)) => Verdict::Broken(Fault { at: walk.at, wrong }),
    }
}

/// Whether a word that is neither string nor bracket, and starts at `start`, is a number or a
/// literal and ends where a container goes on or ends.
pub(super) fn is_whole_scalar(text: &[u8], start: usize) -> bool {
    let mut walk = Walk { text, at: start };
    let whole = match walk.peek() {
        Some(b't') => walk.literal(b"true"),
        Some(b'f') => walk.literal(b"false"),
        Some(b'n') => walk.literal(b"null"),
        _ => walk.number(),
    };
    let end = walk.peek();
    whole.is_ok() && matches!(end, Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n'))
}

/// Why the walk ended early.
enum Stop {
    /// The text is over.
    End,
    /// The byte at the walk's position is wrong.
    Wrong(Wrong),
}

type Step = Result<(), Stop>;

/// A position in a text.
struct Walk<'a> {
    text: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The next byte that is not whitespace.
    fn token(&mut self) -> Result<u8, Stop> {
        self.skip_whitespace();
        self.peek().ok_or(Stop::End)
    }

    /// One value, however deep.
    fn value(&mut self) -> Step {
        let mut nesting = Nesting::default();
        loop {
            match self.token()? {
                b'"' => self.string()?,
                b'{' => {
                    self.at += 1;
                    if self.token()? != b'}' {
                        nesting.open(Container::Object);
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    if self.token()? != b']' {
                        nesting.open(Container::Array);
                        continue;
                    }
                    self.at += 1;
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => return Err(Stop::Wrong(Wrong::NotAValue)),
            }
            // A value is complete: close what ends here, up to the next comma.
            loop {
                let Some(container) = nesting.innermost() else {
                    return Ok(());
                };
                match (self.token()?, container) {
                    (b',', Container::Object) => {
                        self.at += 1;
                        self.token()?;
                        self.key()?;
                        break;
                    }
                    (b',', Container::Array) => {
                        self.at += 1;
                        break;
                    }
                    (b'}', Container::Object) | (b']', Container::Array) => {
                        self.at += 1;
                        nesting.close();
                    }
                    _ => return Err(Stop::Wrong(Wrong::NotASeparator)),
                }
            }
        }
    }

    /// A key and its colon. The walk stands on the key.
    fn key(&mut self) -> Step {
        if self.peek() != Some(b'"') {
            return Err(Stop::Wrong(Wrong::NotAKey));
        }
        self.string()?;
        if self.token()? != b':' {
            return Err(Stop::Wrong(Wrong::NotAColon));
        }
        self.at += 1;
        Ok(())
    }

    /// A string. The walk stands on its opening quote.
    fn string(&mut self) -> Step {
        self.at += 1;
        loop {
            self.at += length_of_plain_text(&self.text[self.at..]);
            match self.peek().ok_or(Stop::End)? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                _ => return Err(Stop::Wrong(Wrong::ControlCharacter)),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Step {
        match self.peek().ok_or(Stop::End)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Ok(())
            }
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().ok_or(Stop::End)?.is_ascii_hexdigit() {
                        return Err(Stop::Wrong(Wrong::Escape));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(Stop::Wrong(Wrong::Escape)),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Step {
        for letter in word {
            if self.peek().ok_or(Stop::End)? != *letter {
                return Err(Stop::Wrong(Wrong::Literal));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A number. The walk stands on its sign or first digit.
    fn number(&mut self) -> Step {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Step {
        if !self.peek().ok_or(Stop::End)?.is_ascii_digit() {
            return Err(Stop::Wrong(Wrong::Number));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }
}

/// How many bytes of `text` come before the first quote, backslash or control character.
fn length_of_plain_text(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);
    // Each term has the high bit of the first byte in question set; a borrow can set a wrong bit
    // only above it.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special = zero(word ^ QUOTES)
            | zero(word ^ BACKSLASHES)
            | (word.wrapping_sub(SPACES) & !word & HIGHS);
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    words.len() * 8 + rest.iter().position(special).unwrap_or(rest.len())
}

/// What a value stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

/// The open containers, one bit each, so that depth costs next to nothing.
#[derive(Default)]
struct Nesting {
    /// Full words, outermost first.
    outer: Vec<u64>,
    /// The innermost containers, the last one in the lowest bit; set means object.
    inner: u64,
    depth: usize,
}

impl Nesting {
    fn open(&mut self, container: Container) {
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.inner);
        }
        self.inner = self.inner << 1 | u64::from(container == Container::Object);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.inner >>= 1;
        if self.depth.is_multiple_of(64)
            && let Some(word) = self.outer.pop()
        {
            self.inner = word;
        }
    }

    fn innermost(&self) -> Option<Container> {
        let object = self.inner & 1 == 1;
        (self.depth != 0).then_some(if object {
            Container::Object
        } else {
            Container::Array
        })
    }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
