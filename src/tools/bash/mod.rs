//! `Bash`: a command line in a shell whose working directory is kept between calls.

mod assessment;
mod directory;
mod exit_code;
mod last_command;
mod script;
mod tool;

pub(super) use tool::Bash;
