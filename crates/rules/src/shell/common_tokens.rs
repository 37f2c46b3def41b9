//! The tokens that bash, zsh and dash read alike.
//!
//! What is not listed here is not accepted. How the tokens form commands is known from the analysis.

use super::expansion::identifier_length;
use super::verdict::is_one_of;

/// Keywords before a command.
const BEFORE_COMMAND: &str = "if then elif else while until do !";

/// Whether a text consists of such tokens only.
pub(super) fn has_common_tokens(command: &str) -> bool {
    let mut reader = Reader {
        rest: command,
        documents: Vec::new(),
        has_case: false,
    };
    reader.list(false).is_some()
}

/// Reads tokens; its methods return `None` at a token that is not accepted.
struct Reader<'text> {
    rest: &'text str,
    /// Here-documents whose lines follow.
    documents: Vec<Document<'text>>,
    /// Whether parentheses may end patterns of `case`.
    has_case: bool,
}

struct Document<'text> {
    delimiter: &'text str,
    is_quoted: bool,
    strips_tabs: bool,
}

/// The command that is being read.
#[derive(Default)]
struct State {
    /// Whether it has a word that is not an assignment, or is a keyword or parentheses.
    has_words: bool,
    /// Whether no assignment or command can follow.
    has_begun: bool,
    has_assignment: bool,
    /// Whether the next word is the variable of a loop.
    after_for: bool,
    has_redirection: bool,
    /// Whether its output goes to a file; zsh writes to a following pipe as well.
    is_redirected: bool,
}

/// A word of the text.
struct Token<'text> {
    text: &'text str,
    is_assignment: bool,
    has_pattern: bool,
}

impl<'text> Reader<'text> {
    fn next(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn begins(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.rest.starts_with(text))
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_blanks(&mut self) {
        while self.begins(&[" ", "\t", "\\\n"]) {
            self.skip(if self.rest.starts_with('\\') { 2 } else { 1 });
        }
    }

    fn ends_word(&self) -> bool {
        self.rest.is_empty()
            || self
                .rest
                .starts_with([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'])
    }

    /// Reads commands to the end of the text, or to the parenthesis that closes them.
    fn list(&mut self, is_nested: bool) -> Option<()> {
        let mut state = State::default();
        loop {
            self.skip_blanks();
            let first = self.next();
            if matches!(first, None | Some('\n' | ';' | '&' | '|' | ')')) {
                // A redirection alone starts a pager in zsh.
                if state.has_redirection && !state.has_words {
                    return None;
                }
                let is_redirected = std::mem::take(&mut state).is_redirected;
                match first {
                    None => return (!is_nested && self.documents.is_empty()).then_some(()),
                    Some('\n') => self.line_break()?,
                    Some(')') if is_nested => {
                        self.skip(1);
                        return self.documents.is_empty().then_some(());
                    }
                    Some(')') if self.has_case => self.skip(1),
                    Some(')') => return None,
                    Some(_) => self.operator(is_redirected)?,
                }
                continue;
            }
            match first {
                Some('(') => {
                    if state.has_begun || state.has_assignment || state.has_redirection {
                        return None;
                    }
                    self.skip(1);
                    self.nested()?;
                    (state.has_words, state.has_begun) = (true, true);
                }
                Some('#') => self.comment(&state)?,
                Some('<' | '>') => self.redirection(None, &mut state)?,
                _ => {
                    let token = self.word(!state.has_begun)?;
                    let is_number = token.text.bytes().all(|byte| byte.is_ascii_digit());
                    if is_number && self.begins(&["<", ">"]) {
                        self.redirection(Some(token.text), &mut state)?;
                    } else {
                        self.count(&token, is_nested, &mut state)?;
                    }
                }
            }
        }
    }

    /// Adds a word to the command.
    fn count(&mut self, token: &Token<'text>, is_nested: bool, state: &mut State) -> Option<()> {
        let name = token.text.split('=').next().unwrap_or_default();
        if std::mem::take(&mut state.after_for) || token.is_assignment {
            if is_zsh_parameter(name) {
                return None;
            }
        } else if !state.has_begun && is_one_of(BEFORE_COMMAND, token.text) {
            state.has_words = false;
            return Some(());
        } else if !state.has_begun && token.text == "case" {
            self.has_case = true;
            // The parenthesis after a pattern could close another one.
            if is_nested {
                return None;
            }
        } else if !state.has_begun && token.text == "for" {
            state.after_for = true;
        }
        state.has_assignment |= token.is_assignment;
        state.has_begun |= !token.is_assignment;
        state.has_words |= !token.is_assignment;
        Some(())
    }

    fn nested(&mut self) -> Option<()> {
        // A here-document could start at a line break inside.
        let is_clear = !self.has_case && self.documents.is_empty();
        is_clear.then(|| self.list(true))?
    }

    /// Reads `;`, `;;`, `&`, `&&`, `|` or `||`.
    fn operator(&mut self, is_redirected: bool) -> Option<()> {
        let length = if self.begins(&[";;", "&&", "||"]) {
            2
        } else {
            1
        };
        let is_pipe = self.rest.starts_with('|') && length == 1;
        self.skip(length);
        let is_other = self.rest.starts_with(['&', '|', ';', '!', '>']);
        (!is_other && (!is_pipe || !is_redirected)).then_some(())
    }

    /// Reads a comment that has no effect if an interactive zsh runs it as a command `#`.
    fn comment(&mut self, state: &State) -> Option<()> {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let is_plain = |letter: char| letter.is_alphanumeric() || " #.,:-_/".contains(letter);
        let text = self.rest.get(..end).unwrap_or_default();
        let is_accepted = !state.has_words && text.chars().all(is_plain);
        self.skip(end);
        is_accepted.then_some(())
    }

    /// Reads a line break and the here-documents after it.
    fn line_break(&mut self) -> Option<()> {
        self.skip(1);
        for document in std::mem::take(&mut self.documents) {
            loop {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                let ends = self.rest.is_empty();
                self.rest = rest;
                if ends || !document.is_quoted && line.contains(['$', '`', '\\']) {
                    return None;
                }
                let tabs = if document.strips_tabs { "\t" } else { "" };
                if line.trim_start_matches(|letter: char| tabs.contains(letter))
                    == document.delimiter
                {
                    break;
                }
            }
        }
        Some(())
    }

    /// Reads a redirection after its descriptor, which only bash accepts with several digits.
    fn redirection(&mut self, descriptor: Option<&str>, state: &mut State) -> Option<()> {
        if descriptor.is_some_and(|digits| digits.len() > 1) {
            return None;
        }
        state.has_redirection = true;
        if self.begins(&["<&", ">&"]) {
            self.skip(2);
            let is_descriptor = self
                .rest
                .starts_with(|next: char| next.is_ascii_digit() || next == '-');
            self.skip(1);
            return (is_descriptor && self.ends_word()).then_some(());
        }
        if self.rest.starts_with("<<") {
            return self.here_document();
        }
        let is_output = self.rest.starts_with('>');
        self.skip(if self.rest.starts_with(">>") { 2 } else { 1 });
        // Such as `<(`, `>|`, and `<1-5>`, which is a pattern in zsh.
        if self.rest.starts_with(['(', '<', '>', '&', '|', '!', '-'])
            || self.rest.starts_with(|next: char| next.is_ascii_digit())
        {
            return None;
        }
        self.skip_blanks();
        let target = self.word(false)?;
        state.is_redirected |= is_output && descriptor.is_none_or(|digit| digit == "1");
        (!target.text.is_empty() && !target.has_pattern).then_some(())
    }

    fn here_document(&mut self) -> Option<()> {
        self.skip(2);
        let strips_tabs = self.rest.starts_with('-');
        self.skip(usize::from(strips_tabs));
        self.skip_blanks();
        let written = self.word(false)?.text;
        let in_quotes = |quote: char| written.strip_prefix(quote)?.strip_suffix(quote);
        let quoted = in_quotes('\'').or(in_quotes('"'));
        let delimiter = quoted.unwrap_or(written);
        self.documents.push(Document {
            delimiter,
            is_quoted: quoted.is_some(),
            strips_tabs,
        });
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (!delimiter.is_empty() && delimiter.bytes().all(is_plain)).then_some(())
    }

    /// Reads a word.
    fn word(&mut self, may_assign: bool) -> Option<Token<'text>> {
        let all = self.rest;
        let (mut is_assignment, mut has_pattern) = (false, false);
        let mut previous = None;
        while !self.ends_word() {
            let first = self.next()?;
            let follows = self.rest.get(first.len_utf8()..).unwrap_or_default();
            let next = follows.chars().next();
            let mut length = first.len_utf8();
            match first {
                '\'' => length += follows.find('\'')? + 1,
                '"' => {
                    self.skip(1);
                    self.double_quoted()?;
                    length = 0;
                }
                '\\' => length += next?.len_utf8(),
                '$' => {
                    self.expansion(false, is_assignment)?;
                    length = 0;
                }
                // zsh replaces `=name` at the start of a word and of parts of an assigned value.
                '=' if matches!(previous, None | Some('=' | ':')) && !is_ending(next) => {
                    return None;
                }
                '=' => {
                    let name = all.len() - self.rest.len();
                    is_assignment |= may_assign && name > 0 && identifier_length(all) == name;
                }
                '~' if previous.is_none() && next != Some('/') && !is_ending(next) => return None,
                '~' if matches!(previous, Some('=' | ':')) => return None,
                '^' if !previous
                    .is_some_and(|before| before == '^' || before.is_alphanumeric()) =>
                {
                    return None;
                }
                // History expansion of interactive shells.
                '!' if !next.is_none_or(|next| " \t\n=".contains(next)) => return None,
                '{' if follows.starts_with('}') => length = 2,
                // `HEAD@{1}`
                '{' if previous == Some('@') => {
                    let (inside, _) = follows.split_once('}')?;
                    let is_plain = inside
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                    length = (is_plain && !inside.is_empty()).then_some(inside.len() + 2)?;
                }
                '*' | '?' | '[' | ']' => has_pattern = true,
                '#' if previous.is_some() => {}
                '~' | '^' | '!' | '_' | '%' | '+' | '-' | ',' | '.' | '/' | ':' | '@' => {}
                letter if letter.is_ascii_alphanumeric() || !letter.is_ascii() => {}
                _ => return None,
            }
            previous = Some(first);
            self.skip(length);
        }
        let text = all.get(..all.len() - self.rest.len())?;
        // A here-document could start there.
        if text.contains('\n') && !self.documents.is_empty() {
            return None;
        }
        Some(Token {
            text,
            is_assignment,
            has_pattern,
        })
    }

    /// Reads the rest of a text in double quotes.
    fn double_quoted(&mut self) -> Option<()> {
        loop {
            let first = self.next()?;
            let follows = self.rest.get(first.len_utf8()..).unwrap_or_default();
            match first {
                '"' => {
                    self.skip(1);
                    return Some(());
                }
                '`' => return None,
                '!' if !follows.starts_with([' ', '\t', '\n', '=', '(']) => return None,
                '\\' => self.skip(1 + follows.chars().next()?.len_utf8()),
                '$' => self.expansion(true, false)?,
                _ => self.skip(first.len_utf8()),
            }
        }
    }

    /// Reads what follows a dollar sign, and the sign.
    fn expansion(&mut self, in_quotes: bool, is_assignment: bool) -> Option<()> {
        self.skip(1);
        let after = self.rest;
        if let Some(inside) = after.strip_prefix("((") {
            let (inside, _) = inside.split_once("))")?;
            let is_plain =
                |letter: char| letter.is_ascii_alphanumeric() || "_ +-*/%<>=".contains(letter);
            self.skip(inside.len() + 4);
            return inside.chars().all(is_plain).then_some(());
        }
        if after.starts_with('(') {
            self.skip(1);
            return self.nested();
        }
        let is_literal = in_quotes && after.starts_with(['"', '\'']);
        if is_literal {
            return Some(());
        }
        if after.starts_with(['\'', '"', '[']) {
            return None;
        }
        let is_value = after
            .starts_with(|first: char| first.is_ascii_alphanumeric() || "_{@*".contains(first));
        // zsh does not split it into words.
        if is_value && !in_quotes && !is_assignment && !after.starts_with("{#") {
            return None;
        }
        if let Some(inside) = after.strip_prefix('{') {
            let (inside, _) = inside.split_once('}')?;
            self.skip(inside.len() + 2);
            return is_common_form(inside).then_some(());
        }
        let is_special = after.starts_with(['#', '?', '$', '!', '@', '*', '-'])
            || after.starts_with(|first: char| first.is_ascii_digit());
        let length = identifier_length(after).max(usize::from(is_special));
        if length == 0 {
            // In zsh, `$=x`, `$~x` and `$^x` are expansions.
            return after
                .chars()
                .next()
                .is_none_or(|next| next.is_ascii_whitespace() || "|)/.,".contains(next))
                .then_some(());
        }
        let is_count = after.starts_with('#');
        self.skip(length);
        let mut letters = self.rest.chars();
        // A longer name in zsh.
        let is_suffixed = match letters.next() {
            Some(next) if !next.is_ascii() => return None,
            Some('[') => true,
            Some(':') => letters
                .next()
                .is_some_and(|next| next.is_ascii_alphabetic() || next == '&'),
            _ => is_count && identifier_length(self.rest) > 0,
        };
        (!is_suffixed).then_some(())
    }
}

/// Whether a character ends a word.
fn is_ending(next: Option<char>) -> bool {
    next.is_none_or(|next| " \t\n;&|)".contains(next))
}

/// Whether the inside of `${…}` is a form of all shells with a plain operand.
fn is_common_form(inside: &str) -> bool {
    let inside = (inside.strip_prefix('#').filter(|rest| !rest.is_empty())).unwrap_or(inside);
    let operator = inside
        .get(identifier_length(inside).max(1)..)
        .unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:,@%+-#*? ".contains(letter);
    let is_known = operator.is_empty()
        || operator.starts_with(['-', '+', '?', '%', '#'])
        || [":-", ":+", ":?"]
            .iter()
            .any(|known| operator.starts_with(known));
    is_known && operator.chars().all(is_plain)
}

/// Whether a variable has a special meaning in zsh.
pub(super) fn is_zsh_parameter(name: &str) -> bool {
    include_str!("tables/zsh_parameters.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .any(|known| known == name)
}
