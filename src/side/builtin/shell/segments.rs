//! Splits a command into the simple commands it consists of.

/// So much of a command is looked at, in bytes.
const LOOKED_AT: usize = 16 * 1024;

/// How a simple command follows the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It is the first, or stands on its own line, or after `;`.
    Next,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `|`.
    Pipe,
    /// `&`.
    Background,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// How it follows the one before.
    pub(super) joint: Joint,
    /// Its words without assignments, redirections and wrappers such as `sudo`; quotation marks
    /// are taken off.
    pub(super) words: Vec<String>,
    /// Where its output goes, if to a file.
    pub(super) target: Option<String>,
    /// It has a here-document.
    pub(super) has_document: bool,
}

impl Segment {
    /// The program, without its directory.
    pub(super) fn program(&self) -> &str {
        let word = self.words.first().map(String::as_str).unwrap_or_default();
        word.rsplit('/').next().unwrap_or_default()
    }
}

/// Programs that run what follows them, and the options of theirs that have a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g"]),
    ("time", &[]),
    ("nohup", &[]),
    ("env", &["-u"]),
    ("command", &[]),
    ("timeout", &["-k", "-s"]),
    ("nice", &["-n"]),
    ("npx", &["-p"]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("exec", &[]),
    ("xvfb-run", &[]),
    ("stdbuf", &["-o", "-e", "-i"]),
];

/// The simple commands of a command, in order.
pub(super) fn segments(command: &str) -> Vec<Segment> {
    let end = (0..=LOOKED_AT.min(command.len()))
        .rev()
        .find(|at| command.is_char_boundary(*at))
        .unwrap_or_default();
    let mut splitter = Splitter {
        rest: command[..end].chars().collect(),
        at: 0,
        segments: Vec::new(),
        open: Open::new(Joint::Next),
        documents: Vec::new(),
    };
    splitter.run();
    splitter.segments
}

struct Open {
    joint: Joint,
    words: Vec<Word>,
    target: Option<String>,
    has_document: bool,
}

struct Word {
    text: String,
    quoted: bool,
}

impl Open {
    fn new(joint: Joint) -> Self {
        Self {
            joint,
            words: Vec::new(),
            target: None,
            has_document: false,
        }
    }
}

struct Splitter {
    rest: Vec<char>,
    at: usize,
    segments: Vec<Segment>,
    open: Open,
    /// Ends of here-documents that begin on the next line.
    documents: Vec<String>,
}

impl Splitter {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.at + ahead).copied()
    }

    fn run(&mut self) {
        while let Some(character) = self.peek(0) {
            match (character, self.peek(1)) {
                ('\\', Some('\n')) => self.at += 2,
                ('\n', _) => {
                    self.at += 1;
                    self.close(Joint::Next);
                    self.skip_documents();
                }
                (' ' | '\t' | '\r', _) => self.at += 1,
                ('#', _) => self.skip_line(),
                ('&', Some('&')) => self.next(2, Joint::And),
                ('|', Some('|')) => self.next(2, Joint::Or),
                ('|', Some('&')) => self.next(2, Joint::Pipe),
                ('&' | '<', Some('>')) | ('<' | '>', _) => self.redirection(),
                ('|', _) => self.next(1, Joint::Pipe),
                ('&', _) => self.next(1, Joint::Background),
                (';' | '(' | ')', _) => self.next(1, Joint::Next),
                _ => {
                    let word = self.word();
                    let is_descriptor = word.text.len() == 1
                        && word.text.starts_with(|digit: char| digit.is_ascii_digit())
                        && !word.quoted
                        && matches!(self.peek(0), Some('<' | '>'));
                    if is_descriptor {
                        let to_error = word.text == "2";
                        let target = self.open.target.take();
                        self.redirection();
                        if to_error {
                            self.open.target = target;
                        }
                    } else {
                        self.open.words.push(word);
                    }
                }
            }
        }
        self.close(Joint::Next);
    }

    fn next(&mut self, length: usize, joint: Joint) {
        self.at += length;
        self.close(joint);
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|character| character != '\n') {
            self.at += 1;
        }
    }

    fn close(&mut self, joint: Joint) {
        let open = std::mem::replace(&mut self.open, Open::new(joint));
        let words = bare_words(open.words);
        if words.is_empty() {
            // An empty line between does not change how the next one follows.
            if !self.segments.is_empty() && joint == Joint::Next && open.joint != Joint::Next {
                self.open.joint = open.joint;
            }
            return;
        }
        self.segments.push(Segment {
            joint: open.joint,
            words,
            target: open.target,
            has_document: open.has_document,
        });
    }

    fn redirection(&mut self) {
        let mut sign = String::new();
        while let Some(character) = self
            .peek(0)
            .filter(|character| "<>&|-".contains(*character))
        {
            sign.push(character);
            self.at += 1;
            if sign == "<<<" {
                break;
            }
        }
        while self.peek(0) == Some(' ') {
            self.at += 1;
        }
        if matches!(self.peek(0), None | Some('\n' | ';' | '|' | ')' | '(')) {
            return;
        }
        let word = self.word();
        if sign == "<<" || sign == "<<-" {
            self.documents.push(word.text);
            self.open.has_document = true;
        } else if sign.contains('>') && !sign.ends_with('&') && word.text != "/dev/null" {
            self.open.target = Some(word.text);
        }
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            while self.at < self.rest.len() {
                let start = self.at;
                self.skip_line();
                let line: String = self.rest[start..self.at].iter().collect();
                self.at = (self.at + 1).min(self.rest.len());
                if line.trim() == end {
                    break;
                }
            }
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word {
            text: String::new(),
            quoted: false,
        };
        while let Some(character) = self.peek(0) {
            match character {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | ')' => break,
                '(' if word.text.is_empty() => break,
                '\'' => {
                    word.quoted = true;
                    self.at += 1;
                    while let Some(inner) = self.peek(0) {
                        self.at += 1;
                        if inner == '\'' {
                            break;
                        }
                        word.text.push(inner);
                    }
                }
                '"' => {
                    word.quoted = true;
                    self.at += 1;
                    self.double_quoted(&mut word.text);
                }
                '\\' => {
                    self.at += 1;
                    match self.peek(0) {
                        Some('\n') => {}
                        Some(escaped) => word.text.push(escaped),
                        None => break,
                    }
                    self.at += 1;
                }
                '$' if self.peek(1) == Some('(') => self.substitution(&mut word.text),
                '`' => self.backticks(&mut word.text),
                '(' => {
                    // `name()`, or a pattern: no word of ours.
                    word.text.push('(');
                    self.at += 1;
                }
                other => {
                    word.text.push(other);
                    self.at += 1;
                }
            }
        }
        if word.text.is_empty() && !word.quoted {
            // Something unexpected must not keep us here.
            self.at += 1;
        }
        word
    }

    fn double_quoted(&mut self, text: &mut String) {
        while let Some(inner) = self.peek(0) {
            match inner {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => {
                    if let Some(escaped) = self.peek(1) {
                        if !matches!(escaped, '"' | '\\' | '$' | '`' | '\n') {
                            text.push('\\');
                        }
                        text.push(escaped);
                    }
                    self.at += 2;
                }
                '$' if self.peek(1) == Some('(') => self.substitution(text),
                '`' => self.backticks(text),
                other => {
                    text.push(other);
                    self.at += 1;
                }
            }
        }
    }

    /// `$(…)`: what it stands for is not known.
    fn substitution(&mut self, text: &mut String) {
        let mut depth = 0_usize;
        let mut quote = None;
        while let Some(character) = self.peek(0) {
            self.at += 1;
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (None, '\'' | '"') if depth > 0 => quote = Some(character),
                (None, '(') => depth += 1,
                (None, ')') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                (Some(_) | None, _) => {}
            }
        }
        text.push_str("$()");
    }

    fn backticks(&mut self, text: &mut String) {
        self.at += 1;
        while let Some(character) = self.peek(0) {
            self.at += 1;
            if character == '`' {
                break;
            }
        }
        text.push_str("$()");
    }
}

/// Words without assignments before them and without wrappers.
fn bare_words(words: Vec<Word>) -> Vec<String> {
    let mut words: std::collections::VecDeque<Word> = words.into();
    loop {
        let Some(first) = words.front() else {
            return Vec::new();
        };
        if is_assignment(&first.text) {
            words.pop_front();
            continue;
        }
        let wrapper = WRAPPERS
            .iter()
            .find(|(name, _)| !first.quoted && *name == first.text);
        let Some((name, valued)) = wrapper else {
            break;
        };
        if words.len() == 1 || *name == "command" && words[1].text.starts_with("-v") {
            break;
        }
        words.pop_front();
        while let Some(option) = words.front().filter(|word| word.text.starts_with('-')) {
            let has_value = valued.contains(&option.text.as_str());
            words.pop_front();
            if has_value {
                words.pop_front();
            }
        }
        if *name == "timeout" {
            words.pop_front();
        }
    }
    words.into_iter().map(|word| word.text).collect()
}

/// Whether a word before a command gives a variable a value.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(command: &str) -> Vec<String> {
        segments(command)
            .iter()
            .map(|segment| segment.words.join("|"))
            .collect()
    }

    #[test]
    fn commands_are_split() {
        let table: [(&str, &[&str]); 10] = [
            (
                "cd x && cargo test 2>&1 | tail -5",
                &["cd|x", "cargo|test", "tail|-5"],
            ),
            ("A=1 sudo -u me npx jest", &["jest"]),
            ("timeout 60 make -j4; echo done", &["make|-j4", "echo|done"]),
            ("grep \"<<<<<<\" a.go", &["grep|<<<<<<|a.go"]),
            ("cat > f <<'EOF'\nrm -rf /\nEOF\nls", &["cat", "ls"]),
            (
                "git commit -m \"$(cat <<'EOF'\nx; y\nEOF\n)\"",
                &["git|commit|-m|$()"],
            ),
            ("a # comment; b\nc", &["a", "c"]),
            ("x=$(go env A) && grep 'a b' \"$x\"", &["grep|a b|$x"]),
            ("a \\\n b", &["a|b"]),
            ("(cd x; ls) & wait", &["cd|x", "ls", "wait"]),
        ];
        for (command, expected) in table {
            assert_eq!(told(command), expected, "{command}");
        }
        let written = segments("cat > a.txt <<EOF\nEOF");
        assert_eq!(written[0].target.as_deref(), Some("a.txt"));
        assert!(written[0].has_document);
        assert_eq!(segments("a || b | c")[2].joint, Joint::Pipe);
    }

    proptest! {
        #[test]
        fn any_text_is_split(command in "[-a-z0-9 '\"$()`|&;<>\\\\\n#=]{0,60}") {
            let _ = segments(&command);
        }
    }
}
