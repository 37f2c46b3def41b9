//! A lock that ends with its value.

use std::fs::File;

/// A locked file, which is unlocked when dropped. Closing it is not enough: a child that another thread starts has the
/// same descriptor until it becomes its program.
#[derive(Debug)]
pub struct FileLock(pub(super) File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // If this fails, the lock ends when the last descriptor is closed.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_although_a_copy_of_its_descriptor_is_open() {
        let guard = tempfile::tempdir().unwrap();
        let path = guard.path().join("lock");
        let file = File::create(&path).unwrap();
        let copy = file.try_clone().unwrap();
        file.lock().unwrap();
        drop(FileLock(file));
        File::open(&path).unwrap().try_lock().unwrap();
        drop(copy);
    }
}
