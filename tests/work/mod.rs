//! How much a test computed, for limits that a busy machine must not break.

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Counts from when it was made.
pub struct Work(Duration);

impl Work {
    pub fn begin() -> Self {
        Work(so_far())
    }

    pub fn done(&self) -> Duration {
        so_far() - self.0
    }
}

/// Processor time of this thread; where the system does not tell (Linux does), the time on the wall.
fn so_far() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = nanoseconds.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}
