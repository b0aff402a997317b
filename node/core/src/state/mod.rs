//! What the cluster agrees on, the commands that change it, and the read model that is built from it.

mod apply;
mod change;
mod command;
mod cookies;
mod event;
mod geography;
mod health_tree;
mod history;
mod latency;
mod learned;
mod near_zones;
mod plan;
mod record;
mod references;
mod resolve;
mod restored;
mod serves;
mod static_records;
mod statuses;
mod view;

pub use apply::{apply, suppose_down};
pub use change::{Applied, Change, Rejection, Reply, Warning};
pub use command::{Action, Command, CommandId, Context, FoundAddresses, ReportedOutcome};
pub use cookies::{CookieSecret, CookieSecrets};
pub use event::{Event, EventCause, EventId, EventStatus, OverrideAct, Subject};
pub use geography::{Geography, PlaceOverride};
pub use health_tree::HealthTree;
pub use history::{Forgotten, History, Past, Replaced};
pub use latency::{LatencyRow, LatencyRowDraft, LatencyTable};
pub use learned::{ClientRow, LearnedRow, LearnedTable, News};
pub use plan::{Plan, PlannedEndpoint};
pub use record::{KnownRegion, ProfileHealth, Remembered, State};
pub use references::References;
pub use serves::Serves;
pub use statuses::{Statuses, StatusesNear};
pub use view::{Edition, View};
