//! Session files on disk.

pub mod durable;
