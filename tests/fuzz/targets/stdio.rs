//! See `portcullis::fuzzing::stdio`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| portcullis::fuzzing::stdio(data));
