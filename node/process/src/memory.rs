//! Where all memory comes from: an allocator that asks the system for huge pages (`madvise`), which most systems give to those
//! alone who ask.
//!
//! A state of 100,000 profiles lies all over memory, in pages of which the processor knows some hundred by heart. With pages of
//! 4 KiB, finding out where the page is costs a change or a query more than reading what is in it, on virtual machines several
//! times as much; with pages of 2 MiB it is known.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(test)]
mod tests {
    #[test]
    fn obj_5_what_is_large_lies_in_huge_pages_where_the_system_has_them() {
        let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let are_offered = setting.is_ok_and(|setting| !setting.contains("[never]"));
        let blocks: Vec<Vec<u8>> = (0..1_000).map(|_| vec![1; 64 << 10]).collect();
        let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
        let huge = rollup.lines().find_map(|line| line.strip_prefix("AnonHugePages:")).unwrap();
        let huge: u64 = huge.trim().trim_end_matches(" kB").parse().unwrap();
        assert_eq!(
            huge > 1_024,
            are_offered,
            "of {} blocks of 64 KiB, {huge} KiB are in huge pages",
            blocks.len()
        );
    }
}
