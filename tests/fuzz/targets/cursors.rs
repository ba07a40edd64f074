//! See `portcullis::fuzzing::cursors`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| portcullis::fuzzing::cursors(data));
