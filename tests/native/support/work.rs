//! Measures how much a test computed, for limits that a busy machine must not break.

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The processor time since it was created.
pub struct Work(Duration);

impl Work {
    pub fn begin() -> Self {
        Work(so_far())
    }

    pub fn done(&self) -> Duration {
        so_far() - self.0
    }
}

/// The processor time of this thread; wall-clock time where the system does not report it (Linux does).
fn so_far() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = nanoseconds.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}
