//! A range of messages.

use std::str::FromStr;

/// Messages from one to another, counted from 1, or from the end if negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRange {
    first: i64,
    last: i64,
}

impl FromStr for MessageRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| match text.parse::<i64>() {
            Ok(0) => Err("messages are numbered from 1".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err("not a range of messages, such as 3..7".to_owned()),
        };
        let Some((first, last)) = text.split_once("..") else {
            let only = number(text)?;
            return Ok(Self {
                first: only,
                last: only,
            });
        };
        let end = |text: &str, open: i64| match text {
            "" => Ok(open),
            text => number(text),
        };
        Ok(Self {
            first: end(first, 1)?,
            last: end(last, i64::MAX)?,
        })
    }
}

impl MessageRange {
    /// Whether the total number of messages is needed.
    pub fn counts_from_the_end(self) -> bool {
        self.first < 0 || self.last < 0
    }

    /// Returns the range in a dialog of `total` messages.
    #[must_use]
    pub fn of(self, total: u64) -> Self {
        let total = i64::try_from(total).unwrap_or(i64::MAX);
        let from_start = |number: i64| {
            if number < 0 {
                total.saturating_add(number).saturating_add(1).max(0)
            } else {
                number
            }
        };
        Self {
            first: from_start(self.first),
            last: from_start(self.last),
        }
    }

    /// Whether the message with this number comes before the range.
    pub fn is_before(self, number: u64) -> bool {
        i64::try_from(number).is_ok_and(|number| number < self.first)
    }

    /// Whether the message comes after the range.
    pub fn is_behind(self, number: u64) -> bool {
        i64::try_from(number).is_ok_and(|number| number > self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_from_either_end() {
        let rows: [(&str, &[u64]); 9] = [
            ("3", &[3]),
            ("2..4", &[2, 3, 4]),
            ("4..", &[4, 5]),
            ("..2", &[1, 2]),
            ("-2..", &[4, 5]),
            ("-9..1", &[1]),
            ("..-4", &[1, 2]),
            ("-1", &[5]),
            ("9..", &[]),
        ];
        for (text, expected) in rows {
            let range: MessageRange = text.parse().unwrap();
            let range = range.of(5);
            let inside = |number: &u64| !range.is_before(*number) && !range.is_behind(*number);
            let kept: Vec<u64> = (1..=5).filter(inside).collect();
            assert_eq!(kept, expected, "{text}");
        }
        for text in ["", "0", "a", "1..b", "1-2"] {
            assert!(text.parse::<MessageRange>().is_err(), "{text}");
        }
    }
}
