//! Where the view leaves the state machine: one publisher, any number of readers, no lock on the readers' side.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio::sync::watch;
use waymark_core::geo::{DigestedTable, GeoDigest};
use waymark_core::model::LogIndex;
use waymark_core::state::{State, View};

/// The geo table with that digest, or the one that the member carries along, if it has it.
pub type TableSource = Arc<dyn Fn(Option<GeoDigest>) -> Option<DigestedTable> + Send + Sync>;

/// Knows of no table, so that nobody is located.
pub fn no_tables() -> TableSource {
    Arc::new(|_| None)
}

/// Puts a new view before the readers. Held by the state machine alone.
#[derive(Debug)]
pub struct Publisher {
    shown: Arc<Shown>,
    applied: watch::Sender<LogIndex>,
}

/// Sees the latest view, and hears of each new one.
#[derive(Clone, Debug)]
pub struct Reader {
    shown: Arc<Shown>,
    applied: watch::Receiver<LogIndex>,
    /// How old the view may be to be answered from (DNS-21); `None` is without limit.
    max_stale: Option<Duration>,
}

/// Has clients located by the table that the state names, once the member has got it.
#[derive(Clone, Debug)]
pub struct Relocator {
    shown: Arc<Shown>,
}

/// Notes up to when a member is known to have missed nothing. Held by who asks the leader.
#[derive(Clone, Debug)]
pub struct Confirmer {
    shown: Arc<Shown>,
}

/// The view that readers see.
struct Shown {
    view: ArcSwap<View>,
    started: Instant,
    /// How long after the start it was last certain that the view had all that was committed, in milliseconds.
    confirmed_ms: AtomicU64,
    tables: TableSource,
    /// Held while a view takes another's place, so that none is lost.
    replacing: Mutex<()>,
}

/// A publisher and its reader, starting from `view`, whose clients are located by what `tables` has.
pub fn publication(view: View, tables: TableSource) -> (Publisher, Reader) {
    let (sender, receiver) = watch::channel(view.applied);
    let view = ArcSwap::from_pointee(located(view, &tables));
    let (started, confirmed_ms) = (Instant::now(), AtomicU64::new(0));
    let shown = Arc::new(Shown { view, started, confirmed_ms, tables, replacing: Mutex::default() });
    (
        Publisher { shown: shown.clone(), applied: sender },
        Reader { shown, applied: receiver, max_stale: None },
    )
}

impl Publisher {
    /// The view that readers see now.
    pub fn view(&self) -> Arc<View> {
        self.shown.view.load_full()
    }

    /// From now on readers see `view`.
    pub fn publish(&self, view: View) {
        let applied = view.applied;
        self.shown.replace(|before| {
            let view = located(view, &self.shown.tables);
            let wanted = view.state.geography.table;
            if wanted != before.state.geography.table && lacks(&view) {
                let wanted = wanted.map(|digest| digest.to_string());
                tracing::warn!(
                    wanted,
                    "the cluster goes by a geo table that this member does not have: clients are located by the one before it"
                );
            }
            view
        });
        self.applied.send_replace(applied);
    }
}

impl Reader {
    /// The latest view, to keep.
    pub fn view(&self) -> Arc<View> {
        self.shown.view.load_full()
    }

    /// The latest view, for the length of one query: cheaper than [`Reader::view`].
    pub fn peek(&self) -> arc_swap::Guard<Arc<View>> {
        self.shown.view.load()
    }

    /// How old the view may be at most: since when it is not certain that it has all that is committed. Counts from the start
    /// until that was certain for the first time.
    pub fn age(&self) -> Duration {
        let confirmed = Duration::from_millis(self.shown.confirmed_ms.load(Ordering::Relaxed));
        self.shown.started.elapsed().saturating_sub(confirmed)
    }

    /// The same reader, to which the view is stale when it is older than `max_stale`.
    pub fn bounded(self, max_stale: Option<Duration>) -> Self {
        Self { max_stale, ..self }
    }

    /// Has the member been cut off for longer than the operator wants to be answered from it (DNS-21)?
    pub fn is_stale(&self) -> bool {
        self.max_stale.is_some_and(|max_stale| self.age() > max_stale)
    }

    /// Notes when the view was last certain to have all that was committed.
    pub fn confirmer(&self) -> Confirmer {
        Confirmer { shown: self.shown.clone() }
    }

    /// Returns once a view that was not seen before is there; false when no further one will come.
    pub async fn changed(&mut self) -> bool {
        self.applied.changed().await.is_ok()
    }

    /// Returns once the entry `index` is part of the view; false when no further view will come.
    pub async fn applied(&self, index: LogIndex) -> bool {
        self.applied.clone().wait_for(|applied| *applied >= index).await.is_ok()
    }

    /// The view of another state of the cluster, built from nothing: not for readers to see.
    pub fn anew(&self, state: State, applied: LogIndex) -> View {
        located(self.view().anew(state, applied), &self.shown.tables)
    }

    /// Has clients located by tables that come later.
    pub fn relocator(&self) -> Relocator {
        Relocator { shown: self.shown.clone() }
    }
}

impl Confirmer {
    /// The view has all that was committed at `moment`.
    pub fn confirm(&self, moment: Instant) {
        let after = moment.saturating_duration_since(self.shown.started).as_millis();
        let after = u64::try_from(after).unwrap_or(u64::MAX);
        self.shown.confirmed_ms.fetch_max(after, Ordering::Relaxed);
    }
}

impl Relocator {
    /// The table that the state names, and the one that clients are located by, if that is another.
    pub fn in_use(&self) -> Vec<GeoDigest> {
        let view = self.shown.view.load();
        view.state.geography.table.into_iter().chain([view.locator.geo_table().digest]).collect()
    }

    /// Goes by the table that the state names, if the member has it by now.
    pub fn relocate(&self) {
        self.shown.replace(|before| located(before.clone(), &self.shown.tables));
    }
}

impl Shown {
    fn replace(&self, next: impl FnOnce(&View) -> View) {
        let _held = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.view.load_full();
        self.view.store(Arc::new(next(&before)));
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").field("view", &self.view).finish_non_exhaustive()
    }
}

/// Does the view's state name another table than the one that the view goes by?
pub fn lacks(view: &View) -> bool {
    let wanted = view.state.geography.table;
    wanted.is_some_and(|wanted| wanted != view.locator.geo_table().digest)
}

fn located(view: View, tables: &TableSource) -> View {
    let wanted = view.state.geography.table;
    let used = view.locator.geo_table().digest;
    if wanted == Some(used) {
        return view;
    }
    match tables(wanted).filter(|table| table.digest != used) {
        Some(table) => view.located_anew(table),
        None => view,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use waymark_core::geo::GeoTable;
    use waymark_core::model::Place;

    fn table(code: &str) -> DigestedTable {
        let everything = "0.0.0.0/0".parse().unwrap();
        GeoTable::new([(everything, Place::parse(code).unwrap())]).unwrap().into()
    }

    fn view(digest: Option<GeoDigest>) -> View {
        let mut state = State::default();
        state.geography.table = digest;
        View::of(state, LogIndex(1))
    }

    fn code(reader: &Reader) -> &'static str {
        reader.peek().locator.locate([192, 0, 2, 1].into()).unwrap().place.code()
    }

    #[test]
    fn dns_21_a_view_ages_from_its_last_confirmation() {
        let (_publisher, reader) = publication(View::default(), no_tables());
        let (start, hour) = (reader.shown.started, Duration::from_secs(3_600));
        assert!(reader.age() < hour, "it counts from the start");
        reader.confirmer().confirm(start + hour);
        assert_eq!(reader.age(), Duration::ZERO);
        reader.confirmer().confirm(start);
        assert_eq!(reader.age(), Duration::ZERO, "an answer that comes late takes nothing back");
    }

    #[test]
    fn rte_14_a_member_goes_by_the_named_table_once_it_has_it() {
        let (own, other) = (table("DE"), table("FR"));
        let digest = other.digest;
        let has_other = Arc::new(AtomicBool::new(false));
        let has = has_other.clone();
        let tables: TableSource = Arc::new(move |wanted| match wanted {
            None => Some(own.clone()),
            Some(_) => has.load(Ordering::Relaxed).then(|| other.clone()),
        });
        let (publisher, reader) = publication(View::default(), tables);
        assert_eq!(code(&reader), "DE");
        publisher.publish(reader.view().anew(view(Some(digest)).state, LogIndex(2)));
        assert_eq!(code(&reader), "DE", "it keeps the one before");
        assert!(lacks(&reader.view()));
        has_other.store(true, Ordering::Relaxed);
        reader.relocator().relocate();
        assert_eq!((code(&reader), lacks(&reader.view())), ("FR", false));
        publisher.publish(reader.view().anew(view(None).state, LogIndex(3)));
        assert_eq!(code(&reader), "DE", "without a choice it is the one that it carries along");
    }
}
