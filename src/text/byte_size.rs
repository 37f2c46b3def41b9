//! Byte counts spelled for people, the way Claude Code spells them.

/// Units above the byte, each 1024 times the one before.
const UNITS: [(&str, u64); 3] = [("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)];

/// Spells a number of bytes with one decimal and no blank: `73.0KB`, `4.8MB`; below 1024 in full,
/// `512 bytes`. Ties round up.
pub fn byte_size(bytes: u64) -> String {
    let Some((unit, size)) = UNITS.iter().rev().find(|(_, size)| bytes >= *size) else {
        return format!("{bytes} bytes");
    };
    let tenths = (u128::from(bytes) * 10 + u128::from(size / 2)) / u128::from(*size);
    format!("{}.{}{unit}", tenths / 10, tenths % 10)
}

/// As [`byte_size`], but a round number loses its decimal: `2KB`, `4.8MB`.
pub fn byte_size_trimmed(bytes: u64) -> String {
    byte_size(bytes).replace(".0", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_spelled_with_one_decimal() {
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
        for (bytes, spelled) in table {
            assert_eq!(byte_size(bytes), spelled, "{bytes}");
        }
    }

    #[test]
    fn round_sizes_can_go_without_their_decimal() {
        let table = [
            (512, "512 bytes"),
            (2000, "2KB"),
            (2560, "2.5KB"),
            (10 << 20, "10MB"),
        ];
        for (bytes, spelled) in table {
            assert_eq!(byte_size_trimmed(bytes), spelled, "{bytes}");
        }
    }
}
