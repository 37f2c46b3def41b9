//! What a child printed on one stream.

/// One captured stream: a head, perhaps a gap, perhaps a tail.
#[derive(Debug, Default)]
pub struct Captured {
    /// Every byte the child wrote, counting the dropped ones.
    pub total_bytes: u64,
    /// Bytes dropped between head and tail; 0 if everything was kept.
    pub dropped_bytes: u64,
    pub(super) head: Vec<u8>,
}

impl Captured {
    /// The text as far as it was kept, invalid UTF-8 replaced. A gap is marked by a line of its
    /// own: `[N bytes dropped]`.
    ///
    /// # Errors
    /// The spill file could not be read back.
    pub fn text(&self) -> std::io::Result<String> {
        Ok(String::from_utf8_lossy(&self.head).into_owned())
    }
}
