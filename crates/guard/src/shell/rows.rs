//! The rows of a table of commands, for the build script too.

use std::collections::BTreeMap;

/// The rows of a table.
#[derive(Default)]
pub(super) struct Rows<'a> {
    /// Positions in `lines`, by name.
    pub(super) names: BTreeMap<&'a str, usize>,
    /// The lines with the properties of each row.
    pub(super) lines: Vec<Vec<&'a str>>,
}

impl<'a> Rows<'a> {
    /// Splits a table.
    ///
    /// # Errors
    /// A name is listed twice, or the first line has none.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let mut rows = Self::default();
        for line in text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            let properties = match line.split_once(" |") {
                Some((names, properties)) if !line.starts_with(' ') => {
                    for name in names.split(", ") {
                        if rows.names.insert(name, rows.lines.len()).is_some() {
                            return Err(format!("{name} is listed twice"));
                        }
                    }
                    rows.lines.push(Vec::new());
                    properties
                }
                _ => line,
            };
            let row = rows.lines.last_mut();
            row.ok_or("the first line has no name")?.push(properties);
        }
        Ok(rows)
    }
}
