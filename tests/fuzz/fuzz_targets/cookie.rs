//! Cookies, fed by libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| waymark_node::dns::fuzzing::cookie(data));
