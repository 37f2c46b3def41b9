//! ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.8: a run as one JSON object.

mod lines;
mod record;

pub(crate) use lines::{TrajectoryLines, may_be_trajectory};
pub(super) use record::{ATIF, END};
