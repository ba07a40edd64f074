//! See `portcullis::fuzzing::post`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| portcullis::fuzzing::post(data));
