//! `Bash`: a command line in a shell whose working directory is kept between calls.

mod assessment;
mod exit_code;
mod git_files;
mod git_repository;
mod script;
mod tool;
mod workspace_programs;

pub(super) use assessment::assess;
pub use assessment::check_requirements;
pub(super) use tool::Bash;
