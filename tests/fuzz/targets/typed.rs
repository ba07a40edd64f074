//! See `portcullis::fuzzing::typed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| portcullis::fuzzing::typed(data));
