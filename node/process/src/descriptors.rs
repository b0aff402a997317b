//! How many descriptors the process may have: each connection and each probe needs one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to `wanted`, or as far as the hard one allows. Returns the limit in force, which is never lower
/// than before.
pub fn raise(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(u64::MAX);
    let soft = limit.current.unwrap_or(u64::MAX);
    let raised = wanted.min(hard).max(soft);
    let changed = Rlimit { current: Some(raised), maximum: limit.maximum };
    if raised > soft && setrlimit(Resource::Nofile, changed).is_ok() { raised } else { soft }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F-PRB-12: what the system grants is used, and what is there is not given away.
    #[test]
    fn prb_12_the_limit_goes_up_as_far_as_it_may_and_never_down() {
        let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let before = raise(0);
        let raised = hard.min(before + 1);
        assert_eq!(raise(raised), raised);
        assert_eq!(raise(1), raised);
    }
}
