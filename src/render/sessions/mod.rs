//! Whole sessions as texts and files: dialogs, pages with an index, trajectories and patches.

mod dialog;
mod export_folder;
mod export_plan;
mod status_line;
mod trajectories;

pub(crate) use dialog::{dialog_facts, is_shown, omission_text, print_dialog};
pub use export_folder::{ExportError, ExportFolder, is_export_list};
pub use export_plan::{ExportPlan, OutdatedPage, subagents_of, words_of_pages};
pub(crate) use status_line::status_line;
pub use trajectories::{Trajectories, TrajectoryError};
