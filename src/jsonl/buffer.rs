//! Memory to read into that is used again on the same thread. Fresh memory is cleared and brought in
//! page by page, which takes longer than reading a small file.

use std::cell::RefCell;

/// How many are kept on a thread.
const MOST_KEPT: usize = 4;

/// Larger ones are given back to the system, in bytes.
const LARGEST_KEPT: usize = 1024 * 1024;

thread_local! {
    static KEPT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Memory to read into. It is kept for the next one when it is dropped.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// The largest of those that are kept, or a new one.
    pub(super) fn take() -> Self {
        let kept = KEPT.try_with(|kept| {
            let mut kept = kept.try_borrow_mut().ok()?;
            let sizes = kept.iter().map(Vec::len).enumerate();
            let (largest, _) = sizes.max_by_key(|(_, size)| *size)?;
            Some(kept.swap_remove(largest))
        });
        Self {
            bytes: kept.ok().flatten().unwrap_or_default(),
        }
    }

    /// The first `size` bytes; what they hold means nothing.
    pub(super) fn room(&mut self, size: usize) -> &mut [u8] {
        if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
        &mut self.bytes[..size]
    }

    /// The first `size` bytes, or as many as there ever were.
    pub(super) fn filled(&self, size: usize) -> &[u8] {
        &self.bytes[..size.min(self.bytes.len())]
    }
}

/// `size` bytes to read into, from a buffer that was dropped if there is one. What they hold means
/// nothing.
pub fn room_to_read(size: usize) -> Vec<u8> {
    let mut buffer = Buffer::take();
    let mut bytes = std::mem::take(&mut buffer.bytes);
    bytes.resize(size, 0);
    bytes
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() || bytes.len() > LARGEST_KEPT {
            return;
        }
        // A thread that ends keeps nothing.
        let _ = KEPT.try_with(|kept| {
            if let Ok(mut kept) = kept.try_borrow_mut()
                && kept.len() < MOST_KEPT
            {
                kept.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_unless_there_is_too_much_of_it() {
        let mut first = Buffer::take();
        first.room(100)[99] = 7;
        assert_eq!(first.filled(200).len(), 100);
        drop(first);
        assert_eq!(Buffer::take().filled(100).last(), Some(&7));
        for _ in 0..2 * MOST_KEPT {
            let mut large = Buffer::take();
            large.room(LARGEST_KEPT + 1);
        }
        assert!(Buffer::take().filled(1).is_empty());
    }
}
