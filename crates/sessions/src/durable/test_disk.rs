//! A simulated file that fails at chosen operations.

use std::cell::{Cell, RefCell};
use std::io;

use super::Tail;

/// A fault during one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It fails with this kind of error.
    Fails(io::ErrorKind),
    /// A write takes only this many bytes.
    Short(usize),
    /// Another writer first appends this.
    Foreign(Vec<u8>),
}

/// A file in memory with faults at chosen operations, counted from 0.
#[derive(Debug, Default)]
pub(super) struct Simulated {
    pub(super) content: RefCell<Vec<u8>>,
    troubles: RefCell<Vec<(usize, Trouble)>>,
    operations: Cell<usize>,
    /// Number of records that another writer appended.
    pub(super) foreign_writes: Cell<usize>,
    /// The capacity of the disk in bytes.
    pub(super) capacity: Cell<Option<usize>>,
}

impl Simulated {
    pub(super) fn with_content(content: &[u8]) -> Self {
        Self {
            content: RefCell::new(content.to_vec()),
            ..Self::default()
        }
    }

    pub(super) fn with_trouble(self, operation: usize, trouble: Trouble) -> Self {
        self.troubles.borrow_mut().push((operation, trouble));
        self
    }

    /// Returns all lines that parse.
    pub(super) fn records(&self) -> Vec<String> {
        let content = self.content.borrow();
        content
            .split(|byte| *byte == b'\n')
            .filter_map(|line| std::str::from_utf8(line).ok())
            .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
            .map(str::to_owned)
            .collect()
    }

    fn begin(&self) -> io::Result<Option<usize>> {
        let operation = self.operations.replace(self.operations.get() + 1);
        let mut short = None;
        for (at, trouble) in self.troubles.borrow().iter() {
            if *at != operation {
                continue;
            }
            match trouble {
                Trouble::Fails(kind) => return Err(io::Error::from(*kind)),
                Trouble::Short(bytes) => short = Some(*bytes),
                Trouble::Foreign(bytes) => {
                    self.content.borrow_mut().extend_from_slice(bytes);
                    self.foreign_writes.set(self.foreign_writes.get() + 1);
                }
            }
        }
        Ok(short)
    }
}

impl Tail for Simulated {
    fn size(&self) -> io::Result<u64> {
        self.begin()?;
        Ok(self.content.borrow().len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.begin()?;
        let content = self.content.borrow();
        let rest = content
            .get(usize::try_from(offset).unwrap()..)
            .unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let short = self.begin()?;
        let mut content = self.content.borrow_mut();
        let room = self
            .capacity
            .get()
            .map_or(usize::MAX, |all| all.saturating_sub(content.len()));
        let count = bytes.len().min(short.unwrap_or(usize::MAX)).min(room);
        if count == 0 && !bytes.is_empty() && room == 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        content.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
}
