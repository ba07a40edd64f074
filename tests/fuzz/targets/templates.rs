//! See `portcullis::fuzzing::templates`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| portcullis::fuzzing::templates(data));
