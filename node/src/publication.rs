//! Where the view leaves the state machine: one publisher, any number of readers, no lock on the readers' side.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;
use waymark_core::model::LogIndex;
use waymark_core::state::View;

/// Puts a new view before the readers. Held by the state machine alone.
#[derive(Debug)]
pub struct Publisher {
    current: Arc<ArcSwap<View>>,
    applied: watch::Sender<LogIndex>,
}

/// Sees the latest view, and hears of each new one.
#[derive(Clone, Debug)]
pub struct Reader {
    current: Arc<ArcSwap<View>>,
    applied: watch::Receiver<LogIndex>,
}

/// A publisher and its reader, starting from `view`.
pub fn publication(view: View) -> (Publisher, Reader) {
    let (sender, receiver) = watch::channel(view.applied);
    let current = Arc::new(ArcSwap::from_pointee(view));
    (Publisher { current: current.clone(), applied: sender }, Reader { current, applied: receiver })
}

impl Publisher {
    /// The view that readers see now.
    pub fn view(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// From now on readers see `view`.
    pub fn publish(&self, view: View) {
        let applied = view.applied;
        self.current.store(Arc::new(view));
        self.applied.send_replace(applied);
    }
}

impl Reader {
    /// The latest view, to keep.
    pub fn view(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// The latest view, for the length of one query: cheaper than [`Reader::view`].
    pub fn peek(&self) -> arc_swap::Guard<Arc<View>> {
        self.current.load()
    }

    /// Returns once a view that was not seen before is there; false when no further one will come.
    pub async fn changed(&mut self) -> bool {
        self.applied.changed().await.is_ok()
    }

    /// Returns once the entry `index` is part of the view; false when no further view will come.
    pub async fn applied(&self, index: LogIndex) -> bool {
        self.applied.clone().wait_for(|applied| *applied >= index).await.is_ok()
    }
}
