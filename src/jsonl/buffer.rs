//! Read buffers that are reused on the same thread. Fresh memory is zeroed and faulted in page by page, which
//! takes longer than reading a small file.

use std::cell::RefCell;

/// Maximum number of idle buffers per thread.
const MAX_IDLE: usize = 4;

/// Maximum size of an idle buffer, in bytes. Larger ones are freed.
const MAX_IDLE_BYTES: usize = 1024 * 1024;

thread_local! {
    static IDLE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A read buffer. Dropping it makes its memory available to the next one.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// Returns the largest idle buffer, or a new one.
    pub(super) fn take() -> Self {
        let idle = IDLE.try_with(|idle| {
            let mut idle = idle.try_borrow_mut().ok()?;
            let sizes = idle.iter().map(Vec::len).enumerate();
            let (largest, _) = sizes.max_by_key(|(_, size)| *size)?;
            Some(idle.swap_remove(largest))
        });
        Self {
            bytes: idle.ok().flatten().unwrap_or_default(),
        }
    }

    /// Returns the first `size` bytes. Their contents are unspecified.
    pub(super) fn space(&mut self, size: usize) -> &mut [u8] {
        if self.bytes.len() < size {
            self.bytes.resize(size, 0);
        }
        &mut self.bytes[..size]
    }

    /// Returns the first `size` bytes, or all of them if the buffer was never that large.
    pub(super) fn filled(&self, size: usize) -> &[u8] {
        &self.bytes[..size.min(self.bytes.len())]
    }
}

/// Returns `size` bytes to read into, from an idle buffer if there is one. Their contents are unspecified.
pub fn read_buffer(size: usize) -> Vec<u8> {
    let mut buffer = Buffer::take();
    let mut bytes = std::mem::take(&mut buffer.bytes);
    bytes.resize(size, 0);
    bytes
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() || bytes.len() > MAX_IDLE_BYTES {
            return;
        }
        // Fails on a thread that is ending.
        let _ = IDLE.try_with(|idle| {
            if let Ok(mut idle) = idle.try_borrow_mut()
                && idle.len() < MAX_IDLE
            {
                idle.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_reused_up_to_a_limit() {
        let mut first = Buffer::take();
        first.space(100)[99] = 7;
        assert_eq!(first.filled(200).len(), 100);
        drop(first);
        assert_eq!(Buffer::take().filled(100).last(), Some(&7));
        for _ in 0..2 * MAX_IDLE {
            let mut large = Buffer::take();
            large.space(MAX_IDLE_BYTES + 1);
        }
        assert!(Buffer::take().filled(1).is_empty());
    }
}
