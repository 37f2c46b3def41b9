//! The act of a shell command, from its words, its output and its description. Whether a command may
//! change something is decided by the module `shell`.

mod effects;
mod evidence;
mod forms;
mod noun;
mod report;

pub(super) use forms::Effect;
pub(super) use report::{Ending, Run, describe};
