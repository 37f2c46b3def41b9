//! Switches in the environment, with the meaning that agents give them.

/// Whether labels are wanted: by the environment, else by the setting, else yes.
pub fn labels_are_wanted(variable: Option<&str>, setting: Option<bool>) -> bool {
    match variable {
        Some("0" | "false") => false,
        Some("1" | "true") => true,
        _ => setting.unwrap_or(true),
    }
}

/// Whether a variable is true: any value except an empty one, `0`, `false`,
/// `no` and `off`.
pub fn says_yes(variable: Option<&str>) -> bool {
    let value = variable.unwrap_or_default().trim().to_ascii_lowercase();
    !matches!(value.as_str(), "" | "0" | "false" | "no" | "off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_overrides_the_setting() {
        let table = [
            (None, None, true),
            (None, Some(false), false),
            (Some("1"), Some(false), true),
            (Some("false"), Some(true), false),
            (Some("FALSE"), Some(true), true),
            (Some(""), Some(false), false),
        ];
        for (variable, setting, wanted) in table {
            assert_eq!(labels_are_wanted(variable, setting), wanted, "{variable:?}");
        }
    }

    #[test]
    fn any_true_value_disables_automatic_titles() {
        for value in [
            None,
            Some(""),
            Some(" 0 "),
            Some("OFF"),
            Some("no"),
            Some("false"),
        ] {
            assert!(!says_yes(value), "{value:?}");
        }
        for value in ["1", "true", "yes", "x"] {
            assert!(says_yes(Some(value)), "{value}");
        }
    }
}
