//! Options and operands of a command.

/// The words that are no options, without those that are values of `valued` options.
pub(super) fn operands<'a>(words: &'a [String], valued: &[&str]) -> Vec<&'a str> {
    let mut operands = Vec::new();
    let mut skip = false;
    let mut only_operands = false;
    for word in words {
        if std::mem::take(&mut skip) {
            continue;
        }
        if only_operands {
            operands.push(word.as_str());
        } else if word == "--" {
            only_operands = true;
        } else if word.len() > 1 && word.starts_with('-') {
            skip = valued.contains(&word.as_str());
        } else {
            operands.push(word.as_str());
        }
    }
    operands
}

/// The value of an option: the next word, or what follows `=`.
pub(super) fn value<'a>(words: &'a [String], names: &[&str]) -> Option<&'a str> {
    for (place, word) in words.iter().enumerate() {
        for name in names {
            if word == name {
                return words.get(place + 1).map(String::as_str);
            }
            if let Some(value) = word
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('='))
            {
                return Some(value);
            }
        }
    }
    None
}

/// Whether one of these options is there.
pub(super) fn has(words: &[String], names: &[&str]) -> bool {
    words.iter().any(|word| names.contains(&word.as_str()))
}
