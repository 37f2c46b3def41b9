//! Session files on disk.

pub mod durable;
pub mod record;
