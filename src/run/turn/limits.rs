//! The system prompt, and the limits of a conversation.

use jiff::civil::Date;

use crate::message::Usage;

/// The limits of a conversation; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TurnLimits {
    /// Replies since the last prompt.
    pub turns: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
    /// Tokens read and written.
    pub tokens: Option<u64>,
}

/// The use of a conversation so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumption {
    /// Replies since the last prompt.
    pub turns: u64,
    /// US dollars; some replies may have no price.
    pub dollars: f64,
    /// Tokens read and written.
    pub tokens: u64,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Limit {
    /// A number of replies.
    #[error("reached the limit of {0} turns")]
    Turns(u64),
    /// An amount of US dollars.
    #[error("reached the budget of ${0}")]
    Dollars(f64),
    /// A number of tokens.
    #[error("reached the budget of {0} tokens")]
    Tokens(u64),
}

impl Consumption {
    /// Adds a reply of this price.
    pub fn add(&mut self, usage: &Usage, dollars: Option<f64>) {
        self.tokens += usage.total();
        self.dollars += dollars.unwrap_or_default();
    }
}

impl TurnLimits {
    /// Returns the first limit that is reached.
    pub fn find_reached(&self, spent: &Consumption) -> Option<Limit> {
        let turns = self.turns.filter(|limit| spent.turns >= *limit);
        let dollars = self.dollars.filter(|limit| spent.dollars >= *limit);
        let tokens = self.tokens.filter(|limit| spent.tokens >= *limit);
        turns
            .map(Limit::Turns)
            .or(dollars.map(Limit::Dollars))
            .or(tokens.map(Limit::Tokens))
    }
}

/// The default instructions.
const INSTRUCTIONS: &str = include_str!("system.md");

/// Returns the instructions, or the default ones, with facts about the machine.
pub fn system_prompt(instructions: Option<&str>, directory: &str, today: Date) -> String {
    let instructions = instructions.unwrap_or(INSTRUCTIONS).trim();
    let system = std::env::consts::OS;
    format!(
        "{instructions}\n\nWorking directory: {directory}\nOperating system: {system}\nToday: {today}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_when_it_is_used_up() {
        let spent = Consumption {
            turns: 3,
            dollars: 0.5,
            tokens: 900,
        };
        let rows = [
            (TurnLimits::default(), None),
            (
                TurnLimits {
                    turns: Some(4),
                    ..TurnLimits::default()
                },
                None,
            ),
            (
                TurnLimits {
                    turns: Some(3),
                    ..TurnLimits::default()
                },
                Some(Limit::Turns(3)),
            ),
            (
                TurnLimits {
                    dollars: Some(0.6),
                    ..TurnLimits::default()
                },
                None,
            ),
            (
                TurnLimits {
                    dollars: Some(0.5),
                    ..TurnLimits::default()
                },
                Some(Limit::Dollars(0.5)),
            ),
            (
                TurnLimits {
                    tokens: Some(901),
                    ..TurnLimits::default()
                },
                None,
            ),
            (
                TurnLimits {
                    turns: Some(9),
                    tokens: Some(1),
                    ..TurnLimits::default()
                },
                Some(Limit::Tokens(1)),
            ),
        ];
        for (limits, expected) in rows {
            assert_eq!(limits.find_reached(&spent), expected, "{limits:?}");
        }
    }
}
