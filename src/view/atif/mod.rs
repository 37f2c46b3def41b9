//! Conversations as trajectories in ATIF, version 1.7, of Harbor. `agent` reads them.

mod model;
#[cfg(test)]
mod tests;
mod writer;

pub use model::{TrajectoryAgent, TrajectoryHead};
pub use writer::{TrajectoryContext, TrajectoryWriter};
