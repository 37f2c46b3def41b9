#![no_main]

#[path = "../checks/json_validate.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
