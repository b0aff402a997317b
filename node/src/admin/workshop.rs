//! Where work is done that takes a processor for long: beside the tasks that others wait for, and little of it at a time, so
//! that queries, heartbeats and probes keep theirs.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tonic::Status;

/// Pieces of work at one time; others wait for their turn. One more would leave nothing on a machine with two cores.
const AT_ONCE_MAX: usize = 1;

/// The workshop of a member. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Workshop(Arc<Semaphore>);

impl Workshop {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE_MAX)))
    }

    /// What `work` comes to, when its turn has come. A caller that does not wait any more gives its turn up; what has begun
    /// keeps its place to its end.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Status> {
        let broken = |error| Status::internal(format!("the work broke off: {error}"));
        let place = self.0.clone().acquire_owned().await.expect("nobody closes it");
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(broken)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::time::timeout;

    use super::*;

    /// SEC-6: also when nobody waits for it any more, what has begun counts as work.
    #[tokio::test]
    async fn sec_6_work_is_done_one_after_the_other() {
        let workshop = Workshop::new();
        let (finish, end) = std::sync::mpsc::channel::<()>();
        let mut first = Box::pin(workshop.run(move || end.recv().is_ok()));
        assert!(first.as_mut().now_or_never().is_none());
        drop(first);
        let mut second = Box::pin(workshop.run(|| 7));
        assert!(second.as_mut().now_or_never().is_none(), "the first is still at work");
        finish.send(()).expect("it listens");
        let done = timeout(Duration::from_secs(10), second).await.expect("its turn comes");
        assert_eq!(done.expect("it ends well"), 7);
        assert!(workshop.run(|| -> u8 { panic!("a broken invariant") }).await.is_err());
        assert_eq!(workshop.run(|| 8).await.expect("the place is free again"), 8);
    }
}
