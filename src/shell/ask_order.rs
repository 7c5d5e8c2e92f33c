//! The order in which a page is asked about calls: that of the calls, however long the checks of each take.

use futures_channel::oneshot::{Receiver, Sender, channel};

/// Resolves when the call before has asked, or will not; with the place before that one, if it left early.
struct Before(Receiver<Option<Before>>);

/// The end of the queue.
#[derive(Default)]
pub(super) struct AskOrder(Option<Before>);

/// A call's place in the queue. Dropping it leaves the queue; those behind still wait for those before.
pub(super) struct AskPlace {
    before: Option<Before>,
    left: Option<Sender<Option<Before>>>,
}

impl AskOrder {
    pub(super) fn join(&mut self) -> AskPlace {
        let (left, receiver) = channel();
        AskPlace { before: self.0.replace(Before(receiver)), left: Some(left) }
    }
}

impl AskPlace {
    /// Waits until every call before this one has left the queue.
    pub(super) async fn reached(&mut self) {
        while let Some(Before(receiver)) = &mut self.before {
            self.before = receiver.await.ok().flatten();
        }
    }
}

impl Drop for AskPlace {
    fn drop(&mut self) {
        if let Some(left) = self.left.take() {
            let _ = left.send(self.before.take());
        }
    }
}
