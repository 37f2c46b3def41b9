//! Numbers as JavaScript spells them.

/// Appends what `JSON.stringify` makes of the number that `json` spells.
pub(super) fn push_number(json: &str, out: &mut String) {
    let value: f64 = json.parse().unwrap_or(f64::NAN);
    if !value.is_finite() {
        out.push_str("null");
        return;
    }
    if value == 0.0 {
        out.push('0');
        return;
    }
    if value < 0.0 {
        out.push('-');
    }
    // The shortest digits that mean the same number, and where the point stands behind them.
    let spelled = format!("{:e}", value.abs());
    let (mantissa, exponent) = spelled.split_once('e').unwrap_or((&spelled, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let split = usize::try_from(point.clamp(0, count)).unwrap_or_default();
    let (whole, fraction) = digits.split_at(split);
    match point {
        22.. | ..=-6 => {
            let (first, rest) = digits.split_at(1);
            out.push_str(first);
            if !rest.is_empty() {
                out.push('.');
                out.push_str(rest);
            }
            out.push_str(if exponent < 0 { "e-" } else { "e+" });
            out.push_str(&exponent.unsigned_abs().to_string());
        }
        _ if point >= count => {
            out.push_str(&digits);
            out.push_str(&zeros(point - count));
        }
        1.. => {
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        _ => {
            out.push_str("0.");
            out.push_str(&zeros(-point));
            out.push_str(&digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spelled(json: &str) -> String {
        let mut out = String::new();
        push_number(json, &mut out);
        out
    }

    #[test]
    fn numbers_are_spelled_as_in_javascript() {
        let table = [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("100", "100"),
            ("1e2", "100"),
            ("-12.25", "-12.25"),
            ("0.1", "0.1"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1.25e-9", "1.25e-9"),
            ("123456789012345678901", "123456789012345680000"),
            ("1e21", "1e+21"),
            ("1.5e300", "1.5e+300"),
            ("9007199254740993", "9007199254740992"),
            ("1e999", "null"),
        ];
        for (json, expected) in table {
            assert_eq!(spelled(json), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn the_spelling_means_the_same_number(value in any::<f64>()) {
            prop_assume!(value.is_finite());
            let json = spelled(&format!("{value:e}"));
            let read: f64 = json.parse().unwrap();
            // Zero has no sign in JSON.
            prop_assert_eq!((read + 0.0).to_bits(), (value + 0.0).to_bits());
        }
    }
}
