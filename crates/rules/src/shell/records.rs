//! The records of a table of commands, for the build script too.

use std::collections::BTreeMap;

/// The records of a table.
#[derive(Default)]
pub(super) struct Records<'a> {
    /// Positions in `lines`, by name.
    pub(super) names: BTreeMap<&'a str, usize>,
    /// The lines with the properties of each record.
    pub(super) lines: Vec<Vec<&'a str>>,
}

impl<'a> Records<'a> {
    /// Splits a table.
    ///
    /// # Errors
    /// A name is listed twice, or the first line has none.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let mut records = Self::default();
        for line in text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            let properties = match line.split_once(" |") {
                Some((names, properties)) if !line.starts_with(' ') => {
                    for name in names.split(", ") {
                        if records.names.insert(name, records.lines.len()).is_some() {
                            return Err(format!("{name} is listed twice"));
                        }
                    }
                    records.lines.push(Vec::new());
                    properties
                }
                _ => line,
            };
            let record = records.lines.last_mut();
            record.ok_or("the first line has no name")?.push(properties);
        }
        Ok(records)
    }
}
