//! How many probes may be under way: each needs a descriptor, and so do the stream, the resolver and the log (F-PRB-12).

use waymark_process::descriptors::raise;

/// Most probes under way at once, however many descriptors there are: a whole fleet of 20,000 endpoints that times out,
/// probed every 10 s, fits; with hostile servers behind all of them it is 1 GiB of response heads at the worst.
const PROBES_MAX: usize = 16_384;
/// Descriptors for everything else: the stream, the resolver's sockets, standard streams, the runtime.
const RESERVED: usize = 64;
/// Few, but then something works.
const PROBES_MIN: usize = 16;

/// Raises the soft limit on descriptors as far as is useful and allowed, and returns how many probes fit.
pub fn make_room() -> usize {
    probes_of(raise((PROBES_MAX + RESERVED) as u64))
}

fn probes_of(descriptors: u64) -> usize {
    let free = usize::try_from(descriptors).unwrap_or(usize::MAX).saturating_sub(RESERVED);
    free.clamp(PROBES_MIN, PROBES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prb_12_probes_leave_descriptors_for_the_rest() {
        assert_eq!(probes_of(256), 192);
        assert_eq!(probes_of(10), PROBES_MIN);
        assert_eq!(probes_of(u64::MAX), PROBES_MAX);
    }
}
