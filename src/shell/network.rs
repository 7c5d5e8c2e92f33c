//! Waiting for the connection: a request is not sent while the browser says that it is offline (retries.md#retries-and-waiting).

use super::js;
use super::timer::pause;
use turnwise_llm::Online;

/// How often it is looked whether the connection is back: not every browser tells its workers.
const LOOK_MS: u32 = 1_000;

/// Waits until the browser no longer says that it is offline. Returns at once where it says nothing about that.
pub(super) async fn back() {
    while js::online() == Online::No {
        pause(LOOK_MS).await;
    }
}
