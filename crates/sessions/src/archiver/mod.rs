//! Archives sessions with everything that belongs to them, and removes them.

mod archive;
mod bundle;
mod copy;
mod removal;
mod select;

pub use archive::{ArchiveDir, ArchiveError, Archived};
pub use bundle::Bundle;
pub use copy::Problem;
pub use removal::{Removal, Removed};
pub use select::{Selected, select};
