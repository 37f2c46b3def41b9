//! The binary from outside: status, standard output and standard error of whole runs.

mod check_text;
mod streams;
mod turnpipe;
mod usage;
