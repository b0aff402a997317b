//! The whole way from a packet to its reply, fed by libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| waymark_node::dns::fuzzing::answer(data));
