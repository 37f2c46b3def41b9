//! What no command line may contain, whatever its syntax: bytes that shells and parsers read
//! differently.

use super::refusal::Refusal;

/// The longest command line that is analysed, in bytes: longer ones would take the parser more time
/// than running them a little later costs.
const LONGEST: usize = 16 * 1024;

/// Refuses lengths and bytes that cannot be judged.
pub(super) fn screen(command: &str) -> Result<(), Refusal> {
    if command.len() > LONGEST {
        return Err(Refusal::unknown(
            0..0,
            "the command is longer than 16 KiB, which is not analysed",
        ));
    }
    let bytes = command.as_bytes();
    for (index, &byte) in bytes.iter().enumerate() {
        let what = match byte {
            b'\t' | b'\n' => continue,
            b'\r' => "a carriage return",
            0 => "a NUL character",
            0x01..=0x1f | 0x7f => "a control character",
            b'\\' if bytes.get(index + 1) == Some(&b'\n') => "a line continued by a backslash",
            _ => continue,
        };
        let end = if byte == b'\\' { index + 2 } else { index + 1 };
        return Err(Refusal::unknown(
            index..end,
            format!("{what} is read differently by different parsers"),
        ));
    }
    Ok(())
}
