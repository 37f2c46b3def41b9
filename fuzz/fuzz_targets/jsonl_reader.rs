#![no_main]

#[path = "../checks/jsonl_reader.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
