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
    /// Where nobody gets huge pages without asking, we have asked. Whether the system has some to give is its own matter.
    #[test]
    fn obj_5_huge_pages_are_asked_for_where_they_must_be() {
        const ASKED: &str = " hg";
        let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let must_be_asked_for = setting.is_ok_and(|setting| setting.contains("[madvise]"));
        let blocks: Vec<Vec<u8>> = (0..1_000).map(|_| vec![1; 64 << 10]).collect();
        let areas = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let flags = || areas.lines().filter(|line| line.starts_with("VmFlags:"));
        let is_asked_for = flags().any(|flags| flags.contains(ASKED));
        let is_told = flags().next().is_some();
        assert!(
            is_asked_for || !must_be_asked_for || !is_told,
            "{} blocks of 64 KiB lie in small pages",
            blocks.len()
        );
    }
}
