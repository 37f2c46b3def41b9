//! `Bash`: a command line in a shell whose working directory is kept between calls.

mod assessment;
mod exit_code;
mod foreign_environment;
mod git_layout;
mod git_probe;
mod script;
mod tool;
mod workspace_programs;

pub(super) use assessment::assess;
pub use assessment::settled;
use git_probe::GitProbe;
pub(super) use tool::Bash;
