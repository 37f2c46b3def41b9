#![no_main]

#[path = "../checks/shell_analyse.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
