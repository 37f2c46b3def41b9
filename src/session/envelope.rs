//! What every record tells, whatever its body holds.

/// The outside of a record. The body is not looked into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    /// Its type; empty if it has none.
    pub kind: String,
    /// What refines the type.
    pub subtype: Option<String>,
    /// Names the record.
    pub uuid: Option<String>,
    /// The record that it follows.
    pub parent: Option<String>,
    /// When, as it stands there.
    pub time: Option<String>,
}

impl Envelope {
    /// The kind for counts: `type` or `type/subtype`.
    pub fn label(&self) -> String {
        let kind = if self.kind.is_empty() {
            "(none)"
        } else {
            &self.kind
        };
        match &self.subtype {
            Some(subtype) => format!("{kind}/{subtype}"),
            None => kind.to_owned(),
        }
    }
}
