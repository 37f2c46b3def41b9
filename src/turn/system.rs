//! The system prompt.

use jiff::civil::Date;

/// The instructions that are used unless others are given.
const INSTRUCTIONS: &str = include_str!("system.md");

/// Returns the instructions, or the default ones, with facts about the machine.
pub fn system_prompt(instructions: Option<&str>, directory: &str, today: Date) -> String {
    let instructions = instructions.unwrap_or(INSTRUCTIONS).trim();
    let system = std::env::consts::OS;
    format!(
        "{instructions}\n\nWorking directory: {directory}\nOperating system: {system}\nToday: {today}"
    )
}
