//! Which endpoints may be chosen for one query (RTE-2, RTE-3).

/// What a pool is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// Endpoints that are Online, being checked, or always served.
    Healthy,
    /// Nothing but Degraded ones: all of them, as if they were Online.
    BestEffort,
    /// Nobody.
    Empty,
}

/// Why an endpoint is in the pool or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In, by its status.
    In,
    /// In although Degraded: nobody better is left.
    BestEffort,
    /// Out: Degraded, and others are better.
    Degraded,
    /// Out: switched off.
    Disabled,
    /// Out: stopped by what it stands for.
    Stopped,
    /// Out: it cannot answer the type that is asked for.
    Type,
}
