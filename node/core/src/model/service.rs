//! What a platform runs and reports on through the API: a target that can be stopped as a whole (OBJ-6).

use super::{Caseless, Edit, Revision, Target};

/// A registered service, for which endpoints of any profile can stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name in the cluster (OBJ-9).
    pub name: Caseless,
    /// What it resolves to.
    pub target: Target,
    /// The region in which it lives.
    pub location: Option<Caseless>,
    /// Does the platform say that it runs? One that does not is Stopped wherever it stands (STA-8).
    pub is_running: bool,
    /// The state's counter at its last change.
    pub revision: Revision,
}

/// What a registration says: of a new service, or of some fields of one that exists (VAL-2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServicePatch {
    /// See [`Service::target`]: a name or an address; a new service must have one.
    pub target: Edit<String>,
    /// See [`Service::location`]: a region's name.
    pub location: Edit<String>,
}
