//! Numbers with units and nouns.

/// Units above bytes, in steps of 1024.
const UNITS: [(&str, u64); 3] = [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];

/// Formats a number of bytes like Claude Code, with one decimal and no space: `73.0KB`, `4.8MB`; below 1024 as
/// `512 bytes`. Ties round up.
pub fn format_byte_size(bytes: u64) -> String {
    let Some((unit, size)) = UNITS.iter().rev().find(|(_, size)| bytes >= *size) else {
        return format!("{bytes} bytes");
    };
    let tenths = (u128::from(bytes) * 10 + u128::from(size / 2)) / u128::from(*size);
    format!("{}.{}{unit}", tenths / 10, tenths % 10)
}

/// Like [`format_byte_size`], without a zero decimal: `2KB`, `4.8MB`.
pub fn format_byte_size_trimmed(bytes: u64) -> String {
    format_byte_size(bytes).replace(".0", "")
}

/// Formats a number with a noun: `1 session`, `2 sessions`.
pub fn format_count(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{number} {noun}")
}

/// Formats an amount of US dollars, e.g. `$1,234.50`.
pub fn format_dollars(amount: f64) -> String {
    let text = format!("{amount:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    format!("${}.{cents}", separate_thousands(whole))
}

/// Formats a number with commas between thousands.
pub fn format_number(number: u64) -> String {
    separate_thousands(&number.to_string())
}

fn separate_thousands(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal() {
        let table = [
            (0, "0 bytes"),
            (1, "1 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0KB"),
            (1280, "1.3KB"),
            (2000, "2.0KB"),
            (73 * 1024, "73.0KB"),
            (1024 * 1024 - 1, "1024.0KB"),
            (5_033_165, "4.8MB"),
            (3 << 30, "3.0GB"),
            (u64::MAX, "17179869184.0GB"),
        ];
        for (bytes, expected) in table {
            assert_eq!(format_byte_size(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn round_sizes_can_lack_the_decimal() {
        let table = [
            (512, "512 bytes"),
            (2000, "2KB"),
            (2560, "2.5KB"),
            (10 << 20, "10MB"),
        ];
        for (bytes, expected) in table {
            assert_eq!(format_byte_size_trimmed(bytes), expected, "{bytes}");
        }
    }
}
